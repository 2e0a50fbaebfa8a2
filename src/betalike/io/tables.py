"""Tables to read: frames in memory, lazy frames, and CSV, Parquet or Arrow IPC files. Messages never show a cell.

A table becomes a `Source`, which is read in batches as often as needed, or one frame with all of its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from betalike.errors import FileError, SchemaError
from betalike.io import parquet_files
from betalike.io.copies import origin_of
from betalike.io.csv_files import DOUBLED, NO_ROOM, NO_ROWS, Wanted, count_to_the_end, load_csv, scan_csv
from betalike.io.csv_rows import EMPTY
from betalike.io.csv_text import names_in_header
from betalike.io.damaged_files import NOT_TO_ITS_END, compiled_code_silenced, damage_refused
from betalike.io.frames import check_years, to_polars
from betalike.io.header_names import check_header
from betalike.io.missing_codes import without_codes
from betalike.io.sources import check_unchanged, read_beginning, shown, shown_name, stamp_of, table_files
from betalike.runtime.memory_size import USED_SHARE, memory_at_hand
from betalike.runtime.progress import SILENT, Progress
from betalike.table.schema import Schema, check_columns, columns_with_forms, text_columns

Frame = Any  # a pandas, Polars or PyArrow frame, a DuckDB relation, or the path of a file
BATCH_ROWS = 1_000_000
PARQUET, IPC, CSV = "Parquet", "Arrow IPC", "CSV"
MAGIC_BYTES = 6
DAMAGED = "{} looks like {} but cannot be read; it is damaged or cut off, or two of its columns have the same name."


@dataclass(frozen=True)
class Source:
    """A table of `n_rows` rows, to read as often as needed; `check` refuses files that changed since."""

    table: pl.DataFrame | pl.LazyFrame
    n_rows: int
    check: Callable[[], None] = lambda: None
    batch_rows: int = BATCH_ROWS
    progress: Progress = SILENT

    @staticmethod
    def of(table: pl.DataFrame | pl.LazyFrame) -> Source:
        """Return the rows of a frame, which may be lazy."""
        return Source(table, table.height if isinstance(table, pl.DataFrame) else count_rows(table))

    @property
    def is_held(self) -> bool:
        """Whether all rows are in memory."""
        return isinstance(self.table, pl.DataFrame)

    def select(self, names: Sequence[str]) -> Source:
        """Return some columns; their lists of categories, which are published, have only the values that occur."""
        if isinstance(self.table, pl.DataFrame):
            return replace(self, table=_only_used(check_years(self.table.select(names))))
        rows = self.table.select(names)
        enums = [name for name, dtype in rows.collect_schema().items() if isinstance(dtype, pl.Enum)]
        return replace(self, table=rows.with_columns(pl.col(enums).cast(pl.Categorical)))

    def types(self, names: Sequence[str]) -> pl.Schema:
        """Return the types of some columns."""
        return self.table.lazy().select(names).collect_schema()

    def batches(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield the rows in their order; refuse a table that is damaged or changed meanwhile."""
        if isinstance(self.table, pl.DataFrame):
            rows = self.table.select(names).iter_slices(self.batch_rows)
            yield from self.progress.flow(rows, "rows read", self.n_rows)
            return
        n_seen = 0
        with damage_refused(NOT_TO_ITS_END):
            batches = self.table.select(names).collect_batches(chunk_size=self.batch_rows, maintain_order=True)
            for batch in map(check_years, self.progress.flow(batches, "rows read", self.n_rows)):
                n_seen += batch.height
                yield batch
        self.check_read(n_seen)

    def check_read(self, n_seen: int) -> None:
        """Refuse a pass that ended early, as Polars silently ends one where its reader panics, and changed files."""
        if n_seen != self.n_rows:
            raise FileError(NOT_TO_ITS_END)
        self.check()


def _only_used(frame: pl.DataFrame) -> pl.DataFrame:
    narrow = []
    for name, dtype in frame.schema.items():
        if isinstance(dtype, pl.Enum):
            used = set(frame[name].unique().drop_nulls().cast(pl.String))
            categories = pl.Enum([text for text in dtype.categories if text in used])
            narrow.append(frame[name].cast(pl.String).cast(categories))
    return frame.with_columns(narrow)


def count_rows(table: pl.LazyFrame, damaged: str = NOT_TO_ITS_END) -> int:
    """Count the rows of a lazy frame."""
    with damage_refused(damaged), compiled_code_silenced():
        return int(table.select(pl.len()).collect(engine="streaming").item())


def is_path(table: Frame) -> bool:
    """Return whether a table is given as a path."""
    return isinstance(table, str | Path)


def check_column_names(table: Frame, delimiter: str | None) -> list[str]:
    """Refuse a CSV table if most of its columns have names like cells, and return a warning if a few have."""
    if not is_path(table):
        return []
    try:
        first = table_files(table)[0]
        is_csv = kind_of(first) == CSV
    except FileError:  # reading the table reports it
        return []
    if not is_csv:
        return []
    return check_header(first, shown_name(Path(table)), _delimiter(table, delimiter))


def read(
    table: Frame, schema: Schema, missing: Sequence[str], delimiter: str | None, memory: int | None = None
) -> pl.DataFrame:
    """Read the columns of the schema; those published as they are, or coded by their text, are read as text."""
    if not is_path(table):
        return without_codes(to_polars(table, schema.names), missing)
    check_column_names(table, delimiter)
    forms = columns_with_forms(schema)
    return load(table, schema.names, text_columns(schema), missing, delimiter, memory, forms)


