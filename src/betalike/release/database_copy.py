"""A copy of a release in a database table: typed rows, read back and verified as the release's file is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from betalike.engines.engine import Engine, Format
from betalike.engines.local import LocalEngine
from betalike.engines.streams import Stream, is_plain_number, scan_written, sink
from betalike.errors import ParameterError
from betalike.io.addresses import Address
from betalike.io.database_tables import NewTable, new_table
from betalike.release.routes import Draft, Route

READ_BACK = ".read-back.parquet"


def check_engine(engine: Engine) -> None:
    """Refuse an engine whose rows do not pass through this process, before the work begins."""
    if not isinstance(engine, LocalEngine):
        raise ParameterError("the engine 'spark' writes files alone. Take --engine local, or leave out --into.")


@contextlib.contextmanager
def opened_target(address: Address | None, force: bool) -> Iterator[NewTable | None]:
    """Give the table to copy a release into, if there is one; its transaction ends well only if the work does."""
    if address is None:
        yield None
        return
    with new_table(address, force) as table:
        yield table


def write_copy(table: NewTable, route: Route, draft: Draft, path: Path) -> None:
    """Write the rows of the release's file to the table."""
    types = dict(draft.rows.schema)
    asked = {name: dtype if is_plain_number(dtype) else pl.String for name, dtype in types.items()}
    table.write(batch.with_columns(_typed(batch, types)) for batch in scan_written(path, route.job.form, asked))


def _typed(batch: pl.DataFrame, types: dict[str, pl.DataType]) -> Iterator[pl.Series]:
    """Yield columns with the types that a database has; those that it may not have are text."""
    for column in batch:
        wanted = types[column.name]
        if column.dtype == pl.String and wanted == pl.Date:
            yield column.str.to_date("%Y-%m-%d")
        elif column.dtype.is_integer():
            yield column.cast(pl.Int64) if column.dtype != pl.UInt64 else column.cast(pl.String)
        else:
            yield column.cast(pl.Float64) if column.dtype.is_float() else column.cast(pl.String)


def verify_copy(table: NewTable, route: Route, draft: Draft, path: Path) -> None:
    """Read the rows back from the database, and verify them as if they were the file of the release."""
    back = path.with_name(READ_BACK)
    batches = table.read_back()
    first = next(batches)
    try:
        sink(Stream(first.schema, lambda _: iter([first, *batches])), back, Format.PARQUET)
        in_parquet = replace(route.job, form=Format.PARQUET)
        replace(route, job=in_parquet).verify(draft, back)
    finally:
        if back.is_dir():
            for part in back.iterdir():
                part.unlink()
            back.rmdir()
        back.unlink(missing_ok=True)
