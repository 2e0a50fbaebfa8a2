"""The type of a column from how it is stored: one rule, whatever file, frame or database it came from."""

from __future__ import annotations

import polars as pl

from betalike.table.schema import Kind


def stored_kind(dtype: pl.DataType) -> Kind:
    """Return the kind of values that a column is stored as; text and all else is categorical."""
    if dtype.is_integer():
        return Kind.INTEGER
    if dtype.is_decimal():
        return Kind.DECIMAL
    if dtype.is_float():
        return Kind.REAL
    return {pl.Date: Kind.DATE, pl.Datetime: Kind.DATETIME}.get(dtype.base_type(), Kind.CATEGORICAL)


def has_no_text(dtype: pl.DataType) -> bool:
    """Return whether a CSV file has no place for values of this type."""
    return dtype.is_nested() or dtype in (pl.Binary, pl.Object) or isinstance(dtype, pl.BaseExtension)
