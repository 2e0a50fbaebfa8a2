"""Numbers and dates without loss of digits: parsing, formatting and distances."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from betalike.runtime.arrays import Floats
from betalike.table.schema import Kind

Number = int | float | Decimal
Numbers = NDArray[Any]  # int64 or float64 where these are exact, else Python numbers
EPOCH = datetime.datetime(1970, 1, 1)
DAY, MICROSECOND = datetime.timedelta(days=1), datetime.timedelta(microseconds=1)
THOUSAND = 1000  # nanoseconds in a microsecond
MOST_DIGITS = 300  # of a published number; more would not fit into a float
TINY = Fraction(1, 10 ** (2 * MOST_DIGITS))  # less than the difference of any two decimals


def as_numbers(numbers: Sequence[Number]) -> Numbers:
    """Return numbers as an array that keeps all their digits."""
    if all(isinstance(number, float) for number in numbers):
        return np.array(numbers, dtype=np.float64)
    is_whole = all(isinstance(number, int | np.integer) for number in numbers)
    if is_whole and all(-(2**63) <= number < 2**63 for number in numbers):
        return np.array(numbers, dtype=np.int64)
    exact = np.empty(len(numbers), dtype=object)
    exact[:] = numbers
    return exact


def distances(low: Numbers, high: Numbers) -> Floats:
    """Return the distance of each pair of numbers: the exact difference, rounded once."""
    kinds = {low.dtype.kind, high.dtype.kind}
    if kinds == {"i"}:  # unsigned numbers wrap around, so the difference of any two 64-bit numbers is exact
        return (high.astype(np.uint64) - low.astype(np.uint64)).astype(np.float64)
    if "O" in kinds:
        pairs = zip(low.tolist(), high.tolist(), strict=True)
        return np.array([float(Fraction(b) - Fraction(a)) for a, b in pairs], dtype=np.float64)
    return np.asarray(high.astype(np.float64) - low.astype(np.float64))


def format_values(values: Iterable[Number], kind: Kind) -> list[str]:
    """Format numbers, dates, months or datetimes as they are published."""
    if kind is Kind.INTEGER:
        return [str(int(value)) for value in values]
    if kind is Kind.REAL:
        return [repr(float(value)) for value in values]
    if kind is Kind.DECIMAL:
        return [format(Decimal(value), "f") for value in values]
    if kind is Kind.DATE:
        return [(EPOCH + datetime.timedelta(days=int(value))).date().isoformat() for value in values]
    if kind is Kind.MONTH:
        return [_format_month(int(value)) for value in values]
    return [_format_moment(value) for value in values]


def _format_month(months: int) -> str:
    year, month = divmod(months, 12)
    return datetime.date(EPOCH.year + year, month + 1, 1).isoformat()[: len("1970-01")]


def _format_moment(value: Number) -> str:
    whole = math.floor(value)
    text = (EPOCH + datetime.timedelta(microseconds=whole)).isoformat(sep=" ")
    nanoseconds = int((value - whole) * THOUSAND)
    if not nanoseconds:
        return text
    return f"{text if '.' in text else text + '.000000'}{nanoseconds:03}"


def parse_values(texts: Sequence[str], kind: Kind) -> Numbers:
    """Parse published values: the inverse of `format_values`."""
    if kind is Kind.INTEGER:
        return as_numbers([_parse_integer(text) for text in texts])
    if kind is Kind.REAL:
        return np.array([float(text) for text in texts], dtype=np.float64)
    if kind is Kind.DECIMAL:
        return as_numbers([_parse_decimal(text) for text in texts])
    if kind is Kind.DATE:
        return as_numbers([_since_1970(text) // DAY for text in texts])
    if kind is Kind.MONTH:
        return as_numbers([_parse_month(text) for text in texts])
    return as_numbers([_parse_moment(text) for text in texts])


def exact_number(text: str) -> int | float | Fraction:
    """Return a number exactly as written, or as a float if it is too large or too small to compute with."""
    if text.isdecimal() and len(text) <= MOST_DIGITS:  # a shortcut for the most frequent kind; lists may be long
        return int(text)
    try:
        number = _parse_decimal(text)
    except ValueError:
        return float(text)
    return int(number) if number == number.to_integral_value() else Fraction(number)


def exact_numbers(texts: Iterable[str]) -> list[int | float | Fraction]:
    """Return numbers exactly as written, in ascending order without repeats.

    Decimals are sorted before they become fractions, which are slow to compare.
    """
    distinct = set(texts)
    try:
        decimals = sorted(set(map(_parse_decimal, distinct)))
        return [int(number) if number == number.to_integral_value() else Fraction(number) for number in decimals]
    except ValueError:
        return sorted(set(map(exact_number, distinct)))


def _parse_integer(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError("not a whole number, or too large")
    return int(text)


def _parse_decimal(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except ArithmeticError as error:
        raise ValueError("not a decimal number") from error
    if not number.is_finite() or abs(number.adjusted()) > MOST_DIGITS or len(text) > MOST_DIGITS:
        raise ValueError("not a decimal number, or too large")
    return number


def _parse_month(text: str) -> int:
    if not _MONTH.fullmatch(text):
        raise ValueError("not a month such as 2010-03")
    first = datetime.date.fromisoformat(f"{text}-01")
    return (first.year - EPOCH.year) * 12 + first.month - 1


def _since_1970(text: str) -> datetime.timedelta:
    moment = datetime.datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        raise ValueError("a time zone is not allowed; give local time")
    return moment - EPOCH


_MONTH = re.compile(r"[0-9]{4}-[0-9]{2}")
_NANOSECONDS = re.compile(r"(.*\.\d{6})(\d{3})")


def _parse_moment(text: str) -> Number:
    """Return microseconds since 1970; Python's own parser stops at six digits of a second."""
    finer = _NANOSECONDS.fullmatch(text)
    whole = _since_1970(finer[1] if finer else text) // MICROSECOND
    return whole + Decimal(finer[2]) / THOUSAND if finer and int(finer[2]) else whole
