"""One rule for types: what the values show, however they are stored and however they come."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.io.column_types import Seen, TypeGuess, add_seen, guess_type, see, warn_about
from betalike.table.schema import DateOrder, Kind

NAN = float("nan")


def guess(values: list[Any], dates: DateOrder | None = None, dtype: Any = None) -> TypeGuess:
    return guess_type(see(pl.Series("x", values, dtype=dtype, strict=False)), dates)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, None], Kind.INTEGER),
        ([49.0, NAN, 76.0], Kind.INTEGER),
        ([60645.0, 2110.0], Kind.INTEGER),
        ([49.0, 76.5], Kind.REAL),
        ([1e300, 1.0], Kind.REAL),
        ([Decimal("1.50"), Decimal("2.00")], Kind.REAL),
        ([Decimal("1.50"), Decimal("12345678901234567890.25")], Kind.DECIMAL),
        (["1.50", "12345678901234567890.25"], Kind.DECIMAL),
        (["1.5e0", "12345678901234567890.25"], Kind.REAL),
        (["0.30000000000000004", "1.50"], Kind.REAL),
        ([Decimal("1.00"), Decimal("2.00")], Kind.INTEGER),
        (["49", " 76 ", ""], Kind.INTEGER),
        (["49.0", "76"], Kind.INTEGER),
        (["1.5", "2"], Kind.REAL),
        (["1,5", "2"], Kind.REAL),
        (["1,0", "2,0"], Kind.INTEGER),
        (["1,500", "2,250"], Kind.CATEGORICAL),  # decimals, or thousands?
        (["1,500", "2,25"], Kind.REAL),
        (["02110", "60645"], Kind.CATEGORICAL),
        (["0", "0.5", "10"], Kind.REAL),
        (["1980-12-31", "1999-01-01"], Kind.DATE),
        (["31.12.1980", "1.1.1999"], Kind.DATE),
        (["12/31/1980", "01/02/1999"], Kind.DATE),
        (["19801231", "19990101"], Kind.DATE),
        ([19801231, 19990101], Kind.DATE),
        ([19801231.0, NAN], Kind.DATE),
        ([19801231, 19991301], Kind.INTEGER),
        ([10101, 99991231], Kind.INTEGER),
        (["1980-12-31", "31.12.1980", "12/31/1980", "19801231"], Kind.DATE),
        (["1980-12-31 00:00:00", "1999-01-01"], Kind.DATE),
        (["1980-12-31 10:00", "1999-01-01"], Kind.DATETIME),
        ([datetime.datetime(1980, 12, 31), None], Kind.DATE),
        ([datetime.datetime(1980, 12, 31, 1), None], Kind.DATETIME),
        ([datetime.date(1980, 12, 31)], Kind.DATE),
        (["31/12/1980", "12/31/1980"], Kind.CATEGORICAL),  # no order fits both
        (["a", "1"], Kind.CATEGORICAL),
        ([True, False], Kind.CATEGORICAL),
    ],
)
def test_the_values_decide(values: list[Any], kind: Kind) -> None:
    assert guess(values).kind is kind


@pytest.mark.parametrize(
    ("values", "given", "order", "is_ambiguous"),
    [
        (["31/12/1980", "01/02/1980"], None, DateOrder.DMY, False),
        (["12/31/1980", "01/02/1980"], None, DateOrder.MDY, False),
        (["12/31/1980", "01/02/1980"], DateOrder.DMY, DateOrder.MDY, False),  # the values show it
        (["03/04/1980", "01/02/1980"], None, None, True),
        (["03/04/1980", "01/02/1980"], DateOrder.MDY, DateOrder.MDY, False),
        (["03/03/1980", "1980-02-01"], None, None, False),  # the same day in any order
        (["03.04.1980", "01.02.1980"], None, None, False),
    ],
)
def test_day_and_month(values: list[str], given: DateOrder | None, order: DateOrder | None, is_ambiguous: bool) -> None:
    found = guess(values, given)
    assert (found.kind, found.dates, found.is_ambiguous) == (Kind.DATE, order, is_ambiguous)


@pytest.mark.parametrize(
    ("values", "kind", "codes"),
    [
        (["NA", "1", "2"], Kind.INTEGER, ("NA",)),
        (["N/A", ".", "NULL", "?", "1.5"], Kind.REAL, (".", "?", "N/A", "NULL")),
        (["NA", "1980-12-31"], Kind.DATE, ("NA",)),
        (["?", "private", "state"], Kind.CATEGORICAL, ("?",)),
        ([-9, 3, 4, 5], Kind.INTEGER, ("-9",)),
        ([-9.0, 3.5], Kind.REAL, ("-9",)),
        (["-9", "3", "4"], Kind.INTEGER, ("-9",)),
        ([999, 18, 90], Kind.INTEGER, ("999",)),
        ([99, 18, 90], Kind.INTEGER, ()),  # people are that old
        ([-9, -10, 5], Kind.INTEGER, ()),  # temperatures
        ([7, 8, 9], Kind.INTEGER, ()),
        (["unknown", "1", "2", "3"], Kind.CATEGORICAL, ()),
    ],
)
def test_codes_for_missing_values_are_noticed(values: list[Any], kind: Kind, codes: tuple[str, ...]) -> None:
    found = guess(values * 3)  # what fewer than three rows have is not named
    assert (found.kind, found.codes) == (kind, codes)


def test_numbers_with_a_few_texts_come_with_a_warning_that_shows_no_cell() -> None:
    found = guess(["Miller", "1", "2", "3"])
    assert found.warning is not None
    (warning,) = warn_about({"age": found})
    assert "'age'" in warning
    assert "1 of 4" in warning
    assert "Miller" not in warning
    assert warn_about({"age": guess(["Miller", "Smith", "1"])}) == []


def test_a_code_that_stands_apart_comes_with_a_warning() -> None:
    (warning,) = warn_about({"weight": guess([-9, 70, 71] * 3)})
    assert "--missing -9" in warning
    (warning,) = warn_about({"weight": guess([888, 70, 71])})
    assert "888" not in warning


cells = st.sampled_from(
    [
        "NA",
        "1",
        "2.5",
        "007",
        "1,5",
        "1,500",
        "1980-12-31",
        "03/04/1980",
        "31/12/1980",
        "31.12.1980",
        "19801231",
        "x",
        "-9",
    ]
)


@given(st.lists(cells, max_size=8), st.lists(cells, max_size=8))
def test_what_is_seen_adds_up(one: list[str], other: list[str]) -> None:
    parts = [see(pl.Series("x", values, dtype=pl.String)) for values in (one, other)]
    whole = see(pl.Series("x", one + other, dtype=pl.String))
    assert parts[0] + parts[1] == whole
    assert add_seen({"x": parts[0]}, {"x": parts[1]}) == {"x": whole}
    assert Seen() + whole == whole


@given(st.lists(cells, min_size=1, max_size=12))
def test_counted_values_show_what_rows_show(values: list[str]) -> None:
    counted = pl.Series("x", values).value_counts(name="rows")
    assert see(counted["x"], counted["rows"].to_numpy()) == see(pl.Series("x", values))


@given(st.lists(st.integers(-200, 20991231) | st.sampled_from([19801231, 19990101, -9, 99]), min_size=1, max_size=8))
def test_numbers_are_of_one_type_however_they_are_stored(values: list[int]) -> None:
    stored = [pl.Series("x", values), pl.Series("x", values).cast(pl.Float64), pl.Series("x", list(map(str, values)))]
    found = [guess_type(see(column)) for column in stored]
    assert {(each.kind, each.codes) for each in found} == {(found[0].kind, found[0].codes)}
