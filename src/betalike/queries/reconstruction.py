"""Reconstruction: estimate the original counts of a selection from the perturbed ones. Paper: Section 5, N' = PM^-1 E'.

All functions work on arrays: `observed` counts the published labels among the tuples that a query selects (E' in the
paper), `transition` is the matrix PM (original value by published label), and the counts of each original value in the
whole table are published. `reconstruct` is the paper's estimate, `shrink` the default. There may be more labels than
values, if labels name several values. The inverse is then the right inverse with the least variance under the prior.

The noise of the whole table is known, because its original counts are: `noise` = published counts - expected counts. A
selection of n of the table's N tuples has n / N of it on average. The default and its error allow for that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from betalike.errors import QueryError
from betalike.runtime.arrays import Floats

STRENGTHS = np.logspace(-8, 1, 37)  # prior variances to try, as multiples of what the groups show
FURTHER = 0.3  # extra variance in every direction, as a multiple of what the groups show
LEAST_FURTHER = 1e-4
DRAWN = 0.7  # part of the distance from the unbiased estimate that may be error
LEAST_SIZE = 1e-10  # of a singular value that is not 0
LEAST_NOISE = 1e-9
BLOCK = 512  # selections per step, so that they fit a processor's cache


@dataclass(frozen=True)
class PerturbedCounts:
    """The transition matrix, the table's counts of the original values, and those of the published labels."""

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
        """The expected share of each published label."""
        return np.asarray(self.prior @ self.transition)

    @cached_property
    def noise(self) -> Floats:
        """Published counts of the whole table minus the expected ones."""
        return np.asarray(self.published - self.counts @ self.transition)

    @cached_property
    def _parts(self) -> tuple[Floats, Floats, Floats]:
        """The singular value decomposition of the matrix, in units of the standard deviations of values and labels.

        Without its first part, which is the number of tuples. So the last singular value is 0.
        """
        weights = np.sqrt(self.prior)[:, None]
        return np.linalg.svd(weights * self.transition * self._per_label - weights * np.sqrt(self.expected), False)

    @cached_property
    def _per_label(self) -> Floats:
        return np.asarray(np.where(self.expected > 0, 1 / np.sqrt(np.maximum(self.expected, 1e-300)), 0.0))

    @cached_property
    def is_invertible(self) -> bool:
        """Whether the matrix has an inverse that is accurate enough."""
        return int((self._parts[1] > LEAST_SIZE).sum()) == len(self.prior) - 1

    @cached_property
    def inverse(self) -> Floats:
        """The inverse PM^-1, or the pseudo-inverse of a matrix that has none."""
        left, size, right = self._parts
        inverted = np.divide(1.0, size, out=np.zeros_like(size), where=size > LEAST_SIZE)
        weights = np.sqrt(self.prior)
        return np.asarray(self._per_label[:, None] * ((right.T * inverted) @ left.T * weights) + self.prior)

    @cached_property
    def directions(self) -> Floats:
        """Sums over labels that depend on the original values, with uncorrelated noise of variance 1 per tuple."""
        _, size, right = self._parts
        noise = np.sqrt(np.maximum(1 - size[:-1] ** 2, LEAST_NOISE))
        return np.asarray(self._per_label[:, None] * right[:-1].T / noise)

    def adjusted(self, observed: Floats) -> Floats:
        """Return observed counts minus their share of the table's noise."""
        return np.asarray(observed - np.outer(observed.sum(axis=1) / self.n_rows, self.noise))

    def free(self, size: Floats) -> Floats:
        """Return the factor on the noise of one tuple for selections of a size, once the table's noise is known."""
        return np.asarray(size * np.maximum(1.0 - size / self.n_rows, 0.0))


