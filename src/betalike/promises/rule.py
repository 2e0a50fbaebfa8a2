"""What a promise demands of the counts of a class, in the form that kernels take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from betalike.runtime.arrays import IntGrid, Ints
from betalike.runtime.compilation import kernel
from betalike.runtime.sorting import stable_order

CAUTION = 1e-12  # margin by which an entropy, the one rounded number here, is judged too strictly


_NOTHING = np.zeros(0, dtype=np.int64)


class Rule(NamedTuple):
    """Demands on a class, all of which must be met; a promise leaves out those that it does not make.

    - `cap` and `floor`: of each value at most, and at least, numerator / denominator of the class.
    - `order`, `demands`: the same for sets of values, a row each: its first and last place in `order`, which holds the
      value at each place, then the numerators and denominators of its cap and of its floor.
    - `prior`, `first`, `last`, `length`: an earth mover's distance from the prior counts, added up over edges, each an
      interval of values. It is at most `whole` + `part` for each tuple of the class, both in units of one tuple of the
      table that moves by a length of 1.
    - `least_distinct`, `least_worth`: the least number of values; the entropy of this many equally frequent ones.
    - `ratio`, `rank`: the most frequent value is rarer than `ratio` times all from the `rank`-th most frequent on.

    All but the entropy is decided with integers, exactly.
    """

    k: int = 1
    cap_numerator: Ints = _NOTHING
    cap_denominator: Ints = _NOTHING
    floor_numerator: Ints = _NOTHING
    floor_denominator: Ints = _NOTHING
    order: Ints = _NOTHING
    demands: IntGrid = np.zeros((0, 6), dtype=np.int64)
    prior: Ints = _NOTHING
    first: Ints = _NOTHING
    last: Ints = _NOTHING
    length: Ints = _NOTHING
    whole: int = 0
    part_numerator: int = 0
    part_denominator: int = 1
    least_distinct: int = 0
    least_worth: float = 0.0
    rank: int = 0
    ratio_whole: int = 0
    ratio_numerator: int = 0
    ratio_denominator: int = 1
    is_ratio_allowed: bool = False


ANYTHING = Rule()


@kernel
def is_allowed(rule: Rule, counts: Ints, size: int) -> bool:
    """Whether a class with these counts meets every demand."""
    if size < rule.k:
        return False
    for v in range(len(rule.cap_numerator)):
        if counts[v] * rule.cap_denominator[v] > rule.cap_numerator[v] * size:
            return False
    for v in range(len(rule.floor_numerator)):
        if counts[v] * rule.floor_denominator[v] < rule.floor_numerator[v] * size:
            return False
    if len(rule.demands) > 0 and not meets_demands(rule.order, rule.demands, counts, size):
        return False
    if len(rule.length) > 0 and work_of(rule, counts, size) > most_work(rule, size):
        return False
    if rule.least_distinct > 0 and np.count_nonzero(counts) < rule.least_distinct:
        return False
    if rule.least_worth > 0.0 and not _has_entropy(counts, size, rule.least_worth):
        return False
    return rule.rank == 0 or _has_tail(rule, counts)


@kernel
def meets_demands(order: Ints, demands: IntGrid, counts: Ints, size: int) -> bool:
    """Whether no set of values is too frequent, or too rare, in a class with these counts."""
    up_to = count_up(order, counts)
    for s in range(len(demands)):
        count = up_to[demands[s, 1] + 1] - up_to[demands[s, 0]]
        if count * demands[s, 3] > demands[s, 2] * size or count * demands[s, 5] < demands[s, 4] * size:
            return False
    return True


@kernel
def count_up(order: Ints, counts: Ints) -> Ints:
    """Return how many tuples have the values at the places before each one."""
    up_to = np.zeros(len(order) + 1, dtype=np.int64)
    for place in range(len(order)):
        up_to[place + 1] = up_to[place] + counts[order[place]]
    return up_to


@kernel
def work_of(rule: Rule, counts: Ints, size: int) -> int:
    """Return the earth mover's distance of a class from the prior, times the rows of both and the scale."""
    n_rows = rule.prior.sum()
    carried = np.empty(len(rule.prior) + 1, dtype=np.int64)
    carried[0] = 0
    for v in range(len(rule.prior)):
        carried[v + 1] = carried[v] + counts[v] * n_rows - rule.prior[v] * size
    work = 0
    for edge in range(len(rule.length)):
        work += rule.length[edge] * abs(carried[rule.last[edge] + 1] - carried[rule.first[edge]])
    return work


@kernel
def most_work(rule: Rule, size: int) -> int:
    """Return the limit on `work_of` for a class of this size."""
    return rule.whole * size + rule.part_numerator * size // rule.part_denominator


@kernel
def entropy_of(counts: Ints, size: int) -> float:
    """Return the entropy of a class's distribution, in bits."""
    entropy = 0.0
    for count in counts:
        if count > 0:
            entropy -= count / size * np.log2(count / size)
    return entropy


@kernel
def _has_entropy(counts: Ints, size: int, worth: float) -> bool:
    """Whether the entropy is high enough; a class whose values are equally frequent is not judged by rounding."""
    n_values, highest = 0, 0
    for count in counts:
        n_values += count > 0
        highest = max(highest, count)
    if n_values * highest == size:
        return bool(n_values >= worth)
    return bool(entropy_of(counts, size) >= np.log2(worth) + CAUTION)


@kernel
def _has_tail(rule: Rule, counts: Ints) -> bool:
    """Whether the most frequent value stays below the ratio of the tail."""
    ascending = stable_order(counts)
    tail = 0
    for place in range(len(counts) - rule.rank + 1):
        tail += counts[ascending[place]]
    beyond = counts[ascending[-1]] - rule.ratio_whole * tail
    if beyond < 0:  # decided before it is multiplied, so that no product leaves 63 bits
        return True
    beyond, most = beyond * rule.ratio_denominator, rule.ratio_numerator * tail
    return beyond < most or (rule.is_ratio_allowed and beyond == most)


@kernel
def allowed_classes(rule: Rule, starts: Ints, value: Ints, count: Ints, n_values: int) -> NDArray[np.bool_]:
    """Return which of some classes meet every demand."""
    allowed = np.empty(len(starts) - 1, dtype=np.bool_)
    counts = np.zeros(n_values, dtype=np.int64)
    for ec in range(len(allowed)):
        counts[:] = 0
        size = 0
        for i in range(starts[ec], starts[ec + 1]):
            counts[value[i]] = count[i]
            size += count[i]
        allowed[ec] = is_allowed(rule, counts, size)
    return allowed
