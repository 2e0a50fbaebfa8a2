"""Counts from a perturbed release: what the sensitive values were, from what they became. Paper: Section 5.

Everything here is a function of arrays: the counts of each published value among the tuples that a query selects
(`observed`, E' in the paper), the matrix (`transition`, original by published), and the table's counts of each original
value, which are published with it. `inverted` is the paper's estimate, `shrunk` the default.

What chance did to the whole table is known, as its original counts are: `noise` = published counts - expected ones. A
selection of n of the table's N tuples has n / N of it on average, which both the default and its error allow for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from betalike.errors import QueryError
from betalike.runtime.arrays import Floats

STRENGTHS = np.logspace(-8, 1, 37)  # prior variances that are tried, as multiples of what the groups show
FURTHER = 0.3  # variance in every direction besides, in proportion to what the groups show
LEAST_FURTHER = 1e-4
DRAWN = 0.7  # share of the distance between the default and the unbiased estimate that may be an error
BLOCK = 512  # selections that are worked out at a time, so that a processor's cache holds them


@dataclass(frozen=True)
class PerturbedIndex:
    """The matrix, the table's counts of the original values, and the counts of the published ones."""

    transition: Floats
    counts: Floats
    published: Floats

    @property
    def n_rows(self) -> float:
        """Tuples of the table."""
        return float(self.counts.sum())

    @cached_property
    def prior(self) -> Floats:
        """The share of each value in the table."""
        return np.asarray(self.counts / self.n_rows)

    @cached_property
    def expected(self) -> Floats:
        """The share of each published value, if chance does nothing."""
        return np.asarray(self.prior @ self.transition)

    @cached_property
    def noise(self) -> Floats:
        """What chance did to the counts of the whole table."""
        return np.asarray(self.published - self.counts @ self.transition)

    @cached_property
    def noise_variance(self) -> Floats:
        """Variances and covariances that chance gives the published values of one tuple of the table."""
        spread = np.diag(self.expected) - self.transition.T @ (self.prior[:, None] * self.transition)
        return np.asarray((spread + spread.T) / 2)

    @cached_property
    def is_invertible(self) -> bool:
        """Whether the original counts can be had from the expected ones at all."""
        return bool(np.linalg.cond(self.transition) < 1e10)

    @cached_property
    def inverse(self) -> Floats:
        """What turns published counts into original ones; of a matrix without an inverse, the nearest thing to it."""
        inverse = np.linalg.inv if self.is_invertible else np.linalg.pinv
        return np.asarray(inverse(self.transition), dtype=np.float64)

    def adjusted(self, observed: Floats) -> Floats:
        """Observed counts without the share of the table's noise that falls to them."""
        return np.asarray(observed - np.outer(observed.sum(axis=1) / self.n_rows, self.noise))

    def free(self, size: Floats) -> Floats:
        """By what the noise of one tuple is multiplied for selections of a size, once the table's noise is known."""
        return np.asarray(size * np.maximum(1.0 - size / self.n_rows, 0.0))


