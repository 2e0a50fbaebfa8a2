"""Addresses of databases: their parts, and no password in what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from betalike.errors import FileError, ParameterError
from betalike.io.addresses import is_address, move_address, parse_address, unknown_address
from betalike.io.sources import open_file


@pytest.mark.parametrize(
    ("given", "shown", "location", "table"),
    [
        ("postgresql://h/db", "postgresql://h/db", "postgresql://h/db", None),
        ("postgres://u:p%40s@h:5/db", "postgresql://u@h:5/db", "postgresql://u:p%40s@h:5/db", None),
        (
            "postgresql://u:s3cret@h/db/public.t",
            "postgresql://u@h/db/public.t",
            "postgresql://u:s3cret@h/db",
            "public.t",
        ),
        ("postgresql://u:a:b@h/db/a%2Fb", "postgresql://u@h/db/a%2Fb", "postgresql://u:a:b@h/db", "a/b"),
        (
            "postgresql://h/db?user=u&password=s3cret&sslmode=require",
            "postgresql://h/db?user=u&sslmode=require",
            "postgresql://h/db?user=u&password=s3cret&sslmode=require",
            None,
        ),
        ("sqlite:a/b.db", "sqlite:a/b.db", "a/b.db", None),
        ("duckdb:/a b.db", "duckdb:/a b.db", "/a b.db", None),
    ],
)
def test_parts_of_an_address(given: str, shown: str, location: str, table: str | None) -> None:
    address = parse_address(given)
    assert (address.shown, address.location, address.table) == (shown, location, table)
    assert "s3cret" not in repr(address)


@pytest.mark.parametrize(
    "given", ["postgresql:u:s3cret@h/db", "postgresql://u:s3cret@h:port/db", "postgresql://[u:s3cret@h"]
)
def test_errors_do_not_show_the_password(given: str) -> None:
    with pytest.raises(ParameterError) as caught:
        parse_address(given)
    assert "s3cret" not in str(caught.value)


def test_files_move_and_servers_do_not() -> None:
    assert move_address("sqlite:a.db", lambda file: Path("up") / file) == "sqlite:up/a.db"
    assert move_address("postgresql://h/db", lambda file: Path("up") / file) == "postgresql://h/db"
    assert not is_address(Path("postgresql.csv"))


@pytest.mark.parametrize("given", ["mysql://ada:s3cret@host/clinic", "https://ada:s3cret@host/people.csv"])
def test_an_address_that_is_not_read_says_what_is(given: str) -> None:
    with pytest.raises(FileError) as caught:
        open_file(Path(given))
    for words in (str(caught.value), unknown_address(given) or ""):
        assert given.partition(":")[0] in words
        assert all(kind in words for kind in ("PostgreSQL", "SQLite", "DuckDB"))
        assert "s3cret" not in words


def test_a_path_is_no_unknown_address() -> None:
    assert [unknown_address(text) for text in ("C:/people.csv", "a:b.csv", "postgresql://h/db", "people.csv")] == [
        None
    ] * 4
