"""Releases in a real PostgreSQL server: one transaction, verified as read back, and no password or cell anywhere."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi as driver
import polars as pl
import pytest
from workbench import Desk, Outcome, assert_refused, command_line, files_under, run, run_process

import betalike
from betalike.errors import GuaranteeError
from betalike.io import database_tables
from betalike.io.addresses import parse_address
from betalike.io.databases import read_batches
from foreign_sources import CANARY, patients
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


def publish(desk: Desk, target: str, *more: object) -> Outcome:
    scheme = () if "--scheme" in more else ("--scheme", "lmondrian")
    return run("publish", "people.parquet", *WORDS, "--out", desk.out, "--into", target, *scheme, *more)


def tables(server: Server) -> list[str]:
    return [name for (name,) in ask(server, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]


@pytest.mark.some(2)
@pytest.mark.parametrize("more", [(), ("--format", "parquet"), ("--scheme", "perturb"), ("--layout", "bounds")])
def test_the_table_holds_the_rows_of_the_release(desk: Desk, people: Server, more: tuple[str, ...]) -> None:
    outcome = publish(desk, people.address(more="/made"), *more, "--keep", "born")
    assert outcome.status == 0, outcome.text
    assert re.search(r"Table +postgresql://[^ ]+/made", outcome.text)
    found = betalike.open_release(desk.out).frame
    columns = ", ".join(f'"{name}"::text' for name in found.columns)
    rows = ask(people, f"SELECT {columns} FROM made")
    assert sorted(map(str, rows)) == sorted(map(str, found.select(pl.all().cast(pl.String)).rows()))
    types = dict(ask(people, "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'made'"))
    assert (types["disease"], types["born"]) == ("bigint", "date")
    assert run("verify", desk.out, "--original", "people.parquet").status == 0
    assert people.password not in str(files_under(desk.folder))
    if not more:
        audited = run("audit", people.address(more="/made"), *WORDS, "--certificate", desk.out)
        assert audited.status == 0, audited.text


def test_only_a_release_is_replaced_and_only_with_force(desk: Desk, people: Server) -> None:
    target = people.address(more="/public.made")
    assert publish(desk, target).status == 0
    again = publish(desk, target)
    assert again.status == 2
    assert_refused(run("publish", "people.parquet", *WORDS, "--out", "b", "--into", target), "holds a release already")
    assert publish(desk, target, "--force").status == 0
    ask(people, "CREATE TABLE people (a int)")
    refused = publish(desk, people.address(more="/people"), "--force")
    assert_refused(refused, "not a release by betalike", "never replaced")
    assert ask(people, "SELECT count(*) FROM people") == [(0,)]


def test_rows_that_come_back_changed_are_refused(desk: Desk, people: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then there is neither a table nor a folder."""
    read_back = database_tables.NewTable.read_back

    def changed(table: database_tables.NewTable) -> Iterator[pl.DataFrame]:
        return (frame.with_columns(age=pl.lit("20")) for frame in read_back(table))

    monkeypatch.setattr(database_tables.NewTable, "read_back", changed)
    with pytest.raises(GuaranteeError):
        betalike.publish(
            "people.parquet",
            quasi_identifiers=["age", "city"],
            sensitive="disease",
            beta=4,
            out=desk.out,
            into=people.address(more="/made"),
        )
    assert "made" not in tables(people)
    assert not desk.out.exists()


def test_a_failure_leaves_nothing(desk: Desk, people: Server) -> None:
    frame = patients().with_columns(city=pl.lit("a\x00b"))  # which PostgreSQL has no text for
    frame.write_parquet(desk.folder / "people.parquet")
    outcome = publish(desk, people.address(more="/made"), "--keep", "city", "--qi", "height")
    assert outcome.status == 2
    outcome = run(
        *("publish", "people.parquet", "--qi", "age,height", "--sensitive", "disease", "--beta", 4, "--keep", "city"),
        *("--out", desk.out, "--into", people.address(more="/made")),
    )
    assert_refused(outcome, "cannot be written")
    assert "made" not in tables(people)
    assert not desk.out.exists()


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("sqlite:a.db", "not the address of a table in PostgreSQL"),
        ("postgresql://h/db", "not the address of a table in PostgreSQL"),
        ("people.csv", "not the address of a table in PostgreSQL"),
        (f"postgresql://h/db/{'é' * 32}", "more than 63 bytes"),
        ("postgresql://ann:s3cret@127.0.0.1:1/db/t", "nobody listens"),
    ],
)
def test_other_targets_are_refused(desk: Desk, target: str, words: str) -> None:
    patients().write_parquet(desk.folder / "people.parquet")
    outcome = publish(desk, target)
    assert_refused(outcome, words)
    assert "s3cret" not in outcome.text
    with pytest.raises(betalike.errors.ParameterError, match="into needs out"):
        betalike.publish(patients(), quasi_identifiers=["age"], sensitive="disease", beta=4, into="postgresql://h/d/t")


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


def test_the_password_comes_from_the_environment_too(desk: Desk, people: Server) -> None:
    patients().write_parquet(desk.folder / "people.parquet")
    into = people.address(password="", more="/made")
    words = ("publish", "people.parquet", *WORDS, "--out", desk.out, "--into", into)
    assert_refused(run_process(*words), "PGPASSWORD")
    outcome = run_process(*words, env={**os.environ, "PGPASSWORD": people.password})
    assert outcome.status == 0, outcome.text


@pytest.mark.parametrize("secret", ["s3cret", "s3%40cret"])
def test_the_list_of_processes_shows_no_password(tmp_path: Path, secret: str) -> None:
    """The table comes from standard input, so that the process waits while it is watched."""
    if not Path("/proc/self/cmdline").exists():
        pytest.skip("this system has no /proc")
    into = f"postgresql://ann:{secret}@127.0.0.1:1/db/t"
    words = command_line("publish", "-", *WORDS, "--out", tmp_path / "out", "--into", into)
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    shown, end = secret.encode(), time.monotonic() + 60
    while secret.encode() in shown and time.monotonic() < end and process.poll() is None:
        time.sleep(0.05)  # Python is starting
        shown = (Path("/proc") / str(process.pid) / "cmdline").read_bytes()
    _, said = process.communicate(b"age\n1\n", timeout=60)
    assert secret.encode() not in shown + said
    assert b"postgresql://ann:" + b"x" * len(secret) + b"@127.0.0.1:1/db/t" in shown