def reconstruct(perturbation: PerturbedCounts, observed: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """Return the paper's estimate N' = PM^-1 E', summed over the wanted values, and its standard error.

    Rows of `wanted` have a 1 for each wanted value. The estimate is unbiased and may be negative. Paper: Section 5.
    """
    if not perturbation.is_invertible:
        raise QueryError("the transition matrix of this release has no inverse; use the method 'shrinkage'.")
    factors = wanted @ perturbation.inverse.T
    count = (observed * factors).sum(axis=1)
    squares = (observed * factors**2).sum(axis=1)  # includes the tuples' own counts, which are not noise
    usual = observed.sum(axis=1) * _noise_of(perturbation, factors)  # a few tuples may show too little noise
    return count, np.sqrt(np.maximum(squares - count, usual))


def reconstruction_error(perturbation: PerturbedCounts, size: Floats, wanted: Floats, usual: Floats) -> Floats:
    """Return the standard error of the reconstruction, larger than usual if this release's known noise is large.

    The reconstruction does not allow for the noise of the whole table, so every selection has its part of it.
    """
    part = size / perturbation.n_rows
    known = part * (wanted @ perturbation.inverse.T @ perturbation.noise)
    return np.asarray(np.maximum(usual, np.hypot(usual * np.sqrt(np.maximum(1.0 - part, 0.0)), known)))


def unbiased_error(perturbation: PerturbedCounts, size: Floats, wanted: Floats) -> Floats:
    """Return the reconstruction's standard error after allowing for the table's noise; cautious for the default."""
    factors = wanted @ perturbation.inverse.T
    return np.asarray(np.sqrt(perturbation.free(size) * _noise_of(perturbation, factors)))


def shrinkage_error(perturbation: PerturbedCounts, observed: Floats, wanted: Floats, count: Floats) -> Floats:
    """Return the standard error of the default: that of the unbiased estimate, plus part of the shrinkage."""
    drawn = count - (perturbation.adjusted(observed) * (wanted @ perturbation.inverse.T)).sum(axis=1)
    return np.asarray(np.hypot(unbiased_error(perturbation, observed.sum(axis=1), wanted), DRAWN * drawn))


def _noise_of(perturbation: PerturbedCounts, factors: Floats) -> Floats:
    """Return the variance that chance gives to a sum of factors over the published label of one tuple."""
    known = factors @ perturbation.transition.T
    return np.asarray(np.maximum(factors**2 @ perturbation.expected - known**2 @ perturbation.prior, 0.0))


@dataclass(frozen=True)
class Shrinkage:
    """How selections differ from the table: uncorrelated directions, and how far selections deviate along each.

    `basis` leads to directions in which chance has variance 1 per free tuple. There, a selection's deviation has a
    variance of `reach` times a strength times its squared size. `effect` leads back to original values.
    """

    basis: Floats
    reach: Floats
    effect: Floats


def learn_shrinkage(perturbation: PerturbedCounts, groups: Iterable[Floats]) -> Shrinkage:
    """Learn from groups of tuples how original values deviate from the prior together.

    Each batch has a row of observed counts per group. The squared deviations, minus what chance contributes, estimate
    the covariance of groups without bias.
    """
    m = len(perturbation.prior)
    contrasts = np.linalg.svd(np.ones((1, m)))[2][1:].T
    basis = perturbation.directions
    squares, weight = np.zeros((basis.shape[1],) * 2), 0.0
    for observed in groups:
        size = observed.sum(axis=1)
        deviation = (perturbation.adjusted(observed) - np.outer(size, perturbation.expected)) @ basis
        squares += deviation.T @ deviation - perturbation.free(size).sum() * np.eye(len(squares))
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


def shrink(perturbation: PerturbedCounts, shrinkage: Shrinkage, observed: Floats, wanted: Floats) -> Floats:
    """Return the wanted count of each selection, shrunk towards the prior as far as chance can explain the difference.

    The strength of a selection's deviation is unknown, so every strength is weighted by how likely it makes the
    observed counts.
    """
    blocks = range(0, len(observed), BLOCK)
    parts = [_shrink_block(perturbation, shrinkage, observed[i : i + BLOCK], wanted[i : i + BLOCK]) for i in blocks]
    return np.concatenate([np.zeros(0), *parts])


def _shrink_block(perturbation: PerturbedCounts, shrinkage: Shrinkage, observed: Floats, wanted: Floats) -> Floats:
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
    """Return the count if sensitive values did not depend on the selection, and its standard error.

    Then a selection is a random sample of the table, drawn without replacement. `misfit` is the assumed standard
    deviation between a selection's log-odds of the wanted values and the table's. Paper: 6.3, Baseline.
    """
    n_rows = float(counts.sum())
    share = wanted @ counts / n_rows
    rest = np.maximum(n_rows - size, 0.0) / max(n_rows - 1, 1)  # 0 for the whole table, whose counts are known
    spread = size * share * (1 - share)
    return size * share, np.sqrt(np.maximum(spread * rest + (misfit * spread * rest) ** 2, 0.0))


def certain_bounds(counts: Floats, size: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """Return the least and the greatest number of wanted values that a selection of a size can hold."""
    total = wanted @ counts
    return np.maximum(0.0, size + total - counts.sum()), np.minimum(size, total)
