"""Writing the table of a job into every kind of source, with other programs than betalike."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from .extras import every_column
from .jobs import Column, Job
from .reading import CANARY, text_of

TYPES = {
    "integer": pa.int64(),
    "real": pa.float64(),
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
    "text": pa.string(),
    "boolean": pa.bool_(),
}
ORDERS = {"dmy": "%d/%m/%Y", "mdy": "%m/%d/%Y"}
TABLE = "people"
UNUSED = 987_654_321  # a code that no row has


def make_table(job: Job, place: Path) -> Any:
    """The table of a job: a frame, a file, or the address of a database."""
    if job.is_text:
        return _write_text(job, place)
    if job.source in ("xlsx", "sqlite", "sav", "dta"):
        return {"xlsx": _write_sheet, "sqlite": _write_sqlite}.get(job.source, _write_statistics)(job, place)
    columns = [_coded(job, column) for column in every_column(job)]
    table = pa.table({column.name: pa.array(column.cells, TYPES[column.kind]) for column in columns})
    if job.source == "parquet":
        pq.write_table(table, place / "table.parquet")
        return place / "table.parquet"
    if job.source == "arrow":
        with pa.ipc.new_file(place / "table.arrow", table.schema) as file:
            file.write_table(table)
        return place / "table.arrow"
    if job.source == "duckdb":
        return _write_duckdb(table, place)
    if job.source == "pyarrow":
        return table
    if job.source == "pandas":
        import pandas as pd

        is_plain = not any(None in c.cells or c.kind == "date" for c in columns)
        return table.to_pandas() if is_plain else table.to_pandas(types_mapper=pd.ArrowDtype)
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame.lazy() if job.source == "lazy" else frame


def source_options(job: Job) -> dict[str, Any]:
    """What `publish` and `verify` are given to find the table in its source."""
    if job.source in ("sqlite", "duckdb"):
        return {"table_name": TABLE} if job.seed % 2 else {"query": f"SELECT * FROM {TABLE}"}
    if job.source == "xlsx" and job.seed % 2:
        return {"sheet": TABLE}
    return {"labels": True} if job.with_labels else {}


@contextlib.contextmanager
def standard_input(job: Job, place: Path) -> Iterator[None]:
    """Give the table as standard input, where that is its source."""
    if job.source != "stdin":
        yield
        return
    content = io.BytesIO((place / "table.csv").read_bytes())
    with mock.patch.object(sys, "stdin", io.TextIOWrapper(content)):
        yield


def _coded(job: Job, column: Column) -> Column:
    """The column with its code in place of missing whole numbers."""
    if job.missing_code is None or column.kind != "integer":
        return column
    cells = [job.missing_code if cell is None else cell for cell in column.cells]
    return Column(column.name, column.kind, cells)


def _write_text(job: Job, place: Path) -> Path | str:
    columns = every_column(job)
    dated = {column.name for column in job.columns if column.kind == "date"} if job.dates is not None else set()
    texts = [
        [
            job.missing_text
            if cell is None
            else cell.strftime(ORDERS[job.dates or ""])
            if column.name in dated
            else text_of(column.kind, cell)
            for cell in column.cells
        ]
        for column in columns
    ]
    # Python before 3.13 does not quote a carriage return by itself.
    quoting = csv.QUOTE_ALL if any("\r" in text for column in texts for text in column) else csv.QUOTE_MINIMAL
    content = io.StringIO(newline="")
    writer = csv.writer(content, delimiter=job.delimiter, lineterminator="\n", quoting=quoting)
    writer.writerow([column.name for column in columns])
    writer.writerows(zip(*texts, strict=True))
    written = content.getvalue().encode()
    if job.source == "gzip":
        (place / "table.csv.gz").write_bytes(gzip.compress(written))
        return place / "table.csv.gz"
    if job.source == "zstd":
        (place / "table.csv.zst").write_bytes(pa.compress(written, "zstd", asbytes=True))
        return place / "table.csv.zst"
    (place / "table.csv").write_bytes(written)
    return "-" if job.source == "stdin" else place / "table.csv"


def _write_sheet(job: Job, place: Path) -> Path:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = TABLE
    if job.seed % 2:
        book.create_sheet("notes").append([f"{CANARY} of the sheet beside it"])
    columns = [_coded(job, column) for column in every_column(job)]
    for place_of_column, column in enumerate(columns, 1):
        for number, cell in enumerate([column.name, *column.cells], 1):
            if cell is not None:
                written = sheet.cell(number, place_of_column, cell)
                if isinstance(cell, str):
                    written.data_type = "s"  # never a formula
    book.save(place / "table.xlsx")
    return place / "table.xlsx"


def _write_sqlite(job: Job, place: Path) -> str:
    columns = [_coded(job, column) for column in every_column(job)]
    types = {"integer": "INTEGER", "real": "REAL"}
    names = ", ".join(f'"{c.name}" {types.get(c.kind, "TEXT")}' for c in columns)
    cells = [
        [text_of(c.kind, x) if c.kind in ("date", "datetime") and x is not None else x for x in c.cells]
        for c in columns
    ]
    connection = sqlite3.connect(place / "table.db")
    connection.execute(f"CREATE TABLE {TABLE} ({names})")
    connection.executemany(f"INSERT INTO {TABLE} VALUES ({', '.join('?' * len(columns))})", zip(*cells, strict=True))
    connection.commit()
    connection.close()
    return f"sqlite:{place / 'table.db'}"


def _write_duckdb(table: pa.Table, place: Path) -> str:
    import duckdb

    with duckdb.connect(str(place / "table.duckdb")) as connection:
        connection.register("given", table)
        connection.execute(f"CREATE TABLE {TABLE} AS SELECT * FROM given")
    return f"duckdb:{place / 'table.duckdb'}"


def _write_statistics(job: Job, place: Path) -> Path:
    """Write an SPSS or Stata file: with labels its texts are codes with meanings, else its whole numbers have some."""
    import pyreadstat

    series, meanings = [], {}
    for column in every_column(job):
        cells: list[Any] = column.cells
        kind = column.kind
        if job.with_labels and kind == "text" and any(cells):
            codes = {text: code for code, text in enumerate(sorted({*cells} - {None}), 1)}
            meanings[column.name] = {code: text for text, code in codes.items()}
            cells, kind = [None if cell is None else codes[cell] for cell in cells], "integer"
        elif kind == "integer" and not job.with_labels and any(cell is not None for cell in cells):
            meanings[column.name] = {code: f"meaning {code}" for code in {*cells} - {None}} | {UNUSED: f"{CANARY} code"}
        series.append(pl.Series(column.name, pa.array(cells, TYPES[kind])))
    path = place / f"table.{job.source}"
    write = pyreadstat.write_sav if job.source == "sav" else pyreadstat.write_dta
    write(pl.DataFrame(series), path, variable_value_labels=meanings or None)
    return path
