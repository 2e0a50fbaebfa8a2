"""The matrix of a perturbation: exact in units, in decimals, and in the verdict on it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from betalike.promises import UNITS, Form, Likeness, Transition, judge_transition
from betalike.promises.sets import Sets
from betalike.promises.transition import sums_over
from random_tables import BETAS, FORMS


def fractions_of(transition: Transition) -> list[list[Fraction]]:
    return [[Fraction(units, UNITS) for units in row] for row in transition.units.tolist()]


@st.composite
def matrices(draw: st.DrawFn, n_values: int) -> Transition:
    """Any matrix, with zeros and ones among its chances."""
    rows = []
    for _ in range(n_values):
        weights = draw(st.lists(st.integers(0, 9), min_size=n_values, max_size=n_values).filter(any))
        units = [UNITS * weight // sum(weights) for weight in weights]
        units[draw(st.integers(0, n_values - 1))] += UNITS - sum(units)
        rows.append(units)
    return Transition(np.array(rows))


@st.composite
def judged(draw: st.DrawFn) -> tuple[Transition, np.ndarray]:
    n_values = draw(st.integers(2, 5))
    counts = draw(st.lists(st.integers(1, 10**7), min_size=n_values, max_size=n_values))
    return draw(matrices(n_values)), np.array(counts)


@given(case=judged(), beta=BETAS, form=FORMS)
def test_the_verdict_is_that_of_fractions(case: tuple[Transition, np.ndarray], beta: float, form: str) -> None:
    transition, counts = case
    verdict = judge_transition(Likeness(beta, Form(form)), transition, counts)
    matrix = fractions_of(transition)
    assert verdict.holds == (twins.broken_pairs(matrix, counts.tolist(), beta, form) == [])
    seen = [sum(n * row[v] for n, row in zip(counts.tolist(), matrix, strict=True)) for v in range(len(counts))]
    gain = max(int(counts.sum()) * row[v] / seen[v] - 1 for row in matrix for v in range(len(counts)) if seen[v])
    assert verdict.worst_gain == pytest.approx(float(gain), rel=1e-9, abs=1e-9)
    assert verdict.holds or verdict.worst_ratio > 1 - 1e-9
    assert not verdict.holds or verdict.worst_ratio <= 1


SETS = st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=6)
SHARES = st.lists(st.sampled_from([0.0, 7.3e-14, 1e-300, 0.25, 1 - 2**-53]), min_size=6, max_size=6)


@given(members=SETS, shares=SHARES)
def test_sums_over_sets_keep_the_digits_of_small_shares(members: list[set[int]], shares: list[float]) -> None:
    sums = sums_over(Sets.of([sorted(values) for values in members]), np.array(shares)[:, None])
    exact = [sum(Fraction(shares[value]) for value in values) for values in members]
    assert sums[:, 0].tolist() == pytest.approx([float(total) for total in exact], rel=1e-12, abs=0)


def test_a_unit_too_much_is_seen() -> None:
    """p = 1/2, 1/2 and beta 1/5, basic: the posterior may be 3/5, which a single unit decides."""
    just = Transition(np.array([[6, 4], [4, 6]]) * (UNITS // 10))
    more = Transition(just.units + np.array([[1, -1], [0, 0]]))
    model, counts = Likeness(0.2, Form.BASIC), np.array([50, 50])
    assert judge_transition(model, just, counts).holds
    assert judge_transition(model, just, counts).worst_ratio == 1
    assert not judge_transition(model, more, counts).holds


def test_the_order_of_values_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    transition, counts = Transition.of_retention(rng.random(6)), rng.integers(1, 1000, 6)
    order = rng.permutation(6)
    moved = Transition(transition.units[np.ix_(order, order)])
    one, other = (judge_transition(Likeness(1), t, c) for t, c in ((transition, counts), (moved, counts[order])))
    assert one.worst_gain == pytest.approx(other.worst_gain)
    assert (one.holds, order[other.worst_value]) == (other.holds, one.worst_value)


@given(st.integers(2, 7).flatmap(lambda n: matrices(n)))
def test_decimals_are_the_matrix_to_the_last_digit(transition: Transition) -> None:
    texts = transition.texts()
    assert [[Fraction(text) for text in row] for row in texts] == fractions_of(transition)
    assert Transition.from_texts(texts).units.tolist() == transition.units.tolist()


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_retention_is_rounded_down_and_by_little(retention: list[float]) -> None:
    transition = Transition.of_retention(np.array(retention))
    assert (transition.units.sum(axis=1) == UNITS).all()
    for i, wanted in enumerate(retention):
        row = fractions_of(transition)[i]
        move = {chance for j, chance in enumerate(row) if j != i}
        assert len(move) == 1
        found = 1 - len(retention) * move.pop()
        assert Fraction(wanted) - Fraction(len(retention), 10**14) <= found <= Fraction(wanted) + Fraction(1, 10**15)
        assert transition.retention[i] == pytest.approx(float(found), abs=1e-12)


@pytest.mark.parametrize(
    "rows",
    [
        [["0.5", "0.5"], ["0.5"]],
        [["0.5", "0.6"], ["0.5", "0.5"]],
        [["-0.5", "1.5"], ["0.5", "0.5"]],
        [["0.5", "0.5"], ["5e-1", "0.5"]],
        [["0.5", "0.5"], ["", "1"]],
        [["0.5000000000000000", "0.5"], ["0.5", "0.5"]],
        [["1"]],
        [["1", "0"]],
        [],
    ],
)
def test_what_is_no_transition_is_refused(rows: list[list[str]]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whichever it is
        Transition.from_texts(rows)
