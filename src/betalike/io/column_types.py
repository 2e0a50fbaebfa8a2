"""The type of a column from its values: one rule, whatever file, frame or database they came from.

What is seen of the values adds up, so that it does not matter whether a column is seen at once or in batches, row by
row or as distinct values with counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any

import polars as pl

from betalike.io.text_values import (
    COMMA,
    DIGITS,
    DOTTED,
    HELD_DIGITS,
    PLAIN,
    SLASHED,
    YEARS,
    are_seasons,
    digits_of,
    has_usual_year,
    loses_digits,
    parse_moments,
    parse_months,
    with_points,
)
from betalike.runtime.arrays import Ints
from betalike.table.schema import DateOrder, Kind

MISSING_TEXTS = ("NA", "N/A", "n/a", "#N/A", "<NA>", ".", "NULL", "null", "?", "-", "NaN", "nan")
MISSING_NUMBERS = tuple(sign * int(str(digit) * n) for sign in (-1, 1) for digit in (7, 8, 9) for n in range(1, 6))
LEAST_ROWS = 3  # of a value that is shown
MOST_DIGITS = 38  # of a decimal
EXACT = 1 << 53  # whole numbers up to here are exact as floating-point numbers
LEADING_ZERO = r"^[+-]?0\d"
THOUSANDS = r"^[+-]?[1-9]\d{0,2},\d{3}$"
FORMS = {"DD.MM.YYYY": DOTTED, "YYYYMMDD": DIGITS, "slashed": "|".join(SLASHED)}
SLASHED_FORMS = {DateOrder.DMY: "DD/MM/YYYY", DateOrder.MDY: "MM/DD/YYYY"}
STORED = {pl.Date: Kind.DATE, pl.Datetime: Kind.DATETIME}


def stored_kind(dtype: pl.DataType) -> Kind:
    """Return the kind of values that a column is stored as; text and all else is categorical."""
    if dtype.is_integer():
        return Kind.INTEGER
    if dtype.is_decimal():
        return Kind.DECIMAL
    if dtype.is_float():
        return Kind.REAL
    return STORED.get(dtype.base_type(), Kind.CATEGORICAL)


def has_no_text(dtype: pl.DataType) -> bool:
    """Return whether a CSV file has no place for values of this type."""
    return dtype.is_nested() or dtype in (pl.Binary, pl.Object) or isinstance(dtype, pl.BaseExtension)


@dataclass(frozen=True)
class Seen:
    """What was seen of a column's values, counted in rows; missing codes that are texts count only as `codes`."""

    kind: Kind | None = None  # as stored
    present: int = 0
    numbers: int = 0
    whole: int = 0
    plain: int = 0  # decimal numbers, written without an exponent
    beyond: int = 0  # of these, numbers that a floating-point number does not hold
    digits: int = 0  # most digits before the point
    places: int = 0  # most digits after it
    leading_zeros: int = 0
    commas: int = 0
    thousands: int = 0  # numbers with a comma that may also set off thousands
    day_first: int = 0  # dates, if days come before months where that is not clear
    month_first: int = 0
    differing: int = 0  # dates that would be two different ones
    midnights: int = 0
    months: int = 0  # such as 2010-03
    seasons: int = 0  # of these, those that may be two years in a row
    forms: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    code_numbers: Counter[int] = field(default_factory=Counter)
    low: float | None = None  # of the numbers that are no codes
    high: float | None = None

    def __add__(self, other: Seen) -> Seen:
        counts = {
            each.name: getattr(self, each.name) + getattr(other, each.name)
            for each in fields(self)
            if each.name not in ("kind", "low", "high", "digits", "places")
        }
        counts |= {name: max(getattr(self, name), getattr(other, name)) for name in ("digits", "places")}
        lows, highs = [self.low, other.low], [self.high, other.high]
        kind = self.kind if other.kind in (None, self.kind) else other.kind
        return Seen(kind=kind, low=_end(lows, min), high=_end(highs, max), **counts)


def _end(ends: list[float | None], choose: Callable[[list[float]], float]) -> float | None:
    known = [end for end in ends if end is not None]
    return choose(known) if known else None


