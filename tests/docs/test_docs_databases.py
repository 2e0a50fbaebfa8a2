"""The lines that copy a release into PostgreSQL work on a real server, and leave nothing if the rows differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import adbc_driver_postgresql.dbapi as driver
import polars as pl
import pytest
from pages import DOCS, blocks_of

import betalike
from postgres_server import Server, running_server

pytestmark = pytest.mark.xdist_group("databases")
SHOWN = "postgresql://ann@db.example/clinic"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as started:
        yield started


def copying(server: Server) -> str:
    (block,) = [
        block for block in blocks_of(DOCS / "how-to" / "databases.md") if block.note == "run by: test_docs_databases"
    ]
    assert SHOWN in block.text
    return block.text.replace(SHOWN, server.address())


def tables(server: Server) -> dict[str, list[tuple[Any, ...]]]:
    with driver.connect(server.address()) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        names = [name for (name,) in cursor.fetchall()]
        rows = {}
        for name in names:
            cursor.execute(f'SELECT * FROM "{name}"')
            rows[name] = cursor.fetchall()
        return rows


@pytest.mark.usefixtures("reader_folder")
def test_a_release_is_copied_whole_or_not_at_all(server: Server) -> None:
    betalike.publish(
        "patients.csv", quasi_identifiers=["age", "city"], sensitive="diagnosis", beta=4, out="release", seed=1
    )
    lines = copying(server)
    exec(lines, {})
    rows = betalike.open_release("release").frame
    assert sorted(map(str, tables(server)["visits_published"])) == sorted(map(str, rows.rows()))
    with pytest.raises(Exception, match="already exists"):
        exec(lines, {})

    wrong = lines.replace("len(rows),", "len(rows) + 1,").replace("visits_published", "others")
    with pytest.raises(AssertionError):
        exec(wrong, {})
    assert list(tables(server)) == ["visits_published"]
    assert isinstance(rows, pl.DataFrame)
