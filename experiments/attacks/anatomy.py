"""Anatomy: exact quasi-identifiers, and groups of l tuples with different values whose assignment is withheld.

The deFinetti attack was designed against it (Xiao and Tao, 2006); here it shows that our attack works where it should.
"""

from __future__ import annotations

import numpy as np

from betalike.runtime.randomness import Randomness
from betalike.schemes.fragments import count_fragments
from betalike.table.cells import Cells, Plan, random_order


def anatomize(cells: Cells, diversity: int, randomness: Randomness) -> Plan:
    """Form groups of `diversity` tuples (a few have one more), each with different sensitive values.

    While at least `diversity` values are left, one tuple of each of the most frequent ones forms a group. A tuple that
    is left over joins a group without its value.
    """
    tuples = np.repeat(np.arange(len(cells.count), dtype=np.int32), cells.count)
    tuples = tuples[random_order(len(tuples), randomness)]
    value = cells.value[tuples]
    by_value = [tuples[value == code] for code in range(cells.sensitive.size)]
    left = np.array([len(of_value) for of_value in by_value])
    members: list[np.ndarray] = []
    while (left > 0).sum() >= diversity:
        chosen = np.argpartition(left, -diversity)[-diversity:]
        left[chosen] -= 1
        members.append(chosen)
    groups = [list(chosen) for chosen in members]
    numbers = random_order(len(groups), randomness)
    for code in np.flatnonzero(left):
        free = [number for number in numbers.tolist() if code not in groups[number]]
        for number in free[: left[code]]:
            groups[number].append(code)
    order = np.concatenate([np.array(group) for group in groups])
    starts = np.append(0, np.cumsum([len(group) for group in groups])).astype(np.int64)
    place = np.argsort(order, kind="stable")  # the first tuples of a value go to its first groups
    assigned = np.empty(len(order), dtype=np.int32)
    assigned[place] = np.concatenate([by_value[code][: (order == code).sum()] for code in range(len(by_value))])
    return Plan(cells, *count_fragments(assigned, starts, len(cells.count)), len(groups))
