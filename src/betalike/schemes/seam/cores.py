"""Cores and seam of a cut, from counts alone: how large the cores can be, and what they hold."""

from __future__ import annotations

import numpy as np

from betalike.runtime.arrays import FloatGrid, Floats
from betalike.runtime.compilation import inner_kernel, kernel, summing_kernel
from betalike.schemes.seam.group import Group, is_size, least_size, most_kept
from betalike.schemes.seam.lifting import bound_left, bound_right, can_lift, most_lifted

NEARLY = 1e-6  # the formula is rounded this kindly; whole rows are judged exactly afterwards
HALVINGS = 40
# How often the seam may grow before a cut is given up, and how often of these with a reserve; the same in haste.
ATTEMPTS, WITH_RESERVE = 60, 20
HASTY_ATTEMPTS, HASTY_WITH_RESERVE = 20, 10
QUARTERS = 4


@summing_kernel
def largest_core(counts: Floats, total: float, cap: Floats, margin: Floats) -> float:
    """Return the greatest size T with sum of min(counts, floor(cap * T)) >= T.

    Without rounding, values over their cap hold a fixed share of the core, and the others all they have. That is solved
    for T until no further value is over its cap. Rounding down then takes a few more steps.
    """
    size = total
    for _ in range(len(counts) + 1):
        whole, share = 0.0, 0.0
        for v in range(len(counts)):
            is_over = counts[v] > cap[v] * size
            share += cap[v] if is_over else 0.0
            whole += 0.0 if is_over else counts[v]
        if share > 1.0 - NEARLY or whole >= (1.0 - share) * size:
            break
        size = whole / (1.0 - share)
    size = np.floor(size + NEARLY)
    while size > 0.0:
        kept = most_kept(counts, cap, margin, size)
        if kept >= size:
            break
        size = kept
    return size


@summing_kernel
def most_sizes(left: Floats, total: Floats, cap: Floats, size: float) -> tuple[float, float]:
    """Return how large the cores left and right of a cut may be, if the seam is to have room for the other side."""
    needs_left, needs_right = 0.0, 0.0
    for v in range(len(cap)):
        needs_left = max(needs_left, left[v] / cap[v])
        needs_right = max(needs_right, (total[v] - left[v]) / cap[v])
    return max(np.floor(size - needs_right + NEARLY), 0.0), max(np.floor(size - needs_left + NEARLY), 0.0)


@inner_kernel
def core_sizes(group: Group, left: Floats, right: Floats, n_left: float) -> tuple[float, float]:
    """Return the sizes of the largest cores left and right of a cut that leave a seam which is allowed.

    What a value has over its cap left of the cut fits into the seam exactly when the right core leaves it the room,
    and the other way round.
    """
    most_left, most_right = most_sizes(left, group.total, group.tight, group.size)
    if len(group.floor) > 0:
        most_left = min(most_left, most_lifted(left, group.lift))
        most_right = min(most_right, most_lifted(right, group.lift))
    if most_left > 0.0:
        most_left = min(most_left, largest_core(left, n_left, group.tight, group.margin))
    if most_right > 0.0:
        most_right = min(most_right, largest_core(right, group.size - n_left, group.tight, group.margin))
    return most_left, most_right


@summing_kernel
def can_part(left: Floats, total: Floats, sizes: tuple[float, float, float], cap: Floats, margin: Floats) -> bool:
    """Whether a left core, a right core and a seam of these sizes can all be allowed.

    A value may give its cores any (x, y) with x <= a, y <= b and x + y >= d; such regions add up to one of the same
    form, so the sums over all values decide.
    """
    most_left, most_right, least_left, least_right, least, short = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for v in range(len(left)):
        a = min(left[v], np.floor(cap[v] * sizes[0] + margin[v]))
        b = min(total[v] - left[v], np.floor(cap[v] * sizes[1] + margin[v]))
        d = max(total[v] - np.floor(cap[v] * sizes[2] + margin[v]), 0.0)
        most_left += a
        most_right += b
        least_left += max(d - b, 0.0)
        least_right += max(d - a, 0.0)
        least += d
        short += max(d - a - b, 0.0)
    return (
        short == 0.0
        and least_left <= sizes[0] <= most_left
        and least_right <= sizes[1] <= most_right
        and sizes[0] + sizes[1] >= least
    )


@inner_kernel
def short_of(left: Floats, total: Floats, sizes: tuple[float, float, float], cap: Floats, margin: Floats) -> int:
    """Return the first value of which parts of these sizes have no room for all tuples; -1 if there is none."""
    for v in range(len(left)):
        if falls_short(v, left, total, sizes, cap, margin):
            return v
    return -1


@inner_kernel
def falls_short(
    v: int, left: Floats, total: Floats, sizes: tuple[float, float, float], cap: Floats, margin: Floats
) -> bool:
    """Whether parts of these sizes have no room for all tuples of a value."""
    room = min(left[v], np.floor(cap[v] * sizes[0] + margin[v]))
    room += min(total[v] - left[v], np.floor(cap[v] * sizes[1] + margin[v]))
    return bool(total[v] > room + np.floor(cap[v] * sizes[2] + margin[v]))


