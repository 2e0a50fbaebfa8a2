"""Coding columns of every data type: the axis, the code of each row, and what a code is published as."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.engines.coding import code_quasi_identifier, code_sensitive, read_as
from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Attribute, Kind, Role

NAN = float("nan")
DAY = 86_400_000_000  # microseconds
WORK = Hierarchy.from_rows([["b", "x", "*"], ["a", "y", "*"], ["c", "x", "*"], ["never", "y", "*"]])


def qi(**facts: Any) -> Attribute:
    return Attribute("column", Role.QUASI_IDENTIFIER, **facts)


def sensitive(**facts: Any) -> Attribute:
    return Attribute("column", Role.SENSITIVE, **facts)


def column_of(values: list[Any], dtype: Any = None) -> pl.Series:
    return pl.Series("column", values, dtype=dtype)


def shown(axis: Axis, codes: np.ndarray) -> list[str | None]:
    """Each row's code as it would be published if it were alone in its class."""
    numbers = np.asarray(codes).astype(np.int64)
    return axis.labels(numbers, numbers)


@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64], ids=str
)
def test_integers_of_every_width(dtype: Any) -> None:
    top = 127 if dtype == pl.Int8 else 255
    bottom = 0 if dtype in (pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64) else -128
    axis, codes = code_quasi_identifier(column_of([7, top, None, bottom, 7], dtype), qi())
    assert isinstance(axis, OrderedAxis)
    assert (axis.kind, axis.values.tolist(), axis.has_missing) == (Kind.INTEGER, [bottom, 7, top], True)
    assert axis.domain == (bottom, top)
    assert codes.tolist() == [1, 2, 3, 0, 1]


def test_integers_far_apart() -> None:
    axis, codes = code_quasi_identifier(column_of([10**15, -5, None, 10**15]), qi())
    assert shown(axis, codes) == [str(10**15), "-5", None, str(10**15)]


def test_floats_with_nan_and_missing_values() -> None:
    axis, codes = code_quasi_identifier(column_of([2.5, NAN, None, -1.0, 2.5]), qi())
    assert (axis.kind, axis.has_missing) == (Kind.REAL, True)
    assert shown(axis, codes) == ["2.5", None, None, "-1.0", "2.5"]


def test_short_floats() -> None:
    axis, codes = code_quasi_identifier(column_of([0.5, 0.25], pl.Float32), qi())
    assert shown(axis, codes) == ["0.5", "0.25"]


def test_decimals_keep_their_digits() -> None:
    long = "1.5000000000000000000001"
    axis, codes = code_quasi_identifier(column_of([Decimal(long), None, Decimal("0.25")]), qi())
    assert axis.kind is Kind.DECIMAL
    assert shown(axis, codes) == [long, None, "0.2500000000000000000000"]
    axis, codes = code_quasi_identifier(column_of([Decimal("1.50"), None, Decimal("0.25")]), qi())
    assert axis.kind is Kind.REAL
    assert shown(axis, codes) == ["1.5", None, "0.25"]


def test_unsigned_numbers_keep_their_digits() -> None:
    axis, codes = code_quasi_identifier(pl.Series("column", [2**64 - 1, 1, 2**64 - 2], dtype=pl.UInt64), qi())
    assert axis.kind is Kind.INTEGER
    assert shown(axis, codes) == ["18446744073709551615", "1", "18446744073709551614"]


def test_dates_count_days_and_moments_microseconds() -> None:
    axis, codes = code_quasi_identifier(column_of([datetime.date(1970, 1, 3), datetime.date(1969, 12, 31), None]), qi())
    assert (axis.kind, axis.values.tolist()) == (Kind.DATE, [-1, 2])
    assert shown(axis, codes) == ["1970-01-03", "1969-12-31", None]
    moments = column_of([datetime.datetime(1970, 1, 2), None, datetime.datetime(1970, 1, 1, 0, 0, 1)])
    for unit in ("ms", "us", "ns"):
        axis, codes = code_quasi_identifier(moments.cast(pl.Datetime(unit)), qi())
        assert (axis.kind, axis.values.tolist()) == (Kind.DATETIME, [1_000_000, DAY])
        assert shown(axis, codes) == ["1970-01-02 00:00:00", None, "1970-01-01 00:00:01"]


