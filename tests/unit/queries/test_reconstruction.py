"""Reconstruction: exact against fractions, unbiased and covered by simulation, never worse than its two rivals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import query_twins as twins
from betalike.errors import QueryError
from betalike.promises import Likeness
from betalike.queries.reconstruction import (
    PerturbedCounts,
    certain_bounds,
    from_prior,
    learn_shrinkage,
    reconstruct,
    shrink,
    unbiased_error,
)
from betalike.schemes.perturbation.sets import fit_sets
from query_certificates import theorem_3_matrix

RNG = np.random.default_rng


def draw(counts: np.ndarray, matrix: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Published counts of groups: a row of original counts for each."""
    return sum(rng.multinomial(counts[:, value], matrix[value]) for value in range(len(matrix))).astype(float)


def groups_of(n_groups: int, n_values: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Original counts of groups whose values differ between them in a smooth way."""
    center = rng.uniform(0.2, 0.8, n_groups)[:, None]
    place = np.linspace(0, 1, n_values)[None, :]
    share = np.exp(-2 * (place - center) ** 2)
    share /= share.sum(axis=1, keepdims=True)
    return np.array([rng.multinomial(size, row) for row in share])


class Simulated:
    """A table of groups, perturbed once."""

    def __init__(self, counts: np.ndarray, matrix: np.ndarray, rng: np.random.Generator) -> None:
        self.observed = draw(counts, matrix, rng)
        self.perturbation = PerturbedCounts(matrix, counts.sum(axis=0).astype(float), self.observed.sum(axis=0))
        self.shrinkage = learn_shrinkage(self.perturbation, [self.observed])


@given(st.lists(st.integers(0, 50), min_size=3, max_size=3), st.lists(st.integers(1, 8), min_size=3, max_size=3))
def test_inversion_is_the_solution_in_fractions(observed: list[int], weight: list[int]) -> None:
    rows = [
        [Fraction(1, w + 3) + (Fraction(w, w + 3) if i == j else 0) for j in range(3)] for i, w in enumerate(weight)
    ]
    exact = twins.reconstruct(rows, observed)
    matrix = np.array([[float(entry) for entry in row] for row in rows])
    table = PerturbedCounts(matrix, np.array([5.0, 6.0, 7.0]), np.array([6.0, 6.0, 6.0]))
    found, _ = reconstruct(table, np.array([observed] * 3, dtype=float), np.eye(3))
    assert found == pytest.approx([float(n) for n in exact], abs=1e-6)
    assert sum(exact) == sum(observed)


def test_inversion_is_unbiased_and_its_error_is_the_true_one() -> None:
    counts = np.array([[400, 300, 200, 60, 40]])
    prior = counts[0] / counts.sum()
    matrix = theorem_3_matrix(prior, beta=2)
    wanted = np.array([[0, 1, 0, 1, 1.0]])
    rng, n_trials = RNG(1), 4000
    estimates, errors = [], []
    for _ in range(n_trials):
        observed = draw(counts, matrix, rng)
        count, error = reconstruct(PerturbedCounts(matrix, counts[0].astype(float), observed[0]), observed, wanted)
        estimates.append(count[0])
        errors.append(error[0])
    factors = np.linalg.inv(matrix) @ wanted[0]
    deviation = math.sqrt(
        sum(n * (row @ factors**2 - (row @ factors) ** 2) for n, row in zip(counts[0], matrix, strict=True))
    )
    assert np.mean(estimates) == pytest.approx(400, abs=4 * deviation / math.sqrt(n_trials))
    assert np.std(estimates) == pytest.approx(deviation, rel=4 / math.sqrt(2 * n_trials))
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(deviation, rel=0.02)
    held = np.mean(np.abs(np.array(estimates) - 400) <= 1.96 * np.array(errors))
    assert held == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / n_trials))


@pytest.mark.parametrize("beta", [1.0, 4.0])
def test_the_default_is_nearer_than_inversion_and_prior_and_its_interval_holds(beta: float) -> None:
    rng = RNG(3)
    held, squares = [], {"shrink": 0.0, "reconstruct": 0.0, "prior": 0.0}
    for _ in range(60):
        counts = groups_of(40, 12, 500, rng)
        matrix = theorem_3_matrix(counts.sum(axis=0) / counts.sum(), beta)
        table = Simulated(counts, matrix, rng)
        wanted = np.zeros((40, 12))
        for row, start in zip(wanted, rng.integers(0, 8, 40), strict=True):
            row[start : start + 5] = 1
        exact, size = (counts * wanted).sum(axis=1), table.observed.sum(axis=1)
        count = shrink(table.perturbation, table.shrinkage, table.observed, wanted)
        error = unbiased_error(table.perturbation, size, wanted)
        held.append(np.mean(np.abs(count - exact) <= 1.96 * error))
        squares["shrink"] += ((count - exact) ** 2).sum()
        squares["reconstruct"] += ((reconstruct(table.perturbation, table.observed, wanted)[0] - exact) ** 2).sum()
        squares["prior"] += ((from_prior(table.perturbation.counts, size, wanted)[0] - exact) ** 2).sum()
    assert np.mean(held) >= 0.95 - 4 * np.std(held) / math.sqrt(len(held))
    assert squares["shrink"] < 0.4 * squares["reconstruct"], squares
    if beta == 4:  # at beta 1, so few rows tell nothing, and the prior alone is best
        assert squares["shrink"] < 0.95 * squares["prior"], squares


def test_the_whole_table_is_known() -> None:
    rng = RNG(5)
    counts = groups_of(10, 6, 200, rng)
    table = Simulated(counts, theorem_3_matrix(counts.sum(axis=0) / counts.sum(), 1.0), rng)
    everything = np.tile(table.observed.sum(axis=0), (6, 1))
    count = shrink(table.perturbation, table.shrinkage, everything, np.eye(6))
    assert count == pytest.approx(counts.sum(axis=0), abs=1e-3)
    assert unbiased_error(table.perturbation, everything.sum(axis=1), np.eye(6)) == pytest.approx(np.zeros(6), abs=1e-6)


@given(st.integers(1, 8), st.integers(0, 1000))
def test_estimates_of_all_values_are_the_selection(n_values: int, seed: int) -> None:
    rng = RNG(seed)
    counts = rng.integers(1, 30, (5, n_values))
    prior = counts.sum(axis=0) / counts.sum()
    table = Simulated(counts, 0.3 * np.eye(n_values) + 0.7 * prior, rng)
    every = np.ones((5, n_values))
    assert shrink(table.perturbation, table.shrinkage, table.observed, every) == pytest.approx(counts.sum(axis=1))
    count, error = reconstruct(table.perturbation, table.observed, every)
    assert count == pytest.approx(counts.sum(axis=1))
    assert error == pytest.approx(np.zeros(5), abs=1e-3)


@given(st.integers(0, 1000))
def test_without_perturbation_the_counts_are_exact(seed: int) -> None:
    counts = RNG(seed).integers(1, 300, (6, 4))
    table = Simulated(counts, np.eye(4), RNG(seed))
    wanted = np.tile([1.0, 0, 1, 0], (6, 1))
    exact = (counts * wanted).sum(axis=1)
    assert reconstruct(table.perturbation, table.observed, wanted)[0] == pytest.approx(exact)
    assert shrink(table.perturbation, table.shrinkage, table.observed, wanted) == pytest.approx(exact, rel=1e-4)


def test_values_that_nothing_tells_apart_are_estimated_from_the_prior() -> None:
    """A matrix without an inverse: two values are published alike."""
    rng = RNG(2)
    matrix = np.array([[0.6, 0.2, 0.2], [0.2, 0.4, 0.4], [0.2, 0.4, 0.4]])
    counts = rng.multinomial(1000, [0.5, 0.4, 0.1], size=8)
    table = Simulated(counts, matrix, rng)
    with pytest.raises(QueryError, match="no inverse"):
        reconstruct(table.perturbation, table.observed, np.ones((8, 3)))
    alike = [shrink(table.perturbation, table.shrinkage, table.observed, np.tile(v, (8, 1))) for v in np.eye(3)]
    assert alike[1] / alike[2] == pytest.approx(np.full(8, counts[:, 1].sum() / counts[:, 2].sum()), rel=0.05)


def test_a_selection_of_nothing_has_nothing() -> None:
    counts = np.array([[30, 40, 50], [50, 20, 30]])
    table = Simulated(counts, theorem_3_matrix(counts.sum(axis=0) / counts.sum(), 1.0), RNG(0))
    none, wanted = np.zeros((1, 3)), np.array([[1.0, 0, 0]])
    assert shrink(table.perturbation, table.shrinkage, none, wanted) == pytest.approx([0.0])
    assert [float(part[0]) for part in reconstruct(table.perturbation, none, wanted)] == [0, 0]


def test_the_prior_is_exact_for_a_random_selection() -> None:
    """Without any relation, the error of the baseline is that of a sample without replacement."""
    rng, counts = RNG(9), np.array([60.0, 25, 15])
    wanted = np.array([[1.0, 0, 1]])
    count, error = from_prior(counts, np.array([40.0]), wanted)
    drawn = rng.hypergeometric(75, 25, 40, size=20000)
    assert count[0] == pytest.approx(drawn.mean(), abs=4 * error[0] / math.sqrt(20000))
    assert error[0] == pytest.approx(drawn.std(), rel=0.03)


@given(st.lists(st.integers(0, 20), min_size=4, max_size=4), st.integers(0, 5))
def test_bounds_hold_for_every_selection(counts: list[int], seed: int) -> None:
    rng = RNG(seed)
    rows = np.repeat(np.arange(4), counts)
    chosen = rows[rng.random(len(rows)) < rng.random()]
    wanted = (rng.random((1, 4)) < 0.5).astype(float)
    low, high = certain_bounds(np.array(counts, dtype=float), np.array([float(len(chosen))]), wanted)
    assert low[0] <= wanted[0][chosen].sum() <= high[0]


def sets_of(counts: np.ndarray, beta: float) -> np.ndarray:
    """Chances of labels that name several values: more labels than values."""
    matrix = fit_sets(counts, Likeness(beta)).probabilities
    assert matrix.shape[1] > matrix.shape[0]
    return matrix


def test_with_more_labels_than_values_the_inverse_has_the_least_variance() -> None:
    counts = np.array([400, 300, 200, 60, 40])
    matrix, prior = sets_of(counts, 1.5), counts / counts.sum()
    table = PerturbedCounts(matrix, counts.astype(float), counts @ matrix)
    assert matrix @ table.inverse == pytest.approx(np.eye(5), abs=1e-9)
    # The solution of weighted least squares, by the normal equations.
    weighted = matrix / (prior @ matrix)
    assert table.inverse == pytest.approx(weighted.T @ np.linalg.inv(weighted @ matrix.T), abs=1e-9)
    other = np.linalg.pinv(matrix)
    variances = [(prior @ matrix) @ inverse**2 for inverse in (table.inverse, other)]
    assert (variances[0] <= variances[1] + 1e-9).all()


def test_estimates_from_sets_are_unbiased_and_their_error_is_the_true_one() -> None:
    counts = np.array([[400, 300, 200, 60, 40], [100, 100, 100, 100, 100]])
    total = counts.sum(axis=0)
    matrix, wanted = sets_of(total, 2), np.array([[0, 1, 0, 1, 1.0]] * 2)
    rng, estimates, errors = RNG(2), [], []
    for _ in range(2000):
        observed = draw(counts, matrix, rng)
        count, error = reconstruct(PerturbedCounts(matrix, total.astype(float), observed.sum(axis=0)), observed, wanted)
        estimates.append(count)
        errors.append(error)
    found = np.array(estimates)
    deviation = found.std(axis=0)
    assert (np.abs(found.mean(axis=0) - (counts * wanted).sum(axis=1)) < 4 * deviation / np.sqrt(2000)).all()
    assert np.mean(errors, axis=0) == pytest.approx(deviation, rel=0.1)


def test_shrinkage_from_sets_is_better_than_inversion_and_the_prior() -> None:
    rng = RNG(5)
    counts = groups_of(600, 12, 100, rng)
    simulated = Simulated(counts, sets_of(counts.sum(axis=0), 0.5), rng)
    wanted = np.tile((np.arange(12) < 5).astype(float), (600, 1))
    exact = (counts * wanted).sum(axis=1)
    table = simulated.perturbation
    found = {
        "shrinkage": shrink(table, simulated.shrinkage, simulated.observed, wanted),
        "inversion": reconstruct(table, simulated.observed, wanted)[0],
        "prior": from_prior(table.counts, simulated.observed.sum(axis=1), wanted)[0],
    }
    errors = {name: float(np.median(np.abs(count - exact))) for name, count in found.items()}
    assert errors["shrinkage"] < min(errors["inversion"], errors["prior"])
