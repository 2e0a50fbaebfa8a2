"""A frame with every column in the type that its values show, whatever type it is stored in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from betalike.io.categories import as_texts
from betalike.io.column_types import Seen, TypeGuess, guess_type, has_no_text, see, stored_kind
from betalike.io.missing_codes import WHOLE, without_codes
from betalike.io.text_values import digits_of, parse_days, parse_moments, with_points
from betalike.table.schema import DateOrder, Kind

LEAST_ROWS = 10


@dataclass(frozen=True)
class TypedFrame:
    """A frame in the types that its values show; `missing` lists codes in it that may stand for missing values."""

    frame: pl.DataFrame
    types: Mapping[str, TypeGuess]
    missing: tuple[str, ...]


def read_types(frame: pl.DataFrame, dates: DateOrder | None = None) -> TypedFrame:
    """Return a frame in the types that its values show, with nothing in the place of codes for missing values."""
    seen = {column.name: _see(column) for column in frame.iter_columns()}
    types = {name: guess_type(each, dates) for name, each in seen.items()}
    missing = _safe_codes(seen, types)
    plain = without_codes(frame, missing)
    return TypedFrame(pl.DataFrame({name: convert(plain[name], types[name]) for name in frame.columns}), types, missing)


def _see(column: pl.Series) -> Seen:
    """Examine the values of a column; each distinct text, whole number or date once."""
    if has_no_text(column.dtype) or column.dtype == pl.Duration:
        return Seen(stored_kind(column.dtype), len(column) - column.null_count())
    if not (column.dtype == pl.String or column.dtype.is_integer() or column.dtype == pl.Date):
        return see(column)
    counted = column.value_counts(name="rows")
    return see(counted.to_series(0), counted["rows"].cast(pl.Int64).to_numpy())


def _safe_codes(seen: Mapping[str, Seen], types: Mapping[str, TypeGuess]) -> tuple[str, ...]:
    """Return the codes that may stand for a missing value wherever they occur.

    A number that few rows have may be a person's own, and these codes are shown.
    """
    codes = dict.fromkeys(code for guess in types.values() for code in (*guess.codes, *guess.rare_codes))
    numbers = [(str(number), name) for name, each in seen.items() for number in each.code_numbers]
    is_value = {number for number, name in numbers if number not in (*types[name].codes, *types[name].rare_codes)}
    rows = sum((Counter(each.code_numbers) for each in seen.values()), Counter[int]())
    is_shown = {str(number) for number, n in rows.items() if n >= LEAST_ROWS} - is_value
    return tuple(code for code in codes if code in is_shown or not WHOLE.fullmatch(code))


def convert(column: pl.Series, taken: TypeGuess) -> pl.Series:
    """Return a column in the type that it is taken for; a value that is not of it becomes missing."""
    kind, order = taken.kind, taken.dates or DateOrder.DMY
    if kind is stored_kind(column.dtype) or kind is Kind.CATEGORICAL or taken.is_ambiguous:
        return column
    if column.dtype.base_type() in (pl.Categorical, pl.Enum):
        column = as_texts(column)
    if kind in (Kind.DATE, Kind.DATETIME):
        if column.dtype.is_temporal():
            return column.cast(pl.Date)
        texts = column if column.dtype == pl.String else digits_of(column)
        return parse_days(texts, order) if kind is Kind.DATE else parse_moments(texts, order)
    if kind is Kind.MONTH:  # its first day, which guesses take for a date
        return parse_days(column.str.strip_chars() + "-01", order)
    plain = with_points(column) if column.dtype == pl.String else column
    if kind is not Kind.INTEGER:
        return plain.cast(pl.Float64, strict=False)
    whole, reals = plain.cast(pl.Int64, strict=False), plain.cast(pl.Float64, strict=False)
    whole = whole.fill_null(reals.cast(pl.Int64, strict=False))  # such as 49.0
    return column if whole.null_count() > reals.fill_nan(None).null_count() else whole  # beyond 64 bits
