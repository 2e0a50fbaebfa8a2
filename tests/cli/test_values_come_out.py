"""Values come out of a release as they went in: every type, role, format, layout and engine; nothing else comes out."""

from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import betalike
from betalike.errors import InputError, SchemaError

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
ROUTES = [("csv", "memory"), ("parquet", "outofcore")]


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


@pytest.mark.parametrize(("form", "engine"), ROUTES)
@pytest.mark.parametrize("kind", VALUES)
def test_sensitive_and_kept_values_come_out_as_they_went_in(kind: str, form: str, engine: str, tmp_path: Path) -> None:
    table = table_of(kind).with_columns(pl.col("value").alias("kept"))
    options = {"missing_sensitive": "value", "keep": ["kept"], "format": form, "engine": engine}
    _, published, path = publish(tmp_path, table, quasi_identifiers=["age"], sensitive="value", **options)
    check_same(published["value"], table["value"], form)
    check_same(published["kept"], table["kept"], form)
    assert betalike.verify(tmp_path / "out", original=path).holds


@pytest.mark.parametrize(
    ("form", "engine", "scheme"),
    [("csv", "memory", "perturb"), ("parquet", "outofcore", "perturb"), ("csv", "outofcore", "baseline")],
)
@pytest.mark.parametrize("kind", [kind for kind in VALUES if kind != "infinite"])
def test_exact_quasi_identifiers_come_out_as_they_went_in(
    kind: str, form: str, engine: str, scheme: str, tmp_path: Path
) -> None:
    table = table_of(kind)
    names = {"quasi_identifiers": ["age", "value"], "sensitive": "disease"}
    _, published, path = publish(tmp_path, table, scheme=scheme, format=form, engine=engine, **names)
    check_same(published["value"], table["value"], form)
    assert betalike.verify(tmp_path / "out", original=path).holds


@pytest.mark.parametrize("engine", ["memory", "outofcore"])
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


@pytest.mark.parametrize(
    ("form", "engine", "layout"),
    [
        ("csv", "memory", "labels"),
        ("parquet", "memory", "bounds"),
        ("csv", "outofcore", "bounds"),
        ("parquet", "outofcore", "labels"),
    ],
)
@pytest.mark.parametrize("kind", ORDERED)
def test_ranges_hold_what_they_hide_and_lose_what_they_say(
    kind: str, form: str, engine: str, layout: str, tmp_path: Path
) -> None:
    """Checked with fractions, from the published text alone and the rows that are known by their kept number."""
    table = table_of(kind).with_row_index("row")
    options = {"keep": ["row"], "format": form, "layout": layout, "engine": engine}
    release, published, path = publish(tmp_path, table, quasi_identifiers=["value"], sensitive="disease", **options)
    truth = [exact(text) for text in wall_time(table["value"]).cast(pl.String)]
    domain = max(truth) - min(truth)
    loss = Fraction(0)
    for row in published.cast(pl.String).iter_rows(named=True):
        if layout == "bounds":
            ends = [exact(row["value_low"]), exact(row["value_high"])]
        else:
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
    one_class = {"quasi_identifiers": ["n"], "sensitive": "s", "k": 12, "layout": "bounds"}
    release, published, path = publish(tmp_path, table, **one_class)
    assert release.certificate["release"]["average_loss"] == 1.0
    assert published.select("n_low", "n_high").unique().rows() == [(str(2**53), str(2**53 + 2))]
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
        betalike.publish(table, beta=4, domains={"n": (2**60 + 2, 2**60 + 3)}, **options)


@pytest.mark.parametrize("domain", [(-1e308, 1e308), ("nan", 1.0), (0, float("inf"))])
def test_domains_that_cannot_be_measured_are_refused(domain: tuple[Any, Any]) -> None:
    table = pl.DataFrame({"n": [0.5, 0.25] * 6, "s": ["a", "b", "b", "a"] * 3})
    with pytest.raises(SchemaError, match="'n'"):
        betalike.publish(table, quasi_identifiers=["n"], sensitive="s", beta=4, domains={"n": domain})


@pytest.mark.parametrize("engine", ["memory", "outofcore"])
@pytest.mark.parametrize("scheme", ["seam", "perturb", "baseline"])
def test_zero_and_negative_zero_are_one_value(scheme: str, engine: str, tmp_path: Path) -> None:
    table = pl.DataFrame({"q": [0.0, -0.0, 1.0] * 8, "s": [-0.0, 1.5, 0.0, float("nan")] * 6})
    options = {"scheme": scheme, "engine": engine, "missing_sensitive": "value"}
    release, _, path = publish(tmp_path, table, quasi_identifiers=["q"], sensitive="s", **options)
    assert release.certificate["prior_counts"] == {"0.0": 12, "1.5": 6, "": 6}
    assert betalike.verify(tmp_path / "out", original=path).holds
    assert betalike.verify(tmp_path / "out", original=table).holds


