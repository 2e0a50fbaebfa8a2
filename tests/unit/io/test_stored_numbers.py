"""Columns that files with real numbers alone hold exactly, and those that become text."""

from __future__ import annotations

import datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.io.stored_numbers import as_whole, storable
from examples import examples


@pytest.mark.parametrize(
    ("values", "dtype", "stored"),
    [
        ([1, None, 2**53], pl.Int64, pl.Int64),
        ([1, 2**53 + 1], pl.UInt64, pl.String),
        ([0.5, 2.0, None], pl.Float64, pl.Float64),
        ([1.0, 2.0], pl.Float64, pl.String),
        ([float("inf"), 0.5], pl.Float64, pl.String),
        ([True, None], pl.Boolean, pl.String),
        ([datetime.date(2020, 1, 2)], pl.Date, pl.String),
        (["a", None], pl.Categorical, pl.String),
    ],
)
def test_numbers_stay_numbers_if_they_come_back(values: list[object], dtype: pl.DataType, stored: pl.DataType) -> None:
    assert storable(pl.DataFrame({"a": pl.Series(values, dtype=dtype)})).dtypes == [stored]


@given(st.lists(st.none() | st.floats(width=32) | st.integers(-(10**6), 10**6).map(float), min_size=1))
@examples(60)
def test_what_comes_back_has_the_text_that_it_had(numbers: list[float | None]) -> None:
    """A file gives real numbers back; whole columns of them are whole numbers."""
    for dtype in (pl.Float64, pl.Float32):
        column = pl.Series("a", numbers, dtype=pl.Float64).cast(dtype)
        stored = storable(column.to_frame())["a"]
        back = as_whole(stored.cast(pl.Float64)) if stored.dtype.is_numeric() else stored
        assert back.cast(pl.String).to_list() == column.cast(pl.String).to_list()
