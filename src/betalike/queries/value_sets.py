"""Sets of values of one column: closed intervals of numbers or leaf codes, with or without missing values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from operator import itemgetter

import numpy as np

from betalike.runtime.arrays import Bools
from betalike.table.exact_numbers import TINY, Numbers

Comparable = int | float | Fraction  # Python compares any two of these exactly
Span = tuple[Comparable, Comparable]
HASHED = 8  # spans at either end that the hash uses; a set may have many more


@dataclass(frozen=True)
class ValueSet:
    """Closed intervals in ascending order that do not touch, and whether missing values belong to the set.

    Whole numbers (also days, microseconds and leaf codes) are discrete: [1, 2] and [3, 4] touch. An open end of reals
    is a closed end at the next float; an open end of decimals is a closed end closer than any other decimal.
    """

    spans: tuple[Span, ...]
    missing: bool
    is_discrete: bool

    @staticmethod
    def of(spans: Iterable[Span], is_discrete: bool, missing: bool = False) -> ValueSet:
        """Sort intervals, drop empty ones and join those that touch."""
        joined: list[Span] = []
        filled = [span for span in spans if span[0] <= span[1]]
        has_fractions = any(isinstance(low, Fraction) for low, _ in filled)
        for low, high in sorted(filled, key=_rough_order if has_fractions else itemgetter(0)):
            if joined and _touches(joined[-1][1], low, is_discrete):
                joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
            else:
                joined.append((low, high))
        return ValueSet(tuple(joined), missing, is_discrete)

    @staticmethod
    def of_decimals(numbers: Sequence[Comparable]) -> ValueSet:
        """Return a set of decimals, given in ascending order without repeats; there are reals between any two."""
        return ValueSet(tuple(zip(numbers, numbers, strict=True)), missing=False, is_discrete=False)

    @staticmethod
    def union(sets: Sequence[ValueSet]) -> ValueSet:
        """Return the union of one or more sets."""
        if len(sets) == 1:
            return sets[0]
        spans = (span for one in sets for span in one.spans)
        return ValueSet.of(spans, sets[0].is_discrete, any(one.missing for one in sets))

    @staticmethod
    def intersection(sets: Sequence[ValueSet]) -> ValueSet:
        """Return the intersection of one or more sets.

        Neighbours are intersected first, then the results, so that no set is read once per other set.
        """
        while len(sets) > 1:
            pairs = [first & second for first, second in zip(sets[::2], sets[1::2], strict=False)]
            sets = pairs + ([sets[-1]] if len(sets) % 2 else [])
        return sets[0]

    @staticmethod
    def present(is_discrete: bool) -> ValueSet:
        """Return the set of all values that are not missing."""
        return ValueSet(((-math.inf, math.inf),), False, is_discrete)

    @property
    def is_empty(self) -> bool:
        """Whether the set has no value."""
        return not self.spans and not self.missing

    @property
    def is_everything(self) -> bool:
        """Whether the set has every value, including missing ones."""
        return self.missing and self.spans == ((-math.inf, math.inf),)

    def is_disjoint(self, other: ValueSet) -> bool:
        """Whether the two sets have nothing in common."""
        if self.missing and other.missing:
            return False
        if not self.spans or not other.spans:
            return True
        is_apart = self.spans[-1][1] < other.spans[0][0] or other.spans[-1][1] < self.spans[0][0]
        return is_apart or not (self & other).spans

    @cached_property
    def ends(self) -> tuple[Numbers, Numbers]:
        """Starts and ends of the intervals as two arrays; the same array twice if all are single values."""
        if all(low is high for low, high in self.spans):
            (points,) = exact_arrays([low for low, _ in self.spans])
            return points, points
        low, high = exact_arrays([low for low, _ in self.spans], [high for _, high in self.spans])
        return low, high

    def meet(self, low: Numbers, high: Numbers) -> Bools:
        """Return whether, for each pair of numbers, the first interval that ends at `low` or later starts by `high`."""
        starts, ends = self.ends
        if not len(starts):
            return np.zeros(len(low), dtype=bool)
        nearest = np.searchsorted(ends, low)
        return np.asarray((nearest < len(ends)) & (starts[np.minimum(nearest, len(ends) - 1)] <= high), dtype=bool)

    def __hash__(self) -> int:
        return hash((len(self.spans), self.spans[:HASHED], self.spans[-HASHED:], self.missing))

    def __or__(self, other: ValueSet) -> ValueSet:
        return ValueSet.union([self, other])

    def __and__(self, other: ValueSet) -> ValueSet:
        both: list[Span] = []  # sorted and apart, like the intervals of either set
        i = j = 0
        while i < len(self.spans) and j < len(other.spans):
            (a, b), (c, d) = self.spans[i], other.spans[j]
            low, high = max(a, c), min(b, d)
            if low <= high:
                both.append((low, high))
            if b < d:
                i += 1
            else:
                j += 1
        return ValueSet(tuple(both), self.missing and other.missing, self.is_discrete)

    def complement(self) -> ValueSet:
        """Return everything outside the set."""
        if not self.spans:
            return replace(ValueSet.present(self.is_discrete), missing=not self.missing)
        before, after = _before(self.spans[0][0], self.is_discrete), _after(self.spans[-1][1], self.is_discrete)
        gaps: list[Span] = [(-math.inf, before)] if before > -math.inf else []
        gaps += [
            (_after(high, self.is_discrete), _before(low, self.is_discrete))
            for (_, high), (low, _) in pairwise(self.spans)
        ]
        gaps += [(after, math.inf)] if after < math.inf else []
        return ValueSet(tuple(gaps), not self.missing, self.is_discrete)

    def others(self) -> ValueSet:
        """Return the values outside the set, without missing ones: SQL's NOT never selects a missing value."""
        return replace(self.complement(), missing=False)


def exact_arrays(*sides: Sequence[Comparable]) -> list[Numbers]:
    """Return arrays of floats if floats are exact for all numbers, else arrays of Python numbers."""
    is_float = all(
        isinstance(end, float) or (isinstance(end, int) and abs(end) <= 2**53) for side in sides for end in side
    )
    return [np.array(side, dtype=np.float64 if is_float else object) for side in sides]


def _rough_order(span: Span) -> tuple[float, Comparable]:
    """Return a sort key by start; fractions, which are slow to compare, are compared only if their floats are equal."""
    return float(span[0]), span[0]


def _touches(high: Comparable, low: Comparable, is_discrete: bool) -> bool:
    """Whether there is no gap between an interval that ends at `high` and a later one that starts at `low`."""
    if low <= high:
        return True
    if is_discrete or isinstance(high, float) or isinstance(low, float):
        return low <= _after(high, is_discrete)
    is_open = max(low.denominator, high.denominator) >= TINY.denominator  # decimals alone are further apart than TINY
    return is_open and low <= high + TINY


def _after(value: Comparable, is_discrete: bool) -> Comparable:
    return value + 1 if is_discrete else next_number(value, 1)


def _before(value: Comparable, is_discrete: bool) -> Comparable:
    return value - 1 if is_discrete else next_number(value, -1)


def next_number(value: Comparable, sign: int) -> Comparable:
    """Return the next number above (sign 1) or below (-1): the next float, or one closer than any decimal."""
    if isinstance(value, float):
        return math.nextafter(value, sign * math.inf)
    return value + TINY if sign > 0 else value - TINY
