"""Round dates and moments: where the minute, day, month or decade of each begins, and where the next one does."""

from __future__ import annotations

import datetime
import math
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from betalike.table.exact_numbers import DAY, EPOCH, MICROSECOND, Numbers

Days = NDArray[np.int64]
MICROSECONDS_OF_DAY = DAY // MICROSECOND
FIRST_DAY, LAST_DAY = (date - EPOCH.date() for date in (datetime.date.min, datetime.date.max))
LAST_MOMENT = (LAST_DAY.days + 1) * MICROSECONDS_OF_DAY - 1
FIRST_MONTH, LAST_MONTH = (
    (date.year - EPOCH.year) * 12 + date.month - 1 for date in (datetime.date.min, datetime.date.max)
)
MONDAY = 3  # days from a Monday to the first day of 1970


class Unit(StrEnum):
    """A stretch of time that dates and moments are rounded to."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    DECADE = "decade"

    @property
    def is_of_days(self) -> bool:
        """Whether it consists of whole days."""
        return self not in MICROSECONDS


MICROSECONDS = {Unit.MINUTE: 60_000_000, Unit.HOUR: 3_600_000_000}
MONTHS = {Unit.MONTH: 1, Unit.QUARTER: 3, Unit.YEAR: 12, Unit.DECADE: 120}


def around_days(days: Numbers, unit: Unit) -> tuple[Days, Days]:
    """Return the first day of each day's unit, and the first day of the next one; days count from 1970."""
    days = days.astype(np.int64)
    if unit in MONTHS:
        size = MONTHS[unit]
        months = days.astype("M8[D]").astype("M8[M]").astype(np.int64) // size * size
        low, after = _first_days(months), _first_days(months + size)
    else:
        size = 7 if unit is Unit.WEEK else 1
        shift = MONDAY if unit is Unit.WEEK else 0
        low = (days + shift) // size * size - shift
        after = low + size
    return np.maximum(low, FIRST_DAY.days), np.minimum(after, LAST_DAY.days + 1)


def around_months(months: Numbers, unit: Unit) -> tuple[Days, Days]:
    """Return the first month of each month's unit, and the first month of the next one; months count from 1970."""
    size = MONTHS[unit]
    low = months.astype(np.int64) // size * size
    return np.maximum(low, FIRST_MONTH), np.minimum(low + size, LAST_MONTH + 1)


def _first_days(months: Days) -> Days:
    return months.astype("M8[M]").astype("M8[D]").astype(np.int64)


def around_moments(moments: Numbers, unit: Unit) -> tuple[Days, Days]:
    """Return the microsecond when each moment's unit begins, and when the next one does; they count from 1970."""
    if moments.dtype == object:  # some have nanoseconds
        moments = np.array([math.floor(moment) for moment in moments.tolist()], dtype=np.int64)
    if unit in MICROSECONDS:
        low = moments // MICROSECONDS[unit] * MICROSECONDS[unit]
        return low, np.minimum(low + MICROSECONDS[unit], LAST_MOMENT)
    low, after = around_days(moments // MICROSECONDS_OF_DAY, unit)
    return low * MICROSECONDS_OF_DAY, np.minimum(after * MICROSECONDS_OF_DAY, LAST_MOMENT)
