from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.comparison.search import CLOSE, match
from betalike.errors import ParameterError


def rising(parameter: float) -> tuple[float, str]:
    return parameter**2, f"{parameter:g}"


def falling(parameter: float) -> tuple[float, str]:
    return 1 / parameter, f"{parameter:g}"


@given(st.floats(1.0, 1e4))
def test_a_smooth_figure_is_met_whether_it_rises_or_falls(target: float) -> None:
    found = match(target, rising, 1.0, 100.0, steps=60)
    assert found.figure == pytest.approx(target, rel=2 * CLOSE)
    assert found.result == f"{found.parameter:g}"
    assert match(1 / target, falling, 1.0, 1e4, steps=60).figure == pytest.approx(1 / target, rel=2 * CLOSE)


def test_a_target_beyond_the_ends_gets_the_nearer_end() -> None:
    assert match(1e9, rising, 1.0, 100.0).parameter == 100.0
    assert match(0.5, rising, 1.0, 100.0).parameter == 1.0


def test_no_more_steps_are_taken_than_allowed() -> None:
    asked = []

    def jump(parameter: float) -> tuple[float, None]:
        asked.append(parameter)
        return (0.0 if parameter < 7 else 1.0), None

    match(0.5, jump, 1.0, 100.0, steps=9)
    assert len(asked) == 9 + 2


def test_of_a_figure_that_jumps_over_the_target_the_nearest_is_taken() -> None:
    def jump(parameter: float) -> tuple[float, None]:
        return (0.0 if parameter < 7 else 1.0), None

    assert match(0.7, jump, 1.0, 100.0).figure == 1.0
    assert match(0.7, jump, 1.0, 100.0, at_most=True).figure == 0.0


@given(st.floats(0.01, 0.99), st.floats(0.5, 20.0))
def test_of_an_uneven_figure_nothing_that_was_tried_is_nearer(target: float, waves: float) -> None:
    seen = []

    def uneven(parameter: float) -> tuple[float, float]:
        figure = math.log10(parameter) / 2 + 0.1 * math.sin(waves * parameter)
        seen.append(figure)
        return figure, parameter

    found = match(target, uneven, 1.0, 100.0)
    assert found.result == found.parameter
    assert abs(found.figure - target) == min(abs(figure - target) for figure in seen)
    below = [figure for figure in seen if figure <= target]
    kept = match(target, uneven, 1.0, 100.0, at_most=True)
    assert not below or kept.figure <= target


def test_what_is_found_may_be_arrays() -> None:
    found = match(9.0, lambda side: (side**2, np.full(3, side)), 1.0, 100.0)
    assert found.result == pytest.approx(np.full(3, found.parameter))


def test_a_figure_that_rises_and_falls_is_met_within() -> None:
    """BUREL's closeness is like that: it is lower at both ends than between them."""

    def hill(parameter: float) -> tuple[float, None]:
        return math.exp(-((math.log10(parameter) - 1.2) ** 2)), None

    assert hill(1.0)[0] < 0.9 > hill(100.0)[0]
    assert match(0.9, hill, 1.0, 100.0).figure == pytest.approx(0.9, rel=CLOSE)


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (2.0, 1.0), (-1.0, 1.0)])
def test_ends_that_make_no_range_are_refused(low: float, high: float) -> None:
    with pytest.raises(ParameterError, match="ends"):
        match(1.0, rising, low, high)
