"""Units of time: where they begin, compared with Python's calendar day by day."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.table.date_units import Unit, around_days, around_moments

EPOCH = datetime.datetime(1970, 1, 1)
FIRST = {
    Unit.DAY: lambda day: day,
    Unit.WEEK: lambda day: day - datetime.timedelta(days=day.weekday()),
    Unit.MONTH: lambda day: day.replace(day=1),
    Unit.QUARTER: lambda day: day.replace(day=1, month=(day.month - 1) // 3 * 3 + 1),
    Unit.YEAR: lambda day: day.replace(day=1, month=1),
    Unit.DECADE: lambda day: day.replace(day=1, month=1, year=max(day.year // 10 * 10, 1)),
}


@pytest.mark.parametrize("unit", FIRST)
@given(day=st.dates(datetime.date(1, 1, 8)))
def test_units_of_days_begin_where_the_calendar_says(unit: Unit, day: datetime.date) -> None:
    (low,), (after,) = around_days(np.array([(day - EPOCH.date()).days]), unit)
    assert EPOCH.date() + datetime.timedelta(days=int(low)) == FIRST[unit](day)
    last = EPOCH.date() + datetime.timedelta(days=int(after) - 1)
    assert day <= last
    assert FIRST[unit](last) == FIRST[unit](day)
    if last < datetime.date.max:
        assert FIRST[unit](last + datetime.timedelta(days=1)) > day


@pytest.mark.parametrize("unit", [Unit.MINUTE, Unit.HOUR, Unit.DAY, Unit.MONTH])
@given(moment=st.datetimes(max_value=datetime.datetime(9999, 11, 30)))
def test_units_of_moments_begin_where_the_calendar_says(unit: Unit, moment: datetime.datetime) -> None:
    microseconds = (moment - EPOCH) // datetime.timedelta(microseconds=1)
    (low,), (after,) = around_moments(np.array([microseconds]), unit)
    begin, end = (EPOCH + datetime.timedelta(microseconds=int(side)) for side in (low, after))
    zeros = {Unit.MINUTE: {}, Unit.HOUR: {"minute": 0}, Unit.DAY: {"minute": 0, "hour": 0}}
    zeros[Unit.MONTH] = {**zeros[Unit.DAY], "day": 1}
    assert begin == moment.replace(second=0, microsecond=0, **zeros[unit])
    assert begin <= moment < end == end.replace(second=0, microsecond=0, **zeros[unit])
