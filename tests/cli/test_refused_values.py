"""Values that cannot be published are refused in words, without a cell, and nothing is left behind."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import betalike
from betalike.errors import InputError, SchemaError

CANARY = "CANARY7731"
FAR = {
    "year 10000": pl.Series([2_932_897, 0, 1], dtype=pl.Int32).cast(pl.Date),
    "year 0": pl.Series([-719_163, 0, 1], dtype=pl.Int32).cast(pl.Date),
    "last day": pl.Series([2**31 - 1, 0, -(2**31)], dtype=pl.Int32).cast(pl.Date),
    "year 294247": pl.Series([2**63 - 1, 0, 1], dtype=pl.Int64).cast(pl.Datetime("us")),
    "milliseconds": pl.Series([2**62, 0, 1], dtype=pl.Int64).cast(pl.Datetime("ms")),
}


@pytest.mark.parametrize("role", ["value", "disease", "kept"])
@pytest.mark.parametrize(("source", "engine"), [("file", "local"), ("file", "batches"), ("frame", "local")])
@pytest.mark.parametrize("kind", FAR)
def test_dates_that_python_cannot_read_are_refused(
    kind: str, source: str, engine: str, role: str, tmp_path: Path
) -> None:
    table = pl.DataFrame({"value": [1, 2, 3] * 4, "disease": ["a", "b", "c"] * 4, "kept": [1, 2, 3] * 4})
    table = table.with_columns(FAR[kind].gather([0, 1, 2] * 4).alias(role))
    table.write_parquet(tmp_path / "table.parquet")
    with pytest.raises(SchemaError, match=f"'{role}' has [48] dates outside the years 1 to 9999"):
        betalike.publish(
            table if source == "frame" else tmp_path / "table.parquet",
            quasi_identifiers=["value"],
            sensitive="disease",
            keep=["kept"],
            beta=4,
            out=tmp_path / "out",
            engine=engine,
        )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("domain", [("0000-01-01", "2000-01-01"), ("2000-01-01", "10000-01-01"), (0, 10**9)])
def test_declared_dates_that_python_cannot_read_are_refused(domain: tuple[Any, Any]) -> None:
    table = pl.DataFrame({"day": [datetime.date(1990, 1, 1 + i % 9) for i in range(12)], "s": ["a", "b"] * 6})
    with pytest.raises(SchemaError, match="'day'"):
        betalike.publish(table, quasi_identifiers=["day"], sensitive="s", beta=4, domains={"day": domain})


STRANGE: dict[str, Any] = {
    "list": pl.DataFrame({"x": [[1, 2]] * 12}),
    "struct": pl.DataFrame({"x": [{"a": 1}] * 12}),
    "binary": pl.DataFrame({"x": [CANARY.encode()] * 12}),
    "object": pl.DataFrame({"x": pl.Series([object()] * 12, dtype=pl.Object)}),
    "duration": pl.DataFrame({"x": [datetime.timedelta(days=1)] * 12}),
    "timedelta": pd.DataFrame({"x": pd.to_timedelta([1] * 12, unit="D")}),
    "mixed": pd.DataFrame({"x": [True, CANARY, 2.5] * 4}),
    "decimal256": pa.table({"x": pa.array([Decimal("1.1")] * 12, pa.decimal256(70, 2))}),
    "interval type": pa.Table.from_pandas(pd.DataFrame({"x": pd.arrays.IntervalArray.from_breaks(range(13))})),
    "uhugeint": duckdb.sql("select 5::uhugeint as x, i from range(12) t(i)"),
    "interval": duckdb.sql("select interval 3 days as x, i from range(12) t(i)"),
}


def beside(frame: Any) -> Any:
    """The frame with two more columns."""
    more = pl.DataFrame({"q": [1, 2, 3] * 4, "s": ["a", "b", "c", "b"] * 3})
    if isinstance(frame, pl.DataFrame):
        return pl.concat([frame, more], how="horizontal")
    if isinstance(frame, pd.DataFrame):
        return frame.assign(**more.to_dict(as_series=False))
    if isinstance(frame, pa.Table):
        return frame.append_column("q", more["q"].to_arrow()).append_column("s", more["s"].to_arrow())
    return frame.project("x, i % 3 as q, 'v' || (i % 3) as s")


@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive", "kept"])
@pytest.mark.parametrize("kind", STRANGE)
def test_types_that_cannot_be_published_are_refused_in_words(kind: str, role: str, tmp_path: Path) -> None:
    names: dict[str, Any] = {
        "quasi_identifiers": ["q"],
        "sensitive": "s",
        "beta": 4,
        "seed": 1,
        "out": tmp_path / "out",
    }
    change = {
        "quasi-identifier": {"quasi_identifiers": ["x"]},
        "sensitive": {"sensitive": "x"},
        "kept": {"keep": ["x"]},
    }
    options = {**names, **change[role]}
    if role == "kept" and kind in ("duration", "timedelta"):
        betalike.publish(beside(STRANGE[kind]), **options)
        assert set(pl.read_csv(tmp_path / "out" / "published.csv")["x"]) == {"P1D"}
        return
    with pytest.raises(InputError) as caught:
        betalike.publish(beside(STRANGE[kind]), **options)
    assert CANARY not in str(caught.value)
    assert not (tmp_path / "out").exists()


ODD_VALUES: dict[str, pl.Series] = {
    "far dates": pl.Series([10**17] * 30, dtype=pl.Datetime("ms")),
    "durations": pl.Series([5] * 30, dtype=pl.Duration("us")),
    "lists": pl.Series([[1]] * 30, dtype=pl.List(pl.Int64)),
}


@pytest.mark.parametrize("role", ["age", "disease"])
@pytest.mark.parametrize("kind", ODD_VALUES)
def test_values_without_a_text_are_refused_by_audit_and_verify(kind: str, role: str, tmp_path: Path) -> None:
    good = pl.DataFrame({"age": [i % 7 for i in range(30)], "disease": ["flu", "gout", "ulcer"] * 10})
    columns = {"quasi_identifiers": ["age"], "sensitive": "disease"}
    betalike.publish(good, **columns, beta=2, seed=1, out=tmp_path / "out")
    path = tmp_path / "t.parquet"
    good.with_columns(ODD_VALUES[kind].alias(role)).write_parquet(path)
    with pytest.raises(SchemaError, match=f"'{role}'"):
        betalike.audit(path, **columns)
    if role == "disease":
        with pytest.raises(SchemaError, match=f"'{role}'"):
            betalike.audit(tmp_path / "out", **columns, original=path)
        with pytest.raises(SchemaError, match=f"'{role}'"):
            betalike.verify(tmp_path / "out", original=path)
