"""Caps as pairs of integers: the greatest fraction below, and decisions without rounding."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.promises.caps import LARGEST_DENOMINATOR, Bound, Caps, fraction_below, is_below_surprise

priors = st.builds(Fraction, st.integers(1, 400), st.integers(401, 500))


def surprise_cap(prior: Fraction) -> Fraction:
    """p * (1 - ln p) to a hundred digits: far closer than any fraction that these tests compare it with."""
    with localcontext() as context:
        context.prec = 100
        logarithm = Decimal(prior.numerator).ln() - Decimal(prior.denominator).ln()
        return prior * (1 - Fraction(logarithm))


@given(st.fractions(0, 50), st.integers(1, 60))
def test_the_fraction_below_is_the_greatest_of_all(number: Fraction, largest: int) -> None:
    candidates = [Fraction(math.floor(number * denominator), denominator) for denominator in range(1, largest + 1)]
    assert fraction_below(number, largest) == max(candidates)


@given(st.fractions(0, 1, max_denominator=10**12), st.integers(10**5, 10**9))
def test_nothing_lies_between_the_fraction_and_the_number(number: Fraction, largest: int) -> None:
    below = fraction_below(number, largest)
    assert below <= number
    assert below.denominator <= largest
    gap = number - below
    assert gap < Fraction(1, largest)
    assert below == number or Fraction(math.floor(number * largest), largest) <= below


@given(priors, st.booleans(), st.integers(1, 500))
def test_the_most_tuples_of_a_value_are_those_that_the_real_cap_allows(
    prior: Fraction, is_logarithmic: bool, size: int
) -> None:
    cap = surprise_cap(prior) if is_logarithmic else prior
    caps = Caps.of([Bound(prior, is_logarithmic)], 500)
    most = math.floor(cap * size)
    assert caps.most(size).tolist() == [most]
    values, counts = np.array([0, 0]), np.array([most, most + 1])
    assert caps.allow(values, counts, np.array([size, size])).tolist() == [True, False]
    assert caps.frequencies[0] <= float(cap)


@given(priors)
def test_only_a_fraction_that_is_the_cap_is_attained(prior: Fraction) -> None:
    assert Caps.of([Bound(prior)], 500).is_attained.tolist() == [True]
    assert Caps.of([Bound(prior, is_logarithmic=True)], 500).is_attained.tolist() == [False]
    assert Caps.of([Bound(prior)], prior.denominator - 1).is_attained.tolist() == [prior.denominator == 1]


@given(st.fractions(Fraction(1, 100), 8, max_denominator=10**6), priors)
def test_the_threshold_is_compared_with_the_real_logarithm(threshold: Fraction, prior: Fraction) -> None:
    with localcontext() as context:
        context.prec = 100
        surprise = -(Decimal(prior.numerator) / Decimal(prior.denominator)).ln()
    assert is_below_surprise(threshold, prior) == (threshold < Fraction(surprise))


def test_a_threshold_next_to_the_logarithm_is_told_apart() -> None:
    prior = Fraction(1, 3)
    with localcontext() as context:
        context.prec = 150
        surprise = Fraction(Decimal(3).ln())
    nearly = Fraction(1, 10**100)
    assert is_below_surprise(surprise - nearly, prior)
    assert not is_below_surprise(surprise + nearly, prior)


@given(st.integers(1, LARGEST_DENOMINATOR - 1), st.integers(LARGEST_DENOMINATOR // 2, LARGEST_DENOMINATOR))
def test_the_largest_tables_are_decided_without_overflow(count: int, size: int) -> None:
    prior = Fraction(count, LARGEST_DENOMINATOR)
    caps = Caps.of([Bound(prior)], LARGEST_DENOMINATOR)
    most = math.floor(prior * size)
    answers = caps.allow(np.array([0, 0]), np.array([most, most + 1]), np.array([size, size]))
    assert answers.tolist() == [True, False]


def test_beyond_the_largest_table_caps_err_on_the_safe_side() -> None:
    prior = Fraction(1, 10**12 + 39)
    caps = Caps.of([Bound(prior), Bound(Fraction(1, 2) + prior)], 10**12 + 39)
    exact = [prior, Fraction(1, 2) + prior]
    for numerator, denominator, cap in zip(caps.numerator, caps.denominator, exact, strict=True):
        assert 0 <= cap - Fraction(int(numerator), int(denominator)) < Fraction(1, 10**9)
        assert denominator <= LARGEST_DENOMINATOR


def test_caps_of_nothing_and_of_everything() -> None:
    caps = Caps.of([Bound(Fraction(0)), Bound(Fraction(1))], 10)
    assert caps.most(10).tolist() == [0, 10]
    assert caps.frequencies == pytest.approx([0.0, 1.0])
