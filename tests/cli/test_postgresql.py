"""Tables of a real PostgreSQL server: read and audited, with no password or cell anywhere."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi as driver
import polars as pl
import pytest
from workbench import Desk, assert_refused, command_line, files_under, run, run_process

import betalike
from betalike.io.addresses import parse_address
from betalike.io.databases import read_batches
from foreign_sources import CANARY, patients
from patience import PATIENCE
from postgres_server import Server, running_server

pytestmark = pytest.mark.xdist_group("databases")  # one process makes what these tests share

WORDS = ("--qi", "age,city,height", "--sensitive", "disease", "--beta", "4")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as started:
        yield started


@pytest.fixture
def people(desk: Desk, server: Server) -> Server:
    patients().write_parquet(desk.folder / "people.parquet")
    ask(server, 'DROP TABLE IF EXISTS made, "Odd ""name""", people')
    return server


def ask(server: Server, query: str) -> list[tuple[Any, ...]]:
    with driver.connect(server.address()) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        rows = cursor.fetchall() if query.startswith("SELECT") else []
        connection.commit()
        return rows


def test_a_table_is_published_and_its_release_audited(desk: Desk, people: Server) -> None:
    patients().drop("born").write_database("people", people.address(), engine="adbc")
    outcome = run(
        "publish", people.address(more="/people"), *WORDS, "--out", desk.out, "--scheme", "lmondrian", "--seed", 1
    )
    assert outcome.status == 0, outcome.text
    assert people.password not in str(files_under(desk.folder))
    betalike.open_release(desk.out).frame.write_database("made", people.address(), engine="adbc")
    audited = run("audit", people.address(more="/made"), *WORDS, "--certificate", desk.out)
    assert audited.status == 0, audited.text
    assert people.password not in audited.text


def test_failures_show_neither_cells_nor_passwords(desk: Desk, people: Server) -> None:
    ask(people, f"CREATE TABLE people AS SELECT '{CANARY}' AS name, 7 AS age")
    for query, words in [
        ("SELECT name::int FROM people", "fails on a value"),
        ("SELECT age / (age - 7) FROM people", "fails on a value"),
        ("SELECT * FROM nowhere", "no such table"),
        ("SELECT nothing FROM people", "no such column"),
        ("SELECT 'open", "not correct SQL|no known reason"),
        ("DELETE FROM people RETURNING *", "not correct SQL"),
        ("WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone", "may only read"),
    ]:
        outcome = run("describe", people.address(), "--query", query)
        assert outcome.status == 2
        assert any(word in outcome.text for word in words.split("|")), outcome.text
        assert CANARY not in outcome.text
        assert people.password not in outcome.text
    wrong = run("describe", people.address(password="s3cret"), "--table", "people")
    assert_refused(wrong, "the user or the password is wrong")
    assert "s3cret" not in wrong.text
    assert_refused(run("describe", people.address("nodb"), "--table", "people"), "there is no such database")
    assert ask(people, "SELECT count(*) FROM people") == [(1,)]


def test_types_of_postgresql(people: Server) -> None:
    ask(
        people,
        "CREATE TABLE people AS SELECT 7::smallint AS age, 1.50::numeric(9, 2) AS money, 2.5::numeric AS ratio, "
        "'ab'::char(4) AS code, interval '1 day' AS long, '{\"a\": 1}'::jsonb AS record, 'x'::text AS word, "
        "'0b0e6d5e-0000-0000-0000-000000000000'::uuid AS id, true AS well, date '2020-01-02' AS born, "
        "NULL::int AS gone",
    )
    found = pl.concat(read_batches(parse_address(people.address()), "SELECT * FROM people -- all", None))
    assert [str(value) for value in found.row(0)] == [
        *("7", "1.50", "2.5", "ab", "1 day", '{"a": 1}', "x", "0b0e6d5e-0000-0000-0000-000000000000"),
        *("True", "2020-01-02", "None"),
    ]


def test_the_password_comes_from_the_environment_too(people: Server) -> None:
    ask(people, "CREATE TABLE people AS SELECT 7 AS age")
    words = ("describe", people.address(password="", more="/people"))
    assert_refused(run_process(*words), "PGPASSWORD")
    outcome = run_process(*words, env={**os.environ, "PGPASSWORD": people.password})
    assert outcome.status == 0, outcome.text


@pytest.mark.parametrize("secret", ["s3cret", "s3%40cret"])
def test_the_list_of_processes_shows_no_password(secret: str) -> None:
    """The process is looked at while it waits for a server that never answers."""
    if not Path("/proc/self/cmdline").exists():
        pytest.skip("this system has no /proc")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(PATIENCE)  # so that a program that never connects fails this test, and does not hang it
        port = silent.getsockname()[1]
        words = command_line("describe", f"postgresql://ann:{secret}@127.0.0.1:{port}/db", "--table", "t")
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        connection, _ = silent.accept()
        shown = (Path("/proc") / str(process.pid) / "cmdline").read_bytes()
        connection.close()
        _, said = process.communicate()
    assert secret.encode() not in shown + said
    assert b"postgresql://ann:" + b"x" * len(secret) + f"@127.0.0.1:{port}/db".encode() in shown
