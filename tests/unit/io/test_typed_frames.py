"""Frames in the types that their values show."""

from __future__ import annotations

import datetime

import polars as pl

from betalike.io.typed_frames import read_types

DAYS = [datetime.date(1980, 12, 31), datetime.date(1999, 1, 2)]


def test_columns_come_in_the_type_that_they_show() -> None:
    frame = pl.DataFrame(
        {
            "age": ["49", "NA"],
            "weight": ["70,5", "71"],
            "born": ["31.12.1980", "02.01.1999"],
            "seen": [19801231, 19990102],
            "left": [datetime.datetime(1980, 12, 31), datetime.datetime(1999, 1, 2)],
            "came": ["1980-12-31 10:30", "1999-01-02"],
            "zip": ["02110", "60645"],
            "children": [1.0, 2.0],
        }
    )
    read = read_types(frame)
    assert read.missing == ("NA",)
    assert read.frame.to_dict(as_series=False) == {
        "age": [49, None],
        "weight": [70.5, 71.0],
        "born": DAYS,
        "seen": DAYS,
        "left": DAYS,
        "came": [datetime.datetime(1980, 12, 31, 10, 30), datetime.datetime(1999, 1, 2)],
        "zip": ["02110", "60645"],
        "children": [1, 2],
    }


def test_a_code_that_is_a_value_elsewhere_is_not_proposed() -> None:
    frame = pl.DataFrame({"weight": [70, 71, *[-9] * 10], "degrees": [-9, -10, *[12] * 10]})
    assert read_types(frame).missing == ()
    assert read_types(frame.select("weight")).missing == ("-9",)


def test_dates_in_no_clear_order_stay_as_they_are() -> None:
    read = read_types(pl.DataFrame({"born": ["03/04/1980"]}))
    assert read.types["born"].is_ambiguous
    assert read.frame["born"].to_list() == ["03/04/1980"]


def test_columns_that_hold_no_plain_values_are_left_alone() -> None:
    frame = pl.DataFrame({"a": [[1], [2]], "b": [datetime.timedelta(1)] * 2, "c": [None, None]})
    assert read_types(frame).frame.equals(frame)
