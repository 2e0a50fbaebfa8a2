"""Values come out of a release as they went in: every type, role, format and engine; nothing else comes out."""

from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import betalike
from betalike.errors import SchemaError

CANARY = "CANARY7731"
N_ROWS = 48
NOON = 1_577_880_000_000_000_000  # nanoseconds
VALUES: dict[str, pl.Series] = {
    "beyond 2^53": pl.Series([2**53 + 1, 2**53 + 2, 2**53 + 3, -(2**53) - 1], dtype=pl.Int64),
    "64 bits": pl.Series([-(2**63), 2**63 - 1, 2**63 - 2, 0], dtype=pl.Int64),
    "unsigned": pl.Series([2**64 - 1, 2**64 - 2, 2**63, 5], dtype=pl.UInt64),
    "128 bits": pl.Series([2**100, 2**100 + 1, -(2**100), 7], dtype=pl.Int128),
    "infinite": pl.Series([float("inf"), 2.0**63, 1e300, 4.0], dtype=pl.Float64),
    "small": pl.Series([0.00001, 1e-7, 5e-324, 0.1], dtype=pl.Float64),
    "float32": pl.Series([0.1, 16777216.0, 1e20, 3.0], dtype=pl.Float32),
    "decimal": pl.Series(
        [Decimal("12345678901234567890.12"), Decimal("12345678901234567890.13"), Decimal("1.10"), Decimal(0)]
    ),
    "nanoseconds": pl.Series([NOON + 1, NOON + 2, NOON + 1000, NOON]).cast(pl.Datetime("ns")),
    "microseconds": pl.Series([NOON // 1000 + 1, NOON // 1000, 0, -1]).cast(pl.Datetime("us")),
    "time zone": pl.Series([NOON + 1, NOON + 2, NOON + 1000, NOON]).cast(pl.Datetime("ns", "Europe/Berlin")),
    "date": pl.Series([datetime.date(1, 1, 1), datetime.date(9999, 12, 31), datetime.date(2024, 2, 29), None]),
    "time": pl.Series([datetime.time(1, 2, 3), datetime.time(23, 59, 59, 999999), datetime.time(0), datetime.time(5)]),
    "truth": pl.Series([True, False, True, False]),
    "text": pl.Series(["[1, 5]", " a", "a", "5.0"]),
    "category": pl.Series(["x", "y", "z", "x"], dtype=pl.Categorical),
    "enum": pl.Series(["x", "y", "z", "x"], dtype=pl.Enum(["z", "x", CANARY, "y"])),
}
ORDERED = [
    "beyond 2^53",
    "64 bits",
    "unsigned",
    "128 bits",
    "small",
    "decimal",
    "nanoseconds",
    "microseconds",
    "time zone",
]
ROUTES = [("csv", "local"), ("parquet", "batches")]


def table_of(kind: str) -> pl.DataFrame:
    values = VALUES[kind]
    return pl.DataFrame(
        {
            "age": [20 + 7 * i % 30 for i in range(N_ROWS)],
            "value": values.gather([i * i % 7 % 4 for i in range(N_ROWS)]),
            "disease": [["flu", "cough", "ulcer"][(i * i + i // 5) % 3] for i in range(N_ROWS)],
        }
    )


def publish(tmp_path: Path, table: pl.DataFrame, **options: Any) -> tuple[betalike.Release, pl.DataFrame, Path]:
    """A release of a Parquet file, what was published, and the file."""
    path = tmp_path / "table.parquet"
    table.write_parquet(path)
    release = betalike.publish(path, beta=4, seed=1, out=tmp_path / "out", **options)
    return release, read(tmp_path / "out"), path


def read(folder: Path) -> pl.DataFrame:
    path = next(path for path in folder.iterdir() if path.name.startswith("published."))
    return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)


def as_written(column: pl.Series) -> Counter[str | None]:
    """Values by their exact text, one text for equal values."""
    return Counter(column.cast(pl.String))


def check_same(published: pl.Series, original: pl.Series, form: str) -> None:
    assert as_written(published) == as_written(original)
    if form == "parquet":
        assert published.dtype.base_type() in (original.dtype.base_type(), pl.Categorical)
        if original.dtype not in (pl.Enum, pl.Categorical, pl.String):  # texts that repeat are kept once
            assert published.dtype == original.dtype
    elif original.dtype.is_float():
        assert Counter(published.cast(original.dtype)) == Counter(original)


@pytest.mark.some(8)
@pytest.mark.parametrize(("form", "engine"), ROUTES)
@pytest.mark.parametrize("kind", VALUES)
def test_sensitive_and_kept_values_come_out_as_they_went_in(kind: str, form: str, engine: str, tmp_path: Path) -> None:
    table = table_of(kind).with_columns(pl.col("value").alias("kept"))
    options = {"missing_sensitive": "value", "keep": ["kept"], "format": form, "engine": engine}
    _, published, path = publish(tmp_path, table, quasi_identifiers=["age"], sensitive="value", **options)
    check_same(published["value"], table["value"], form)
    check_same(published["kept"], table["kept"], form)
    assert betalike.verify(tmp_path / "out", original=path).holds


@pytest.mark.some(12)
@pytest.mark.parametrize(
    ("form", "engine", "scheme"),
    [("csv", "local", "perturb"), ("parquet", "batches", "perturb"), ("csv", "batches", "baseline")],
)
@pytest.mark.parametrize("kind", [kind for kind in VALUES if kind != "infinite"])
def test_exact_quasi_identifiers_come_out_as_they_went_in(
    kind: str, form: str, scheme: str, engine: str, tmp_path: Path
) -> None:
    table = table_of(kind)
    names = {"quasi_identifiers": ["age", "value"], "sensitive": "disease"}
    _, published, path = publish(tmp_path, table, scheme=scheme, format=form, engine=engine, **names)
    check_same(published["value"], table["value"], form)
    assert betalike.verify(tmp_path / "out", original=path).holds


@pytest.mark.some(8)
@pytest.mark.parametrize("kind", VALUES)
def test_categorical_labels_are_the_values(kind: str, engine: str, tmp_path: Path) -> None:
    """Nothing comes out as missing that was not, whatever the type."""
    table = table_of(kind)
    names = {"quasi_identifiers": ["value"], "sensitive": "disease", "kinds": {"value": "categorical"}}
    release, published, path = publish(tmp_path, table, engine=engine, **names)
    n_missing = table["value"].null_count()
    assert published["value"].null_count() <= n_missing
    shown = set(published["value"].drop_nulls()) - {"*"}
    assert shown <= set(table["value"].cast(pl.String).drop_nulls())
    assert release.certificate["table"]["columns"][0]["leaves"] == table["value"].n_unique()
    assert betalike.verify(tmp_path / "out", original=path).holds


def exact(text: str) -> Fraction:
    """A number or a moment, by code that shares nothing with betalike."""
    if ":" not in text:
        return Fraction(text)
    moment, _, rest = text.partition(".")
    days = np.datetime64(moment.replace(" ", "T"), "s") - np.datetime64("1970-01-01", "s")
    return Fraction(int(days.astype(np.int64))) + Fraction(int(rest.ljust(9, "0") or 0), 10**9)


def wall_time(column: pl.Series) -> pl.Series:
    return column.dt.replace_time_zone(None) if column.dtype == pl.Datetime else column


@pytest.mark.some(9)
@pytest.mark.parametrize("engine", ["local", "batches"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ORDERED)
def test_ranges_hold_what_they_hide_and_lose_what_they_say(kind: str, form: str, engine: str, tmp_path: Path) -> None:
    """Checked with fractions, from the published text alone and the rows that are known by their kept number."""
    table = table_of(kind).with_row_index("row")
    options = {"keep": ["row"], "keep_identifiers": True, "format": form, "engine": engine}
    release, published, path = publish(tmp_path, table, quasi_identifiers=["value"], sensitive="disease", **options)
    truth = [exact(text) for text in wall_time(table["value"]).cast(pl.String)]
    domain = max(truth) - min(truth)
    loss = Fraction(0)
    for row in published.cast(pl.String).iter_rows(named=True):
        ends = [exact(end) for end in row["value"].strip("[]").split(", ")]
        assert ends[0] <= truth[int(row["row"])] <= ends[-1]
        assert {*ends} <= {*truth}
        loss += (ends[-1] - ends[0]) / domain / N_ROWS
    assert release.certificate["release"]["average_loss"] == pytest.approx(float(loss), rel=1e-12)
    told = release.certificate["table"]["columns"][0]["domain"]
    assert told is None or [exact(end) for end in told] == [min(truth), max(truth)]
    assert betalike.verify(tmp_path / "out", original=path).holds


def test_a_range_over_three_neighbours_beyond_2_53_loses_what_it_loses(tmp_path: Path) -> None:
    table = pl.DataFrame({"n": [2**53, 2**53 + 1, 2**53 + 2] * 4, "s": ["a", "b", "c", "c", "a", "b"] * 2})
    one_class = {"quasi_identifiers": ["n"], "sensitive": "s", "k": 12}
    release, published, path = publish(tmp_path, table, **one_class)
    assert release.certificate["release"]["average_loss"] == 1.0
    assert {*published["n"]} == {f"[{2**53}, {2**53 + 2}]"}
    assert release.certificate["table"]["columns"][0]["domain"] == [str(2**53), str(2**53 + 2)]
    assert betalike.verify(tmp_path / "out", original=path).holds


def test_declared_domains_are_exact(tmp_path: Path) -> None:
    table = pl.DataFrame({"n": [2**60 + 1, 2**60 + 2] * 6, "s": ["a", "b", "b", "a"] * 3})
    domain = (2**60, 2**60 + 10)
    options = {"quasi_identifiers": ["n"], "sensitive": "s", "k": 12}
    release, _, _ = publish(tmp_path, table, domains={"n": domain}, **options)
    assert release.certificate["table"]["columns"][0]["domain"] == [str(end) for end in domain]
    assert release.certificate["release"]["average_loss"] == pytest.approx(0.1, rel=1e-12)
    with pytest.raises(SchemaError, match="6 values outside its declared domain"):
        betalike.publish(table, beta=4, domains={"n": (2**60 + 2, 2**60 + 3)}, **options, seed=1)


@pytest.mark.parametrize("domain", [(-1e308, 1e308), ("nan", 1.0), (0, float("inf"))])
def test_domains_that_cannot_be_measured_are_refused(domain: tuple[Any, Any]) -> None:
    table = pl.DataFrame({"n": [0.5, 0.25] * 6, "s": ["a", "b", "b", "a"] * 3})
    with pytest.raises(SchemaError, match="'n'"):
        betalike.publish(table, quasi_identifiers=["n"], sensitive="s", beta=4, domains={"n": domain}, seed=1)


@pytest.mark.parametrize("scheme", ["seam", "perturb", "baseline"])
def test_zero_and_negative_zero_are_one_value(scheme: str, engine: str, tmp_path: Path) -> None:
    table = pl.DataFrame({"q": [0.0, -0.0, 1.0] * 8, "s": [-0.0, 1.5, 0.0, float("nan")] * 6})
    options = {"scheme": scheme, "missing_sensitive": "value", "engine": engine}
    release, _, path = publish(tmp_path, table, quasi_identifiers=["q"], sensitive="s", **options)
    assert release.certificate["prior_counts"] == {"0.0": 12, "1.5": 6, "": 6}
    assert betalike.verify(tmp_path / "out", original=path).holds
    assert betalike.verify(tmp_path / "out", original=table).holds
