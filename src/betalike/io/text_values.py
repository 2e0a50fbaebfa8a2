"""Numbers and dates in the forms in which people write them: 1,5 and 49.0, 31.12.1980, 12/31/1980 and 19801231."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

import polars as pl

from betalike.table.schema import DateOrder

COMMA = r"^([+-]?\d*),(\d+)$"
PLAIN = r"^[+-]?(\d*)(?:\.(\d*))?$"  # a decimal number, written without an exponent
HELD_DIGITS = 15  # of a decimal number; floating-point numbers hold at least these
DATE = r"^\d{4}-\d{1,2}-\d{1,2}$"
YEAR_FIRST = (r"^(\d{4})/(\d{1,2})/(\d{1,2})($|[ T])", r"^(\d{4})\.(\d{1,2})\.(\d{1,2})($|[ T])")
DIGITS = r"^(\d{4})(\d\d)(\d\d)$"
DOTTED = r"^(\d{1,2})\.(\d{1,2})\.(\d{4})($|[ T])"
SLASHED = (r"^(\d{1,2})/(\d{1,2})/(\d{4})($|[ T])", r"^(\d{1,2})-(\d{1,2})-(\d{4})($|[ T])")
MONTH = r"^(\d{4})-(0[1-9]|1[0-2])$"
TIME_ZONE = r"(:\d\d(?:\.\d+)?)(?:[+-]\d\d:?\d\d|Z)$"
MOMENT = r"^(\d{4}-\d{1,2}-\d{1,2})[ T](\d{1,2}:\d{2})$"
YEARS = (1800, 2100)  # of eight digits that are taken for a date


def with_points(texts: pl.Series) -> pl.Series:
    """Return texts without spaces around them, and with a point where a number has a decimal comma."""
    return texts.str.strip_chars().str.replace(COMMA, "$1.$2")


def loses_digits(numbers: pl.Series) -> pl.Series:
    """Return which decimal numbers, written without an exponent, a floating-point number does not hold; never null.

    It holds a number if it is written with the same digits, as 0.1 is.
    """
    may_lose = (numbers.str.len_bytes() > HELD_DIGITS).fill_null(False) & numbers.str.contains(PLAIN).fill_null(False)
    return may_lose.scatter(may_lose.arg_true(), [_loses_digits(text) for text in numbers.filter(may_lose)])


def _loses_digits(text: str) -> bool:
    return Decimal(repr(float(text))) != Decimal(text)


def _to_iso(texts: pl.Expr, dates: DateOrder) -> pl.Expr:
    """Return texts with the dates in them as YYYY-MM-DD; days come first between points, and as asked elsewhere."""
    slashed = "$3-$2-$1$4" if dates is DateOrder.DMY else "$3-$1-$2$4"
    forms = [*((form, "$1-$2-$3$4") for form in YEAR_FIRST), *((form, slashed) for form in SLASHED)]
    texts = texts.str.strip_chars().str.replace(DIGITS, "$1-$2-$3").str.replace(DOTTED, "$3-$2-$1$4")
    for form, iso in forms:
        texts = texts.str.replace(form, iso)
    return texts


def parse_days(texts: pl.Series, dates: DateOrder) -> pl.Series:
    """Return the days that texts stand for; null where a text is not a date, or has a time other than midnight."""
    moments = parse_moments(texts, dates)
    return moments.dt.date().set((moments.dt.time().cast(pl.Int64) != 0).fill_null(False), None)


def parse_moments(texts: pl.Series, dates: DateOrder) -> pl.Series:
    """Return the moments, in local time, that texts stand for; null where a text is none. A date is its midnight."""
    if not (texts.str.len_bytes() >= len("1980-1-1")).any():
        return pl.Series(texts.name, [None], dtype=pl.Datetime).new_from_index(0, len(texts))
    text = pl.col("text")
    iso = _to_iso(text, dates).str.replace(TIME_ZONE, "$1").str.replace(MOMENT, "$1 $2:00").str.replace("T", " ")
    with_times = pl.when(text.str.contains(DATE)).then(text + " 00:00:00").otherwise(text)
    whole = texts.alias("text").to_frame().with_columns(iso).with_columns(with_times)
    unit: Literal["ns", "us"] = "ns" if whole["text"].str.contains(r"\.\d{7}").any() else "us"
    moments = whole.select(text.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit=unit, strict=False))
    return moments.select(pl.when(text.dt.year() >= 1).then(text)).to_series().alias(texts.name)


def parse_months(texts: pl.Series) -> pl.Series:
    """Return the months since January 1970 that texts such as 2010-03 stand for; null where a text is none."""
    parts = texts.str.strip_chars().str.extract_groups(MONTH).struct.unnest()
    year, month = (parts.to_series(place).cast(pl.Int64) for place in (0, 1))
    return ((year - 1970) * 12 + month - 1).set((year < 1).fill_null(False), None).alias(texts.name)


def are_seasons(texts: pl.Series) -> pl.Series:
    """Return which texts may be two years in a row, as 2010-11 is a month and a school year; never null."""
    parts = texts.str.strip_chars().str.extract_groups(MONTH).struct.unnest()
    year, month = (parts.to_series(place).cast(pl.Int64) for place in (0, 1))
    return ((year + 1) % 100 == month).fill_null(False)


def digits_of(numbers: pl.Series) -> pl.Series:
    """Return whole numbers of eight digits, such as 19801231, as text; null for all others."""
    whole = numbers.cast(pl.Int64, strict=False)
    is_meant = whole.is_between(10**7, 10**8 - 1) & (whole.cast(numbers.dtype, strict=False) == numbers)
    return whole.cast(pl.String).set(~is_meant.fill_null(False), None)


def has_usual_year(moments: pl.Series) -> pl.Series:
    """Return which moments lie in the years of people's dates; never null."""
    return moments.dt.year().is_between(*YEARS).fill_null(False)
