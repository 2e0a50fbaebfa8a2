"""A new table in a PostgreSQL database, written and read back within one transaction."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from betalike.errors import FileError, ParameterError, extra_needed
from betalike.io.addresses import POSTGRESQL, Address, is_address, parse_address
from betalike.io.databases import failures_named, frames_of, quoted, table_parts

WRITING = "writing tables of PostgreSQL"
MARK = "A release by betalike"  # the comment of its tables; a table without it is never replaced
LONGEST_NAME = 63  # bytes; PostgreSQL cuts longer names without a word
FORM = "write postgresql://USER@HOST:PORT/DATABASE/TABLE."


@dataclass(frozen=True)
class NewTable:
    """A table that nobody else sees before the transaction ends."""

    address: Address
    cursor: Any

    @property
    def words(self) -> str:
        """The name of the table in SQL."""
        return ".".join(map(quoted, table_parts(self.address.table or "")))

    def write(self, batches: Iterator[pl.DataFrame]) -> None:
        """Create the table and write rows into it."""
        *schemas, name = table_parts(self.address.table or "")
        schema, mode = schemas[-1] if schemas else None, "create"
        with failures_named(self.address, "written"):
            for batch in batches:
                self.cursor.adbc_ingest(name, batch.to_arrow(), mode=mode, db_schema_name=schema)
                mode = "append"
            self.cursor.execute(f"COMMENT ON TABLE {self.words} IS '{MARK}'")

    def read_back(self) -> Iterator[pl.DataFrame]:
        """Yield the rows that the database holds, in the order in which they were written."""
        with failures_named(self.address):
            self.cursor.execute("SET LOCAL synchronize_seqscans = off")
            self.cursor.execute(f"SELECT * FROM {self.words}")
            yield from frames_of(self.cursor.fetch_record_batch(), {})

    def make_room(self, force: bool) -> None:
        """Remove an older release of the same name; refuse to remove anything else."""
        named = self.words.replace("'", "''")
        self.cursor.execute(f"SELECT obj_description(to_regclass('{named}')), to_regclass('{named}') IS NOT NULL")
        comment, exists = self.cursor.fetchone()
        if not exists:
            return
        if comment != MARK:
            raise FileError(
                f"'{self.address.shown}' is a table that is not a release by betalike, so it is never replaced. Name "
                "another."
            )
        if not force:
            raise FileError(
                f"'{self.address.shown}' holds a release already. Name another table, or replace it with --force."
            )
        self.cursor.execute(f"DROP TABLE {self.words}")


def open_for(given: str | None, out: object, force: bool) -> Address | None:
    """Return the table that a release goes into, if one is named; refuse one that cannot be written, before the work.

    The release needs a folder all the same, for its certificate.
    """
    if given is None:
        return None
    address = parse_address(given) if is_address(given) else None
    if address is None or address.kind != POSTGRESQL or address.table is None:
        raise ParameterError(f"into is not the address of a table in PostgreSQL: {FORM}")
    if any(len(part.encode()) > LONGEST_NAME for part in table_parts(address.table)):
        raise ParameterError(
            f"the table that into names has a name of more than {LONGEST_NAME} bytes, which PostgreSQL would cut. Name "
            "a shorter one."
        )
    if out is None:
        raise ParameterError("into needs out, the folder for the release's files and its certificate. Name one.")
    with new_table(address, force, is_kept=False):
        return address


@contextlib.contextmanager
def new_table(address: Address, force: bool, is_kept: bool = True) -> Iterator[NewTable]:
    """Open a transaction for a new table; it ends with the work, and a failure leaves nothing of it.

    With `force` an older release of this name is replaced, but never another table. Unless `is_kept`, all is undone.
    """
    with extra_needed("sql", WRITING):
        import adbc_driver_postgresql.dbapi as driver
        import pyarrow  # noqa: F401 - the driver takes Arrow through it
    with contextlib.ExitStack() as stack:
        with failures_named(address, "written"):
            connection = stack.enter_context(driver.connect(address.location))
            table = NewTable(address, stack.enter_context(connection.cursor()))
            table.make_room(force)
        yield table
        with failures_named(address, "written"):
            connection.commit() if is_kept else connection.rollback()
