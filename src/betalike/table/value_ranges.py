"""Ranges that take the place of a sensitive column's many values: each holds about as many rows as the others."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from betalike.runtime.arrays import Ints
from betalike.table.exact_numbers import Number, format_values, parse_values
from betalike.table.schema import DateOrder, Kind


@dataclass(frozen=True)
class ValueRanges:
    """Ranges in ascending order, none of which overlap, with the labels that they are published as."""

    kind: Kind
    lows: tuple[Number, ...]
    highs: tuple[Number, ...]
    labels: tuple[str, ...]
    dates: DateOrder | None = None

    @staticmethod
    def of_values(
        numbers: Sequence[Number], counts: Ints, n_ranges: int, kind: Kind, dates: DateOrder | None
    ) -> ValueRanges:
        """Make at most `n_ranges` ranges of distinct numbers in ascending order, with their rows.

        >>> ValueRanges.of_values([1, 2, 3, 9], np.array([5, 1, 1, 7]), 2, Kind.INTEGER, None).labels
        ('[1, 3]', '9')
        """
        middles = np.cumsum(counts) - counts / 2  # of each value among all rows in order
        place = np.minimum((middles * n_ranges / max(int(counts.sum()), 1)).astype(np.int64), n_ranges - 1)
        firsts = np.flatnonzero(np.diff(place, prepend=-1)).tolist()
        lasts = [*(first - 1 for first in firsts[1:]), len(numbers) - 1] if firsts else []
        lows, highs = (tuple(numbers[i] for i in places) for places in (firsts, lasts))
        ends = zip(format_values(lows, kind), format_values(highs, kind), strict=True)
        return ValueRanges(kind, lows, highs, tuple(a if a == b else f"[{a}, {b}]" for a, b in ends), dates)

    @staticmethod
    def of_labels(labels: Sequence[str], kind: Kind, dates: DateOrder | None) -> ValueRanges:
        """Read ranges from their labels, as a certificate has them; ValueError if one is not a range of this kind."""
        known = [label for label in labels if label]
        pairs = [label[1:-1].split(", ") if label.startswith("[") else [label, label] for label in known]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError("a label is not a range")
        lows, highs = (parse_values([pair[side] for pair in pairs], kind).tolist() for side in (0, 1))
        ranges = sorted(zip(lows, highs, known, strict=True))
        ends = [end for low, high, _ in ranges for end in {low: None, high: None}]
        if any(low > high for low, high, _ in ranges) or any(a >= b for a, b in itertools.pairwise(ends)):
            raise ValueError("a range ends before it begins, or overlaps with another")
        low_ends, high_ends, labels = zip(*ranges, strict=True) if ranges else ((), (), ())
        return ValueRanges(kind, low_ends, high_ends, labels, dates)

    def label_of(self, number: Number) -> str | None:
        """Return the label of the range that a number lies in; None if it lies in none."""
        place = bisect.bisect_right(self.lows, number) - 1
        return self.labels[place] if place >= 0 and number <= self.highs[place] else None
