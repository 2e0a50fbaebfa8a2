"""Bins with round ends, compared with a slow twin that lists every boundary."""

from __future__ import annotations

import datetime
import itertools
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.errors import ParameterError, SchemaError
from betalike.table.exact_numbers import as_numbers, format_values, parse_values
from betalike.table.rounding import Rounding, make_rounding
from betalike.table.schema import Kind, RoundEnds
from examples import examples

EPOCH = datetime.date(1970, 1, 1)


def boundaries(kind: Kind, step: Any, low: Any, high: Any) -> list[Any]:
    """Every round number from at most `low` to at least `high`: multiples, or first days of months."""
    if kind is Kind.DATE:
        day = EPOCH + datetime.timedelta(days=low - 800)
        days = (day + datetime.timedelta(days=n) for n in range(high - low + 1600))
        return [(day - EPOCH).days for day in days if is_first_day(day, step)]
    width = Fraction(str(step))
    first = Fraction(str(low)) // width - 2
    multiples = (width * (first + n) for n in itertools.count())
    return list(itertools.takewhile(lambda cut: cut < Fraction(str(high)) + 3 * width, multiples))


def is_first_day(day: datetime.date, unit: str) -> bool:
    return {
        "week": day.weekday() == 0,
        "month": day.day == 1,
        "quarter": day.day == 1 and day.month in (1, 4, 7, 10),
        "year": (day.month, day.day) == (1, 1),
    }[unit]


def slow_bin(value: Any, kind: Kind, step: Any, bottom: Any, top: Any) -> tuple[Any, Any]:
    """The published ends of a value's bin, from a list of all boundaries between the codes."""
    if bottom is not None and value <= bottom:
        return bottom, bottom
    if top is not None and value >= top:
        return top, top
    is_whole = kind in (Kind.INTEGER, Kind.DATE)
    values = [Fraction(str(n)) for n in (value, bottom, top) if n is not None]
    cuts = boundaries(kind, step, int(min(values)) - 1, int(max(values)) + 1)
    begin = None if bottom is None else Fraction(str(bottom)) + is_whole
    end = None if top is None else Fraction(str(top))
    inside = [cut for cut in cuts if (begin is None or cut > begin) and (end is None or cut < end)]
    if begin is not None and begin not in cuts:
        inside = inside[1:]  # it would leave a bin narrower than a step
    if end is not None and end not in cuts:
        inside = inside[:-1]
    inside = ([begin] if begin is not None else []) + inside + ([end] if end is not None else [])
    exact = Fraction(str(value))
    return max(cut for cut in inside if cut <= exact), min(cut for cut in inside if cut > exact) - is_whole


def numbers(kind: Kind) -> st.SearchStrategy[Any]:
    if kind is Kind.DECIMAL:
        return st.decimals(-300, 300, places=1)
    if kind is Kind.REAL:
        return st.integers(-3000, 3000).map(lambda tenth: tenth / 10)
    return st.integers(-1500, 1500)


STEPS = {
    Kind.INTEGER: [1, 2, 5, 7, 100],
    Kind.REAL: [0.1, 0.5, 5.0, 7.0],
    Kind.DECIMAL: [Decimal("0.1"), Decimal("2.5"), Decimal(5)],
    Kind.DATE: ["week", "month", "quarter", "year"],
}


@pytest.mark.parametrize("kind", STEPS)
@given(data=st.data())
@examples(60)
def test_bins_are_those_between_listed_boundaries(kind: Kind, data: st.DataObject) -> None:
    step = data.draw(st.sampled_from(STEPS[kind]))
    ends = sorted(data.draw(st.lists(numbers(kind), min_size=2, max_size=2, unique=True)))
    bottom, top = (end if data.draw(st.booleans()) else None for end in ends)
    values = data.draw(st.lists(numbers(kind), min_size=1, max_size=6))
    wish = RoundEnds(step, *(_as_given(end, kind) for end in (bottom, top)))
    rounding = make_rounding("x", kind, wish)
    assert rounding is not None
    low, high = rounding.bins(as_numbers(values))
    for value, a, b in zip(values, low.tolist(), high.tolist(), strict=True):
        expected = slow_bin(value, kind, step, bottom, top)
        assert (Fraction(str(a)), Fraction(str(b))) == tuple(Fraction(str(end)) for end in expected)
    assert rounding.are_round(low, high).all()


