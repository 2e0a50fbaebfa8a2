"""Risks against their definitions: sums over people, in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.errors import ParameterError
from betalike.measures.risk import (
    Inference,
    infer_from_chances,
    measure_inference,
    measure_risk,
    people_enough,
    three_questions,
    threshold_name,
)
from betalike.table.cells import ClassCounts

SIZES = st.lists(st.integers(1, 50), min_size=1, max_size=40)


@given(SIZES, st.integers(1, 20))
def test_risks_are_maxima_and_averages_over_people(sizes: list[int], times: int) -> None:
    people = [Fraction(1, size) for size in sizes for _ in range(size)]
    n = len(people)
    risk = measure_risk(np.array(sizes), population=n * times)
    assert (risk.rows, risk.classes) == (n, len(sizes))
    assert risk.prosecutor_maximum == pytest.approx(float(max(people)))
    assert risk.prosecutor_average == pytest.approx(float(sum(people) / n))
    in_population = [Fraction(1, size * times) for size in sizes for _ in range(size)]
    assert risk.journalist_maximum == pytest.approx(float(max(in_population)))
    assert risk.journalist_average == pytest.approx(float(sum(in_population) / n))
    assert risk.marketer == pytest.approx(float(sum(Fraction(size, size * times) for size in sizes) / n))
    assert risk.unique == sizes.count(1) / n
    for threshold, share in risk.above.items():
        assert share == sum(p > Fraction(str(threshold)) for p in people) / n


def test_five_people_are_not_above_a_fifth() -> None:
    assert measure_risk(np.array([5, 5])).above[0.2] == 0
    assert measure_risk(np.array([4, 6])).above[0.2] == 0.4


@given(st.floats(0.001, 1.0))
def test_people_are_above_a_threshold_while_they_are_too_few(threshold: float) -> None:
    enough = people_enough(threshold)
    assert measure_risk(np.array([enough]), thresholds=[threshold]).above == {threshold: 0.0}
    if enough > 1:
        assert measure_risk(np.array([enough - 1]), thresholds=[threshold]).above == {threshold: 1.0}
    assert list(measure_risk(np.array([9]), thresholds=[threshold]).to_dict()["above"]) == [threshold_name(threshold)]
    assert float(threshold_name(threshold)) == threshold


def test_without_a_population_the_table_is_everybody() -> None:
    risk = measure_risk(np.array([2, 8]))
    assert risk.journalist_maximum is None
    assert risk.marketer == risk.prosecutor_average == 0.2


@pytest.mark.parametrize("population", [0, 9])
def test_a_population_smaller_than_the_table_is_refused(population: int) -> None:
    with pytest.raises(ParameterError, match="10 rows"):
        measure_risk(np.array([10]), population=population)


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.5, float("nan")])
def test_absurd_thresholds_are_refused(threshold: float) -> None:
    with pytest.raises(ParameterError, match="threshold"):
        measure_risk(np.array([10]), thresholds=[threshold])


MATRICES = st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any), min_size=1, max_size=8)


@given(MATRICES)
def test_guesses_are_shares_of_people_in_exact_fractions(matrix: list[list[int]]) -> None:
    counts = np.array(matrix)
    ec, value = np.nonzero(counts)
    classes = ClassCounts.of(ec, value, counts[ec, value], 3)
    prior = counts.sum(axis=0)
    found = measure_inference(classes, prior)
    shares = [[Fraction(n, sum(row)) for n in row] for row in matrix]
    n = sum(map(sum, matrix))
    assert found.surest_guess == pytest.approx(float(max(map(max, shares))))
    assert found.average_guess == pytest.approx(float(Fraction(sum(map(max, matrix)), n)))
    gains = [q / Fraction(int(prior[v]), n) - 1 for row in shares for v, q in enumerate(row) if q]
    assert found.largest_gain == pytest.approx(float(max(gains)), abs=1e-12)


def test_a_value_that_the_original_lacks_has_an_infinite_gain() -> None:
    classes = ClassCounts.of(np.array([0, 0]), np.array([0, 1]), np.array([1, 1]), 2)
    assert measure_inference(classes, np.array([2, 0])).largest_gain is None


def test_chances_are_guessed_like_classes_with_these_shares() -> None:
    posterior = np.array([[0.5, 0.25, 0.25], [0.1, 0.6, 0.3], [0.0, 0.0, 1.0]])
    found = infer_from_chances(posterior, np.array([10, 30, 0]), np.array([8, 21, 11]))
    assert found.surest_guess == 0.6
    assert found.average_guess == pytest.approx((10 * 0.5 + 30 * 0.6) / 40)
    assert found.largest_gain == pytest.approx(0.5 / (8 / 40) - 1)
    assert found.near_promise is None


def test_the_three_questions_have_the_figures_that_they_speak_of() -> None:
    classes = ClassCounts.of(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([1, 1, 3]), 2)
    risk, inference = measure_risk(classes.sizes), measure_inference(classes, np.array([2, 3]))
    alone, linked, inferred = three_questions(risk, inference)
    assert [question.name for question in (alone, linked, inferred)] == ["singling out", "linkability", "inference"]
    assert (alone.figure, linked.figure, inferred.figure) == (0.2, 0.4, 1.0)
    assert alone.sentence.startswith("fewer than 3 people are alone")  # one of five
    assert "right for 40 % of them on average, and for one person with a chance of at most 100 %" in linked.sentence
    assert "80 % of the people, and no value is more than 2.5 times" in inferred.sentence
    third = Inference(0.5, None, 4 / 3)
    assert "no value is more than 2.334 times" in three_questions(risk, third)[2].sentence  # a limit is rounded up
    alone, linked, _ = three_questions(risk, inference, measure_risk(np.array([1, 1, 1, 1, 1])))
    assert alone.sentence.endswith("; in the original table, 100 % of the people are")
    assert linked.sentence.endswith("; in the original table, the average is 100 %")