@inner_kernel
def fit_sizes(
    group: Group, left: Floats, sizes: tuple[float, float], gains: tuple[float, float], to_beat: float
) -> tuple[float, float, float, bool]:
    """Return the gain and the core sizes that rounding permits, and whether with reserve; no gain if none.

    Starts from the formula's sizes and lets the seam grow while what is gained is still above `to_beat`. Quarters of
    what it gets beyond the formula come from the left core. A value that one attempt had no room for is asked first in
    the next, for mostly it is the same.
    """
    has_floor, least = len(group.floor) > 0, least_size(group)
    has_one_core = min(sizes[0], sizes[1]) <= 0.0
    before, extra, short = 0, 0, -1  # what the seam gets beyond the formula, and the value there was no room for
    for attempt in range(HASTY_ATTEMPTS if group.is_hasty else ATTEMPTS):
        has_reserve = attempt < (HASTY_WITH_RESERVE if group.is_hasty else WITH_RESERVE)
        cap, floor = (group.tight, group.lift) if has_reserve else (group.cap, group.floor)
        begin = before if has_one_core and has_reserve else 0  # smaller seams were tried already
        steps = min(extra - begin, QUARTERS)
        best, can_beat = (to_beat, 0.0, 0.0, False), False
        for step in range(steps + 1):
            from_left = begin + (extra - begin) * step // max(steps, 1)
            from_right = from_left if has_one_core else extra - from_left
            size_left, size_right = max(sizes[0] - from_left, 0.0), max(sizes[1] - from_right, 0.0)
            most_left, most_right = size_left if size_left >= least else 0.0, size_right if size_right >= least else 0.0
            can_beat |= most_left * gains[0] + most_right * gains[1] > to_beat
            size_left = size_left if is_size(group, size_left) else 0.0
            size_right = size_right if is_size(group, size_right) else 0.0
            three = (size_left, size_right, group.size - size_left - size_right)
            gain = size_left * gains[0] + size_right * gains[1]
            if gain <= best[0] or not is_size(group, three[2]):
                continue
            if has_floor:
                is_possible = can_lift(left, group.total, three, cap, group.margin, floor)
            elif short >= 0 and falls_short(short, left, group.total, three, cap, group.margin):
                continue
            else:
                is_possible = can_part(left, group.total, three, cap, group.margin)
                short = short if is_possible else short_of(left, group.total, three, cap, group.margin)
            if is_possible:
                best = (gain, size_left, size_right, has_reserve)
        if best[1] + best[2] > 0.0:
            return best
        if not can_beat and not has_one_core:
            break
        before = extra
        extra += 1 + max(extra // 20, attempt * int(group.size) // 4000)
    return (0.0, 0.0, 0.0, False)


@summing_kernel
def filled_to(level: float, least: Floats, allowed: Floats, cap: Floats, size: float) -> float:
    """Return how many tuples a core holds that is filled up to a level between 0 and 1 of its caps."""
    filled = 0.0
    for v in range(len(cap)):
        filled += max(least[v], min(allowed[v], np.floor(level * cap[v] * size)))
    return filled


@kernel
def fill_core(group: Group, counts: Floats, size: float, room: Floats, cap: Floats, core: Floats) -> bool:
    """Fill a core of this size as evenly as possible, so that every value keeps slack; False if it cannot be filled.

    The core takes min(counts, level * cap * size) of each value, with the least level that reaches the size, but leaves
    no more of a value than the seam has room for.
    """
    allowed = np.empty_like(counts)
    for v in range(len(counts)):
        core[v] = max(counts[v] - room[v], 0.0)
        allowed[v] = min(counts[v], np.floor(cap[v] * size + group.margin[v]))
        if core[v] > allowed[v]:
            return False
    return fill_evenly(core, allowed, cap, size)


@inner_kernel
def fill_evenly(core: Floats, allowed: Floats, cap: Floats, size: float) -> bool:
    """Fill a core up to a size, from what it holds to what is allowed; False if that is impossible."""
    if core.sum() > size or allowed.sum() < size:
        return False
    low, high = 0.0, 1.0 + 1e-6  # so that rounding cannot keep a value from its cap
    for _ in range(HALVINGS):
        level = (low + high) / 2
        filled = filled_to(level, core, allowed, cap, size)
        if filled >= size:
            high = level
        else:
            low = level
        if filled == size:
            break
    for v in range(len(core)):
        core[v] = max(core[v], min(allowed[v], np.floor(low * cap[v] * size)))
    filled = core.sum()
    for v in range(len(core)):  # the rest goes to values that reach the level just above
        more = min(min(allowed[v], np.floor(high * cap[v] * size)) - core[v], size - filled)
        if more > 0.0:
            core[v] += more
            filled += more
    return bool(filled == size)


@kernel
def lift_cores(group: Group, left: Floats, sizes: tuple[float, float], has_reserve: bool, cores: FloatGrid) -> bool:
    """Fill both cores where values have floors, so that no part lacks a value; False if it cannot be done evenly."""
    cap = group.tight if has_reserve else group.cap
    floor = group.lift if has_reserve else group.floor
    three = (sizes[0], sizes[1], group.size - sizes[0] - sizes[1])
    allowed = np.empty_like(left)
    bound_left(left, group.total, three, cap, group.margin, floor, cores[0], allowed)
    if not fill_evenly(cores[0], allowed, cap, sizes[0]):
        return False
    bound_right(left, group.total, three, cap, group.margin, floor, cores[0], cores[1], allowed)
    return bool((cores[1] <= allowed).all()) and fill_evenly(cores[1], allowed, cap, sizes[1])


@kernel
def fill_cores(group: Group, left: Floats, sizes: tuple[float, float], cap: Floats, cores: FloatGrid) -> bool:
    """Fill both cores so that the seam between them is allowed too; False if it cannot be done evenly."""
    right = group.total - left
    seam = np.floor(cap * (group.size - sizes[0] - sizes[1]) + group.margin)
    right_over = np.maximum(right - np.floor(cap * sizes[1] + group.margin), 0.0)
    if not fill_core(group, left, sizes[0], seam - right_over, cap, cores[0]):
        return False
    return fill_core(group, right, sizes[1], seam - (left - cores[0]), cap, cores[1])
