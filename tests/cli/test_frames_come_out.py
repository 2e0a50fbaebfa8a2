"""Values of pandas, PyArrow, DuckDB and Polars frames come out of a release as they went in."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest

import betalike

NOON = 1_577_880_000_000_000_000  # nanoseconds


def publish_frame(frame: Any, **options: Any) -> betalike.Release:
    return betalike.publish(frame, quasi_identifiers=["q"], sensitive="s", beta=4, **options, seed=1)


def test_intervals_of_pandas_are_names() -> None:
    frame = pd.DataFrame({"age": [5, 25, 45] * 4, "s": ["a", "b", "c", "b"] * 3})
    frame["q"] = pd.cut(frame["age"], [0, 18, 40, 99])
    frame["kept"] = pd.period_range("2020-01", periods=12, freq="M")
    release = publish_frame(frame, keep=["kept"], keep_identifiers=True)
    assert set(release.frame["q"]) <= {"(0, 18]", "(18, 40]", "(40, 99]", "*"}
    assert set(release.frame["kept"]) == {f"2020-{month:02}" for month in range(1, 13)}
    frame.loc[0, "q"] = None
    assert publish_frame(frame).certificate["table"]["columns"][0]["has_missing"] is True


def test_whole_numbers_of_pandas_keep_their_digits_beside_missing_ones() -> None:
    numbers = [2**60 + 1, None, 2**60 + 3] * 4
    frame = pd.DataFrame({"q": pd.array(numbers, dtype="Int64"), "s": ["a", "b", "c", "b"] * 3})
    frame["kept"] = frame["q"]
    release = publish_frame(frame, keep=["kept"])
    assert release.frame["kept"].dtype == "Int64"
    assert Counter(release.frame["kept"].dropna()) == Counter({2**60 + 1: 4, 2**60 + 3: 4})
    shown = {end for label in release.frame["q"].dropna() for end in label.strip("[]").split(", ")}
    assert shown <= {str(2**60 + 1), str(2**60 + 3), "*"}


@pytest.mark.parametrize("kind", ["pandas", "pyarrow", "duckdb", "polars"])
def test_decimals_and_nanoseconds_pass_through_every_frame(kind: str) -> None:
    values = [Decimal("12345678901234567.89"), Decimal("12345678901234567.90"), Decimal("1.10")]
    moments = pl.Series([NOON + 1, NOON + 2, NOON]).cast(pl.Datetime("ns"))
    rows = pl.DataFrame({"q": [1, 2, 3] * 4, "s": values * 4, "kept": moments.gather([0, 1, 2] * 4)})
    make = {
        "pandas": pl.DataFrame.to_pandas,
        "pyarrow": pl.DataFrame.to_arrow,
        "duckdb": lambda frame: duckdb.from_arrow(frame.to_arrow()),
        "polars": lambda frame: frame,
    }
    release = publish_frame(make[kind](rows), keep=["kept"])
    frame = pl.DataFrame(release.frame.pl() if kind == "duckdb" else release.frame)
    assert Counter(frame["s"].cast(pl.String)) == Counter(rows["s"].cast(pl.String))
    assert Counter(frame["kept"].cast(pl.String)) == Counter(rows["kept"].cast(pl.String))


@pytest.mark.parametrize("number", ["(2::hugeint ** 100)::hugeint", "5::hugeint"])
def test_huge_numbers_of_duckdb_are_whole_numbers(number: str) -> None:
    rows = duckdb.sql(f"select {number} + i as q, 'v' || (i % 3) as s, {number} as kept from range(12) t(i)")
    release = publish_frame(rows, keep=["kept"])
    assert release.certificate["table"]["columns"][0]["kind"] == "integer"
    assert {int(value) for value in release.frame.pl()["kept"]} == {
        int(duckdb.sql(f"select {number}").fetchall()[0][0])
    }
