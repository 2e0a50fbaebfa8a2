"""Sets: extreme distributions within the caps that mix to the prior, and their noise against proved bounds."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import twins
from betalike.errors import InfeasibleError, ParameterError
from betalike.promises import UNITS, Form, Likeness, Transition, judge_transition
from betalike.queries.reconstruction import PerturbedCounts, unbiased_error
from betalike.runtime.randomness import SeededRandomness, randomness
from betalike.schemes.perturbation import Mechanism, Perturbation
from betalike.schemes.perturbation.retention import caps_of
from betalike.schemes.perturbation.sets import choose_sets, draw_sets, fit_sets, name_sets, weigh
from betalike.table.axis import HierarchyAxis, OrderedAxis
from betalike.table.hierarchy import Hierarchy
from betalike.table.joint import JointAxis
from betalike.table.schema import Kind

PRIORS = {
    "even": [20] * 10,
    "skewed": [900, 50, 50],
    "one in half": [500, 100, 100, 100, 100, 100],
    "two": [76, 24],
    "zipf": [1000 // i for i in range(1, 21)],
}


def extreme_points(cap: list[Fraction], floor: list[Fraction]) -> set[tuple[Fraction, ...]]:
    """Every distribution with all values at their cap or floor but one at most, by trying all sets of values."""
    found = set()
    for full in itertools.product([False, True], repeat=len(cap)):
        ends = [c if is_full else f for c, f, is_full in zip(cap, floor, full, strict=True)]
        for between in range(len(cap)):
            rest = 1 - sum(ends) + ends[between]
            if floor[between] <= rest <= cap[between]:
                found.add((*ends[:between], rest, *ends[between + 1 :]))
    return found


@pytest.mark.parametrize("counts", [[5, 3, 2], [9, 1], [4, 3, 2, 1], [6, 6, 3, 3, 2]], ids=str)
@pytest.mark.parametrize(("above", "below"), [(Fraction(1, 2), 1), (Fraction(3, 2), 1), (1, Fraction(1, 3))])
def test_sets_are_extreme_and_mix_to_the_prior(counts: list[int], above: Fraction, below: Fraction) -> None:
    prior = [Fraction(n, sum(counts)) for n in counts]
    cap, floor = [min((1 + above) * p, Fraction(1)) for p in prior], [(1 - below) * p for p in prior]
    extreme = np.array([[float(q) for q in point] for point in extreme_points(cap, floor)])
    p, c, f = (np.array([float(x) for x in bound]) for bound in (prior, cap, floor))
    chances = choose_sets(p, c, f)
    assert chances is not None
    assert chances.sum(axis=1) == pytest.approx(1)
    posterior = p[:, None] * chances / (p @ chances)
    distance = np.abs(posterior.T[:, None, :] - extreme[None, :, :]).max(axis=2).min(axis=1)
    assert distance.max() < 1e-9
    assert posterior @ (p @ chances) == pytest.approx(p)


def test_amounts_are_all_or_nothing_but_one_and_right_on_average() -> None:
    expected, room = np.array([0.1, 0.2, 0.3, 0.25, 0.15]), np.array([0.4, 0.5, 0.35, 0.25, 0.9])
    amounts = draw_sets(np.tile(expected, (20_000, 1)), room, SeededRandomness(1))
    is_between = (amounts > 0) & (amounts < room)
    assert is_between.sum(axis=1).max() <= 1
    assert amounts.min() >= 0
    assert (amounts <= room).all()
    assert amounts.sum(axis=1) == pytest.approx(1)
    error = amounts.std(axis=0) / np.sqrt(len(amounts))
    assert (np.abs(amounts.mean(axis=0) - expected) <= 5 * error + 1e-12).all()


def test_weights_that_do_not_exist_are_not_found() -> None:
    posterior = np.array([[0.5, 0.5], [0.4, 0.6]])
    assert weigh(posterior, np.array([0.55, 0.45])) is None
    assert weigh(posterior, np.array([0.425, 0.575])) == pytest.approx([0.25, 0.75])


@pytest.mark.parametrize("counts", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("beta", [0.5, 1, 4])
def test_drawn_sets_follow_the_matrix(counts: list[int], beta: float) -> None:
    scheme, prior = Perturbation(Mechanism.SETS, randomness(3)), np.array(counts)
    perturbing = scheme.perturbing(prior, Likeness(beta))
    values = np.repeat(np.arange(len(counts), dtype=np.int32), 20_000)
    draw = scheme.draw(perturbing, {str(i): n for i, n in enumerate(counts)})
    published = draw(values, 0)
    assert draw.labels is not None
    for value in range(len(counts)):
        found = np.bincount(published[values == value], minlength=len(draw.labels))
        expected = perturbing.transition.probabilities[value] * 20_000
        assert found[expected == 0].sum() == 0
        large = expected > 5
        if large.sum() > 1:
            scaled = expected[large] * found[large].sum() / expected[large].sum()
            assert stats.chisquare(found[large], scaled).pvalue > 1e-4


def noise(matrix: Transition, counts: np.ndarray) -> np.ndarray:
    """The standard error of the unbiased estimate of each value's count, per row of a small selection."""
    published = matrix.published(counts).astype(float) / UNITS
    table = PerturbedCounts(matrix.probabilities, counts.astype(float), published)
    return unbiased_error(table, np.full(len(counts), 1e-9 * counts.sum()), np.eye(len(counts))) / np.sqrt(
        1e-9 * counts.sum()
    )


