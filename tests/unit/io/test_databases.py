"""Databases: values of every type, queries that fail, and words that never show a cell or a password."""

from __future__ import annotations

import datetime
import sqlite3
from decimal import Decimal
from pathlib import Path

import duckdb
import polars as pl
import pytest

from betalike.errors import FileError, InputError, ParameterError
from betalike.io.addresses import parse_address
from betalike.io.databases import read_batches

SECRET = "CANARY7731"


def rows(address: str, query: str | None = None, table: str | None = None) -> pl.DataFrame:
    return pl.concat(read_batches(parse_address(address), query, table))


@pytest.fixture
def lite(tmp_path: Path) -> str:
    path = tmp_path / "a b?%#.db"
    connection = sqlite3.connect(path)
    connection.execute('CREATE TABLE "odd ""name""" (mixed, number REAL, "a, b" TEXT, bytes BLOB, empty)')
    values = [(None, 1, None, None, None)] * 3000 + [(SECRET, 2.5, "x", b"\x00", None), (7, 3, "", b"y", None)]
    connection.executemany('INSERT INTO "odd ""name""" VALUES (?, ?, ?, ?, ?)', values)
    connection.commit()
    connection.close()
    return f"sqlite:{path}"


def test_sqlite_types_hold_for_all_rows_not_for_the_first(lite: str) -> None:
    found = rows(lite, table='odd "name"')
    assert found.height == 3002
    assert found.schema == {
        "mixed": pl.String,
        "number": pl.Float64,
        "a, b": pl.String,
        "bytes": pl.Binary,
        "empty": pl.Int64,
    }
    assert found["mixed"].drop_nulls().to_list() == [SECRET, "7"]
    assert found["number"].sum() == 3000 + 5.5


def test_a_query_without_rows_has_its_columns(lite: str, tmp_path: Path) -> None:
    assert rows(lite, query="SELECT 1 AS a, 'x' AS b WHERE 0;").shape == (0, 2)


def test_names_of_sqlite_may_end_with_numbers(lite: str) -> None:
    assert rows(lite, query='SELECT 1 AS "q:1", 2 AS "q:2"').columns == ["q:1", "q:2"]


def test_a_query_may_end_with_a_comment(lite: str, duck: str) -> None:
    for address in (lite, duck):
        assert rows(address, query="SELECT 1 AS a -- the only one").rows() == [(1,)]


@pytest.fixture
def duck(tmp_path: Path) -> str:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT 7 AS age, DATE '2020-01-02' AS born, 1.50::DECIMAL(9, 2) AS money, "
            "INTERVAL 2 DAY AS long, 99999999999999999999::HUGEINT AS huge, 'b'::ENUM('a', 'b') AS grade, "
            f"'{SECRET}' AS name, NULL::INTEGER AS nothing"
        )
    return f"duckdb:{path}"


def test_duckdb_types_come_as_they_are(duck: str) -> None:
    found = rows(duck, table="main.people").drop("name")
    assert found.row(0) == (
        7,
        datetime.date(2020, 1, 2),
        Decimal("1.50"),
        "2 days",
        99999999999999999999,
        "b",
        None,
    )


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT * FROM nowhere", "no such table"),
        ("SELECT nothing_here FROM people", "no such column"),
        ("SELEC 1", "not correct SQL"),
        ("SELECT CAST(name AS INTEGER) FROM people", "fails on a value"),
        ("DROP TABLE people", "may only read|not correct|cannot be read|gives no rows"),
        ("  ;", "the query is empty"),
        ("SELECT 1 AS a, 2 AS a", "more than one column of the same name"),
    ],
)
def test_a_query_that_fails_shows_no_cell(duck: str, query: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        rows(duck, query)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert rows(duck, table="people").height == 1


def test_sqlite_refuses_what_it_cannot_do(lite: str) -> None:
    for query, words in [
        ("SELECT * FROM nowhere", "no such table"),
        ("SELECT nowhere FROM sqlite_master", "no such column"),
        ("SELECT", "not correct SQL"),
        ("SELECT 1 AS a; SELECT 2 AS a", "not one SELECT"),
        ("SELECT 1 AS a, 2 AS a", "more than one column of the same name"),
    ]:
        with pytest.raises(InputError, match=words):
            rows(lite, query)


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_file_that_is_no_database_is_refused(scheme: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.db"
    path.write_bytes(b"name,age\n" * 1000)
    with pytest.raises(FileError, match="is not a database of"):
        rows(f"{scheme}:{path}", table="people")
    path.write_bytes((b"SQLite format 3\x00" if scheme == "sqlite" else b"12345678DUCK") + SECRET.encode() * 1000)
    with pytest.raises(FileError, match="cannot be read") as caught:
        rows(f"{scheme}:{path}", table="people")
    assert SECRET not in str(caught.value)


def test_a_table_or_a_query_but_not_both(duck: str) -> None:
    for asked in ({}, {"query": "SELECT 1", "table": "people"}):
        with pytest.raises(ParameterError, match="--table NAME, or write --query SQL"):
            rows(duck, **asked)


def test_nobody_listens() -> None:
    with pytest.raises(FileError, match="nobody listens") as caught:
        rows(f"postgresql://ann:{SECRET}@127.0.0.1:1/clinic", table="people")
    assert SECRET not in str(caught.value)
    assert "postgresql://ann@127.0.0.1:1/clinic" in str(caught.value)
