"""Sets of values of one column: closed intervals of numbers or of leaf codes, and whether missing values belong."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from betalike.exact_numbers import TINY

Comparable = int | float | Fraction  # Python compares any two of these exactly
Span = tuple[Comparable, Comparable]


@dataclass(frozen=True)
class ValueSet:
    """Closed intervals in ascending order that do not touch, and whether missing values belong to the set.

    Whole numbers (also days, microseconds and leaf codes) are discrete: [1, 2] and [3, 4] touch. Of reals, an open end
    is the closed end at the next number that a computer knows, of decimals at one nearer than any of them.
    """

    spans: tuple[Span, ...]
    missing: bool
    is_discrete: bool

    @staticmethod
    def of(spans: Iterable[Span], is_discrete: bool, missing: bool = False) -> ValueSet:
        """Sort intervals, leave out empty ones and join those that touch."""
        joined: list[Span] = []
        for low, high in sorted(span for span in spans if span[0] <= span[1]):
            if joined and low <= _after(joined[-1][1], is_discrete):
                joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
            else:
                joined.append((low, high))
        return ValueSet(tuple(joined), missing, is_discrete)

    @staticmethod
    def present(is_discrete: bool) -> ValueSet:
        """Every value, but not the missing ones."""
        return ValueSet(((-math.inf, math.inf),), False, is_discrete)

    @property
    def is_empty(self) -> bool:
        """Whether nothing belongs to the set."""
        return not self.spans and not self.missing

    @property
    def is_everything(self) -> bool:
        """Whether every value belongs to the set, missing ones as well."""
        return self.missing and self.spans == ((-math.inf, math.inf),)

    def __or__(self, other: ValueSet) -> ValueSet:
        return ValueSet.of((*self.spans, *other.spans), self.is_discrete, self.missing or other.missing)

    def __and__(self, other: ValueSet) -> ValueSet:
        pairs = ((max(a, c), min(b, d)) for a, b in self.spans for c, d in other.spans)
        return ValueSet.of(pairs, self.is_discrete, self.missing and other.missing)

    def complement(self) -> ValueSet:
        """What does not belong to the set."""
        starts = [-math.inf, *(_after(high, self.is_discrete) for _, high in self.spans)]
        ends = [*(_before(low, self.is_discrete) for low, _ in self.spans), math.inf]
        gaps = [
            (start, end)
            for start, end in zip(starts, ends, strict=True)
            if start <= end and start < math.inf and end > -math.inf
        ]
        return ValueSet.of(gaps, self.is_discrete, not self.missing)


def _after(value: Comparable, is_discrete: bool) -> Comparable:
    return value + 1 if is_discrete else next_number(value, 1)


def _before(value: Comparable, is_discrete: bool) -> Comparable:
    return value - 1 if is_discrete else next_number(value, -1)


def next_number(value: Comparable, sign: int) -> Comparable:
    """Return the next number above (sign 1) or below (-1): of floats, or nearer than any decimal."""
    return math.nextafter(value, sign * math.inf) if isinstance(value, float) else value + sign * TINY
