"""Columns of categories as texts: each text is looked up once, not once for each row."""

from __future__ import annotations

import numpy as np
import polars as pl

from betalike.runtime.arrays import Ints


def distinct_texts(column: pl.Series) -> pl.Series:
    """Return the texts that occur in a column of categories, in the order of their numbers."""
    present = column.drop_nulls()
    row_of = _rows(present)
    return present.gather(row_of[row_of >= 0]).cast(pl.String)


def as_texts(column: pl.Series) -> pl.Series:
    """Return a column of categories as texts; rows share the texts that they have in common."""
    place = np.cumsum(_rows(column.drop_nulls()) >= 0) - 1
    return distinct_texts(column).gather(pl.Series(place).gather(column.to_physical())).alias(column.name)


def _rows(column: pl.Series) -> Ints:
    """Return a row with each category, by the numbers of categories; -1 for those that do not occur."""
    numbers = column.to_physical().to_numpy()
    row_of = np.full(int(numbers.max(initial=0)) + 1, -1, dtype=np.int64)
    row_of[numbers] = np.arange(len(numbers))
    return row_of
