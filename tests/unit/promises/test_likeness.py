"""Beta-likeness: caps and verdicts against the definitions, decided with fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from betalike.errors import ParameterError, SchemaError
from betalike.promises import Form, Likeness, posterior_cap
from betalike.promises.verdict import exact
from betalike.table.cells import ClassCounts

Matrix = list[list[int]]
betas = st.sampled_from([0.1, 0.5, 1, 1.5, 2, 4.0, 9])
forms = st.sampled_from(list(Form))


def counts_of(matrix: Matrix) -> ClassCounts:
    ec, value = np.nonzero(np.array(matrix))
    return ClassCounts.of(ec, value, np.array(matrix)[ec, value], len(matrix[0]))


def ratio_to_cap(count: int, size: int, prior: float, beta: float, form: Form) -> float:
    """Posterior over the highest that Definitions 2 and 3 allow, in floating point."""
    gain = min(beta, -math.log(prior)) if form is Form.ENHANCED else beta
    return count / size / min(prior * (1 + gain), 1.0)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=6).filter(lambda c: sum(c) > 0), betas, forms)
def test_caps_are_those_of_the_definition_rounded_down(counts: list[int], beta: float, form: Form) -> None:
    prior = np.array(counts) / sum(counts)
    caps = Likeness(beta, form).caps(np.array(counts)).frequencies
    with np.errstate(invalid="ignore"):
        formula = np.where(prior > 0, posterior_cap(prior, beta, form), 0.0)
    assert (caps <= formula + 1e-12).all()
    assert (caps >= formula - 1 / sum(counts)).all()


def test_a_cap_is_reached_by_the_last_tuple_that_fits() -> None:
    """With p = 1/10 and beta = 1 a class of ten may hold two, and of nine only one."""
    caps = Likeness(1, Form.BASIC).caps(np.array([10, 90]))
    assert [caps.most(size)[0] for size in (9, 10, 14, 15)] == [1, 2, 2, 3]


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any), min_size=1, max_size=4),
    betas,
    forms,
    st.integers(1, 4),
)
def test_the_verdict_is_that_of_the_definition(matrix: Matrix, beta: float, form: Form, k: int) -> None:
    counts = np.sum(matrix, axis=0)
    assume((counts > 0).sum() > 1)
    verdict = Likeness(beta, form, k).judge(counts_of(matrix), counts)
    prior = counts / counts.sum()
    ratios = {
        (ec, v): ratio_to_cap(n, sum(row), prior[v], beta, form)
        for ec, row in enumerate(matrix)
        for v, n in enumerate(row)
        if n
    }
    assume(all(abs(ratio - 1) > 1e-9 or ratio == 1 for ratio in ratios.values()))
    assert verdict.holds == (max(ratios.values()) <= 1 and min(map(sum, matrix)) >= k)
    assert verdict.smallest_class == min(map(sum, matrix))
    gains = [n / sum(row) / prior[v] - 1 for row in matrix for v, n in enumerate(row) if n]
    assert verdict.worst_gain == pytest.approx(max(gains))


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any), min_size=1, max_size=4), betas, forms)
def test_the_worst_class_and_value_are_those_of_the_worst_ratio(matrix: Matrix, beta: float, form: Form) -> None:
    counts = np.sum(matrix, axis=0)
    model = Likeness(beta, form)
    verdict = model.judge(counts_of(matrix), counts)
    row = matrix[verdict.worst_class]
    posterior = row[verdict.worst_value] / sum(row)
    ratio = posterior / posterior_cap(counts / counts.sum(), beta, form)[verdict.worst_value]
    assert verdict.worst_ratio == pytest.approx(min(ratio, 1.0) if verdict.holds else ratio)


def test_a_tuple_too_many_breaks_the_promise_however_large_the_table() -> None:
    """A tolerance of 1e-9 in the accepting direction would let this class pass."""
    n_rows = 2 * 10**9
    counts = np.array([n_rows // 10, n_rows - n_rows // 10])
    half = n_rows // 2
    allowed = half // 5
    for extra, holds in ((0, True), (1, False)):
        classes = counts_of([[allowed + extra, half - allowed - extra]])
        assert Likeness(1, Form.BASIC).judge(classes, counts).holds is holds


def test_a_value_that_the_table_lacks_is_never_allowed() -> None:
    verdict = Likeness(4).judge(counts_of([[3, 2, 1], [3, 3, 0]]), np.array([6, 6, 0]))
    assert not verdict.holds
    assert (verdict.worst_class, verdict.worst_value) == (0, 2)
    assert verdict.worst_gain == math.inf


def test_one_class_of_everything_is_always_allowed() -> None:
    for form in Form:
        counts = np.array([1, 5, 94])
        assert Likeness(0.001, form).judge(counts_of([counts.tolist()]), counts).holds


def test_enhanced_likeness_keeps_a_frequent_value_from_certainty() -> None:
    counts = np.array([60, 40])
    pure = [[20, 0], [40, 40]]
    assert Likeness(4, Form.BASIC).judge(counts_of(pure), counts).holds
    assert not Likeness(4, Form.ENHANCED).judge(counts_of(pure), counts).holds


def test_the_promise_is_named_after_its_form() -> None:
    assert (Likeness(2).name, Likeness(2, Form.BASIC).name) == ("enhanced-likeness", "basic-likeness")


@pytest.mark.parametrize("beta", [0, -1, math.nan, math.inf, True, "4", None])
def test_beta_is_a_number_greater_than_zero(beta: object) -> None:
    with pytest.raises(ParameterError, match="beta is"):
        Likeness(beta)  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "2"])
def test_k_is_a_whole_number_of_one_or_more(k: object) -> None:
    with pytest.raises(ParameterError, match="k is"):
        Likeness(2, k=k)  # type: ignore[arg-type]


def test_beta_is_taken_as_typed_or_as_held_whichever_promises_more() -> None:
    assert exact(0.1) == Fraction(1, 10)
    assert exact(4) == 4
    assert exact(0.7) == min(Fraction(0.7), Fraction(7, 10))


def test_beta_may_be_a_number_of_numpy() -> None:
    counts = np.array([10, 20, 70])
    assert Likeness(np.float64(2.0)).caps(counts).numerator.tolist() == Likeness(2.0).caps(counts).numerator.tolist()


def test_a_table_of_one_value_has_nothing_to_protect() -> None:
    with pytest.raises(SchemaError, match="1 distinct value"):
        Likeness(2).check_feasible(np.array([0, 7]))


def test_a_table_smaller_than_k_is_refused() -> None:
    with pytest.raises(ParameterError, match="k is 9, but the table has only 8 rows"):
        Likeness(2, k=9).check_feasible(np.array([4, 4]))
    Likeness(2, k=8).check_feasible(np.array([4, 4]))


def test_the_formula_is_eq_1() -> None:
    prior = np.array([0.01, 0.5, 1.0])
    assert posterior_cap(prior, 2) == pytest.approx([0.03, 0.5 * (1 + math.log(2)), 1.0])
    assert posterior_cap(prior, 2, Form.BASIC) == pytest.approx([0.03, 1.0, 1.0])