def inverted(perturbation: PerturbedIndex, observed: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """The paper's estimate N' = PM^-1 E' over the wanted values, and its standard error. Paper: Section 5.

    Rows of `wanted` have a 1 for each wanted value. The estimate is unbiased, and may be negative.
    """
    if not perturbation.is_invertible:
        raise QueryError("the transition matrix of this release has no inverse; use the method 'shrinkage'.")
    factors = wanted @ perturbation.inverse.T
    count = (observed * factors).sum(axis=1)
    squares = (observed * factors**2).sum(axis=1)  # of which the tuples' own counts are not due to chance
    usual = observed.sum(axis=1) * _noise_of(perturbation, factors)  # few tuples may show too little of it
    return count, np.sqrt(np.maximum(squares - count, usual))


def inverted_error(perturbation: PerturbedIndex, size: Floats, wanted: Floats, usual: Floats) -> Floats:
    """Standard error of the inversion on this release: more than the usual one where its known noise is large.

    The inversion does not allow for the noise of the whole table, so all selections have their part of it.
    """
    part = size / perturbation.n_rows
    known = part * (wanted @ perturbation.inverse.T @ perturbation.noise)
    return np.asarray(np.maximum(usual, np.hypot(usual * np.sqrt(np.maximum(1.0 - part, 0.0)), known)))


def unbiased_error(perturbation: PerturbedIndex, size: Floats, wanted: Floats) -> Floats:
    """Standard error of the inversion once the table's noise is allowed for: a cautious one for the default."""
    factors = wanted @ perturbation.inverse.T
    return np.asarray(np.sqrt(perturbation.free(size) * _noise_of(perturbation, factors)))


def shrunk_error(perturbation: PerturbedIndex, observed: Floats, wanted: Floats, count: Floats) -> Floats:
    """Standard error of the default: that of the unbiased estimate, and a part of what it was drawn away from it."""
    drawn = count - (perturbation.adjusted(observed) * (wanted @ perturbation.inverse.T)).sum(axis=1)
    return np.asarray(np.hypot(unbiased_error(perturbation, observed.sum(axis=1), wanted), DRAWN * drawn))


def _noise_of(perturbation: PerturbedIndex, factors: Floats) -> Floats:
    """Variance that chance gives a sum of factors over the published value of one tuple of the table."""
    variance = np.einsum("qi,ij,qj->q", factors, perturbation.noise_variance, factors)
    return np.asarray(np.maximum(variance, 0.0))


@dataclass(frozen=True)
class Shrinkage:
    """How selections differ from the table: directions without correlation, and how far they reach in each.

    In these directions chance has variance 1 for each free tuple (`basis` leads there), a selection's deviation has a
    variance of `reach` times a strength times its squared size, and `effect` leads back to original values.
    """

    basis: Floats
    reach: Floats
    effect: Floats


def learn_shrinkage(perturbation: PerturbedIndex, groups: Iterable[Floats]) -> Shrinkage:
    """Learn from groups of tuples how original values deviate from the prior together.

    Each batch of groups has a row of observed counts for each group. Their squared deviations, less what chance gives,
    are an unbiased estimate of the variances and covariances of groups.
    """
    m = len(perturbation.prior)
    contrasts = np.linalg.svd(np.ones((1, m)))[2][1:].T
    noise = contrasts.T @ perturbation.noise_variance @ contrasts
    noise += 1e-9 * (np.trace(noise) / max(m - 1, 1) + 1e-9) * np.eye(m - 1)
    basis = contrasts @ np.linalg.inv(np.linalg.cholesky(noise)).T
    squares, weight = np.zeros((m - 1, m - 1)), 0.0
    for observed in groups:
        size = observed.sum(axis=1)
        deviation = (perturbation.adjusted(observed) - np.outer(size, perturbation.expected)) @ basis
        squares += deviation.T @ deviation - perturbation.free(size).sum() * np.eye(m - 1)
        weight += float(size @ size)
    seen, direction = np.linalg.eigh(squares / max(weight, 1.0))
    back = np.linalg.pinv(contrasts.T @ perturbation.transition @ basis, rcond=1e-10) @ contrasts.T
    learned = back.T @ (direction * np.maximum(seen, 0.0)) @ direction.T @ back
    any_direction = np.diag(perturbation.prior) - np.outer(perturbation.prior, perturbation.prior)
    scale = np.trace(learned) / max(np.trace(any_direction), 1e-300)
    covariance = learned + max(FURTHER * scale, LEAST_FURTHER) * any_direction
    forward = perturbation.transition @ basis
    reach, turn = np.linalg.eigh(forward.T @ covariance @ forward)
    return Shrinkage(basis @ turn, np.maximum(reach, 0.0), covariance @ forward @ turn)


def shrunk(perturbation: PerturbedIndex, shrinkage: Shrinkage, observed: Floats, wanted: Floats) -> Floats:
    """The wanted count of each selection, drawn towards the prior as far as chance can explain what differs.

    How strong deviations are is unknown for each selection: every strength counts by how likely it makes the observed
    counts.
    """
    blocks = range(0, len(observed), BLOCK)
    parts = [_shrink(perturbation, shrinkage, observed[i : i + BLOCK], wanted[i : i + BLOCK]) for i in blocks]
    return np.concatenate([np.zeros(0), *parts])


def _shrink(perturbation: PerturbedIndex, shrinkage: Shrinkage, observed: Floats, wanted: Floats) -> Floats:
    size = observed.sum(axis=1)
    free = np.maximum(perturbation.free(size), 1e-9)[:, None]
    deviation = (perturbation.adjusted(observed) - np.outer(size, perturbation.expected)) @ shrinkage.basis
    effect = wanted @ shrinkage.effect
    square = (size**2)[:, None]
    pull, squares, reach = square * effect * deviation, deviation**2, square * shrinkage.reach
    likelihoods, estimates = [], []
    for strength in STRENGTHS:
        total = free + strength * reach
        likelihoods.append(-0.5 * (np.log(total / free) + squares / total).sum(axis=1))
        estimates.append(strength * (pull / total).sum(axis=1))
    weights = np.exp(np.array(likelihoods) - np.max(likelihoods, axis=0))
    added = (weights * np.array(estimates)).sum(axis=0) / weights.sum(axis=0)
    return np.asarray(size * (wanted @ perturbation.prior) + added)


def from_prior(counts: Floats, size: Floats, wanted: Floats, misfit: float = 0.0) -> tuple[Floats, Floats]:
    """The count if sensitive values had nothing to do with the selection, and its standard error. Paper: 6.3, Baseline.

    Without any relation between them, a selection is a random sample of the table, drawn without replacement. `misfit`
    is how far a selection's log-odds of the wanted values are thought to be from the table's: one standard deviation.
    """
    n_rows = float(counts.sum())
    share = wanted @ counts / n_rows
    rest = np.maximum(n_rows - size, 0.0) / max(n_rows - 1, 1)  # 0 for the whole table, whose counts are known
    spread = size * share * (1 - share)
    return size * share, np.sqrt(np.maximum(spread * rest + (misfit * spread * rest) ** 2, 0.0))


def certain_bounds(counts: Floats, size: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """The least and the most that a selection of a size can hold of the wanted values, whatever chance did."""
    total = wanted @ counts
    return np.maximum(0.0, size + total - counts.sum()), np.minimum(size, total)
