"""How often a value may be kept: the paper's rule, and the best retentions where that rule does not hold.

Notation: K is the share of all rows that keep their value, sum(p * retention). With retentions between 0 and 1, the
promise becomes one inequality per value, linear in them (docs/explanation/perturbation.md):

    retention * (m * (1 - cap) - 1) + K * cap / p <= cap / p - 1
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from betalike.errors import InfeasibleError
from betalike.promises import Likeness, Transition, used_by_transition
from betalike.promises.verdict import wording
from betalike.runtime.arrays import Floats, Ints
from betalike.table.axis import Axis

GOLDEN = (5**0.5 - 1) / 2
TINY = 1e-14
STEPS = 60  # golden section steps: K to twelve digits
BISECTIONS = 30


def theorem_3(prior: Floats, cap: Floats) -> Floats | None:
    """Return the paper's retention; None if it is not above 0 for every value, because then its proof does not hold.

    Paper: Theorem 3, with gamma as `odds_ratio` and C_M^L as `move`.
    """
    if (cap >= 1).any():
        return None
    n_values = len(prior)
    odds_ratio = cap / prior * (1 - prior) / (1 - cap)
    move = 1 / (odds_ratio.max() + n_values - 1)
    retention = (n_values * odds_ratio * move - 1) / (n_values - 1)
    return np.asarray(np.minimum(retention, 1.0)) if (retention > 0).all() else None


def best_retention(prior: Floats, cap: Floats) -> Floats:
    """Return the retentions with the largest product that keep the promise, so that no value is sacrificed for another.

    For a given K each retention lies in a range, and the best choice fills the rows kept of each value, p * retention,
    up to a common level. The logarithm of the product is concave in K, so golden section finds the best K.
    """
    problem = _Problem(prior, cap)
    low, high = 0.0, 1.0  # the lower end is always allowed
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    scores = problem.score(left), problem.score(right)
    for _ in range(STEPS):
        if scores[0] >= scores[1] or scores[1] == -np.inf:  # beyond some K nothing is allowed
            high, right = right, left
            left = high - GOLDEN * (high - low)
            scores = problem.score(left), scores[0]
        else:
            low, left = left, right
            right = low + GOLDEN * (high - low)
            scores = scores[1], problem.score(right)
    best = problem.fill(low)
    return shared_retention(prior, cap) if best is None or best.min() <= 0 else best


def shared_retention(prior: Floats, cap: Floats) -> Floats:
    """Return the largest retention that all values can share; it is always above 0."""
    gain = cap / prior - 1
    return np.full(len(prior), np.min(gain / (len(prior) * (1 - cap) + gain)))


@dataclass(frozen=True)
class _Problem:
    prior: Floats
    cap: Floats

    def score(self, kept: float) -> float:
        """Return the logarithm of the largest product of retentions with K up to `kept`; -infinity if there is none."""
        retention = self.fill(kept)
        if retention is None or (retention <= 0).any():
            return -np.inf
        return float(np.log(retention).sum())

    def fill(self, kept: float) -> Floats | None:
        """Return the retentions with the largest product and K up to `kept`; None if there are none."""
        low, high = self._ranges(kept)
        if (low > high + TINY).any() or self.prior @ low > kept + TINY:  # rounding is removed by shrinking later
            return None
        level = common_level(self.prior * low, self.prior * high, kept)
        return np.clip(level / self.prior, low, high)

    def _ranges(self, kept: float) -> tuple[Floats, Floats]:
        """Return the least and the greatest retention of each value, given K."""
        slope = len(self.prior) * (1 - self.cap) - 1
        room = self.cap / self.prior * (1 - kept) - 1
        with np.errstate(divide="ignore", invalid="ignore"):
            edge = room / slope
        low = np.where(slope < 0, np.maximum(edge, 0.0), 0.0)
        high = np.where(slope > 0, np.minimum(edge, 1.0), 1.0)
        return low, np.where((slope == 0) & (room < 0), -1.0, high)


def common_level(low: Floats, high: Floats, total: float) -> float:
    """Return the highest level at which amounts, filled up to it between `low` and `high`, sum to at most `total`."""
    low, high = np.sort(low), np.sort(high)
    levels = np.sort(np.concatenate([low, high]))
    n_left, n_full = np.searchsorted(low, levels, "right"), np.searchsorted(high, levels, "right")
    n_rising = n_left - n_full
    below, above = np.append(0.0, np.cumsum(high))[n_full], np.append(0.0, np.cumsum(low))
    sums = below + levels * n_rising + above[-1] - above[n_left]
    last = max(int(np.searchsorted(sums, total, "right")) - 1, 0)
    rising = int(n_rising[last])
    return float(levels[last] + (max(total - sums[last], 0.0) / rising if rising else 0.0))


def caps_of(model: Likeness, counts: Ints, sensitive: Axis | None = None) -> tuple[Floats, Floats]:
    """Return the prior and cap of each value as floats; what follows from them is judged exactly later.

    Under a wider promise, a value has the least cap of all sets that contain it.
    """
    prior = counts / counts.sum()
    if model.is_plain:
        return prior, model.ceilings(counts)
    demands = model.demands(counts, sensitive)
    return prior, demands.ceilings[demands.sets.narrowest(demands.ceilings, len(counts))]


def shrunk(retention: Floats, counts: Ints, model: Likeness, sensitive: Axis | None) -> Floats:
    """Return the retentions, all shrunk by one factor until a wider promise is kept, up to rounding."""

    def posterior(factor: float) -> Floats:
        return Transition.of_retention(retention * factor).posterior(counts)

    return retention * largest_factor(posterior, counts, model, sensitive)


def largest_factor(
    posterior: Callable[[float], Floats], counts: Ints, model: Likeness, sensitive: Axis | None
) -> float:
    """Return the largest factor up to 1 whose posterior keeps a wider promise, up to rounding.

    With factor 0 every posterior equals its prior, which each promise allows, and the allowed set is convex. So some
    factor is small enough, and so are all below it.
    """
    if model.is_plain:
        return 1.0
    demands = model.demands(counts, sensitive)

    def is_kept(factor: float) -> bool:
        found = posterior(factor)
        return bool((used_by_transition(demands, found, np.ones(found.shape[1], dtype=bool)) <= 1).all())

    if is_kept(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_kept(middle) else (low, middle)
    return low


def no_room(model: Likeness) -> InfeasibleError:
    """Return the error for a promise under which nothing about a value may be published."""
    return InfeasibleError(
        f"{wording(model)} leaves no room for any value to be kept: for some value the promise allows no gain at all. "
        "Promise less, such as a larger beta or a higher cap, or publish the overall distribution alone: scheme "
        "'baseline'."
    )
