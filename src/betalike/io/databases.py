"""Tables in databases, read as Arrow in batches. No words of a database are passed on, because they may show a cell."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from betalike.errors import BetalikeError, FileError, ParameterError, SchemaError, extra_needed
from betalike.io.addresses import DUCKDB, POSTGRESQL, SQLITE, Address
from betalike.io.sources import read_beginning, shown

BATCH_ROWS = 250_000
MAGIC = {SQLITE: (0, b"SQLite format 3\x00"), DUCKDB: (8, b"DUCK")}
READING = "reading tables of {}"
MOST_DIGITS = 38  # of a decimal number
DOUBLED = "the query has more than one column of the same name. Give each a different name, with AS."
Choose = Callable[[Sequence[str]], list[str]]
# What a database says of failures, by their code (PostgreSQL) or by some of its words, and what betalike says.
REASONS = {
    "42P01|no such table|Catalog Error": "it has no such table; names are taken as they are written, also in case",
    "42703|no such column|Binder Error": "there is no such column in the query",
    "42601|syntax error|incomplete input|Parser Error": "the query is not correct SQL, or not one SELECT",
    "3F000|schema .* does not exist": "there is no such schema",
    "42501|permission denied": "the user may not do this",
    "25006|read-only|data-modifying": "a query may only read",
    "Permission Error": "a query may only read tables of this database, and no file",
    "3D000|database .* does not exist": "there is no such database",
    "28P01|28000|password authentication failed": "the user or the password is wrong",
    "no password supplied": "it needs a password: in the address, or in the environment variable PGPASSWORD",
    "Connection refused": "nobody listens at this address",
    "could not translate host name|Name or service not known": "the host is not known",
    "timeout expired|timed out": "it does not answer",
    "22...|Conversion Error|invalid input syntax|division by zero|out of range": "the query fails on a value",
    "not a database|malformed|corrupt|Serialization Error": "it is damaged, or not a database of this kind",
    "Could not set lock|locked": "another program is using it",
}


def read_batches(
    address: Address, query: str | None, table: str | None, choose: Choose | None = None
) -> Iterator[pl.DataFrame]:
    """Yield the rows of a query or of a table, in batches; the first may be empty, but has all columns.

    Only the columns that `choose` returns, given the names of all, leave the database.
    """
    if table is not None and address.table is not None:
        raise ParameterError("the table is named in the address and with --table. Name it once.")
    table = table or address.table
    if (query is None) == (table is None):
        raise ParameterError(
            f"'{address.shown}' is a database: name a table with --table NAME, or write --query SQL, and not both."
        )
    named = ".".join(map(quoted, table_parts(table or "")))
    asked = f"SELECT * FROM {named}" if query is None else query.strip().rstrip(";")
    if not asked:
        raise ParameterError("the query is empty; write one such as SELECT age, zip, disease FROM patients.")
    _check_file(address)
    read = {POSTGRESQL: _read_postgresql, SQLITE: _read_sqlite, DUCKDB: _read_duckdb}[address.kind]
    with failures_named(address):
        yield from read(address, asked, choose or (lambda names: list(names)))


def table_parts(name: str) -> list[str]:
    """Return the name of a table, after that of its schema if there is one.

    >>> table_parts('public."my.people"')
    ['public', 'my.people']
    """
    return [part[1:-1] if part.startswith('"') else part for part in re.findall(r'"[^"]*"|[^.]+', name)]


def quoted(name: str) -> str:
    """Return a name in SQL."""
    return '"' + name.replace('"', '""') + '"'


@contextlib.contextmanager
def failures_named(address: Address) -> Iterator[None]:
    """Raise an error that says why a database refused, in words that show neither cells nor passwords."""
    try:
        yield
    except (BetalikeError, MemoryError):
        raise
    except Exception as error:  # each driver has errors of its own
        said = f"{getattr(error, 'sqlstate', None) or ''} {error}"
        reason = next(
            (reason for words, reason in REASONS.items() if re.search(words, said)), "it gives no known reason"
        )
        raise FileError(f"'{shown(address.shown)}' cannot be read: {reason}.") from None


def _check_file(address: Address) -> None:
    """Refuse a file that is not a database of this kind, before a driver makes a new one."""
    for path in address.files:
        place, magic = MAGIC[address.kind]
        if read_beginning(path, place + len(magic))[place:] != magic:
            raise FileError(f"'{shown(path)}' is not a database of {address.kind}.")


def _read_postgresql(address: Address, query: str, choose: Choose) -> Iterator[pl.DataFrame]:
    with extra_needed("sql", READING.format(POSTGRESQL)):
        import adbc_driver_postgresql.dbapi as driver
        import pyarrow  # noqa: F401 - the driver gives Arrow through it
    with driver.connect(address.location) as connection, connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
        cursor.execute("SET TRANSACTION READ ONLY")
        cursor.execute(f"SELECT * FROM ({query}\n) AS asked LIMIT 0")
        fields = list(cursor.fetch_record_batch().schema)
        chosen = _choose([field.name for field in fields], choose)
        fields = [field for field in fields if field.name in chosen]
        wanted = ", ".join(_postgresql_column(field) for field in fields)
        cursor.execute(f"SELECT {wanted} FROM ({query}\n) AS asked")
        decimals = {field.name: digits for field in fields if (digits := _decimal_digits(field)) is not None}
        yield from frames_of(cursor.fetch_record_batch(), decimals)


def _postgresql_column(field: Any) -> str:
    """Return a column in SQL: as it is if Polars has its type, else as text, without the padding of CHAR(n)."""
    kind = _postgresql_type(field)
    is_known = not hasattr(field.type, "extension_name") and "interval" not in str(field.type) and kind != "bpchar"
    name = quoted(field.name)
    return name if is_known else f"{name}::text AS {name}"


def _postgresql_type(field: Any) -> str:
    return str((field.metadata or {}).get(b"POSTGRESQL:type", b"").decode())


def _decimal_digits(field: Any) -> tuple[int, int] | None:
    """Return the number of digits, and of those after the point, that a NUMERIC column declares."""
    typmod = int((field.metadata or {}).get(b"POSTGRESQL:typmod", b"0"))
    if _postgresql_type(field) != "numeric" or typmod < 4:
        return None
    precision, scale = (typmod - 4) >> 16, (typmod - 4) & 0x7FF
    return (precision, scale) if precision <= MOST_DIGITS and scale <= precision else None


def _read_sqlite(address: Address, query: str, choose: Choose) -> Iterator[pl.DataFrame]:
    """Read from SQLite, where every cell has a type of its own.

    The driver takes the types of columns from the first rows. So the types of all rows are found first, and a row of
    such values is put before them.
    """
    with extra_needed("sql", READING.format(SQLITE)):
        import adbc_driver_sqlite.dbapi as driver
        import pyarrow  # noqa: F401 - the driver gives Arrow through it
    file = f"file:{quote(str(Path(address.location)))}?mode=ro"
    with driver.connect(file) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM ({query}\n) LIMIT 0")
        names = _choose(cursor.fetch_record_batch().schema.names, choose)
        if any(base != name and base in names for name in names for base in [re.sub(r":\d+$", "", name)]):
            raise SchemaError(DOUBLED)  # SQLite calls the second column `age` of a query `age:1`
        kinds = [f"max(typeof({quoted(name)}) = '{kind}')" for name in names for kind in ("text", "real", "blob")]
        cursor.execute(f"SELECT {', '.join(kinds)} FROM ({query}\n)")
        found = cursor.fetchone() or ()
        casts = [_sqlite_cast(found[3 * place : 3 * place + 3]) for place in range(len(names))]
        example = ", ".join(f"CAST(1 AS {cast}) AS {quoted(name)}" for name, cast in zip(names, casts, strict=True))
        wanted = ", ".join(f"CAST({quoted(name)} AS {cast})" for name, cast in zip(names, casts, strict=True))
        cursor.execute(f"SELECT {example} UNION ALL SELECT {wanted} FROM ({query}\n)")
        n_examples = 1
        for frame in frames_of(cursor.fetch_record_batch(), {}):
            yield frame.slice(n_examples)
            n_examples = max(n_examples - frame.height, 0)


def _sqlite_cast(found: Sequence[int | None]) -> str:
    """Return the type that holds all values of a column: text if one is text, else bytes, real or whole numbers."""
    is_text, is_real, is_blob = found
    return "TEXT" if is_text else "BLOB" if is_blob else "REAL" if is_real else "INTEGER"


def _read_duckdb(address: Address, query: str, choose: Choose) -> Iterator[pl.DataFrame]:
    with extra_needed("sql", READING.format(DUCKDB)):
        import duckdb
        import pyarrow  # noqa: F401 - DuckDB gives Arrow through it
    # A query reads this database, and no file or variable outside of it.
    settings: dict[str, Any] = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "enable_external_access": False,
        "python_enable_replacements": False,
    }
    with duckdb.connect(address.location, read_only=True, config=settings) as connection:
        asked = connection.sql(query)
        if asked is None:
            raise ParameterError("the query gives no rows; write one that begins with SELECT.")
        chosen = _choose(asked.columns, choose)
        kinds = dict(zip(asked.columns, map(str, asked.types), strict=True))
        types = {name: kinds[name] for name in chosen}
        wanted = ", ".join(_duckdb_column(name, kind) for name, kind in types.items())
        rows = asked.project(wanted)
        reader = rows.to_arrow_reader if hasattr(rows, "to_arrow_reader") else rows.fetch_arrow_reader
        huge = [name for name, kind in types.items() if kind == "HUGEINT"]
        for frame in frames_of(reader(BATCH_ROWS), {}):
            yield frame.with_columns(pl.col(huge).cast(pl.Int128))


def _duckdb_column(name: str, kind: str) -> str:
    """Return a column in SQL: as it is if Polars has its type, else as text."""
    is_strange = kind in ("INTERVAL", "BIT", "UHUGEINT", "BIGNUM", "VARINT", "JSON") or kind.startswith("TIME WITH")
    return f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}" if is_strange else quoted(name)


def _choose(names: Iterable[str], choose: Choose) -> list[str]:
    """Return the columns to read; refuse a query with two columns of one name."""
    seen = list(names)
    if len(set(seen)) < len(seen):
        raise SchemaError(DOUBLED)
    return choose(seen)


def frames_of(reader: Any, decimals: dict[str, tuple[int, int]]) -> Iterator[pl.DataFrame]:
    """Yield batches of Arrow as frames; an empty one first, for the columns of a query without rows."""
    exact = [pl.col(name).cast(pl.Decimal(*digits)) for name, digits in decimals.items()]
    yield pl.DataFrame(pl.from_arrow(reader.schema.empty_table())).with_columns(exact)
    for batch in reader:
        yield pl.DataFrame(pl.from_arrow(batch)).with_columns(exact)