@pytest.mark.parametrize(
    ("column", "leaves"),
    [
        (column_of(["b", "a", None, "b", ""]), ("a", "b")),
        (column_of(["b", "a", None, "b", ""], pl.Categorical), ("a", "b")),
        (column_of(["b", "a", None, "b", None], pl.Enum(["b", "a", "unused"])), ("a", "b")),
        (column_of([True, False, None, True, None]), ("false", "true")),
        (column_of(["010", "09", None, "010", ""]), ("09", "010")),
    ],
    ids=["text", "categorical", "enum", "boolean", "codes"],
)
def test_text_and_its_like_are_categories_in_natural_order(column: pl.Series, leaves: tuple[str, ...]) -> None:
    axis, codes = code_quasi_identifier(column, qi())
    assert isinstance(axis, HierarchyAxis)
    assert (axis.kind, axis.hierarchy.leaves, axis.has_missing) == (Kind.CATEGORICAL, leaves, True)
    first, second = leaves[1], leaves[0]
    assert shown(axis, codes) == [first, second, None, first, None]


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (column_of([3, 1, None], pl.Int8), ["3", "1", None]),
        (column_of([3.0, 1.0, NAN]), ["3", "1", None]),  # whole numbers that passed through pandas
        (column_of([3.5, 1.0, None]), ["3.5", "1.0", None]),
        (column_of([datetime.date(2020, 2, 1), None]), ["2020-02-01", None]),
        (column_of(["007", "7"]), ["007", "7"]),
    ],
    ids=["integers", "whole floats", "floats", "dates", "text"],
)
def test_any_column_may_be_declared_categorical(column: pl.Series, texts: list[str | None]) -> None:
    axis, codes = code_quasi_identifier(column, qi(kind=Kind.CATEGORICAL))
    assert axis.kind is Kind.CATEGORICAL
    assert shown(axis, codes) == texts


@pytest.mark.parametrize(
    ("column", "kind", "texts"),
    [
        (column_of(["12", "", "-3", None]), Kind.INTEGER, ["12", None, "-3", None]),
        (column_of([12.0, NAN, -3.0]), Kind.INTEGER, ["12", None, "-3"]),
        (column_of([Decimal("12.0"), Decimal("-3.0")]), Kind.INTEGER, ["12", "-3"]),
        (column_of(["1.5", "2", None]), Kind.REAL, ["1.5", "2.0", None]),
        (column_of([1, 2, None]), Kind.REAL, ["1.0", "2.0", None]),
        (column_of(["2020-02-01", None, "2019-12-31"]), Kind.DATE, ["2020-02-01", None, "2019-12-31"]),
        (column_of([datetime.datetime(2020, 2, 1, 13)]), Kind.DATE, ["2020-02-01"]),
        (column_of(["2020-02-01 13:30:00", None]), Kind.DATETIME, ["2020-02-01 13:30:00", None]),
        (column_of([datetime.date(2020, 2, 1)]), Kind.DATETIME, ["2020-02-01 00:00:00"]),
    ],
)
def test_a_declared_kind_is_read_from_what_the_column_holds(
    column: pl.Series, kind: Kind, texts: list[str | None]
) -> None:
    axis, codes = code_quasi_identifier(column, qi(kind=kind))
    assert axis.kind is kind
    assert shown(axis, codes) == texts


@pytest.mark.parametrize(
    ("column", "facts", "domain"),
    [
        (column_of([30, 45]), {"domain": (0, 120)}, (0.0, 120.0)),
        (column_of([30, 45]), {"domain": ("0", "120")}, (0.0, 120.0)),
        (column_of([0.5]), {"domain": (0, "1.5")}, (0.0, 1.5)),
        (column_of([datetime.date(1970, 1, 5)]), {"domain": ("1970-01-01", "1970-01-11")}, (0.0, 10.0)),
        (column_of([None, None], pl.Int64), {"domain": (0, 9)}, (0.0, 9.0)),
    ],
)
def test_a_declared_domain_replaces_that_of_the_table(
    column: pl.Series, facts: dict[str, Any], domain: tuple[float, float]
) -> None:
    axis, _ = code_quasi_identifier(column, qi(**facts))
    assert isinstance(axis, OrderedAxis)
    assert axis.domain == domain
    assert axis.is_domain_declared


@pytest.mark.parametrize(
    "dtype", [pl.Int64, pl.Float64, pl.String, pl.Date, pl.Boolean, pl.Null, pl.Categorical], ids=str
)
def test_a_column_of_missing_values_alone_has_one_code(dtype: Any) -> None:
    axis, codes = code_quasi_identifier(column_of([None, None], dtype), qi())
    assert axis.has_missing
    assert shown(axis, codes) == [None, None]


def test_a_hierarchy_numbers_the_values_even_those_that_do_not_occur() -> None:
    axis, codes = code_quasi_identifier(column_of(["a", None, "c", "b", "a"]), qi(hierarchy=WORK))
    assert axis.size == 5
    assert codes.tolist() == [2, 4, 1, 0, 2]
    assert shown(axis, codes) == ["a", None, "c", "b", "a"]


def test_a_hierarchy_makes_numbers_categories() -> None:
    tree = Hierarchy.from_rows([["1", "low", "*"], ["2", "low", "*"], ["10", "high", "*"]])
    for column in (column_of([10, 1, None]), column_of([10.0, 1.0, NAN]), column_of(["10", "1", ""])):
        axis, codes = code_quasi_identifier(column, qi(hierarchy=tree))
        assert axis.kind is Kind.CATEGORICAL
        assert shown(axis, codes) == ["10", "1", None]


