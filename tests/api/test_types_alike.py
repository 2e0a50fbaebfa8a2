"""The same table from every source: the same types, labels and loss."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import betalike

N_ROWS = 400
KNOWN = {
    "age": "integer",
    "born": "date",
    "seen": "date",
    "left": "date",
    "came": "date",
    "weight": "real",
    "fee": "real",
    "zip": "categorical",
    "stays": "integer",
    "children": "integer",
    "moved": "datetime",
}


def people() -> pl.DataFrame:
    """A table as people have it: dates in several forms, codes, decimal commas, numbers with missing values."""
    rng = random.Random(5)
    days = [datetime.date(1930, 1, 1) + datetime.timedelta(days=rng.randrange(25_000)) for _ in range(N_ROWS)]
    return pl.DataFrame(
        {
            "age": [None if rng.random() < 0.05 else float(rng.randrange(18, 90)) for _ in days],
            "born": [day.strftime(rng.choice(["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y"])) for day in days],
            "seen": [day.strftime("%d/%m/%Y") for day in days],
            "left": [int(day.strftime("%Y%m%d")) for day in days],
            "came": [datetime.datetime(day.year, day.month, day.day) for day in days],
            "weight": [f"{rng.randrange(400, 1200) / 10}".replace(".", ",") for _ in days],
            "fee": pl.Series([Decimal(rng.randrange(100, 900)) / 10 for _ in days], dtype=pl.Decimal(8, 2)),
            "zip": [f"{rng.choice([2110, 2139, 60645, 94103]):05}" for _ in days],
            "stays": [rng.choice(["1", "2", "3", "NA"]) for _ in days],
            "children": [rng.choice([0, 1, 2, -9]) for _ in days],
            "moved": [f"{day} {rng.randrange(24):02}:30" for day in days],
            "illness": [rng.choice(["flu", "cold", "fever", "asthma", "gout"]) for _ in days],
        }
    )


def written(folder: Path, name: str) -> Path:
    frame, path = people(), folder / name
    if name.endswith(".csv"):
        frame.to_pandas().to_csv(path, index=False)
    elif name.endswith(".txt"):
        frame.write_csv(path, separator=";", quote_style="always")
    elif name.endswith(".parquet"):
        frame.write_parquet(path)
    else:
        frame.write_ipc(path)
    return path


SOURCES: dict[str, Callable[[Path], Any]] = {
    "Polars": lambda folder: people(),
    "lazy Polars": lambda folder: people().lazy(),
    "pandas": lambda folder: people().to_pandas(),
    "PyArrow": lambda folder: people().to_arrow(),
    "floats": lambda folder: people().with_columns(pl.col("fee").cast(pl.Float64)),
    "all as text": lambda folder: people().with_columns(pl.all().cast(pl.String)),
    "CSV by pandas": lambda folder: written(folder, "t.csv"),
    "quoted CSV": lambda folder: written(folder, "t.txt"),
    "Parquet": lambda folder: written(folder, "t.parquet"),
    "Arrow IPC": lambda folder: written(folder, "t.arrow"),
}
CODES = ["NA", "-9"]


def publish(table: Any, **options: Any) -> betalike.Release:
    arguments: dict[str, Any] = {"sensitive": "illness", "beta": 2, "missing": CODES, "seed": 3}
    return betalike.publish(table, **{**arguments, "quasi_identifiers": list(KNOWN), **options})


@pytest.fixture(scope="module")
def first() -> betalike.Release:
    return publish(people())


@pytest.mark.some(2)
@pytest.mark.parametrize("source", SOURCES)
def test_types_labels_and_loss_do_not_depend_on_the_source(
    source: str, tmp_path: Path, first: betalike.Release
) -> None:
    table = SOURCES[source](tmp_path)
    release = publish(table, out=tmp_path / "out")
    columns = release.certificate["table"]["columns"]
    assert {column["name"]: column["kind"] for column in columns} == KNOWN
    assert columns == first.certificate["table"]["columns"]
    assert release.certificate["release"]["loss"] == first.certificate["release"]["loss"]
    assert release.types == first.types
    rows = pl.read_csv(tmp_path / "out" / "published.csv", infer_schema=False)
    expected = first.frame.select(pl.all().cast(pl.String))
    assert rows.sort(rows.columns).equals(expected.sort(expected.columns))
    assert betalike.verify(release, original=table, missing=CODES).holds


@pytest.mark.parametrize("source", SOURCES)
def test_guesses_do_not_depend_on_the_source(source: str, tmp_path: Path) -> None:
    described = betalike.describe(SOURCES[source](tmp_path))
    assert {column.name: str(column.kind) for column in described.columns} == {**KNOWN, "illness": "categorical"}
    assert sorted(described.missing) == ["-9", "NA"]


@pytest.mark.some(2)
@pytest.mark.parametrize("scheme", ["perturb", "baseline"])
@pytest.mark.parametrize("source", ["Polars", "CSV by pandas"])
def test_exact_values_come_back_in_the_form_that_they_had(source: str, scheme: str, tmp_path: Path) -> None:
    table = SOURCES[source](tmp_path)
    release = publish(table, scheme=scheme, out=tmp_path / "out")
    texts = ["born", "seen", "weight", "zip", "moved"]
    expected, fees = people()["fee"].sort(), release.frame["fee"]
    fees = fees.sort() if source == "Polars" else fees.cast(pl.Decimal(8, 2)).sort()
    assert fees.equals(expected)
    assert fees.dtype == expected.dtype
    written = pl.read_csv(tmp_path / "out" / "published.csv", infer_schema=False)["fee"]
    assert sorted(written) == sorted(map(str, people()["fee"]))
    assert release.frame.select(texts).sort(texts).equals(people().select(texts).sort(texts))
    assert betalike.verify(release, original=table, missing=CODES).holds
    is_late = [day > datetime.datetime(1970, 1, 1) for day in people()["came"]]
    assert release.count("seen > '1970-01-01'").count == pytest.approx(sum(is_late))


def test_dates_in_no_clear_order_need_one(tmp_path: Path) -> None:
    table = pl.DataFrame({"born": ["03/04/1980", "05/06/1990"] * 20, "illness": ["flu", "cold", "flu", "gout"] * 10})
    asked: dict[str, Any] = {"quasi_identifiers": ["born"], "sensitive": "illness", "beta": 4, "seed": 1}
    with pytest.raises(betalike.errors.SchemaError, match="--dates dmy"):
        betalike.publish(table, **asked)
    for order, day in (("dmy", "1980-04-03"), ("mdy", "1980-03-04")):
        release = betalike.publish(table, **asked, dates=order, out=tmp_path / order)
        assert release.certificate["table"]["columns"][0]["dates"] == order
        assert release.certificate["table"]["columns"][0]["domain"][0] == day
        assert betalike.verify(release, original=table).holds
    with pytest.raises(betalike.errors.ParameterError, match="one of: dmy, mdy"):
        betalike.publish(table, **asked, dates="ymd")


def test_numbers_that_became_categories_come_with_a_note() -> None:
    release = publish(people(), quasi_identifiers=["stays", "children"], missing=())
    assert [column["kind"] for column in release.certificate["table"]["columns"]] == ["categorical", "integer"]
    stays, children = release.notes
    assert "'stays'" in stays
    assert "--missing NA" in stays
    assert "'children'" in children
    assert "--missing -9" in children


def test_a_number_that_stands_apart_in_few_rows_is_not_named() -> None:
    table = pl.DataFrame({"age": [99, 99, *range(20, 60)], "illness": ["flu", "cold", "gout"] * 14})
    notes = publish(table, quasi_identifiers=["age"], missing=(), beta=4).notes
    assert "'age'" in notes[0]
    assert "in fewer than 3 rows" in notes[0]
    assert "--missing 99" not in notes[0]
    often = pl.concat([table, table])
    assert "--missing 99" in publish(often, quasi_identifiers=["age"], missing=(), beta=4).notes[0]


@pytest.mark.parametrize(("digits", "kind"), [("0.30000000000000004", "real"), ("0.3000000000000000400001", "decimal")])
@pytest.mark.parametrize("source", ["text", "decimals", "CSV", "two CSV files", "Parquet"])
def test_decimals_stay_exact_where_floating_point_numbers_lose_digits(
    source: str, digits: str, kind: str, tmp_path: Path
) -> None:
    texts = [digits, *(f"{number / 10}" for number in range(10, 89))]
    illness = ["flu", "cold", "fever", "gout"] * 20
    table: Any = pl.DataFrame({"dose": texts, "illness": illness})
    if source in ("decimals", "Parquet"):
        table = table.with_columns(pl.col("dose").cast(pl.Decimal(38, 24)))
    if source == "Parquet":
        table.write_parquet(tmp_path / "t.parquet")
        table = tmp_path / "t.parquet"
    elif source == "CSV":
        table.write_csv(tmp_path / "t.csv")
        table = tmp_path / "t.csv"
    elif source == "two CSV files":
        (tmp_path / "parts").mkdir()
        for number in range(2):
            table.slice(40 * number, 40).write_csv(tmp_path / "parts" / f"{number}.csv")
        table = tmp_path / "parts"
    asked: dict[str, Any] = {"quasi_identifiers": ["dose"], "sensitive": "illness", "beta": 4, "seed": 1}
    release = betalike.publish(table, **asked, out=tmp_path / "out")
    (column,) = release.certificate["table"]["columns"]
    assert column["kind"] == kind
    assert Decimal(column["domain"][0]) == Decimal(digits)
    assert str(betalike.describe(table).columns[0].kind) == kind
    assert betalike.verify(release, original=table).holds
