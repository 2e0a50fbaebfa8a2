"""One messy table from every source: the same specification is guessed, and the same release is published."""

from __future__ import annotations

import datetime
import random
import sqlite3
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi
import duckdb
import openpyxl
import polars as pl
import pyreadstat
import pytest

import betalike
from postgres_server import Server, running_server

N_PATIENTS = 150
FORMS = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y")
Source = tuple[Any, dict[str, Any]]


def visits() -> pl.DataFrame:
    """Visits of patients: ids, names, dates of birth in three forms, codes, weights, and two private columns."""
    rng = random.Random(9)
    rows = []
    for number in range(N_PATIENTS):
        born = datetime.date(1930, 1, 1) + datetime.timedelta(days=rng.randrange(27_000))
        patient = {
            "patient_id": f"P{number * 7919 % 9973:04}",
            "patient_name": f"{rng.choice(['Ann', 'Bea', 'Cem', 'Dan'])} {rng.choice(['Ek', 'Fox', 'Graf'])}-{number}",
            "birth_date": born.strftime(FORMS[number % 3]),
            "zip": rng.choice(["02110", "02139", "60645", "94103", "10001"]),
            "sex": rng.choice(["f", "m"]),
            "household_size": rng.choice(["1", "2", "3", "4", "5", "NA"]),
            "height_cm": rng.choice([*[-9] * 6, *range(150, 195)]),
            "monthly_rent": Decimal(rng.randrange(40_000, 180_000, 10)) / 100,
            "sampling_weight": rng.choice([0.75, 1.0, 1.25, 1.5]),
        }
        for _ in range(rng.randrange(1, 4)):
            private = {"hiv_status": rng.choice(["negative"] * 4 + ["positive"]), "diagnosis": rng.choice("ABCDEF")}
            rows.append({**patient, **private})
    rng.shuffle(rows)
    return pl.DataFrame(rows, schema_overrides={"monthly_rent": pl.Decimal(10, 2)})


def with_floats(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table for files that have no exact decimals."""
    return frame.with_columns(pl.col("monthly_rent").cast(pl.Float64))


def to_excel(frame: pl.DataFrame, folder: Path) -> Source:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in [frame.columns, *frame.rows()]:
        book.active.append(row)
    book.save(folder / "visits.xlsx")
    return folder / "visits.xlsx", {}


def to_csv(frame: pl.DataFrame, folder: Path) -> Source:
    frame.write_csv(folder / "visits.csv")
    return folder / "visits.csv", {}


def to_parquet(frame: pl.DataFrame, folder: Path) -> Source:
    frame.write_parquet(folder / "visits.parquet")
    return folder / "visits.parquet", {}


def to_spss(frame: pl.DataFrame, folder: Path) -> Source:
    pyreadstat.write_sav(with_floats(frame).to_pandas(), folder / "visits.sav")
    return folder / "visits.sav", {}


def to_stata(frame: pl.DataFrame, folder: Path) -> Source:
    pyreadstat.write_dta(with_floats(frame).to_pandas(), folder / "visits.dta")
    return folder / "visits.dta", {}


def to_sqlite(frame: pl.DataFrame, folder: Path) -> Source:
    connection = sqlite3.connect(folder / "visits.db")
    connection.execute(f"CREATE TABLE visits ({', '.join(frame.columns)})")
    connection.executemany(f"INSERT INTO visits VALUES ({', '.join('?' * frame.width)})", with_floats(frame).rows())
    connection.commit()
    connection.close()
    return f"sqlite:{folder / 'visits.db'}", {"table_name": "visits"}


def to_duckdb(frame: pl.DataFrame, folder: Path) -> Source:
    with duckdb.connect(str(folder / "visits.duckdb")) as connection:
        connection.register("given", frame.to_arrow())
        connection.execute("CREATE TABLE visits AS SELECT * FROM given")
    return f"duckdb:{folder / 'visits.duckdb'}", {"query": "SELECT * FROM visits"}


WRITERS: dict[str, Callable[[pl.DataFrame, Path], Source]] = {
    "pandas": lambda frame, folder: (frame.to_pandas(), {}),
    "pandas with floats": lambda frame, folder: (with_floats(frame).to_pandas(), {}),
    "CSV": to_csv,
    "Parquet": to_parquet,
    "Excel": to_excel,
    "SPSS": to_spss,
    "Stata": to_stata,
    "SQLite": to_sqlite,
    "DuckDB": to_duckdb,
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as started:
        yield started


@pytest.fixture(params=[*WRITERS, "PostgreSQL"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Source:
    if request.param != "PostgreSQL":
        return WRITERS[request.param](visits(), tmp_path)
    address = request.getfixturevalue("server").address()
    with adbc_driver_postgresql.dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("visits", visits().to_arrow(), mode="replace")
        connection.commit()
    return address, {"table_name": "visits"}


def guessed(table: Any, **reading: Any) -> tuple[list[str], betalike.Description]:
    """Return the guessed specification without the lines that name the table, and the guesses."""
    description = betalike.describe(table, **reading)
    lines = description.to_toml().partition("[promise]")[2].splitlines()
    return lines, description


def publish(folder: Path, lines: list[str], table: Any, **options: Any) -> betalike.Release:
    at = lines.index('[columns."monthly_rent"]') + 1  # left out by the guess, because it could be sensitive
    lines = [*lines[:at], 'role = "quasi-identifier"', *lines[at + 1 :]]
    (folder / "release.toml").write_text("\n".join(["[promise]", *lines]))
    return betalike.publish(table, spec=folder / "release.toml", person="patient_id", seed=4, **options)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], betalike.Release]:
    lines, _ = guessed(visits())
    return lines, publish(tmp_path_factory.mktemp("first"), lines, visits())


def test_every_source_gives_the_same_specification_and_release(
    source: Source, first: tuple[list[str], betalike.Release], tmp_path: Path
) -> None:
    table, reading = source
    lines, _ = guessed(table, **reading)
    assert lines == first[0]
    release = publish(tmp_path, lines, table, out=tmp_path / "out", **reading)
    certificate, expected = release.certificate, first[1].certificate
    assert certificate["table"] == expected["table"]
    assert certificate["release"] == expected["release"]
    assert certificate["prior_counts"] == expected["prior_counts"]
    assert certificate["people"] == expected["people"]
    rows = pl.read_csv(tmp_path / "out" / "published.csv", infer_schema=False)
    other = first[1].frame.select(pl.all().cast(pl.String))
    assert rows.sort(rows.columns).equals(other.sort(other.columns))
    assert betalike.verify(release, original=table, missing=["NA", "-9"], **reading).holds


def test_the_guesses_are_right() -> None:
    _, description = guessed(visits())
    types = {column.name: str(column.kind) for column in description.columns}
    assert types["birth_date"] == "date"
    assert types["zip"] == "categorical"
    assert types["household_size"] == "integer"
    assert types["height_cm"] == "integer"
    assert types["monthly_rent"] == "real"
    assert sorted(description.missing) == ["-9", "NA"]
    roles = {column.name: str(column.role) for column in description.columns}
    assert roles["patient_name"] == "identifier"
    assert {roles["hiv_status"], roles["diagnosis"]} & {"sensitive"}
    assert "quasi-identifier" not in {roles["hiv_status"], roles["diagnosis"], roles["patient_id"]}
