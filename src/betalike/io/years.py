"""Dates that everybody can read: those of the years 1 to 9999."""

from __future__ import annotations

import datetime

import polars as pl

from betalike.errors import SchemaError

EPOCH = datetime.datetime(1970, 1, 1)
FIRST, LAST = (end - EPOCH for end in (datetime.datetime.min, datetime.datetime.max))
UNITS = {
    "ms": datetime.timedelta(milliseconds=1),
    "us": datetime.timedelta(microseconds=1),
    "ns": None,  # never outside
}
DAY = datetime.timedelta(days=1)


def check_years(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame, and refuse dates outside the years 1 to 9999, which neither Python nor SQL can read."""
    for column in frame.iter_columns():
        dtype = column.dtype
        unit = UNITS[dtype.time_unit] if isinstance(dtype, pl.Datetime) else DAY if dtype == pl.Date else None
        if unit is None:
            continue
        numbers = column.to_physical()
        n_far = int(((numbers < FIRST // unit) | (numbers > LAST // unit)).sum())
        if n_far:
            raise SchemaError(
                f"the column '{column.name}' has {n_far} dates outside the years 1 to 9999. Fix them, make them "
                "missing, or leave the column out."
            )
    return frame
