"""Tables as Polars frames: from frames, or from CSV, Parquet and Arrow IPC files. Messages never show a cell."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from betalike.errors import FileError, SchemaError
from betalike.io import arrow_files, parquet_files
from betalike.io.csv_files import DOUBLED, NO_ROOM, NO_ROWS, Wanted, count_to_the_end, load_csv, scan_csv
from betalike.io.csv_rows import EMPTY
from betalike.io.damaged_files import NOT_TO_ITS_END, check_read_whole, compiled_code_silenced, damage_refused
from betalike.io.frames import check_years, to_polars
from betalike.io.sources import check_unchanged, read_beginning, shown, shown_name, stamp_of, table_files
from betalike.runtime.memory_size import USED_SHARE, memory_at_hand
from betalike.table.schema import Schema, check_columns, text_columns

Frame = Any  # a pandas, Polars or PyArrow frame, a DuckDB relation, or the path of a file
BATCH_ROWS = 1_000_000
PARQUET, IPC, CSV = "Parquet", "Arrow IPC", "CSV"
MAGIC_BYTES = 6
DAMAGED = "{} looks like {} but cannot be read; it is damaged or cut off, or two of its columns have the same name."


@dataclass(frozen=True)
class ScannedTable:
    """A table to read in batches, as often as needed; `check` refuses files that changed since."""

    rows: pl.LazyFrame
    n_rows: int
    check: Callable[[], None]


def is_path(table: Frame) -> bool:
    """Return whether a table is given as a path."""
    return isinstance(table, str | Path)


def read(
    table: Frame, schema: Schema, missing: Sequence[str], delimiter: str | None, memory: int | None = None
) -> pl.DataFrame:
    """Read the columns of the schema; those published as they are, or coded by their text, are read as text."""
    if not is_path(table):
        return to_polars(table, schema.names)
    return load(table, schema.names, text_columns(schema), missing, delimiter, memory)


def read_text(
    table: Frame, columns: Sequence[str] | None, missing: Sequence[str], delimiter: str | None
) -> pl.DataFrame:
    """Read a published table, or columns of an original one, with all cells as text."""
    if not is_path(table):
        return to_polars(table, columns)
    path = Path(table)
    if path.is_dir():
        path = next((path / name for name in ("published.csv", "published.parquet") if (path / name).exists()), path)
    return load(path, columns, None, missing, delimiter)


@contextlib.contextmanager
def text_in_batches(
    table: Frame, columns: Sequence[str], missing: Sequence[str], delimiter: str | None
) -> Iterator[Iterator[pl.DataFrame]]:
    """Yield batches of an original table, which may be larger than memory, with all cells as text."""
    if is_path(table):
        yield _batches(scan_table(table, columns, None, missing, delimiter))
    else:
        yield iter([to_polars(table, columns)])


def column_names(table: Frame, delimiter: str | None) -> list[str]:
    """Return the names of a table's columns."""
    if not is_path(table):
        return to_polars(table).columns
    return scan_table(table, None, None, (), delimiter).rows.collect_schema().names()


def _batches(table: ScannedTable) -> Iterator[pl.DataFrame]:
    n_seen = 0
    with damage_refused(NOT_TO_ITS_END):
        for batch in table.rows.collect_batches(chunk_size=BATCH_ROWS):
            n_seen += batch.height
            yield check_years(batch)
    check_read_whole(n_seen, table.n_rows)
    table.check()


def load(
    path: str | Path,
    columns: Sequence[str] | None = None,
    as_text: Collection[str] | None = (),
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    memory: int | None = None,
) -> pl.DataFrame:
    """Read a table, or some of its columns, into memory.

    `as_text` names columns of a CSV file that stay text, such as codes with leading zeros; None means all columns.
    `missing` lists texts that stand for a missing value, as the empty text does. The text of a CSV file may take up to
    `memory` bytes; without a limit, most of the free memory.
    """
    files, name = table_files(path), shown_name(Path(path))
    kind = kind_of(files[0])
    most = int(USED_SHARE * memory_at_hand()) if memory is None else memory
    if kind == CSV and len(files) == 1:
        return load_csv(files[0], Wanted(columns, as_text, missing), delimiter, most)
    table = scan_table(path, columns, as_text, missing, delimiter, is_read_once=True)
    if table.n_rows == 0:
        raise FileError(NO_ROWS.format(name))
    if table.n_rows * len(table.rows.collect_schema()) > most:  # a cell takes at least one byte
        raise FileError(NO_ROOM.format(name, most >> 20))
    with damage_refused(DAMAGED.format(name, kind)), compiled_code_silenced():
        frame = table.rows.collect()
    check_read_whole(frame.height, table.n_rows)
    table.check()
    return frame


def scan_table(
    path: str | Path,
    columns: Sequence[str] | None = None,
    as_text: Collection[str] | None = (),
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    is_read_once: bool = False,
) -> ScannedTable:
    """Return a table to read in batches, by the rules of `load`; unless it is read once, find damage now."""
    files = table_files(path)
    kinds = {kind_of(file) for file in files}
    if len(kinds) > 1:
        raise FileError(f"the files of '{shown(path)}' are of different kinds ({', '.join(sorted(kinds))}).")
    stamp, kind = stamp_of(files), kinds.pop()
    if kind == CSV:
        rows, n_rows = scan_csv(files, Wanted(columns, as_text, missing), delimiter)
    else:
        rows, n_rows = _scan_columnar(files, kind, columns, is_read_once, shown_name(Path(path)))
    return ScannedTable(rows, n_rows, lambda: check_unchanged(files, stamp))


def kind_of(path: Path) -> str:
    """Return Parquet, Arrow IPC or CSV, from the first bytes of a file."""
    magic = read_beginning(path, MAGIC_BYTES)
    if not magic:
        raise FileError(EMPTY.format(shown_name(path)))
    return PARQUET if magic[:4] == b"PAR1" else IPC if magic == b"ARROW1" else CSV


def scan_columnar(files: Sequence[Path], kind: str) -> pl.LazyFrame:
    """Return Parquet or Arrow IPC files as one table, before any of it is read."""
    is_parquet = kind == PARQUET
    if any(map((parquet_files if is_parquet else arrow_files).has_false_claims, files)):
        raise FileError(DAMAGED.format(shown_name(files[0]), kind))
    return pl.scan_parquet(list(files)) if is_parquet else pl.scan_ipc(list(files))


def _scan_columnar(
    files: Sequence[Path], kind: str, columns: Sequence[str] | None, is_read_once: bool, name: str
) -> tuple[pl.LazyFrame, int]:
    """Return the wanted columns of Parquet or Arrow IPC files and the number of rows.

    Damage is found before the first batch, because Polars silently ends a stream of batches where a damaged file makes
    it panic.
    """
    with damage_refused(DAMAGED.format(name, kind)), compiled_code_silenced():
        try:
            table = scan_columnar(files, kind)
            names = table.collect_schema().names()
        except pl.exceptions.DuplicateError:
            raise SchemaError(DOUBLED.format(name, "of the same name")) from None
        check_columns(columns or (), names)
        table = table if columns is None else table.select(columns)
        n_rows = int(table.select(pl.len()).collect(engine="streaming").item())
        if not is_read_once and n_rows and count_to_the_end(table) != n_rows:
            raise FileError(DAMAGED.format(name, kind))
    return table, n_rows
