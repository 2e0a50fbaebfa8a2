"""Reading tables from files: CSV, Parquet and Arrow IPC, recognized by their content. Messages never show a cell."""

from __future__ import annotations

import contextlib
import glob
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from betalike.errors import FileError, SchemaError
from betalike.io.csv_files import CsvFile, prepare_csv
from betalike.io.csv_text import CsvText, decompress, recognize_csv
from betalike.schema import check_columns

INFER_ROWS = 10_000
PARQUET, IPC, CSV = "Parquet", "Arrow IPC", "CSV"
MAGIC_BYTES = 6


def table_files(path: str | Path) -> list[Path]:
    """The files of a table: one, those of a folder, or those that a pattern such as `part-*.csv` finds; by name."""
    path = Path(path)
    if path.is_dir():
        files = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith((".", "_"))]
    elif not path.exists() and glob.has_magic(str(path)):
        files = [Path(file) for file in glob.glob(str(path), recursive=True) if Path(file).is_file()]
    else:
        return [path]
    if not files:
        raise FileError(f"there are no files in '{path}'. Check the path.")
    return sorted(files)


def load(
    path: str | Path,
    columns: Sequence[str] | None = None,
    as_text: Collection[str] | None = (),
    missing: Sequence[str] = (),
    delimiter: str | None = None,
) -> pl.DataFrame:
    """Read a table, or some of its columns.

    `as_text` names columns of a CSV file whose text is to stay as it is (codes with leading zeros, say), None all of
    them; `missing` lists texts that stand for a missing value besides the empty one.
    """
    files = table_files(path)
    if len(files) > 1:
        with tempfile.TemporaryDirectory() as scratch:
            return scan(path, columns, as_text, missing, delimiter, Path(scratch)).collect()
    path = files[0]
    magic = _read_bytes(path, MAGIC_BYTES)
    if magic[:4] == b"PAR1" or magic == b"ARROW1":
        frame = _read_columnar(path, magic[:4] == b"PAR1", columns)
    else:
        text = recognize_csv(decompress(_read_bytes(path), path.name), path.name, delimiter)
        frame = _read_csv(text, path.name, columns, as_text, missing)
    if frame.height == 0:
        raise FileError(f"{path.name} has a header but no rows; there is nothing to publish.")
    return frame


def scan(
    path: str | Path,
    columns: Sequence[str] | None,
    as_text: Collection[str] | None,
    missing: Sequence[str],
    delimiter: str | None,
    scratch: Path,
) -> pl.LazyFrame:
    """A table to be read in batches, else as `load` reads it; `scratch` is for files that must be rewritten first."""
    files = table_files(path)
    magics = {kind_of(file) for file in files}
    if len(magics) > 1:
        raise FileError(f"the files of '{path}' are of different kinds ({', '.join(sorted(magics))}).")
    try:
        if magics == {CSV}:
            table = _scan_csv([prepare_csv(file, scratch, delimiter) for file in files], columns, as_text, missing)
        else:
            table = pl.scan_parquet(files) if magics == {PARQUET} else pl.scan_ipc(files)
        names = table.collect_schema().names()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileError(
            f"'{path}' cannot be read; it is damaged or cut off, or its files do not go together."
        ) from error
    check_columns(columns or (), names)
    return table if columns is None else table.select(columns)


def kind_of(path: Path) -> str:
    """Parquet, Arrow IPC or CSV, from how a file begins."""
    magic = _read_bytes(path, MAGIC_BYTES)
    return PARQUET if magic[:4] == b"PAR1" else IPC if magic == b"ARROW1" else CSV