@dataclass(frozen=True)
class TypeGuess:
    """The type that a column is taken for, and why; `codes` may stand for missing values."""

    kind: Kind
    reason: str
    dates: DateOrder | None = None  # where it matters
    is_ambiguous: bool = False  # dates whose day and month look alike
    codes: tuple[str, ...] = ()
    warning: str | None = None
    rare_codes: tuple[str, ...] = field(default=(), repr=False)  # in so few rows that nobody may see them


def see(column: pl.Series, counts: Ints | None = None) -> Seen:
    """Examine values; each stands for one row, or for as many as `counts` says. Empty texts and NaN are missing."""
    if column.dtype in (pl.Categorical, pl.Enum, pl.Boolean, pl.Time):
        column = column.cast(pl.String)
    if column.dtype == pl.String:
        column = column.set((column == "").fill_null(False), None)
    elif column.dtype.is_float():
        column = column.fill_nan(None)
    dtype = column.dtype
    rows = pl.Series(counts if counts is not None else [1] * len(column), dtype=pl.Int64).filter(column.is_not_null())
    column = column.drop_nulls()
    if dtype == pl.String:
        return _see_texts(column, rows)
    seen: dict[str, Any] = {"kind": stored_kind(dtype), "present": int(rows.sum())}
    if dtype in (pl.Date, pl.Datetime):
        every = dict.fromkeys(("day_first", "month_first"), seen["present"])
        midnights = _count(rows, column.dt.time().cast(pl.Int64) == 0) if dtype == pl.Datetime else seen["present"]
        return Seen(**seen, **every, midnights=midnights)
    if not dtype.is_numeric():
        return Seen(**seen)
    numbers = column.cast(pl.Float64)
    if dtype.is_integer():
        is_whole = pl.Series([True], dtype=pl.Boolean).new_from_index(0, len(column))
    elif dtype.is_decimal():
        is_whole = column.cast(pl.Int128, strict=False).cast(dtype, strict=False) == column
    else:
        is_whole = numbers.floor() == numbers
        is_whole &= numbers.abs() < EXACT
    may_be_date = numbers.is_between(YEARS[0] * 10_000, (YEARS[1] + 1) * 10_000)
    days = parse_moments(digits_of(column.filter(may_be_date)), DateOrder.DMY)
    n_dates = _count(rows.filter(may_be_date), has_usual_year(days))
    return Seen(
        **seen,
        numbers=seen["present"],
        whole=_count(rows, is_whole),
        plain=seen["present"] if dtype.is_decimal() else 0,
        beyond=_count_beyond(column, rows) if dtype.is_decimal() else 0,
        day_first=n_dates,
        month_first=n_dates,
        midnights=n_dates,
        forms=Counter({"YYYYMMDD": n_dates} if n_dates else {}),
        **_see_code_numbers(numbers, rows),
    )


def _count(rows: pl.Series, is_meant: pl.Series) -> int:
    return int(rows.filter(is_meant).sum())


def _count_beyond(decimals: pl.Series, rows: pl.Series) -> int:
    """Count the decimals that a floating-point number does not hold; few digits always fit."""
    ends = [abs(end) for end in (decimals.min(), decimals.max()) if isinstance(end, Decimal)]
    assert isinstance(decimals.dtype, pl.Decimal)
    if all(end.scaleb(decimals.dtype.scale) < 10**HELD_DIGITS for end in ends):
        return 0
    return _count(rows, loses_digits(decimals.cast(pl.String)))


def _see_digits(numbers: pl.Series, rows: pl.Series) -> dict[str, Any]:
    """Count decimal numbers, and those that a floating-point number does not hold; find the most digits of any."""
    parts = numbers.str.extract_groups(PLAIN).struct.unnest()
    digits, places = (int(str(parts.to_series(i).str.len_bytes().max() or 0)) for i in (0, 1))
    is_plain = numbers.str.contains(PLAIN)
    beyond = _count(rows, loses_digits(numbers)) if digits + places > HELD_DIGITS else 0
    return {"plain": _count(rows, is_plain), "beyond": beyond, "digits": digits, "places": places}


