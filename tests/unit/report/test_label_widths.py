"""Widths of labels, against labels whose widths can be read off."""

from __future__ import annotations

from betalike.release.certificate import ColumnFacts
from betalike.report.label_widths import measure_widths


def test_widths_of_ranges() -> None:
    column = ColumnFacts("age", "integer", 1.0, domain=("10", "90"))
    found = measure_widths(column, {"37": 50, "[30, 40]": 30, "[30, 50]": 10, "*": 5, None: 5})
    assert (found.exact, found.half, found.most, found.all, found.unit) == (0.55, 0.0, 20.0, 80.0, "")


def test_an_open_end_counts_as_the_value_that_stands_for_it() -> None:
    column = ColumnFacts("age", "integer", 1.0, domain=("20", "70"), round="5", top="70")
    found = measure_widths(column, {"45+": 1, "[20, 25]": 1})
    assert (found.exact, found.half, found.all) == (0.0, 5.0, 25.0)


def test_widths_of_dates_are_days() -> None:
    column = ColumnFacts("visit", "date", 1.0)
    found = measure_widths(column, {"[2024-01-01, 2024-01-31]": 1})
    assert (found.exact, found.half, found.unit) == (0.0, 30.0, "days")


def test_widths_of_times_are_seconds() -> None:
    found = measure_widths(ColumnFacts("at", "datetime", 1.0), {"[2024-01-01 00:00:00, 2024-01-01 01:00:00]": 1})
    assert (found.half, found.unit) == (3600.0, "seconds")


def test_a_domain_that_is_not_shown_has_no_width() -> None:
    found = measure_widths(ColumnFacts("age", "integer", 1.0), {"37": 1, "*": 1})
    assert (found.exact, found.half, found.all) == (0.5, 0.0, None)


def test_widths_of_categories_are_values() -> None:
    tree = [["Ulm", "south", "*"], ["Rom", "south", "*"], ["Kiel", "north", "*"], ["Bonn", "north", "*"]]
    column = ColumnFacts("city", "categorical", 1.0, leaves=4, hierarchy=tree)
    found = measure_widths(column, {"Ulm": 5, "north": 4, "*": 1})
    assert (found.exact, found.half, found.most, found.all, found.unit) == (0.5, 1.0, 2.0, 4.0, "values")
    assert found.words == ["1 value", "2 values", "4 values"]