def _scan_csv(
    files: Sequence[CsvFile], columns: Sequence[str] | None, as_text: Collection[str] | None, missing: Sequence[str]
) -> pl.LazyFrame:
    """CSV files of the same columns; types are those of all rows together."""
    first = files[0]
    if any((file.delimiter, file.quote) != (first.delimiter, first.quote) for file in files):
        raise FileError("the CSV files of the table differ in their delimiter or quote; name the delimiter.")
    options: dict[str, Any] = {
        "separator": first.delimiter,
        "quote_char": first.quote,
        "null_values": list(missing) or None,
    }
    paths = [file.path for file in files]
    names = pl.scan_csv(paths[0], infer_schema=False, **options).collect_schema().names()
    check_columns(columns or (), names)
    for infer_rows in (INFER_ROWS, None):
        table = pl.scan_csv(
            paths,
            infer_schema=as_text is not None,
            infer_schema_length=infer_rows,
            schema_overrides={column: pl.String for column in as_text or () if column in names},
            try_parse_dates=as_text is not None,
            **options,
        )
        table = table if columns is None else table.select(columns)
        with contextlib.suppress(pl.exceptions.PolarsError):  # its message shows cells of the table
            if table.select(pl.all().null_count()).collect(engine="streaming").height:
                return table
    raise FileError(f"{files[0].path.name} cannot be read as CSV with the delimiter {first.delimiter!r}.")


def _read_bytes(path: Path, most: int = -1) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(most)
    except FileNotFoundError as error:
        raise FileError(f"there is no file '{path}'. Check the path.") from error
    except IsADirectoryError as error:
        raise FileError(f"'{path}' is a folder; name a file (CSV, Parquet or Arrow IPC).") from error
    except OSError as error:
        raise FileError(f"'{path}' cannot be read: {error.strerror}.") from error
    if not data:
        raise FileError(f"{path.name} is empty; a table needs a header line and at least one row.")
    return data


def _read_columnar(path: Path, is_parquet: bool, columns: Sequence[str] | None) -> pl.DataFrame:
    read_schema, read = (pl.read_parquet_schema, pl.read_parquet) if is_parquet else (pl.read_ipc_schema, pl.read_ipc)
    try:
        names = list(read_schema(path))
        check_columns(columns or (), names)
        return read(path, columns=list(columns) if columns is not None else None)
    except (pl.exceptions.PolarsError, OSError) as error:
        kind = "Parquet" if is_parquet else "Arrow IPC"
        raise FileError(f"{path.name} looks like {kind} but cannot be read; it is damaged or cut off.") from error


def _read_csv(
    text: CsvText, name: str, columns: Sequence[str] | None, as_text: Collection[str] | None, missing: Sequence[str]
) -> pl.DataFrame:
    names = csv_columns(text)
    doubled = [column for column in columns or names if names.count(column) > 1]
    if doubled:
        shown = f"named '{doubled[0]}'" if columns else "of the same name"  # without a header line it would be a cell
        raise SchemaError(f"{name} has more than one column {shown}. Give each column a name of its own.")
    check_columns(columns or (), names)
    if len(set(names)) < len(names):  # others are doubled, which are not read
        names = [column if names.count(column) == 1 else f"{column}#{i}" for i, column in enumerate(names)]
    for infer_rows in (INFER_ROWS, None):
        try:
            return pl.read_csv(
                text.data,
                columns=[names.index(column) for column in columns] if columns is not None else None,
                separator=text.delimiter,
                quote_char=text.quote,
                infer_schema=as_text is not None,
                infer_schema_length=infer_rows,
                schema_overrides={column: pl.String for column in as_text or () if column in names},
                null_values=list(missing) or None,
                try_parse_dates=as_text is not None,
                low_memory=False,
            )
        except pl.exceptions.NoDataError as error:
            raise FileError(f"{name} is empty; a table needs a header line and at least one row.") from error
        except (pl.exceptions.PolarsError, OSError):  # its message shows cells of the table: never pass it on
            continue
    raise FileError(f"{name} cannot be read as CSV with the delimiter {text.delimiter!r}. Is it another kind of file?")


def csv_columns(text: CsvText) -> list[str]:
    """Names in the header line, as they stand there."""
    end = text.data.find(b"\n")
    header = text.data if end < 0 else text.data[:end]
    try:
        row = pl.read_csv(
            header, has_header=False, separator=text.delimiter, quote_char=text.quote, infer_schema=False
        ).row(0)
    except pl.exceptions.PolarsError:  # a header with a line break inside quotes
        return pl.read_csv(text.data, separator=text.delimiter, quote_char=text.quote, n_rows=0).columns
    return ["" if cell is None else str(cell) for cell in row]
