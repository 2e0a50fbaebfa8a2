"""Multiples around numbers: next to each other, and exact."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from betalike.table.round_numbers import around_numbers

STEPS = st.sampled_from([0.1, 0.01, 0.3, 1.0, 5.0, 1000.0, 1e-7, 2.5])


@given(st.lists(st.floats(-1e8, 1e8), min_size=1, max_size=8), STEPS)
def test_reals_lie_between_the_reals_nearest_to_two_multiples(values: list[float], step: float) -> None:
    width = Fraction(repr(step))
    low, after = around_numbers(np.array(values), step)
    for value, a, b in zip(values, low.tolist(), after.tolist(), strict=True):
        assert a <= value < b
        place = round(Fraction(a) / width)
        assert (a, b) == (float(place * width), float((place + 1) * width))
        assert math.copysign(1, a) == 1 or a < 0  # no -0.0


@given(st.lists(st.decimals(-(10**6), 10**6, places=3), min_size=1), st.decimals("0.001", 1000, places=3))
def test_decimals_lie_between_two_multiples(values: list[Decimal], step: Decimal) -> None:
    exact = np.empty(len(values), dtype=object)
    exact[:] = values
    low, after = around_numbers(exact, step)
    for value, a, b in zip(values, low.tolist(), after.tolist(), strict=True):
        assert a <= value < b == a + step
        assert (Fraction(a) / Fraction(step)).denominator == 1
