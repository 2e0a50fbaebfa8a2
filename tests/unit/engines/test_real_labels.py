"""Labels of real numbers, many at a time, against the labels of the axis itself, one by one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from betalike.engines.real_labels import read_reals, write_reals
from betalike.table.axis import OrderedAxis
from betalike.table.schema import Kind

REALS = st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: number != 0) | st.just(0.0)
POWERS = [2.0**power * step for power in range(-80, 80) for step in (1, 1 + 2.0**-52)]


@given(st.lists(REALS, min_size=1, max_size=20, unique=True), st.booleans(), st.data())
@example([9999999999999998.0, 1e16, 0.0001, 9.999999999999999e-05, -1e-5, 5e-324, 0.0], True, None)
@example(POWERS, False, None)
def test_labels_are_those_of_the_axis_and_are_read_back(
    numbers: list[float], has_missing: bool, data: st.DataObject | None
) -> None:
    values = np.array(sorted(numbers))
    axis = OrderedAxis("x", Kind.REAL, values, (values[0], values[-1]), has_missing)
    codes = st.lists(st.integers(0, axis.size - 1), min_size=axis.size, max_size=axis.size)
    ends = [np.arange(axis.size)[::-1] if data is None else np.array(data.draw(codes)), np.arange(axis.size)]
    low, high = np.minimum(*ends), np.maximum(*ends)
    labels = write_reals(axis, low, high)
    assert labels.to_list() == axis.labels(low, high)
    read = read_reals(labels)
    assert read is not None
    is_shown, lows, highs = read
    meant = [ends for ends in axis.meanings(labels.to_list()) if isinstance(ends, tuple)]
    assert list(zip(lows.tolist(), highs.tolist(), strict=True)) == meant
    assert is_shown.tolist() == [label not in (None, "*") for label in labels]


@pytest.mark.parametrize("label", ["[1.0, 2.0, 3.0]", "a", "[1.0, ]", "[, 1.0]", "", "1.0; 2.0"])
def test_other_labels_are_left_to_the_axis(label: str) -> None:
    assert read_reals(pl.Series(["1.0", label])) is None