@pytest.mark.parametrize("counts", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("beta", [0.5, 1, 2, 4])
def test_estimates_are_better_than_with_one_value_and_near_what_no_mechanism_beats(
    counts: list[int], beta: float
) -> None:
    """Any mechanism has at least this noise: (1 - p)^2 / (cap / p - 1) + p^2 - p per row."""
    numbers, model = np.array(counts), Likeness(beta)
    prior, cap = caps_of(model, numbers)
    least = np.sqrt(np.maximum((1 - prior) ** 2 / (cap / prior - 1) + prior**2 - prior, 0))
    sets, one = (
        noise(Perturbation(Mechanism(m)).perturbing(numbers, model).transition, numbers)
        for m in Mechanism.__reversed__()
    )
    assert (sets >= least - 1e-6).all()
    assert (one >= least - 1e-6).all()
    assert np.median(sets) <= 1.05 * np.median(one)
    if len(counts) >= 6:
        assert np.median(sets) < 0.75 * np.median(one)
        assert np.median(sets) < 1.2 * np.median(least)


def test_a_two_sided_promise_leaves_no_value_impossible() -> None:
    counts = np.array([40, 30, 20, 10, 60, 40])
    model = Likeness(1.0, Form.BASIC, negative_beta=0.5)
    axis = HierarchyAxis("s", Hierarchy.flat("abcdef"))
    matrix = fit_sets(counts, model, axis)
    posterior, prior = matrix.posterior(counts), counts / counts.sum()
    assert judge_transition(model, matrix, counts, axis).holds
    assert posterior.min(axis=1) == pytest.approx(prior / 2)
    assert posterior.max(axis=1) == pytest.approx(2 * prior)


def test_a_promise_about_intervals_is_kept() -> None:
    counts = np.array([40, 30, 20, 10, 60, 40])
    model = Likeness(1.0, Form.BASIC, width=2)
    axis = OrderedAxis("s", Kind.INTEGER, np.arange(6), (0, 5))
    matrix = fit_sets(counts, model, axis)
    verdict = judge_transition(model, matrix, counts, axis)
    assert verdict.holds
    assert verdict.worst_ratio > 0.99


def test_labels_are_told_apart_whatever_values_contain() -> None:
    values = ["a", "b", "a|b", "a\\", "\\|", "", "|"]
    matrix = fit_sets(np.array([5, 6, 7, 5, 6, 7, 8]) * 100, Likeness(1))
    labels = name_sets(matrix, np.array([5, 6, 7, 5, 6, 7, 8]) * 100, values)
    assert len({*labels}) == len(labels)


def test_the_label_names_what_becomes_likelier() -> None:
    counts = np.array([300, 200, 100, 100])
    matrix = fit_sets(counts, Likeness(1))
    exact = [[Fraction(u, UNITS) for u in row] for row in matrix.units.tolist()]
    for place, label in enumerate(name_sets(matrix, counts, list("abcd"))):
        joint = [n * row[place] for n, row in zip(counts.tolist(), exact, strict=True)]
        likelier = [
            value for value, part, n in zip("abcd", joint, counts.tolist(), strict=True) if part * 700 > n * sum(joint)
        ]
        assert label.split("|") == likelier


def test_what_cannot_be_published_is_refused() -> None:
    joint = JointAxis.of("a + b", ["a", "b"], np.array([[0, 0], [0, 1], [1, 0]]))
    with pytest.raises(ParameterError, match="one sensitive column"):
        Perturbation(Mechanism.SETS).perturbing(np.array([5, 5, 5]), Likeness(1), joint)
    with pytest.raises(InfeasibleError, match="less than one"):
        Perturbation(Mechanism.SETS).perturbing(np.array([5, 5, 5]), Likeness(0.01))
    with pytest.raises(InfeasibleError, match="leaves no room"):
        Perturbation(Mechanism.SETS).perturbing(np.array([79, 71]), Likeness(cap=lambda share: share))
    with pytest.raises(ParameterError, match="matrix, sets"):
        Perturbation("set")  # type: ignore[arg-type]


def test_the_promise_is_exact_for_every_set_that_can_be_published() -> None:
    counts = [7, 11, 13, 17, 19, 400]
    for beta in (0.3, 1, 2.7):
        matrix = fit_sets(np.array(counts), Likeness(beta))
        exact = [[Fraction(u, UNITS) for u in row] for row in matrix.units.tolist()]
        assert twins.broken_pairs(exact, counts, beta, "enhanced") == []
        worse = [
            [Fraction(u, UNITS) for u in row] for row in fit_sets(np.array(counts), Likeness(beta + 0.1)).units.tolist()
        ]
        assert twins.broken_pairs(worse, counts, beta, "enhanced") != []
