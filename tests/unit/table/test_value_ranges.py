"""Ranges of sensitive values: none overlap, all values are in one, and labels read back as they were made."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.table.schema import Kind
from betalike.table.value_ranges import ValueRanges

rows = st.lists(st.integers(-50, 50), min_size=1, max_size=60)


@given(rows, st.integers(2, 12))
def test_every_value_is_in_one_range_and_ranges_are_about_even(values: list[int], n_ranges: int) -> None:
    counted = Counter(values)
    distinct = sorted(counted)
    counts = np.array([counted[value] for value in distinct])
    ranges = ValueRanges.of_values(distinct, counts, n_ranges, Kind.INTEGER, None)
    assert len(ranges.labels) <= n_ranges
    found = Counter(ranges.label_of(value) for value in values)
    assert {*found} == {*ranges.labels}
    assert max(found.values()) <= len(values) / n_ranges + max(counted.values())
    again = ValueRanges.of_labels([*reversed(ranges.labels), ""], Kind.INTEGER, None)
    assert again == ranges
    for low, high, label in zip(ranges.lows, ranges.highs, ranges.labels, strict=True):
        assert [value for value in distinct if ranges.label_of(value) == label] == [
            v for v in distinct if low <= v <= high
        ]


def test_a_number_between_or_beyond_ranges_has_no_label() -> None:
    ranges = ValueRanges.of_labels(["[1, 3]", "7", "[9, 12]"], Kind.INTEGER, None)
    assert [ranges.label_of(number) for number in (0, 1, 2, 5, 7, 8, 12, 13)] == [
        None, "[1, 3]", "[1, 3]", None, "7", None, "[9, 12]", None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "labels", [["[1, 3]", "[3, 5]"], ["[5, 1]"], ["[1, 2, 3]"], ["low"], ["[1, 9]", "4"], ["1", "1.0"]]
)
def test_labels_that_are_no_ranges_are_refused(labels: list[str]) -> None:
    with pytest.raises(ValueError, match=r"."):
        ValueRanges.of_labels(labels, Kind.REAL, None)