def with_unused(kind: str) -> Any:
    """A frame with a category that no row has, in every role, and with metadata that is nobody's business."""
    texts = [["x", "y", "z"][i * i % 5 % 3] for i in range(N_ROWS)]
    plain = {"age": [20 + i % 9 for i in range(N_ROWS)]}
    names = ["city", "disease", "note"]
    if kind == "polars":
        enum = pl.Enum(["x", CANARY, "y", "z"])
        return pl.DataFrame({**plain, **{name: pl.Series(texts, dtype=enum) for name in names}})
    if kind == "pandas":
        category = pd.CategoricalDtype(["x", CANARY, "y", "z"], ordered=True)
        frame = pd.DataFrame({**plain, **{name: pd.Series(texts, dtype=category) for name in names}})
        frame.attrs["note"] = CANARY
        return frame
    codes = pa.array(["xyz".index(text) for text in texts])
    dictionary = pa.DictionaryArray.from_arrays(codes, pa.array(["x", "y", "z", CANARY]))
    table = pa.table({**plain, **dict.fromkeys(names, dictionary)})
    table = table.replace_schema_metadata({"note": CANARY})
    field = table.schema.field("note").with_metadata({"note": CANARY})
    return table.set_column(3, field, table["note"])


def check_no_canary(release: betalike.Release, folder: Path) -> None:
    for path in folder.rglob("*"):
        assert path.is_dir() or CANARY.encode() not in path.read_bytes(), path.name
    frame = release.frame
    if isinstance(frame, pa.Table):
        assert CANARY not in str(frame.schema.metadata) + str([field.metadata for field in frame.schema])
        assert CANARY not in str(frame.to_pydict())
        assert CANARY not in str([column.chunks for column in frame.columns])
    elif isinstance(frame, pd.DataFrame):
        assert CANARY not in str([getattr(dtype, "categories", None) for dtype in frame.dtypes]) + str(frame.attrs)
    else:
        assert CANARY not in str(frame.lazy().collect_schema())


@pytest.mark.parametrize("scheme", ["seam", "perturb", "baseline"])
@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_a_category_that_no_row_has_is_not_published(kind: str, scheme: str, tmp_path: Path) -> None:
    release = betalike.publish(
        with_unused(kind),
        quasi_identifiers=["age", "city"],
        sensitive="disease",
        keep=["note"],
        beta=4,
        scheme=scheme,
        format="parquet",
        out=tmp_path / "out",
    )
    check_no_canary(release, tmp_path / "out")


@pytest.mark.parametrize("scheme", ["seam", "perturb"])
@pytest.mark.parametrize("engine", ["memory", "outofcore"])
@pytest.mark.parametrize("written", ["polars", "pyarrow", "pandas", "ipc"])
def test_a_category_of_a_file_that_no_row_has_is_not_published(
    written: str, engine: str, scheme: str, tmp_path: Path
) -> None:
    path = tmp_path / "table.parquet"
    if written == "polars":
        with_unused("polars").write_parquet(path)
    elif written == "ipc":
        with_unused("polars").write_ipc(path)
    elif written == "pyarrow":
        pq.write_table(with_unused("pyarrow"), path)
    else:
        with_unused("pandas").to_parquet(path)
    release = betalike.publish(
        path,
        quasi_identifiers=["age", "city"],
        sensitive="disease",
        keep=["note"],
        beta=4,
        scheme=scheme,
        engine=engine,
        format="parquet",
        out=tmp_path / "out",
    )
    check_no_canary(release, tmp_path / "out")


FAR = {
    "year 10000": pl.Series([2_932_897, 0, 1], dtype=pl.Int32).cast(pl.Date),
    "year 0": pl.Series([-719_163, 0, 1], dtype=pl.Int32).cast(pl.Date),
    "last day": pl.Series([2**31 - 1, 0, -(2**31)], dtype=pl.Int32).cast(pl.Date),
    "year 294247": pl.Series([2**63 - 1, 0, 1], dtype=pl.Int64).cast(pl.Datetime("us")),
    "milliseconds": pl.Series([2**62, 0, 1], dtype=pl.Int64).cast(pl.Datetime("ms")),
}