pools = st.sampled_from([["1", "01", "1.0", "2", "2.0", None], ["x", "1", "", "nan", None], ["b", "a", "B"]])
columns = pools.flatmap(lambda pool: st.lists(st.sampled_from(pool), min_size=1, max_size=12))


@given(columns, st.randoms(use_true_random=False))
def test_codes_do_not_depend_on_the_order_of_rows(values: list[str | None], rng: random.Random) -> None:
    order = rng.sample(range(len(values)), len(values))
    column = column_of(values, pl.String)
    categorical = qi(kind=Kind.CATEGORICAL)
    axis, codes = code_quasi_identifier(column, categorical)
    again, shuffled = code_quasi_identifier(column.gather(order), categorical)
    assert isinstance(axis, HierarchyAxis)
    assert isinstance(again, HierarchyAxis)
    assert axis.hierarchy.leaves == again.hierarchy.leaves
    assert np.asarray(codes)[order].tolist() == np.asarray(shuffled).tolist()


def test_text_that_is_not_all_numbers_is_categorical() -> None:
    assert read_as(column_of(["1", "2", "x", "y"]), qi()).kind is Kind.CATEGORICAL
    assert read_as(column_of(["1", "2", "3", None]), qi()).kind is Kind.INTEGER


@pytest.mark.parametrize(
    ("column", "published"),
    [
        (column_of([30, 4, 30]), [4, 30]),
        (column_of([-100, 100, 0], pl.Int8), [-100, 0, 100]),
        (column_of([2**64 - 4096, 2**64 - 8192], pl.UInt64), [2**64 - 8192, 2**64 - 4096]),
        (column_of([0.5, 0.25, 0.5]), [0.25, 0.5]),
        (column_of(["10", "9", "10"]), ["9", "10"]),
        (column_of([Decimal("1.5"), Decimal("0.5")]), [Decimal("0.5"), Decimal("1.5")]),
        (column_of([datetime.date(2020, 1, 2), datetime.date(2019, 1, 2)]), None),
        (column_of([datetime.datetime(2020, 1, 2), datetime.datetime(2019, 1, 2)]), None),
    ],
    ids=["integers", "short integers", "large integers", "reals", "text numbers", "decimals", "dates", "moments"],
)
def test_sensitive_numbers_and_dates_are_ordered_and_published_as_they_are(
    column: pl.Series, published: list[Any] | None
) -> None:
    axis, codes, values = code_sensitive(column, sensitive(), missing_is_value=False)
    assert isinstance(axis, OrderedAxis)
    assert values.to_list() == (sorted(column.to_list()) if published is None else published)
    assert values.dtype == column.dtype
    assert values.gather(codes.tolist()).to_list() == column.to_list()
    assert axis.size == len(values)


@pytest.mark.parametrize(
    "column",
    [column_of(["b", "a"]), column_of(["1", "01"]), column_of(["1", "x"]), column_of(["b", "a"], pl.Categorical)],
)
def test_sensitive_text_is_without_order(column: pl.Series) -> None:
    axis, codes, values = code_sensitive(column, sensitive(), missing_is_value=False)
    assert isinstance(axis, HierarchyAxis)
    assert values.gather(codes.tolist()).to_list() == column.to_list()


def test_sensitive_numbers_may_be_declared_categorical() -> None:
    axis, _, values = code_sensitive(column_of([10, 9]), sensitive(kind=Kind.CATEGORICAL), missing_is_value=False)
    assert isinstance(axis, HierarchyAxis)
    assert values.to_list() == [9, 10]


def test_the_sensitive_hierarchy_is_restricted_to_what_occurs() -> None:
    axis, codes, values = code_sensitive(column_of(["a", "c", "b", "a"]), sensitive(hierarchy=WORK), False)
    assert isinstance(axis, HierarchyAxis)
    assert axis.hierarchy.leaves == ("b", "c", "a")
    assert values.to_list() == ["b", "c", "a"]
    assert codes.tolist() == [2, 1, 0, 2]


@pytest.mark.parametrize("values", [["a", None, "b", ""], [1, None, 2, None], [0.5, NAN, 1.5, None]])
def test_a_missing_sensitive_value_may_be_a_value_of_its_own(values: list[Any]) -> None:
    axis, codes, published = code_sensitive(column_of(values), sensitive(), missing_is_value=True)
    assert axis.has_missing
    assert axis.size == len(published) == 3
    assert codes.tolist() == [0, 2, 1, 2]
    assert published.to_list() == [values[0], values[2], None]


def test_a_star_may_be_a_sensitive_value() -> None:
    _, codes, published = code_sensitive(column_of(["*", "a", "*"]), sensitive(), missing_is_value=False)
    assert published.gather(codes.tolist()).to_list() == ["*", "a", "*"]
