"""Risks against their definitions: sums over people, in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.errors import ParameterError
from betalike.measures.risk import measure_risk

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