@pytest.mark.parametrize("role", ["value", "disease", "kept"])
@pytest.mark.parametrize("engine", ["memory", "outofcore", "frame"])
@pytest.mark.parametrize("kind", FAR)
def test_dates_that_python_cannot_read_are_refused(kind: str, engine: str, role: str, tmp_path: Path) -> None:
    table = pl.DataFrame({"value": [1, 2, 3] * 4, "disease": ["a", "b", "c"] * 4, "kept": [1, 2, 3] * 4})
    table = table.with_columns(FAR[kind].gather([0, 1, 2] * 4).alias(role))
    table.write_parquet(tmp_path / "table.parquet")
    given: Any = {"table": table} if engine == "frame" else {"table": tmp_path / "table.parquet", "engine": engine}
    with pytest.raises(SchemaError, match=f"'{role}' has [48] dates outside the years 1 to 9999"):
        betalike.publish(
            given.pop("table"),
            quasi_identifiers=["value"],
            sensitive="disease",
            keep=["kept"],
            beta=4,
            out=tmp_path / "out",
            **given,
        )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("domain", [("0000-01-01", "2000-01-01"), ("2000-01-01", "10000-01-01"), (0, 10**9)])
def test_declared_dates_that_python_cannot_read_are_refused(domain: tuple[Any, Any]) -> None:
    table = pl.DataFrame({"day": [datetime.date(1990, 1, 1 + i % 9) for i in range(12)], "s": ["a", "b"] * 6})
    with pytest.raises(SchemaError, match="'day'"):
        betalike.publish(table, quasi_identifiers=["day"], sensitive="s", beta=4, domains={"day": domain})


def publish_frame(frame: Any, **options: Any) -> betalike.Release:
    return betalike.publish(frame, quasi_identifiers=["q"], sensitive="s", beta=4, **options)


def test_intervals_of_pandas_are_names() -> None:
    frame = pd.DataFrame({"age": [5, 25, 45] * 4, "s": ["a", "b", "c", "b"] * 3})
    frame["q"] = pd.cut(frame["age"], [0, 18, 40, 99])
    frame["kept"] = pd.period_range("2020-01", periods=12, freq="M")
    release = publish_frame(frame, keep=["kept"])
    assert set(release.frame["q"]) <= {"(0, 18]", "(18, 40]", "(40, 99]", "*"}
    assert set(release.frame["kept"]) == {f"2020-{month:02}" for month in range(1, 13)}
    frame.loc[0, "q"] = None
    assert publish_frame(frame).certificate["table"]["columns"][0]["has_missing"] is True


def test_whole_numbers_of_pandas_keep_their_digits_beside_missing_ones() -> None:
    numbers = [2**60 + 1, None, 2**60 + 3] * 4
    frame = pd.DataFrame({"q": pd.array(numbers, dtype="Int64"), "s": ["a", "b", "c", "b"] * 3})
    frame["kept"] = frame["q"]
    release = publish_frame(frame, keep=["kept"], layout="bounds")
    assert release.frame["kept"].dtype == "Int64"
    assert Counter(release.frame["kept"].dropna()) == Counter({2**60 + 1: 4, 2**60 + 3: 4})
    shown = {*release.frame["q_low"].dropna(), *release.frame["q_high"].dropna()}
    assert shown <= {2**60 + 1, 2**60 + 3}


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


STRANGE: dict[str, Any] = {
    "list": pl.DataFrame({"x": [[1, 2]] * 12}),
    "struct": pl.DataFrame({"x": [{"a": 1}] * 12}),
    "binary": pl.DataFrame({"x": [CANARY.encode()] * 12}),
    "object": pl.DataFrame({"x": pl.Series([object()] * 12, dtype=pl.Object)}),
    "duration": pl.DataFrame({"x": [datetime.timedelta(days=1)] * 12}),
    "timedelta": pd.DataFrame({"x": pd.to_timedelta([1] * 12, unit="D")}),
    "mixed": pd.DataFrame({"x": [1, CANARY, 2.5] * 4}),
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
    names: dict[str, Any] = {"quasi_identifiers": ["q"], "sensitive": "s", "beta": 4, "out": tmp_path / "out"}
    change = {
        "quasi-identifier": {"quasi_identifiers": ["x"]},
        "sensitive": {"sensitive": "x"},
        "kept": {"keep": ["x"]},
    }
    options = {**names, **change[role]}
    if role == "kept" and kind in ("duration", "timedelta"):
        betalike.publish(beside(STRANGE[kind]), **options)
        assert set(read(tmp_path / "out")["x"]) == {"P1D"}
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
    betalike.publish(good, **columns, beta=2, out=tmp_path / "out")
    path = tmp_path / "t.parquet"
    good.with_columns(ODD_VALUES[kind].alias(role)).write_parquet(path)
    with pytest.raises(SchemaError, match=f"'{role}'"):
        betalike.audit(path, **columns)
    if role == "disease":
        with pytest.raises(SchemaError, match=f"'{role}'"):
            betalike.audit(tmp_path / "out", **columns, original=path)
        with pytest.raises(SchemaError, match=f"'{role}'"):
            betalike.verify(tmp_path / "out", original=path)
