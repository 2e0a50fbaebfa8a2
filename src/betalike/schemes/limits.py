"""How far a class is from being allowed: limits on the counts of sets of values, in the form that searches take.

Every promise of likeness is a list of sets of values with a cap, and perhaps a floor, on the share of each. Counts of
these sets add up when classes are merged, so a search only needs them, and never the values themselves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from betalike.promises import Rule
from betalike.runtime.arrays import Floats, Ids, Ints
from betalike.runtime.compilation import inner_kernel, summing_kernel
from betalike.table.cells import Cells

EXACT_BELOW = 2.0**50  # products below this are distinguished from the next whole number


class Limits(NamedTuple):
    """Of each set, a class of `size` rows holds at most cap * size + margin and at least floor * size - slack.

    Margins are smaller than what one row too many exceeds a limit by, and make up for rounding. Without floors, their
    arrays are empty.
    """

    k: float
    cap: Floats
    inverse_cap: Floats  # 0 for values that never occur
    margin: Floats
    floor: Floats
    slack: Floats


def make_limits(rule: Rule, most_rows: int) -> Limits:
    """Return the caps and floors of a rule, for classes of up to `most_rows` rows."""
    floor = slack = np.zeros(0)
    caps = (rule.demands[:, 2], rule.demands[:, 3]) if len(rule.demands) else (rule.cap_numerator, rule.cap_denominator)
    cap, margin = _lower(*caps, most_rows)
    if rule.demands[:, 4].any():  # a floor is a cap on the rest of the class
        rest, slack = _lower(rule.demands[:, 5] - rule.demands[:, 4], rule.demands[:, 5], most_rows)
        floor = 1.0 - rest
    inverse = np.divide(1.0, cap, out=np.zeros_like(cap), where=cap > 0.0)
    return Limits(float(rule.k), cap, inverse, margin, floor, slack)


def _lower(numerator: Ints, denominator: Ints, most_rows: int) -> tuple[Floats, Floats]:
    """Return caps and margins that never allow more than the exact fractions do.

    A product of cap and size that is no whole number is at least 1 / denominator away from one. Where numbers are too
    large to see that, the cap is lowered instead, at the cost of at most one row.
    """
    cap = numerator / denominator
    is_exact = np.maximum(numerator, denominator).astype(np.float64) * most_rows < EXACT_BELOW
    return np.where(is_exact, cap, cap * (1.0 - 1.0 / EXACT_BELOW)), np.where(is_exact, 0.5 / denominator, 0.0)


def count_sets(rule: Rule, cells: Cells) -> tuple[Ints, Ids, Floats]:
    """Return how often each set of values occurs at each point: where each point begins, the sets and their counts."""
    n_points = len(cells.points)
    if len(rule.demands) == 0:
        starts = np.searchsorted(cells.point, np.arange(n_points + 1))
        return starts, cells.value, cells.count.astype(np.float64)
    lengths = rule.demands[:, 1] - rule.demands[:, 0] + 1
    number = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths) + rule.demands[number, 0]
    value = rule.order[place]
    by_value = np.argsort(value, kind="stable")
    first = np.searchsorted(value[by_value], np.arange(cells.sensitive.size + 1))
    n_sets = first[cells.value + 1] - first[cells.value]
    cell = np.repeat(np.arange(len(cells.value)), n_sets)
    within = np.arange(n_sets.sum()) - np.repeat(np.cumsum(n_sets) - n_sets, n_sets)
    found = number[by_value][first[cells.value[cell]] + within]
    keys, inverse = np.unique(cells.point[cell].astype(np.int64) * len(lengths) + found, return_inverse=True)
    count: Floats = np.bincount(inverse, cells.count[cell], len(keys)).astype(np.float64)
    starts = np.searchsorted(keys // len(lengths), np.arange(n_points + 1))
    return starts, (keys % len(lengths)).astype(np.int32), count


@summing_kernel
def judge_sum(limits: Limits, one: Floats, other: Floats, sign: float, size: float) -> tuple[float, float, bool]:
    """Judge counts `one + sign * other`: rows beyond the limits, rows that are lacking, and whether it is allowed.

    Rows are lacking until the class is so large that what it holds is below every cap.
    """
    excess, needed, beyond = 0.0, limits.k, limits.k - size
    for s in range(len(limits.cap)):
        count = one[s] + sign * other[s]
        over = count - limits.cap[s] * size
        excess += max(0.0, over)
        needed = max(needed, count * limits.inverse_cap[s])
        beyond = max(beyond, over - limits.margin[s])
    for s in range(len(limits.floor)):
        count = one[s] + sign * other[s]
        under = limits.floor[s] * size - count
        excess += max(0.0, under)
        needed = max(needed, size + under / (1.0 - limits.floor[s]) if limits.floor[s] < 1.0 else needed)
        beyond = max(beyond, under - limits.slack[s])
    return excess, max(0.0, needed - size), beyond <= 0.0


@inner_kernel
def is_within(limits: Limits, one: Floats, other: Floats, sign: float, size: float) -> bool:
    """Whether a class with counts `one + sign * other` is allowed."""
    return judge_sum(limits, one, other, sign, size)[2]