def _see_texts(texts: pl.Series, rows: pl.Series) -> Seen:
    is_code = texts.str.strip_chars().is_in(MISSING_TEXTS)
    found = zip(texts.filter(is_code).to_list(), rows.filter(is_code).to_list(), strict=True)
    codes: Counter[str] = sum((Counter({text: n}) for text, n in found), Counter())
    texts, rows = texts.filter(~is_code), rows.filter(~is_code)
    plain = with_points(texts)
    numbers = plain.cast(pl.Float64, strict=False)
    is_number = numbers.is_not_nan().fill_null(False)
    is_whole = plain.cast(pl.Int128, strict=False).is_not_null()
    is_whole |= ((numbers.floor() == numbers) & (numbers.abs() < EXACT)).fill_null(False)
    trimmed = texts.str.strip_chars()
    return Seen(
        kind=Kind.CATEGORICAL,
        present=int(rows.sum()),
        numbers=_count(rows, is_number),
        whole=_count(rows, is_whole),
        **_see_digits(plain.filter(is_number), rows.filter(is_number)),
        leading_zeros=_count(rows, is_number & plain.str.contains(LEADING_ZERO)),
        commas=_count(rows, trimmed.str.contains(COMMA)),
        thousands=_count(rows, trimmed.str.contains(THOUSANDS)),
        **_see_dates(trimmed, rows, is_number),
        months=_count(rows, parse_months(trimmed).is_not_null()),
        seasons=_count(rows, are_seasons(trimmed)),
        codes=codes,
        **_see_code_numbers(numbers.filter(is_number), rows.filter(is_number)),
    )


def _see_dates(texts: pl.Series, rows: pl.Series, is_number: pl.Series) -> dict[str, Any]:
    """Count the dates, and in which forms they are; digits alone are one only in the years of people's dates."""
    by_day, by_month = (parse_moments(texts, order) for order in (DateOrder.DMY, DateOrder.MDY))
    if by_day.null_count() == by_month.null_count() == len(texts):
        return {}
    may_be_date = ~is_number | has_usual_year(by_day)
    is_day_first, is_month_first = (may_be_date & found.is_not_null() for found in (by_day, by_month))
    is_date = is_day_first | is_month_first
    forms = {name: _count(rows, is_date & texts.str.contains(form)) for name, form in FORMS.items()}
    return {
        "day_first": _count(rows, is_day_first),
        "month_first": _count(rows, is_month_first),
        "differing": _count(rows, is_date & by_day.ne_missing(by_month)),
        "midnights": _count(rows, is_date & (by_day.fill_null(by_month).dt.time().cast(pl.Int64) == 0)),
        "forms": Counter({name: n for name, n in forms.items() if n}),
    }


def _see_code_numbers(numbers: pl.Series, rows: pl.Series) -> dict[str, Any]:
    """Count the numbers that often stand for missing values, and find the ends of the others."""
    is_code = numbers.is_in(list(map(float, MISSING_NUMBERS)))
    others = numbers.filter(~is_code & numbers.is_finite())
    found = zip(numbers.filter(is_code).to_list(), rows.filter(is_code).to_list(), strict=True)
    codes: Counter[int] = sum((Counter({int(number): n}) for number, n in found), Counter())
    return {"code_numbers": codes, "low": others.min(), "high": others.max()}


def guess_type(seen: Seen, dates: DateOrder | None = None) -> TypeGuess:
    """Guess the type of a column as if its missing codes were missing.

    `dates` decides between day and month where the values do not.
    """
    n = seen.present
    codes = tuple(sorted(seen.codes))
    if n == 0:
        return TypeGuess(seen.kind or Kind.CATEGORICAL, "no values", codes=codes)
    if n in (seen.day_first, seen.month_first):
        return _guess_dates(seen, dates, codes)
    if seen.numbers == n:
        return _guess_numbers(seen, codes)
    if n == seen.months > seen.seasons:
        return TypeGuess(Kind.MONTH, "months (YYYY-MM)", codes=codes)
    dated = max(seen.day_first, seen.month_first)
    months = seen.months if seen.months > seen.seasons else 0
    for known, words in ((seen.numbers, "numbers"), (dated, "dates"), (months, "months")):
        if n > known > n / 2 and not seen.leading_zeros:
            few = f"text: {n - known} of {n} values are no {words}"
            return TypeGuess(Kind.CATEGORICAL, few, codes=codes, warning=few)
    return TypeGuess(Kind.CATEGORICAL, "text", codes=codes)


