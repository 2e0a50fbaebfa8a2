"""Reading tables from files: CSV, Parquet and Arrow IPC, recognized by their content. Messages never show a cell."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from betalike.errors import FileError, SchemaError
from betalike.io import arrow_files, parquet_files
from betalike.io.csv_files import DOUBLED, NO_ROOM, NO_ROWS, Wanted, count_to_the_end, load_csv, scan_csv
from betalike.io.csv_rows import EMPTY
from betalike.io.damage import check_read_whole, compiled_code_silenced, damage_refused
from betalike.io.sources import check_unchanged, read_beginning, shown, shown_name, stamp_of, table_files
from betalike.runtime.memory_size import USED_SHARE, memory_at_hand
from betalike.table.schema import check_columns

__all__ = ["CSV", "IPC", "PARQUET", "ScannedTable", "kind_of", "load", "scan", "scan_table", "table_files"]

PARQUET, IPC, CSV = "Parquet", "Arrow IPC", "CSV"
MAGIC_BYTES = 6
DAMAGED = "{} looks like {} but cannot be read; it is damaged or cut off, or two of its columns have the same name."


@dataclass(frozen=True)
class ScannedTable:
    """A table to be read in batches, as often as needed; `check` refuses files that changed since."""

    rows: pl.LazyFrame
    n_rows: int
    check: Callable[[], None]


def load(
    path: str | Path,
    columns: Sequence[str] | None = None,
    as_text: Collection[str] | None = (),
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    memory: int | None = None,
) -> pl.DataFrame:
    """Read a table, or some of its columns.

    `as_text` names columns of a CSV file whose text is to stay as it is (codes with leading zeros, say), None all of
    them; `missing` lists texts that stand for a missing value, as the empty one does. The text of a CSV file may take
    up to `memory` bytes, or else most of what is at hand.
    """
    files, name = table_files(path), shown_name(Path(path))
    kind = kind_of(files[0])
    most = int(USED_SHARE * memory_at_hand()) if memory is None else memory
    if kind == CSV and len(files) == 1:
        return load_csv(files[0], Wanted(columns, as_text, missing), delimiter, most)
    table = scan_table(path, columns, as_text, missing, delimiter, is_read_once=True)
    if table.n_rows == 0:
        raise FileError(NO_ROWS.format(name))
    if table.n_rows * len(table.rows.collect_schema()) > most:  # a cell takes a byte at least
        raise FileError(NO_ROOM.format(name, most >> 20))
    with damage_refused(DAMAGED.format(name, kind)), compiled_code_silenced():
        frame = table.rows.collect()
    check_read_whole(frame.height, table.n_rows)
    table.check()
    return frame


def scan(
    path: str | Path,
    columns: Sequence[str] | None = None,
    as_text: Collection[str] | None = (),
    missing: Sequence[str] = (),
    delimiter: str | None = None,
) -> pl.LazyFrame:
    """Return a table to be read in batches, else as `load` reads it."""
    return scan_table(path, columns, as_text, missing, delimiter).rows


def scan_table(
    path: str | Path,
    columns: Sequence[str] | None,
    as_text: Collection[str] | None,
    missing: Sequence[str],
    delimiter: str | None,
    is_read_once: bool = False,
) -> ScannedTable:
    """Return a table to be read in batches, and its number of rows; unless it is read once, damage is found now."""
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
    """Return Parquet, Arrow IPC or CSV, from how a file begins."""
    magic = read_beginning(path, MAGIC_BYTES)
    if not magic:
        raise FileError(EMPTY.format(shown_name(path)))
    return PARQUET if magic[:4] == b"PAR1" else IPC if magic == b"ARROW1" else CSV


def scan_columnar(files: Sequence[Path], kind: str) -> pl.LazyFrame:
    """Return Parquet or Arrow IPC files as one table, before anything of it is read."""
    is_parquet = kind == PARQUET
    if any(map((parquet_files if is_parquet else arrow_files).has_false_claims, files)):
        raise FileError(DAMAGED.format(shown_name(files[0]), kind))
    return pl.scan_parquet(list(files)) if is_parquet else pl.scan_ipc(list(files))


def _scan_columnar(
    files: Sequence[Path], kind: str, columns: Sequence[str] | None, is_read_once: bool, name: str
) -> tuple[pl.LazyFrame, int]:
    """Return the wanted columns of Parquet or Arrow IPC files; damage is found before the first batch.

    Polars ends a stream of batches without a word where a damaged file makes it panic.
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
