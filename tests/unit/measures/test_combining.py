"""Rubin's rules and Student's quantiles, against SciPy, statsmodels and the formulas written out."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import betalike
from betalike.errors import ParameterError
from betalike.measures.combining import beta_chance, t_quantile

FINITE = st.floats(-1e6, 1e6)


@given(st.lists(st.tuples(FINITE, st.floats(1e-6, 1e6)), min_size=2, max_size=20))
def test_the_rules_are_those_of_rubin_written_out(tables: list[tuple[float, float]]) -> None:
    estimates, variances = zip(*tables, strict=True)
    m = len(tables)
    within, between = statistics.mean(variances), statistics.variance(estimates)
    total = within + (1 + 1 / m) * between
    found = betalike.combine(estimates, variances)
    assert found.estimate == pytest.approx(statistics.mean(estimates), rel=1e-9, abs=1e-9)
    assert found.standard_error == pytest.approx(math.sqrt(total), rel=1e-9)
    if (1 + 1 / m) * between > 1e-9 * within:
        freedom = (m - 1) * (1 + within / ((1 + 1 / m) * between)) ** 2
        assert found.degrees_of_freedom == pytest.approx(freedom, rel=1e-6)
        reach = stats.t.ppf(0.975, freedom) * math.sqrt(total)
        assert found.high - found.low == pytest.approx(2 * reach, rel=1e-5)
    assert found.low <= found.estimate <= found.high


def test_each_estimate_of_an_array_is_combined_by_itself() -> None:
    estimates, variances = [[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]], [[1.0, 0.25]] * 3
    found = betalike.combine(estimates, variances)
    first = betalike.combine([1.0, 2.0, 4.0], [1.0] * 3)
    assert found.estimate[0] == first.estimate
    assert (found.low[0], found.high[0]) == (first.low, first.high)
    assert found.degrees_of_freedom[1] == math.inf
    assert found.high[1] == pytest.approx(5 + 0.5 * statistics.NormalDist().inv_cdf(0.975))
    assert "tables 3" in repr(found)


@given(st.floats(0.01, 0.99), st.floats(0.5, 1e6))
def test_quantiles_are_those_of_scipy(chance: float, degrees: float) -> None:
    assert t_quantile(chance, degrees) == pytest.approx(stats.t.ppf(chance, degrees), rel=1e-6, abs=1e-9)


@given(st.floats(0.0, 1.0), st.floats(0.1, 1e4), st.floats(0.1, 1e3))
def test_the_incomplete_beta_function_is_that_of_scipy(x: float, a: float, b: float) -> None:
    assert beta_chance(x, a, b) == pytest.approx(stats.beta.cdf(x, a, b), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize(
    ("estimates", "variances", "more", "words"),
    [
        ([1.0], [1.0], {}, "estimates of 1 tables"),
        ([1.0, 2.0], [1.0], {}, "one entry per table"),
        (1.0, 1.0, {}, "one entry per table"),
        ([1.0, 2.0], [1.0, -1.0], {}, "below 0"),
        ([1.0, 2.0], [1.0, 1.0], {"confidence": 95}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_combined_is_refused(estimates: object, variances: object, more: dict, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        betalike.combine(estimates, variances, **more)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Impute missing halves of normal samples properly, and combine: 95 % of the intervals hold the mean."""
    rng, held, n = np.random.default_rng(1), [], 40
    for _ in range(400):
        seen = rng.normal(3.0, 1.0, n)
        estimates, variances = [], []
        for _ in range(10):
            deviation = math.sqrt(seen.var(ddof=1) * (n - 1) / rng.chisquare(n - 1))
            drawn = rng.normal(rng.normal(seen.mean(), deviation / math.sqrt(n)), deviation, n)
            whole = np.append(seen, drawn)
            estimates.append(whole.mean())
            variances.append(whole.var(ddof=1) / len(whole))
        found = betalike.combine(estimates, variances)
        held.append(found.low <= 3.0 <= found.high)
    assert 0.92 <= np.mean(held) <= 0.98
