"""Caps and floors on counts that are decided exactly, with integers alone.

A class of `size` tuples may hold `count` of a value iff `count / size <= cap`. For sizes up to some N this is the same
as `count / size <= num / den`, where num / den is the greatest fraction not above the cap whose denominator is at most
N: no fraction with a denominator up to N lies between the two. So every cap, even an irrational one, becomes a pair of
integers, no rounding can favour us, and a class that exactly reaches its cap is still allowed. Floors are decided
in the same way, from above.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from betalike.runtime.arrays import Ints

# count * den and num * size must fit 63 bits; beyond this many rows the caps err on the safe side.
LARGEST_DENOMINATOR = 3_037_000_499
DIGITS = 60


@dataclass(frozen=True)
class Caps:
    """The highest frequency of each sensitive value in a class, as fractions. Paper: f(p)."""

    numerator: Ints
    denominator: Ints
    is_attained: NDArray[np.bool_]

    @staticmethod
    def of(bounds: Sequence[Bound], n_rows: int) -> Caps:
        """Return exact caps for classes of up to `n_rows` tuples."""
        fractions = [bound.greatest_fraction(clip(n_rows)) for bound in bounds]
        attained = [bound.is_equal(fraction) for bound, fraction in zip(bounds, fractions, strict=True)]
        return Caps(*as_pairs(fractions), np.array(attained, dtype=bool))

    @property
    def frequencies(self) -> NDArray[np.float64]:
        """The caps as floating-point numbers, for display and measures."""
        return self.numerator / self.denominator

    def most(self, size: int) -> Ints:
        """Return how many tuples of each value a class of `size` may hold."""
        return self.numerator * size // self.denominator

    def allow(self, value: NDArray[np.integer], count: Ints, size: Ints) -> NDArray[np.bool_]:
        """Whether `count` tuples of `value` are allowed in a class of `size`, for each triple."""
        return np.asarray(count * self.denominator[value] <= self.numerator[value] * size)


def clip(n_rows: int) -> int:
    """Return the largest denominator that is needed, and safe, for classes of up to `n_rows` tuples."""
    return min(max(n_rows, 1), LARGEST_DENOMINATOR)


def as_pairs(fractions: Sequence[Fraction]) -> tuple[Ints, Ints]:
    """Return the numerators and the denominators of fractions."""
    pairs = [(fraction.numerator, fraction.denominator) for fraction in fractions]
    numerators, denominators = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return np.ascontiguousarray(numerators), np.ascontiguousarray(denominators)


@dataclass(frozen=True)
class Bound:
    """A cap or a floor: a fraction p, or the irrational p * (1 - ln p) of a cap, or p / (1 - ln p) of a floor."""

    fraction: Fraction
    is_logarithmic: bool = False
    is_floor: bool = False

    def __float__(self) -> float:
        growth = 1 - math.log(self.fraction) if self.is_logarithmic else 1
        return float(self.fraction) / growth if self.is_floor else float(self.fraction) * growth

    def is_equal(self, fraction: Fraction) -> bool:
        """Whether the number is exactly this fraction."""
        return not self.is_logarithmic and self.fraction == fraction

    def greatest_fraction(self, largest_denominator: int) -> Fraction:
        """Return the greatest fraction not above the number whose denominator is at most this."""
        return settle(self._enclose, largest_denominator)

    def least_fraction(self, largest_denominator: int) -> Fraction:
        """Return the least fraction not below the number, at most 1, whose denominator is at most this."""
        return settle_above(self._enclose, largest_denominator)

    def _enclose(self, digits: int) -> tuple[Fraction, Fraction]:
        """Return two fractions around the number."""
        if not self.is_logarithmic:
            return self.fraction, self.fraction
        low, high = enclose_logarithm(self.fraction, digits)
        if self.is_floor:
            return self.fraction / (1 - low), self.fraction / (1 - high)
        return self.fraction * (1 - high), self.fraction * (1 - low)


def settle(enclose: Callable[[int], tuple[Fraction, Fraction]], largest_denominator: int) -> Fraction:
    """Return the greatest fraction not above a number that can be enclosed to any number of digits."""
    digits = DIGITS
    while True:
        low, high = enclose(digits)
        below = fraction_below(low, largest_denominator)
        if low == high or below == fraction_below(high, largest_denominator):
            return below
        digits *= 2


def settle_above(enclose: Callable[[int], tuple[Fraction, Fraction]], largest_denominator: int) -> Fraction:
    """Return the least fraction not below such a number, which is at most 1."""

    def enclose_rest(digits: int) -> tuple[Fraction, Fraction]:
        low, high = enclose(digits)
        return 1 - high, 1 - low

    return 1 - settle(enclose_rest, largest_denominator)


def is_below_surprise(threshold: Fraction, prior: Fraction) -> bool:
    """Whether threshold < -ln(prior), decided exactly; the two are never equal for prior < 1 and threshold > 0."""
    digits = DIGITS
    while True:
        low, high = enclose_logarithm(prior, digits)
        if threshold < -high:
            return True
        if threshold > -low:
            return False
        digits *= 2


def enclose_logarithm(number: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return two fractions around ln(number). Decimal's logarithm is correctly rounded; the margin is far wider."""
    with localcontext() as context:
        context.prec = digits
        logarithm = Fraction(_logarithm(number.numerator, digits) - _logarithm(number.denominator, digits))
    margin = Fraction(1, 10 ** (digits - 10))
    return logarithm - margin, logarithm + margin


@lru_cache(1 << 12)
def _logarithm(number: int, digits: int) -> Decimal:
    """Return ln(number) to the given number of digits; the same few numbers are asked for again and again."""
    with localcontext() as context:
        context.prec = digits
        return Decimal(number).ln()


def fraction_below(number: Fraction, largest_denominator: int) -> Fraction:
    """Return the greatest fraction not above a number >= 0 with a bounded denominator, by its continued fraction.

    >>> fraction_below(Fraction(314159, 100000), 100)
    Fraction(311, 99)
    """
    if number.denominator <= largest_denominator:
        return number
    below, above = (0, 1), (1, 0)  # neighbours around the number; above starts at infinity
    numerator, denominator = number.numerator, number.denominator
    is_turn_of_below = True
    while denominator:
        quotient, remainder = divmod(numerator, denominator)
        fixed, moving = (above, below) if is_turn_of_below else (below, above)
        room = (largest_denominator - moving[1]) // fixed[1] if fixed[1] else quotient
        steps = min(quotient, room)
        moved = (moving[0] + steps * fixed[0], moving[1] + steps * fixed[1])
        below, above = (moved, above) if is_turn_of_below else (below, moved)
        if steps < quotient:
            break
        numerator, denominator = denominator, remainder
        is_turn_of_below = not is_turn_of_below
    return Fraction(*below)