def _guess_dates(seen: Seen, dates: DateOrder | None, codes: tuple[str, ...]) -> TypeGuess:
    orders = {DateOrder.DMY: seen.day_first, DateOrder.MDY: seen.month_first}
    possible = [order for order, n in orders.items() if n == seen.present]
    matters = seen.differing > 0
    is_ambiguous = matters and len(possible) > 1 and dates is None
    order = dates if dates in possible else possible[0]
    forms = [SLASHED_FORMS[order] if form == "slashed" else form for form in seen.forms]
    others = seen.present - sum(seen.forms.values())
    shown = ", ".join(["YYYY-MM-DD"] * (others > 0 and bool(forms)) + forms)
    has_times = seen.midnights < seen.present
    words = f"dates{' with times' if has_times else ''}{f' ({shown})' if shown else ''}"
    if is_ambiguous:
        words = 'dates, but day and month look alike; name their order: dates = "dmy" or "mdy" under [release]'
    kind = Kind.DATETIME if has_times else Kind.DATE
    return TypeGuess(kind, words, order if matters and not is_ambiguous else None, is_ambiguous, codes)


def _guess_numbers(seen: Seen, codes: tuple[str, ...]) -> TypeGuess:
    if seen.leading_zeros:
        return TypeGuess(Kind.CATEGORICAL, "codes: some begin with 0", codes=codes)
    if seen.commas and seen.commas == seen.thousands:
        words = "text: its commas may be decimal commas or thousands; declare it of type real if they are decimal"
        return TypeGuess(Kind.CATEGORICAL, words, codes=codes, warning=words)
    apart = _standing_apart(seen)
    codes += tuple(str(code) for code in apart if seen.code_numbers[code] >= LEAST_ROWS)
    rare = tuple(str(code) for code in apart if seen.code_numbers[code] < LEAST_ROWS)
    if seen.whole == seen.present:
        return TypeGuess(Kind.INTEGER, "whole numbers", codes=codes, rare_codes=rare)
    commas = " with decimal commas" if seen.commas else ""
    kind, digits = (Kind.DECIMAL, " of many digits") if is_beyond_floats(seen) else (Kind.REAL, "")
    return TypeGuess(kind, f"numbers{digits}{commas}", codes=codes, rare_codes=rare)


def is_beyond_floats(seen: Seen) -> bool:
    """Return whether all values are decimals that some type holds, and floating-point numbers would lose digits."""
    return seen.beyond > 0 and seen.plain == seen.present and seen.digits + seen.places <= MOST_DIGITS


def _standing_apart(seen: Seen) -> list[int]:
    """Return the codes that stand apart: negative ones where all else is not, others far above all else."""
    if seen.low is None or seen.high is None:
        return []
    room = max(seen.high - seen.low, 1)
    negative = [code for code in seen.code_numbers if code < 0 <= seen.low]
    above = [code for code in seen.code_numbers if code - seen.high > room / 2 and code > 9]
    return sorted([*negative, *above])


def warn_about(types: Mapping[str, TypeGuess]) -> list[str]:
    """Return warnings about columns whose type may not be the one that is meant, without any cell."""
    warnings = []
    for name, taken in types.items():
        codes = ",".join(taken.codes)
        if taken.warning is not None:
            further = f"; if these are missing values, name them with --missing {codes}" if codes else ""
            warnings.append(f"the column '{name}' is taken as categories: {taken.warning}{further}")
        elif codes and taken.kind.is_ordered:
            warnings.append(
                f"the column '{name}' holds {codes}, apart from all other values; if that stands for missing values, "
                f"name it with --missing {codes}"
            )
        elif taken.rare_codes and taken.kind.is_ordered:
            warnings.append(
                f"the column '{name}' holds a number such as -9 or 99, apart from all other values, in fewer than "
                f"{LEAST_ROWS} rows; if it stands for missing values, name it with --missing"
            )
    return warnings


def add_seen(seen: Mapping[str, Seen], more: Mapping[str, Seen]) -> dict[str, Seen]:
    """Add up what was seen of several columns in several batches."""
    return {name: seen.get(name, Seen()) + each for name, each in more.items()}
