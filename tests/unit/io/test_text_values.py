"""Dates and numbers as people write them, against a slow twin made of Python's own parsers."""

from __future__ import annotations

import datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.io.text_values import digits_of, parse_days, parse_moments, with_points
from betalike.table.schema import DateOrder

FORMS = {
    DateOrder.DMY: ["%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y"],
    DateOrder.MDY: ["%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d.%m.%Y", "%m/%d/%Y", "%m-%d-%Y"],
}
TIMES = ["", " %H:%M", " %H:%M:%S", "T%H:%M:%S", " %H:%M:%S.%f"]
moments = st.datetimes(datetime.datetime(1000, 1, 1), datetime.datetime(9999, 12, 31))


def twin(text: str, order: DateOrder) -> datetime.datetime | None:
    """The moment of a text, by trying one form after the other."""
    for form in FORMS[order]:
        for time in TIMES if form != "%Y%m%d" else [""]:
            try:
                return datetime.datetime.strptime(text, form + time)
            except ValueError:
                continue
    return None


def one(text: str, order: DateOrder) -> datetime.datetime | None:
    found: list[datetime.datetime | None] = parse_moments(pl.Series([text, None]), order).to_list()
    assert found[1] is None
    return found[0]


@pytest.mark.parametrize("text", ["1980-1-2", "1980/1/2", "1980.1.2", "19800102", "2.1.1980", "2/1/1980", "2-1-1980"])
def test_the_shortest_dates_are_read(text: str) -> None:
    assert one(text, DateOrder.DMY) == twin(text, DateOrder.DMY) == datetime.datetime(1980, 1, 2)
    assert one(text[:-1], DateOrder.DMY) is None


@given(moments, st.sampled_from(DateOrder), st.integers(0, 6), st.sampled_from(TIMES))
def test_every_form_is_read_as_python_reads_it(
    moment: datetime.datetime, order: DateOrder, form: int, time: str
) -> None:
    written = FORMS[order][form]
    text = moment.strftime(written + (time if written != "%Y%m%d" else ""))
    for other in DateOrder:
        assert one(text, other) == twin(text, other)


@given(
    st.from_regex(r"[0-3]?[0-9]{1,4}([-/. ][0-9]{1,2}){1,2}([-/. ][0-9]{2,4})?", fullmatch=True),
    st.sampled_from(DateOrder),
)
def test_what_is_taken_for_a_date_is_one_for_python(text: str, order: DateOrder) -> None:
    found = one(text, order)
    assert found is None or found == twin(text, order)


@pytest.mark.parametrize(
    "text",
    ["", "x", "1980", "1980-02-30", "31.02.1980", "13/13/1980", "0000-01-01", "1980-01-01x", "T", "12:30", "1.5"],
)
def test_other_texts_are_no_dates(text: str) -> None:
    assert all(one(text, order) is None for order in DateOrder)


def test_a_day_has_no_time_of_day() -> None:
    texts = pl.Series(["31.12.1980", "1980-12-31 00:00:00", "1980-12-31 00:00:01", None])
    day = datetime.date(1980, 12, 31)
    assert parse_days(texts, DateOrder.DMY).to_list() == [day, day, None, None]


def test_a_time_zone_is_left_out_and_nanoseconds_stay() -> None:
    moment = parse_moments(pl.Series(["2020-01-01T10:00:00.123456789+02:00"]), DateOrder.DMY)
    assert moment.to_physical().to_list() == [1577872800_123456789]


def test_commas_become_points_only_where_a_number_has_one() -> None:
    texts = ["1,5", " -0,25", ",5", "1,2,3", "a,5", "1,5 kg", "7", None]
    expected = ["1.5", "-0.25", ".5", "1,2,3", "a,5", "1,5 kg", "7", None]
    assert with_points(pl.Series(texts)).to_list() == expected


def test_eight_digits_of_whole_numbers() -> None:
    assert digits_of(pl.Series([19801231.0, 19801231.5, 7.0, None])).to_list() == ["19801231", None, None, None]
    assert digits_of(pl.Series([19801231, 198012310])).to_list() == ["19801231", None]
