"""A set of tuples that is to be cut: its fragments, and what it may hold of each sensitive value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from betalike.promises.rule import meets_demands
from betalike.runtime.arrays import FloatGrid, Floats, Ids, IntGrid, Ints
from betalike.runtime.compilation import inner_kernel, kernel, summing_kernel
from betalike.schemes.seam.problem import SplitProblem

LARGEST_LISTED = 256  # whether a part of some size can be allowed is listed for parts of up to this many tuples
EXACT_BELOW = 2.0**50  # products below this are distinguished from the next whole number


class Group(NamedTuple):
    """A set of tuples; only the sensitive values that it holds are there, numbered from 0.

    Numbers of tuples are whole, and held as floats, which kernels add up faster. `cap` is the promise, `tight` what the
    group's parts should keep, so that they have slack for cuts to come; a set of some size may hold
    floor(cap * size + margin) tuples of a value. `can_have` says for small sizes whether a part may have them.
    `held` are the numbers of the values in the table, for what is demanded of sets of them. Values may have a `floor`;
    `lift` is to it what `tight` is to the cap.
    """

    cell: Ids
    tuples: Ints
    value: Ids
    total: Floats
    size: float
    cap: Floats
    tight: Floats
    margin: Floats
    can_have: NDArray[np.bool_]
    k: int
    held: Ids
    order: Ints
    demands: IntGrid
    floor: Floats
    lift: Floats
    is_hasty: bool


@kernel
def gather(problem: SplitProblem, cell: Ids, count: Ints, loss: float, reserve: float, number: Ids) -> Group:
    """Make a group of some fragments; `number` is scratch space, one place per sensitive value, -1 before and after.

    The wider the set still is, the tighter the caps of its parts.
    """
    cell_value, numerator, denominator = problem.cell_value, problem.numerator, problem.denominator
    value = np.empty(len(cell), dtype=np.int32)
    held = np.empty(min(len(cell), len(number)), dtype=np.int32)
    n_values = 0
    for i in range(len(cell)):
        v = cell_value[cell[i]]
        if number[v] < 0:
            number[v] = n_values
            held[n_values] = v
            n_values += 1
        value[i] = number[v]
    total = np.zeros(n_values, dtype=np.float64)
    for i in range(len(cell)):
        total[value[i]] += count[i]
    size = total.sum()
    cap, tight, margin = np.empty_like(total), np.empty_like(total), np.empty_like(total)
    for v in range(n_values):
        number[held[v]] = -1
        cap[v], margin[v] = rounding_down(numerator[held[v]], denominator[held[v]], size)
        tight[v] = max(cap[v] * (1.0 - reserve * np.sqrt(loss)), 0.5 * (total[v] / size + cap[v]))
    floor = np.empty(n_values if len(problem.floor) > 0 else 0, dtype=np.float64)
    lift = np.empty_like(floor)
    for v in range(len(floor)):
        floor[v] = problem.floor[held[v]]
        lift[v] = min(floor[v] * (1.0 + reserve * np.sqrt(loss)), 0.5 * (total[v] / size + floor[v]))
    can_have = list_sizes(total, cap, margin, int(min(size, LARGEST_LISTED)), problem.k)
    return Group(
        cell,
        count,
        value,
        total,
        size,
        cap,
        tight,
        margin,
        can_have,
        problem.k,
        held[:n_values],
        problem.order,
        problem.demands,
        floor,
        lift,
        problem.is_hasty,
    )


@inner_kernel
def rounding_down(numerator: int, denominator: int, size: float) -> tuple[float, float]:
    """Return a cap and a margin with which floor(cap * size + margin) never breaks the exact cap, up to this size.

    A product of cap and size that is no whole number is at least 1 / denominator away from one. Where numbers are too
    large to see that, the cap is lowered instead, at the cost of at most one tuple.
    """
    cap = numerator / denominator
    if numerator * size < EXACT_BELOW:
        return cap, 0.5 / denominator
    return cap * (1.0 - 1.0 / EXACT_BELOW), 0.0


@kernel
def list_sizes(total: Floats, cap: Floats, margin: Floats, largest: int, k: int) -> NDArray[np.bool_]:
    """List which sizes a part may have: none, or at least k with enough tuples that may be in it together."""
    can_have = np.zeros(largest + 1, dtype=np.bool_)
    can_have[0] = True
    for size in range(max(k, 1), largest + 1):
        can_have[size] = most_kept(total, cap, margin, float(size)) >= size
    return can_have


@summing_kernel
def most_kept(total: Floats, cap: Floats, margin: Floats, size: float) -> float:
    """Return how many of these tuples a part of this size may take."""
    kept = 0.0
    for v in range(len(total)):
        kept += min(total[v], np.floor(cap[v] * size + margin[v]))
    return kept


@kernel
def meets_all(group: Group, cores: FloatGrid) -> bool:
    """Whether both cores and the seam between them meet what is demanded of sets of values."""
    if len(group.demands) == 0:
        return True
    counts = np.zeros(group.order.max() + 1, dtype=np.int64)
    for part in range(3):
        size = 0
        for v in range(len(group.held)):
            tuples = cores[part, v] if part < 2 else group.total[v] - cores[0, v] - cores[1, v]
            counts[group.held[v]] = int(tuples)
            size += int(tuples)
        if size > 0 and not meets_demands(group.order, group.demands, counts, size):
            return False
    return True


@inner_kernel
def is_size(group: Group, size: float) -> bool:
    """Whether a part of this size may be asked for at all."""
    return bool(group.can_have[int(size)]) if size < len(group.can_have) else size >= group.k


@inner_kernel
def least_size(group: Group) -> int:
    """Return the size below which no part of the group may be, unless it is empty."""
    for size in range(1, len(group.can_have)):
        if group.can_have[size]:
            return size
    return len(group.can_have)


@inner_kernel
def can_be_cut(group: Group) -> bool:
    """Whether two parts may have sizes that add up to the group's. Only then three parts are possible, too."""
    n = int(group.size)
    if n >= len(group.can_have):
        return n >= 2 * least_size(group)
    for size in range(1, n // 2 + 1):
        if group.can_have[size] and group.can_have[n - size]:
            return True
    return False