def _as_given(end: Any, kind: Kind) -> Any:
    return end if end is None or kind is not Kind.DATE else EPOCH + datetime.timedelta(days=end)


SHOWN = {
    "an age": (Kind.INTEGER, (5, None, None), "37", ("35", "39")),
    "below 0": (Kind.INTEGER, (5, None, None), "-1", ("-5", "-1")),
    "beyond 2^53": (Kind.INTEGER, (10, None, None), str(2**53 + 1), ("9007199254740990", "9007199254740999")),
    "at the end of 64 bits": (Kind.INTEGER, (10, None, None), str(2**63 - 1), (str(2**63 - 8), str(2**63 + 1))),
    "beyond 64 bits": (Kind.INTEGER, (10**20, None, None), str(10**25 + 7), (str(10**25), str(10**25 + 10**20 - 1))),
    "a step beyond 64 bits": (Kind.INTEGER, (10**20, None, None), "7", ("0", str(10**20 - 1))),
    "a bottom beyond 64 bits": (Kind.INTEGER, (None, 2**70, None), "7", (str(2**70), str(2**70))),
    "money": (Kind.REAL, (1000, None, None), "35999.99", ("35000.0", "36000.0")),
    "a round real": (Kind.REAL, (0.1, None, None), "0.3", ("0.3", "0.4")),
    "a tiny step": (Kind.REAL, (1e-300, None, None), "2.5e-300", ("2e-300", "3e-300")),
    "a decimal": (Kind.DECIMAL, ("0.25", None, None), "1.30", ("1.25", "1.50")),
    "a leap day": (Kind.DATE, ("month", None, None), "2024-02-29", ("2024-02-01", "2024-02-29")),
    "February of a year without one": (Kind.DATE, ("month", None, None), "1900-02-03", ("1900-02-01", "1900-02-28")),
    "before 1970": (Kind.DATE, ("quarter", None, None), "1969-12-31", ("1969-10-01", "1969-12-31")),
    "a decade before 1970": (Kind.DATE, ("decade", None, None), "1895-06-01", ("1890-01-01", "1899-12-31")),
    "a week": (Kind.DATE, ("week", None, None), "1970-01-01", ("1969-12-29", "1970-01-04")),
    "the last day": (Kind.DATE, ("month", None, None), "9999-12-31", ("9999-12-01", "9999-12-31")),
    "the first decade": (Kind.DATE, ("decade", None, None), "0003-05-05", ("0001-01-01", "0009-12-31")),
    "an hour": (
        Kind.DATETIME,
        ("hour", None, None),
        "1969-12-31 23:59:59",
        ("1969-12-31 23:00:00", "1970-01-01 00:00:00"),
    ),
    "nanoseconds": (
        Kind.DATETIME,
        ("minute", None, None),
        "2024-02-29 10:59:59.999999999",
        ("2024-02-29 10:59:00", "2024-02-29 11:00:00"),
    ),
    "a year of moments": (
        Kind.DATETIME,
        ("year", None, None),
        "2024-02-29 10:59:59",
        ("2024-01-01 00:00:00", "2025-01-01 00:00:00"),
    ),
    "the last moments": (
        Kind.DATETIME,
        ("decade", None, None),
        "9999-12-31 10:00:00",
        ("9990-01-01 00:00:00", "9999-12-31 23:59:59.999999"),
    ),
    "beside the bottom": (Kind.INTEGER, (5, 18, 90), "19", ("19", "24")),
    "beside a round bottom": (Kind.INTEGER, (5, 19, 90), "20", ("20", "24")),
    "beside the top": (Kind.INTEGER, (5, 18, 88), "87", ("80", "87")),
    "between near codes": (Kind.INTEGER, (5, 18, 27), "22", ("19", "26")),
    "at the top": (Kind.INTEGER, (5, 18, 90), "104", ("90", "90")),
    "only a top": (Kind.DATE, (None, None, "2010-01-01"), "2009-12-31", ("2009-12-31", "2009-12-31")),
}


@pytest.mark.parametrize(("kind", "wish", "value", "expected"), SHOWN.values(), ids=SHOWN)
def test_ends_of_a_bin_are_round(kind: Kind, wish: tuple[Any, ...], value: str, expected: tuple[str, str]) -> None:
    rounding = make_rounding("x", kind, RoundEnds(*wish))
    assert rounding is not None
    low, high = rounding.bins(parse_values([value], kind))
    assert (format_values(low.tolist(), kind)[0], format_values(high.tolist(), kind)[0]) == expected
    assert rounding.are_round(low, high).all()
    assert make_rounding("x", kind, RoundEnds(*rounding.texts)) == rounding