def read_text(
    table: Frame, columns: Sequence[str] | None, missing: Sequence[str], delimiter: str | None
) -> pl.DataFrame:
    """Read a published table, or columns of an original one, with all cells as text."""
    if not is_path(table):
        return without_codes(to_polars(table, columns), missing)
    path = Path(table)
    if path.is_dir():
        path = next((path / name for name in ("published.csv", "published.parquet") if (path / name).exists()), path)
    return load(path, columns, None, missing, delimiter)


def text_in_batches(
    table: Frame, columns: Sequence[str], missing: Sequence[str], delimiter: str | None
) -> Iterator[pl.DataFrame]:
    """Return batches of an original table, which may be larger than memory, with all cells as text."""
    if is_path(table):
        check_column_names(table, delimiter)
        return scan_table(table, columns, None, missing, delimiter).batches(columns)
    return iter([without_codes(to_polars(table, columns), missing)])


def column_names(table: Frame, delimiter: str | None) -> list[str]:
    """Return the names of a table's columns."""
    if not is_path(table):
        return to_polars(table).columns
    return scan_table(table, None, None, (), delimiter).table.collect_schema().names()


def names_at_a_glance(path: str | Path, delimiter: str | None) -> list[str]:
    """Return the names of the columns of a table that was read already, from as little of its files as possible."""
    files = table_files(path)
    kind = kind_of(files[0])
    if kind == CSV:
        return names_in_header(files[0], _delimiter(path, delimiter)) or column_names(path, delimiter)
    with damage_refused(DAMAGED.format(shown_name(Path(path)), kind)), compiled_code_silenced():
        return scan_columnar(files, kind).collect_schema().names()


def load(
    path: str | Path,
    columns: Sequence[str] | None = None,
    as_text: Collection[str] | None = (),
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    memory: int | None = None,
    forms: Collection[str] = (),
) -> pl.DataFrame:
    """Read a table, or some of its columns, into memory.

    `as_text` names columns of a CSV file that stay text, such as codes with leading zeros; None means all columns.
    `forms` names those that stay text if they hold real numbers, so that 1.10 is published as 1.10. `missing` lists
    codes that stand for a missing value, as the empty text does. The text of a CSV file may take up to `memory` bytes;
    without a limit, most of the free memory.
    """
    files, name = table_files(path), shown_name(Path(path))
    kind, delimiter = kind_of(files[0]), _delimiter(path, delimiter)
    most = int(USED_SHARE * memory_at_hand()) if memory is None else memory
    if kind == CSV and len(files) == 1:
        return load_csv(files[0], Wanted(columns, as_text, missing, forms), delimiter, most)
    table = scan_table(path, columns, as_text, missing, delimiter, is_read_once=True, forms=forms)
    if table.n_rows == 0:
        raise FileError(NO_ROWS.format(name))
    rows = table.table.lazy()
    if table.n_rows * len(rows.collect_schema()) > most:  # a cell takes at least one byte
        raise FileError(NO_ROOM.format(name, most >> 20))
    with damage_refused(DAMAGED.format(name, kind)), compiled_code_silenced():
        frame = rows.collect()
    table.check_read(frame.height)
    return frame


def scan_table(
    path: str | Path,
    columns: Sequence[str] | None = None,
    as_text: Collection[str] | None = (),
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    is_read_once: bool = False,
    forms: Collection[str] = (),
) -> Source:
    """Return a table to read in batches, by the rules of `load`; unless it is read once, find damage now."""
    files, delimiter = table_files(path), _delimiter(path, delimiter)
    kinds = {kind_of(file) for file in files}
    if len(kinds) > 1:
        raise FileError(f"the files of '{shown(path)}' are of different kinds ({', '.join(sorted(kinds))}).")
    stamp, kind = stamp_of(files), kinds.pop()

    def check() -> None:
        check_unchanged(files, stamp)

    if kind == CSV:
        rows, n_rows = scan_csv(files, Wanted(columns, as_text, missing, forms), delimiter, check)
    else:
        rows, n_rows = _scan_columnar(files, kind, columns, is_read_once, shown_name(Path(path)))
        rows = without_codes(rows, missing)
    return Source(rows, n_rows, check)


def _delimiter(path: str | Path, given: str | None) -> str | None:
    origin = origin_of(path)
    return given if origin is None else origin.delimiter


def kind_of(path: Path) -> str:
    """Return Parquet, Arrow IPC or CSV, from the first bytes of a file."""
    magic = read_beginning(path, MAGIC_BYTES)
    if not magic:
        raise FileError(EMPTY.format(shown_name(path)))
    return PARQUET if magic[:4] == b"PAR1" else IPC if magic == b"ARROW1" else CSV


def scan_columnar(files: Sequence[Path], kind: str) -> pl.LazyFrame:
    """Return Parquet or Arrow IPC files as one table, before any of it is read."""
    if kind != PARQUET:
        return pl.scan_ipc(list(files))
    if any(map(parquet_files.ends_its_reader, files)):
        raise FileError(DAMAGED.format(shown_name(files[0]), kind))
    return pl.scan_parquet(list(files))


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
        n_rows = count_rows(table, DAMAGED.format(name, kind))
        if not is_read_once and n_rows and count_to_the_end(table) != n_rows:
            raise FileError(DAMAGED.format(name, kind))
    return table, n_rows
