"""Whether published rows can be matched one to one to original rows: a flow between groups of equal rows."""

from __future__ import annotations

from collections.abc import Sequence


def unmatched(supply: Sequence[int], demand: Sequence[int], allowed: Sequence[int]) -> int:
    """How much of the demand no flow can meet; `allowed` has, for each demand, a bit for each supply it may take from.

    >>> unmatched([1, 1], [1, 1], [0b01, 0b01])
    1
    >>> unmatched([1, 1], [1, 1], [0b11, 0b01])
    0
    """
    left, flow, missing = list(supply), [dict[int, int]() for _ in demand], 0
    givers: list[set[int]] = [set() for _ in supply]  # the demands that each supply gives to
    free = sum(1 << s for s, amount in enumerate(left) if amount)
    for d in sorted(range(len(demand)), key=lambda d: allowed[d].bit_count()):
        wanted = demand[d]
        while wanted:
            path = _path_to_free(d, allowed, free, givers)
            if path is None:
                missing += wanted
                break
            amount = min([wanted, left[path[-1][1]], *(flow[of][s] for s, of in _taken(path))])
            for taker, s in path:
                flow[taker][s] = flow[taker].get(s, 0) + amount
                givers[s].add(taker)
            for s, of in _taken(path):
                flow[of][s] -= amount
                if not flow[of][s]:
                    givers[s].discard(of)
            left[path[-1][1]] -= amount
            if not left[path[-1][1]]:
                free &= ~(1 << path[-1][1])
            wanted -= amount
    return missing


def _taken(path: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """What each later step gives up: the supply of the step before, by the demand that now takes another."""
    return [(path[i][1], path[i + 1][0]) for i in range(len(path) - 1)]


def _path_to_free(
    start: int, allowed: Sequence[int], free: int, givers: Sequence[set[int]]
) -> list[tuple[int, int]] | None:
    """Steps (demand, supply it takes from) from a demand to a supply that has something left; breadth first."""
    came: dict[int, tuple[int, int] | None] = {start: None}  # demand -> (demand before, supply given up)
    queue, seen = [start], 0
    for d in queue:
        if hit := allowed[d] & free:
            path = [(d, (hit & -hit).bit_length() - 1)]
            step = came[d]
            while step is not None:
                path.append(step)
                step = came[step[0]]
            return path[::-1]
        fresh = allowed[d] & ~seen
        seen |= fresh
        while fresh:
            s = (fresh & -fresh).bit_length() - 1
            fresh &= fresh - 1
            for other in givers[s]:
                if other not in came:
                    came[other] = (d, s)
                    queue.append(other)
    return None