@pytest.mark.parametrize("label", [("35", "38"), ("36", "39"), ("37", "37"), ("15", "24"), ("85", "95"), ("20", "24")])
def test_ends_that_are_not_of_bins_are_not_round(label: tuple[str, str]) -> None:
    rounding = Rounding(Kind.INTEGER, 5, 18, 90)
    assert not rounding.are_round(*(parse_values([end], Kind.INTEGER) for end in label)).any()


BAD = {
    "round 0": (Kind.INTEGER, (0, None, None), "above 0"),
    "round below 0": (Kind.REAL, (-1, None, None), "above 0"),
    "round nan": (Kind.REAL, (float("nan"), None, None), "above 0"),
    "round infinite": (Kind.REAL, ("inf", None, None), "above 0"),
    "round of text": (Kind.INTEGER, ("five", None, None), "whole number above 0"),
    "round not whole": (Kind.INTEGER, (2.5, None, None), "whole number above 0"),
    "round true": (Kind.INTEGER, (True, None, None), "above 0"),
    "round a list": (Kind.INTEGER, ([5], None, None), "above 0"),
    "a unit for numbers": (Kind.INTEGER, ("month", None, None), "whole number above 0"),
    "a number for dates": (Kind.DATE, (5, None, None), "week, month"),
    "hours for dates": (Kind.DATE, ("hour", None, None), "is of type date"),
    "a unit misspelt": (Kind.DATE, ("months", None, None), "Did you mean 'month'"),
    "a bottom of text": (Kind.INTEGER, (None, "low", None), "the bottom of 'x' is 'low'"),
    "a bottom nan": (Kind.REAL, (None, float("nan"), None), "the bottom of 'x'"),
    "a top not whole": (Kind.INTEGER, (None, None, 90.5), "not of type integer"),
    "a top for dates": (Kind.DATE, (None, None, 90), "not of type date"),
    "a top at the bottom": (Kind.INTEGER, (None, 18, 18), "exchange them"),
    "a top below the bottom": (Kind.DATE, (None, "2020-01-01", "2010-01-01"), "exchange them"),
}


@pytest.mark.parametrize(("kind", "wish", "message"), BAD.values(), ids=BAD)
def test_absurd_roundings_are_refused(kind: Kind, wish: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make_rounding("x", kind, RoundEnds(*wish))


def test_categories_cannot_be_rounded() -> None:
    with pytest.raises(SchemaError, match="'x' is categorical"):
        make_rounding("x", Kind.CATEGORICAL, RoundEnds(5))


def test_nothing_asked_for_is_no_rounding() -> None:
    assert make_rounding("x", Kind.CATEGORICAL, None) is None
    assert make_rounding("x", Kind.INTEGER, RoundEnds()) is None


def test_reals_too_large_for_their_multiples_are_refused() -> None:
    with pytest.raises(SchemaError, match="so large"):
        Rounding(Kind.REAL, 5.0).bins(np.array([1e300]))


DOMAINS = {
    "of the bins": (Rounding(Kind.INTEGER, 5), None, (16, 93), (15, 94)),
    "of the codes": (Rounding(Kind.INTEGER, 5, 18, 90), None, (3, 104), (18, 90)),
    "declared": (Rounding(Kind.INTEGER, 5), (1, 117), (16, 93), (0, 119)),
    "declared beyond the codes": (Rounding(Kind.INTEGER, 5, 18, 90), (0, 120), (3, 104), (0, 120)),
    "declared and round": (Rounding(Kind.REAL, 5.0), (15.0, 40.0), (16.0, 39.0), (15.0, 40.0)),
    "declared, with a value at its end": (Rounding(Kind.REAL, 5.0), (15.0, 40.0), (16.0, 40.0), (15.0, 45.0)),
}


@pytest.mark.parametrize(("rounding", "declared", "ends", "expected"), DOMAINS.values(), ids=DOMAINS)
def test_domain_is_widened_to_round_ends(rounding: Rounding, declared: Any, ends: Any, expected: Any) -> None:
    assert rounding.domain(declared, ends) == expected
    assert rounding.domain(expected, ends) == expected


def test_no_values_have_an_empty_domain() -> None:
    assert Rounding(Kind.INTEGER, 5).domain(None, None) == (0, 0)
