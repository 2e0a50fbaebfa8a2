"""Comparing columns as a file shows them."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from betalike.errors import SchemaError
from betalike.io.frames import check_years


def count_changed(written: pl.Series, original: pl.Series) -> int:
    """Count the rows in which two columns differ: as text where CSV knows no type, with '' as missing."""
    is_same_type = written.dtype == original.dtype
    if not is_same_type or not (is_plain_number(original.dtype) or has_no_text(original.dtype)):
        written, original = (as_plain_text(column) for column in (written, original))
    return int(written.ne_missing(original).sum())


def has_no_text(dtype: pl.DataType) -> bool:
    """Whether a CSV file has no place for values of this type."""
    return dtype.is_nested() or dtype in (pl.Binary, pl.Object) or isinstance(dtype, pl.BaseExtension)


def check_labels(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame; refuse columns without a text to compare, and dates outside the years 1 to 9999."""
    for name, dtype in frame.schema.items():
        if has_no_text(dtype) or dtype == pl.Duration:
            raise SchemaError(
                f"the column '{name}' is of type {dtype.base_type()}, which cannot be compared as text. Convert it to "
                "text first."
            )
    return check_years(frame)


def check_csv_types(types: Mapping[str, pl.DataType]) -> None:
    """Refuse columns whose values a CSV file cannot hold."""
    for name, dtype in types.items():
        if has_no_text(dtype):
            raise SchemaError(
                f"the column '{name}' is of type {dtype.base_type()}, which a CSV file cannot hold. Publish to Parquet "
                "(--format parquet), convert the column to text, or leave it out."
            )


def is_plain_number(dtype: pl.DataType) -> bool:
    """Whether a CSV file can tell values of this type."""
    return (dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128)) or dtype.is_float()


def as_plain_text(column: pl.Series) -> pl.Series:
    """A column as a CSV file shows it; empty text is missing."""
    text = column.dt.to_string("iso") if column.dtype == pl.Duration else column.cast(pl.String)
    return text.set((text == "").fill_null(False), None)
