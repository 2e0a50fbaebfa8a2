"""Section 5: Theorem 2, Lemma 3, Theorem 3 and its gap, the matrix PM, and the example of one tuple."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from betalike.promises import UNITS, Form, Likeness, Transition
from betalike.schemes.perturbation import DrawingRule, Perturbation
from examples import examples
from random_tables import BETAS

COUNTS = st.lists(st.integers(1, 1000), min_size=2, max_size=8)
COUNTER_EXAMPLE = (900, 50, 50)
BETA_1 = 1.0


def fractions_of(transition: Transition) -> list[list[Fraction]]:
    return [[Fraction(units, UNITS) for units in row] for row in transition.units.tolist()]


def retentions(matrix: list[list[Fraction]]) -> list[Fraction]:
    """Alpha of each value, from Eq. 12."""
    return [1 - len(matrix) * row[(i + 1) % len(matrix)] for i, row in enumerate(matrix)]


def test_theorem_3_fails_for_a_skewed_prior() -> None:
    """p = (.9, .05, .05), beta = 1: the rare values' retention is -0.364, and their posterior 3.46 times f(p)."""
    matrix = twins.naive_transition(COUNTER_EXAMPLE, BETA_1)
    assert [round(float(alpha), 3) for alpha in retentions(matrix)] == [0.872, -0.364, -0.364]
    broken = twins.broken_pairs(matrix, COUNTER_EXAMPLE, BETA_1, "enhanced")
    assert sorted(broken) == [(1, 2), (2, 1)]
    seen = sum(count * row[2] for count, row in zip(COUNTER_EXAMPLE, matrix, strict=True))
    posterior = 50 * matrix[1][2] / seen
    assert float(posterior) / twins.cap(Fraction(1, 20), Fraction(1), "enhanced") == pytest.approx(3.46, abs=0.005)


@pytest.mark.parametrize(("counts", "beta"), [(COUNTER_EXAMPLE, 1), ((700, 100, 100, 100), 0.5)])
@pytest.mark.parametrize("form", Form)
def test_the_counter_examples_are_perturbed_all_the_same(counts: tuple[int, ...], beta: float, form: Form) -> None:
    assert form is Form.BASIC or twins.broken_pairs(twins.naive_transition(counts, beta), counts, beta, form)
    perturbing = Perturbation().perturbing(np.array(counts), Likeness(beta, form))
    assert perturbing.rule is DrawingRule.BEST_RETENTION
    assert twins.broken_pairs(fractions_of(perturbing.transition), counts, beta, form) == []


@given(counts=COUNTS, beta=BETAS)
def test_theorem_3_holds_where_every_retention_is_positive(counts: list[int], beta: float) -> None:
    matrix = twins.naive_transition(counts, beta)
    if min(retentions(matrix)) > 0:
        assert twins.broken_pairs(matrix, counts, beta, "enhanced") == []


@given(counts=COUNTS, beta=BETAS)
def test_lemma_3_a_value_is_most_often_published_by_itself(counts: list[int], beta: float) -> None:
    matrix = twins.naive_transition(counts, beta)
    is_lemma = all(matrix[v][v] >= row[v] for v in range(len(counts)) for row in matrix)
    assert is_lemma or min(retentions(matrix)) <= 0


@given(counts=COUNTS, beta=BETAS, chances=st.lists(st.integers(1, 100), min_size=8, max_size=8))
def test_theorem_2_an_odds_ratio_up_to_gamma_is_enough(counts: list[int], beta: float, chances: list[int]) -> None:
    """If Pr(v_i -> v) <= gamma_i Pr(v_j -> v) for all j, then the posterior of v_i is at most f(p_i)."""
    n_rows, to_seen = sum(counts), chances[: len(counts)]
    total = sum(count * chance for count, chance in zip(counts, to_seen, strict=True))
    for count, chance in zip(counts, to_seen, strict=True):
        p = Fraction(count, n_rows)
        f = twins.limit(p, twins.promised(beta), "enhanced")[0]
        if Fraction(chance, min(to_seen)) <= f / p * (1 - p) / (1 - f):
            assert Fraction(count * chance, total) <= f


@pytest.mark.some(2)
@pytest.mark.parametrize("beta", [1, 2, 3, 4, 5])
def test_the_matrix_of_census_is_the_papers(census: pl.DataFrame, beta: int) -> None:
    """X_i = gamma_i C on the diagonal, Y_i beside it, to twelve digits."""
    counts = np.bincount(census["salary_class"].to_numpy())
    perturbing = Perturbation().perturbing(counts, Likeness(beta))
    assert perturbing.rule is DrawingRule.THEOREM_3
    found = fractions_of(perturbing.transition)
    paper = twins.naive_transition(counts.tolist(), beta)
    for i, (row, expected) in enumerate(zip(found, paper, strict=True)):
        assert abs(expected[i] - row[i]) < Fraction(1, 10**12)
    assert twins.broken_pairs(found, counts.tolist(), beta, "enhanced") == []


@pytest.mark.some(10)
@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("beta", [0.5, 1, 2, 4, 8])
@pytest.mark.parametrize("column", ["occupation", "salary-class", "native-country", "education"])
def test_every_prior_of_adult_is_kept(data_folder: Path, column: str, beta: float, form: Form) -> None:
    adult = pl.read_csv(data_folder / "adult" / "adult.csv", separator=";")
    counts = adult[column].value_counts(sort=True)["count"].to_numpy().astype(np.int64)
    perturbing = Perturbation().perturbing(counts, Likeness(beta, form))
    assert twins.broken_pairs(fractions_of(perturbing.transition), counts.tolist(), beta, form) == []
    assert perturbing.transition.retention.min() > 0


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("beta", [0.5, 1, 4, 20])
def test_the_prior_of_census_is_kept(census: pl.DataFrame, beta: float, form: Form) -> None:
    counts = np.bincount(census["salary_class"].to_numpy())
    perturbing = Perturbation().perturbing(counts, Likeness(beta, form))
    assert twins.broken_pairs(fractions_of(perturbing.transition), counts.tolist(), beta, form) == []


def test_the_example_of_a_value_that_one_tuple_has() -> None:
    """Generalization needs a class of half the table for it; perturbation keeps it as often as the others, nearly."""
    counts = np.array([1, *[10_000] * 10])
    perturbing = Perturbation().perturbing(counts, Likeness(1))
    assert twins.broken_pairs(fractions_of(perturbing.transition), counts.tolist(), 1, "enhanced") == []
    retention = perturbing.transition.retention
    assert retention.min() == retention[0] > 0.7 * retention.max()


@examples(30)
@given(counts=COUNTS, beta=st.sampled_from([0.5, 1, 4]))
def test_a_rows_posterior_does_not_depend_on_other_rows(counts: list[int], beta: float) -> None:
    """Corruption attacks: whoever knows the other tuple's value and what became of it learns nothing of this one."""
    matrix = twins.naive_transition(counts, beta)
    m = len(counts)
    for seen in range(m):
        alone = [counts[i] * matrix[i][seen] for i in range(m)]
        with_other = [[counts[i] * matrix[i][seen] * counts[j] * matrix[j][0] for i in range(m)] for j in range(m)]
        for row in with_other:
            assert sum(row) == 0 or [x / sum(row) for x in row] == [x / sum(alone) for x in alone]
