"""Addresses of databases: postgresql://..., sqlite:FILE and duckdb:FILE, shown without their password."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from betalike.errors import ParameterError

POSTGRESQL, SQLITE, DUCKDB = "PostgreSQL", "SQLite", "DuckDB"
SCHEMES = {"postgresql": POSTGRESQL, "postgres": POSTGRESQL, "sqlite": SQLITE, "duckdb": DUCKDB}
BEGINNING = re.compile(rf"({'|'.join(SCHEMES)}):", re.IGNORECASE)
ANY_BEGINNING = re.compile(r"([a-z][a-z0-9+.-]+):/", re.IGNORECASE)  # C:/ is a drive; paths have one / of ://
SECRETS = {"password", "sslpassword"}  # parameters of an address that are not shown


@dataclass(frozen=True)
class Address:
    """Where a database is; `table` is the table that the address of a PostgreSQL server names after the database."""

    kind: str
    shown: str
    location: str = field(repr=False)  # it may hold a password
    table: str | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """The file of the database, if it is one."""
        return () if self.kind == POSTGRESQL else (Path(self.location),)


def is_address(table: Any) -> bool:
    """Return whether a table is in a database.

    >>> [is_address(text) for text in ("postgresql://host/sales", "sqlite:sales.db", "sales.csv")]
    [True, True, False]
    """
    return isinstance(table, str | Path) and BEGINNING.match(str(table)) is not None


def unknown_address(given: str | Path) -> str | None:
    """Return why an address of another kind cannot be read, without what may be a password in it; None for a path.

    >>> unknown_address("people.csv") is unknown_address("sqlite:people.db") is None
    True
    """
    found = ANY_BEGINNING.match(str(given))
    if found is None or is_address(given):
        return None
    return (
        f"betalike cannot read from '{found.group(1)}'. It reads files by their paths, and databases of {POSTGRESQL}, "
        f"{SQLITE} and {DUCKDB}: postgresql://USER@HOST:PORT/DATABASE, sqlite:FILE or duckdb:FILE."
    )


def parse_address(given: str | Path) -> Address:
    """Read an address; errors never show what is in it."""
    text = str(given)
    scheme, _, rest = text.partition(":")
    kind = SCHEMES[scheme.lower()]
    if kind != POSTGRESQL:
        if not rest:
            raise ParameterError(f"the address '{text}' names no file; write {scheme}:FILE.")
        return Address(kind, text, rest)
    if not rest.startswith("//"):
        raise ParameterError("the address of the database is not complete; write postgresql://USER@HOST:PORT/DATABASE.")
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        raise ParameterError(
            "the address of the database cannot be read; write postgresql://USER@HOST:PORT/DATABASE, with % and two "
            "hexadecimal digits for every special character."
        ) from None
    database, _, table = parts.path.removeprefix("/").partition("/")
    user, _, host = parts.netloc.rpartition("@")
    open_user = user.partition(":")[0] + "@" * bool(user)
    given_more = parse_qsl(parts.query, keep_blank_values=True)
    more = urlencode([(name, value) for name, value in given_more if name.lower() not in SECRETS])
    location = urlunsplit(("postgresql", parts.netloc, f"/{database}", parts.query, ""))
    named = f"/{database}" + (f"/{table}" if table else "")
    shown = urlunsplit(("postgresql", f"{open_user}{host}", named, more, ""))
    return Address(kind, shown, location, unquote(table) or None)


def password_in(text: str) -> str | None:
    """Return the password in the address of a PostgreSQL database; None if it has none.

    >>> password_in("postgresql://ada:a%20secret@host/clinic"), password_in("postgresql://ada@host/clinic")
    ('a secret', None)
    """
    if parse_address(text).kind != POSTGRESQL:
        return None
    parts = urlsplit(text)
    given = dict(parse_qsl(parts.query, keep_blank_values=True)).get("password")
    user, _, _ = parts.netloc.rpartition("@")
    return unquote(user.partition(":")[2]) or given


def shown_address(given: str | Path) -> str:
    """Return a table's name for messages and files, without the password of an address."""
    return parse_address(given).shown if is_address(given) else str(given)


def hide_password(text: str) -> str:
    """Return what somebody typed as an address without its password, also if it cannot be read as an address.

    >>> hide_password("postgresql://ada:a/b@c@host:x/clinic?sslmode=off&password=secret")
    'postgresql://ada@host:x/clinic?sslmode=off&password='
    """
    return re.sub(r"(password=)[^&]*", r"\1", re.sub(r"(//[^/:@]*):.*@", r"\1@", text), flags=re.IGNORECASE)


def move_address(text: str, move: Callable[[Path], Path | str]) -> str:
    """Return an address with another path of its file, if it has one."""
    address = parse_address(text)
    if address.kind == POSTGRESQL:
        return text
    return f"{text.partition(':')[0]}:{move(Path(address.location))}"
