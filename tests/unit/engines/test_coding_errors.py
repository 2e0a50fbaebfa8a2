"""Columns that cannot be coded: the message names the column and counts, and never shows a cell."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from betalike.engines.coding import code_quasi_identifier, code_sensitive, read_as
from betalike.errors import HierarchyError, InputError, SchemaError
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Attribute, DateOrder, Kind, Role

SECRETS = ["Miller-77", "4711.25", "-98765", "1999-12-24", "18446744073709551615"]


def qi(**facts: Any) -> Attribute:
    return Attribute("column", Role.QUASI_IDENTIFIER, **facts)


def refused(values: list[Any], attribute: Attribute, dtype: Any = None) -> str:
    """The message with which a column is refused, after a look that it shows no cell."""
    with pytest.raises(InputError) as caught:
        code_quasi_identifier(pl.Series("column", values, dtype=dtype), attribute)
    message = str(caught.value)
    assert "'column'" in message
    assert not any(secret in message for secret in SECRETS)
    return message


@pytest.mark.parametrize(
    ("values", "kind", "n_bad"),
    [
        (["1", "Miller-77", "4711.25"], Kind.INTEGER, 2),
        ([4711.25, 2.0, 3.0], Kind.INTEGER, 1),
        ([Decimal("4711.25"), Decimal("2.00"), Decimal("3.00")], Kind.INTEGER, 1),
        (["1", "2.5", "Miller-77"], Kind.REAL, 1),
        (["2020-01-01", "1999-12-24x", "2020-01-02"], Kind.DATE, 1),
        (["Miller-77", "Miller-77", "Miller-77"], Kind.DATE, 3),
        (["2020-01-01 10:00:00", "1999-12-24 xx", "2020-01-01 10:00:00"], Kind.DATETIME, 1),
        (["Miller-77", "Miller-77", "1999"], Kind.DATETIME, 3),
        ([True, False, True], Kind.INTEGER, 3),
    ],
)
def test_values_that_are_not_of_the_declared_kind_are_counted(values: list[Any], kind: Kind, n_bad: int) -> None:
    message = refused(values, qi(kind=kind))
    assert f"of type {kind}" in message
    assert f"{n_bad} of its 3 values" in message


@pytest.mark.parametrize("kind", [Kind.DATE, Kind.DATETIME])
def test_numbers_are_no_dates(kind: Kind) -> None:
    assert f"of type {kind}" in refused([-98765, 1], qi(kind=kind))


@pytest.mark.parametrize("text", ["nan", "NaN", "-nan"])
def test_text_that_spells_no_number_is_refused(text: str) -> None:
    """It never becomes a code between numbers, or the end of the domain."""
    assert "1 of its 3 values" in refused(["1.5", text, "2"], qi(kind=Kind.REAL))


def test_infinite_numbers_are_refused() -> None:
    assert "1 infinite" in refused([4711.25, float("inf")], qi())
    assert "2 infinite" in refused(["4711.25", "inf", "-inf"], qi(kind=Kind.REAL))


def test_whole_numbers_beyond_128_bits_are_refused() -> None:
    assert "1 of its 2 values" in refused([str(2**127), "1"], qi(kind=Kind.INTEGER))


def test_integers_beyond_64_bits_are_numbers_like_any_other() -> None:
    _, codes = code_quasi_identifier(pl.Series("column", [2**64 - 1, 1], dtype=pl.UInt64), qi())
    assert len(set(codes.tolist())) == 2


@pytest.mark.parametrize(
    ("values", "facts"),
    [
        ([4711.25, 1.0], {"domain": (0, 10)}),
        ([-98765, 1], {"domain": ("0", "10")}),
        ([datetime.date(1999, 12, 24), datetime.date(2020, 1, 1)], {"domain": ("2000-01-01", "2021-01-01")}),
    ],
)
def test_values_outside_the_declared_domain_are_counted(values: list[Any], facts: dict[str, Any]) -> None:
    message = refused(values, qi(**facts))
    assert "outside its declared domain" in message


@pytest.mark.parametrize("domain", [(10, 0), (0, float("nan")), (float("-inf"), 5)])
def test_a_domain_is_two_finite_numbers_in_order(domain: tuple[float, float]) -> None:
    assert "the least and the greatest" in refused([4711.25, 1.0], qi(domain=domain))


def test_the_number_of_values_outside_the_domain_is_told() -> None:
    assert "has 2 values outside" in refused([-98765, 5, 99, None], qi(domain=(0, 10)))


@pytest.mark.parametrize("domain", [("young", "old"), ("0", "1.5"), ("", "3")])
def test_a_domain_that_is_not_of_the_column_s_type_is_refused(domain: tuple[str, str]) -> None:
    assert "domain of 'column'" in refused([1, 2], qi(domain=domain))


def test_a_domain_without_an_end_is_refused() -> None:
    refused([4711.25], qi(domain=(float("nan"), float("nan"))))
    refused([4711.25], qi(domain=(0, float("inf"))))


def test_numbers_that_become_categories_because_of_a_few_texts_come_with_a_warning() -> None:
    taken = read_as(pl.Series("column", ["1", "4711.25", "-98765", "Miller-77", None]), qi())
    assert taken.kind is Kind.CATEGORICAL
    assert taken.warning == "text: 1 of 4 values are no numbers"


def test_dates_whose_day_and_month_look_alike_are_refused_until_their_order_is_named() -> None:
    values = ["03/04/1980", "01/01/1999"]
    message = refused(values, qi())
    assert "--dates dmy" in message
    for order, label in (("dmy", "1980-04-03"), ("mdy", "1980-03-04")):
        axis, codes = code_quasi_identifier(pl.Series("column", values), qi(dates=DateOrder(order)))
        assert axis.labels(codes[:1], codes[:1]) == [label]


def test_the_root_s_label_cannot_be_a_value() -> None:
    assert "'*'" in refused(["Miller-77", "*"], qi())


@pytest.mark.parametrize(
    "values",
    [[[1], [2]], [{"a": 1}, {"a": 2}], [b"Miller-77", b"\xff"], [datetime.timedelta(1)]],
    ids=["lists", "structures", "bytes", "durations"],
)
def test_columns_that_cannot_be_published_are_refused(values: list[Any]) -> None:
    assert "of type" in refused(values, qi())
    with pytest.raises(SchemaError, match="'column'"):
        code_sensitive(pl.Series("column", values), Attribute("column", Role.SENSITIVE), missing_is_value=False)


def test_values_that_the_hierarchy_lacks_are_counted_and_not_shown() -> None:
    tree = Hierarchy.flat(["a"])
    rare = ["a", "Miller-77", "Miller-77"]
    with pytest.raises(HierarchyError) as caught:
        code_quasi_identifier(pl.Series("column", rare), qi(hierarchy=tree))
    assert "lacks 1 of the values" in str(caught.value)
    assert "2 rows" in str(caught.value)
    assert "Miller" not in str(caught.value)
    with pytest.raises(HierarchyError, match=r"lacks 2 of the values of the column 'column', which occur in 4 rows"):
        code_quasi_identifier(pl.Series("column", ["a", "common", "common", "common", "Miller-77"]), qi(hierarchy=tree))


def test_a_sensitive_hierarchy_must_hold_every_value() -> None:
    attribute = Attribute("column", Role.SENSITIVE, hierarchy=Hierarchy.flat(["a"]))
    with pytest.raises(HierarchyError, match="lacks 1 of the values of the column 'column'") as caught:
        code_sensitive(pl.Series("column", ["a", "Miller-77"]), attribute, missing_is_value=False)
    assert "Miller" not in str(caught.value)


def test_missing_sensitive_values_are_an_error_unless_they_are_values() -> None:
    column = pl.Series("column", ["Miller-77", None, ""])
    with pytest.raises(SchemaError, match="'column' has 2 missing values"):
        code_sensitive(column, Attribute("column", Role.SENSITIVE), missing_is_value=False)
