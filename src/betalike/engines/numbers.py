"""Columns as exact numbers: whole numbers, decimals, reals, and days, months or microseconds of dates."""

from __future__ import annotations

import polars as pl

from betalike.errors import SchemaError
from betalike.io.column_types import EXACT, MOST_DIGITS
from betalike.io.text_values import HELD_DIGITS, digits_of, parse_days, parse_moments, parse_months, with_points
from betalike.runtime.arrays import Ints
from betalike.table.schema import DateOrder, Kind


def count_rows(is_meant: pl.Series, counts: Ints | None) -> int:
    """Count the rows of the entries that are meant; an entry is a row, or stands for as many as `counts` says."""
    meant = is_meant.fill_null(False).to_numpy()
    return int(meant.sum() if counts is None else counts[meant].sum())


def one_zero(column: pl.Series) -> pl.Series:
    """Return the column with 0.0 in the place of -0.0, which is the same value in another text."""
    if not column.dtype.is_float():
        return column
    is_zero = (column == 0.0).fill_null(False)
    return column.set(is_zero, 0.0) if is_zero.any() else column


def to_numbers(
    column: pl.Series, kind: Kind, name: str, counts: Ints | None = None, dates: DateOrder = DateOrder.DMY
) -> pl.Series:
    """Return the column as exact numbers: days, months and microseconds for dates; decimals if these are not whole.

    `dates` says what comes first in dates such as 03/04/1980.
    """
    if kind in (Kind.DATE, Kind.DATETIME):
        numbers = _to_days(column, dates) if kind is Kind.DATE else _to_microseconds(column, dates)
    elif kind is Kind.MONTH:
        numbers = _to_months(column)
    else:
        convert = {Kind.INTEGER: _to_integers, Kind.DECIMAL: _to_decimals, Kind.REAL: _to_reals}[kind]
        numbers = convert(with_points(column) if column.dtype == pl.String else column)
    if numbers.null_count() > column.null_count():
        n_bad, n_rows = (
            count_rows(numbers.is_null() & column.is_not_null(), counts),
            count_rows(column.is_null() | True, counts),
        )
        raise SchemaError(
            f"the column '{name}' is of type {kind}, but {n_bad} of its {n_rows} values are not. Fix them, name "
            f"them as missing (--missing), or make the column categorical (--categorical {name})."
        )
    if kind is Kind.REAL and numbers.is_infinite().any():
        n_infinite = count_rows(numbers.is_infinite(), counts)
        raise SchemaError(f"the column '{name}' has {n_infinite} infinite values; fix them.")
    return numbers


def _to_integers(column: pl.Series) -> pl.Series:
    """Convert to whole numbers, in 64 bits if all of them fit; null where a value is not one."""
    if column.dtype.is_integer() and column.dtype not in (pl.UInt64, pl.Int128):
        return column.cast(pl.Int64)
    numbers = column.cast(pl.Int128, strict=False)
    if column.dtype == pl.String and numbers.null_count() > column.null_count():
        reals = column.cast(pl.Float64, strict=False)  # a whole number may be written as 49.0
        is_whole = (reals.floor() == reals) & (reals.abs() < EXACT)
        numbers = numbers.fill_null(reals.set(~is_whole.fill_null(False), None).cast(pl.Int128, strict=False))
    if column.dtype.is_float() or column.dtype.is_decimal():
        numbers = numbers.set((numbers.cast(column.dtype, strict=False) != column).fill_null(False), None)
    narrow = numbers.cast(pl.Int64, strict=False)
    return narrow if narrow.null_count() == numbers.null_count() else numbers


def _to_decimals(column: pl.Series) -> pl.Series:
    if column.dtype.is_decimal():
        return column
    if column.dtype == pl.String:
        places = column.str.extract(r"\.(\d+)$").str.len_bytes().max()
        return column.cast(pl.Decimal(MOST_DIGITS, min(int(str(places or 0)), MOST_DIGITS)), strict=False)
    if column.dtype.is_integer():
        return column.cast(pl.Decimal(MOST_DIGITS, 0), strict=False)
    raise SchemaError(f"the column '{column.name}' is of type decimal, but the table has it as {column.dtype}.")


def _to_reals(column: pl.Series) -> pl.Series:
    """Convert to floating-point numbers; the text "nan" is missing; refuse whole numbers that do not fit."""
    is_long = isinstance(column.dtype, pl.Decimal) and (column.dtype.precision or MOST_DIGITS) > HELD_DIGITS
    if column.dtype == pl.Float32 or is_long:
        column = column.cast(pl.String)  # 0.1 is 0.1, not 0.10000000149, as its text in a file is
    numbers = one_zero(column.cast(pl.Float64, strict=False).fill_nan(None))
    if column.dtype.is_integer() and not (numbers.cast(pl.Int128) == column.cast(pl.Int128)).all():
        raise SchemaError(
            f"the column '{column.name}' is of type real, but has whole numbers beyond 2^53 that a real number cannot "
            "hold. Make it of type integer."
        )
    return numbers


def _to_days(column: pl.Series, dates: DateOrder) -> pl.Series:
    if not column.dtype.is_temporal():
        return parse_days(_date_texts(column, Kind.DATE), dates).to_physical()
    if column.dtype == pl.Datetime:
        column = column.dt.replace_time_zone(None)  # local time, where it was taken
    return column.cast(pl.Date, strict=False).to_physical()


def _to_microseconds(column: pl.Series, dates: DateOrder) -> pl.Series:
    """Convert to microseconds of local time; decimals where some moments have nanoseconds."""
    if not column.dtype.is_temporal():
        column = parse_moments(_date_texts(column, Kind.DATETIME), dates)
    elif column.dtype == pl.Datetime:
        column = column.dt.replace_time_zone(None)
    if column.dtype == pl.Datetime("ns"):
        nanoseconds = column.to_physical()
        if (nanoseconds % 1000 != 0).any():
            return nanoseconds.cast(pl.Decimal(MOST_DIGITS, 3)) / 1000
    return column.cast(pl.Datetime("us"), strict=False).to_physical()


def _to_months(column: pl.Series) -> pl.Series:
    if column.dtype != pl.String:
        raise SchemaError(f"the column '{column.name}' is of type month, but the table has it as {column.dtype}.")
    return parse_months(column)


def _date_texts(column: pl.Series, kind: Kind) -> pl.Series:
    """Return the texts of dates; numbers such as 19801231 are dates too."""
    if column.dtype == pl.String:
        return column
    if not column.dtype.is_numeric():
        raise SchemaError(f"the column '{column.name}' is of type {kind}, but the table has it as {column.dtype}.")
    return digits_of(column)
