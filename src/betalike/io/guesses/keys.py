"""Keys whose values repeat: which other columns stay the same for all rows of a key."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import polars as pl

from betalike.io.guesses.identification import hash_column, measure

MOST_ROWS = 20_000
LEAST_PAIRS = 10
FOLLOWS = 0.95  # share of pairs of rows with the same key that agree
VARIED = 0.2  # if fewer of all pairs of rows differ, agreement says nothing
SMALL, SPREAD = np.uint64(2**32), np.uint64(0xD1342543DE82EF95)


def find_followers(frame: pl.DataFrame, key: str, others: Collection[str]) -> set[str]:
    """Return which of other columns agree in rows with the same key, though they differ between keys."""
    rows = _rows_of_some_keys(frame.select(key, *sorted(others)), key)
    hashes = hash_column(rows[key])
    order = np.argsort(hashes, kind="stable")
    is_same = hashes[order][1:] == hashes[order][:-1]
    first, second = order[:-1][is_same], order[1:][is_same]
    if len(first) < LEAST_PAIRS:
        return set()
    followers = set()
    for name in rows.columns[1:]:
        values = hash_column(rows[name])
        is_varied = measure([name], values).separation >= VARIED
        if is_varied and float(np.mean(values[first] == values[second])) >= FOLLOWS:
            followers.add(name)
    return followers


def _rows_of_some_keys(frame: pl.DataFrame, key: str) -> pl.DataFrame:
    """Return all rows of some keys, about `MOST_ROWS` together; a sample of rows would part rows of one key."""
    is_there = frame[key].is_not_null()
    if frame.height > MOST_ROWS:
        least = (hash_column(frame[key]) * SPREAD) >> np.uint64(32)
        is_there &= pl.Series(least < SMALL * np.uint64(MOST_ROWS) // np.uint64(frame.height))
    return frame.filter(is_there)
