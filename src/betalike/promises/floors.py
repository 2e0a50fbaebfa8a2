"""Floors on shares: how rare a sensitive value, or a set of them, may become in a class. Paper: Sections 3 and 7."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from betalike.promises.caps import enclose_logarithm, fraction_below, settle


@dataclass(frozen=True)
class Floor:
    """A real number from 0 to 1 known as a fraction, or as p / (1 - ln p), which no fraction equals."""

    fraction: Fraction
    is_logarithmic: bool = False

    def __float__(self) -> float:
        return float(self.fraction) / (1 - math.log(self.fraction) if self.is_logarithmic else 1)

    def least_fraction(self, largest_denominator: int) -> Fraction:
        """The least fraction not below the number whose denominator is at most this."""
        if not self.is_logarithmic:
            return 1 - fraction_below(1 - self.fraction, largest_denominator)
        return 1 - settle(self._enclose_rest, largest_denominator)

    def _enclose_rest(self, digits: int) -> tuple[Fraction, Fraction]:
        """Two fractions around what the floor leaves of 1."""
        low, high = enclose_logarithm(self.fraction, digits)
        return 1 - self.fraction / (1 - high), 1 - self.fraction / (1 - low)
