"""Columns for files whose only numbers are real ones: which columns they hold exactly, and how these come back."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

LARGEST_WHOLE = 2**53  # up to here, every whole number is exact
TIMES = [pl.col(pl.Datetime, pl.Time).cast(pl.String), pl.col(pl.Duration).dt.to_string("iso")]  # as in CSV


def storable(frame: pl.DataFrame, is_exact: Callable[[pl.Series], bool] = lambda numbers: True) -> pl.DataFrame:
    """Return numbers that come back as they are as numbers, and all other columns as the text of a CSV file."""
    return frame.with_columns(TIMES).select(_stored(column, is_exact) for column in frame.with_columns(TIMES))


def _stored(column: pl.Series, is_exact: Callable[[pl.Series], bool]) -> pl.Series:
    text, dtype = column.cast(pl.String), column.dtype
    if dtype.is_integer():
        ends = [int(end) for end in (column.min(), column.max()) if isinstance(end, int)]
        return column.cast(pl.Int64) if all(abs(end) <= LARGEST_WHOLE for end in ends) else text
    if dtype.is_float():
        numbers = text.cast(pl.Float64)  # the text of a shorter float is that of another number
        is_kept = numbers.is_finite().fill_null(True).all() and (numbers.cast(pl.String) == text).fill_null(True).all()
        return numbers if is_kept and as_whole(numbers).dtype.is_float() and is_exact(numbers) else text
    return text


def as_whole(column: pl.Series) -> pl.Series:
    """Return real numbers as whole ones if all of them are."""
    if not column.dtype.is_float():
        return column
    is_whole = ((column == column.floor()) & (column.abs() <= LARGEST_WHOLE)).fill_null(True).all()
    return column.cast(pl.Int64) if is_whole else column
