"""Random hierarchies: balanced ones, chains, odd labels, leaves that no row has."""

from __future__ import annotations

import random
from collections.abc import Sequence


def random_tree(rng: random.Random, leaves: Sequence[str], odd_labels: Sequence[str] = ()) -> list[list[str]]:
    """Lines of `leaf, its ancestors, *`; nodes that cover different leaves have different labels."""
    taken, spare = {*leaves, "*"}, [*odd_labels]
    rng.shuffle(spare)
    groups, paths = [[leaf] for leaf in leaves], {leaf: [leaf] for leaf in leaves}
    for level in range(rng.choice([0, 1, 1, 2, 3])):
        joined: list[list[str]] = []
        for group in groups:
            if joined and rng.random() < 0.6:
                joined[-1] = [*joined[-1], *group]
            else:
                joined.append(group)
        for number, group in enumerate(joined):
            is_chain = len({paths[leaf][-1] for leaf in group}) == 1
            if is_chain and rng.random() < 0.5:
                label = paths[group[0]][-1]
            else:
                label = _fresh(rng, taken, spare, f"level {level} group {number}")
            for leaf in group:
                paths[leaf].append(label)
        groups = joined
    rows = [[*path, "*"] for path in paths.values()]
    rng.shuffle(rows)
    return rows


def _fresh(rng: random.Random, taken: set[str], spare: list[str], otherwise: str) -> str:
    label = spare.pop() if spare and rng.random() < 0.5 else otherwise
    while label in taken:
        label += "'" if not spare else ""
        label = spare.pop() if spare else label
    taken.add(label)
    return label
