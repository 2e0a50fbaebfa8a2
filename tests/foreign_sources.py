"""The same small table in every kind of source that betalike reads, each written by another program."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import polars as pl
import pyreadstat
import xlsxwriter
from odf import opendocument, table, text

CODES = {1: "flu", 2: "cough", 3: "ulcer", 4: "gout", 5: "asthma"}
CANARY = "CANARY7731"


def patients(n_rows: int = 240) -> pl.DataFrame:
    """Return people with numbers, dates, texts and coded diseases, and some missing values."""
    born = [datetime.date(1940, 1, 1) + datetime.timedelta(days=37 * i % 20_000) for i in range(n_rows)]
    return pl.DataFrame(
        {
            "name": [f"{CANARY}-{i}" for i in range(n_rows)],
            "age": [None if i % 40 == 7 else 20 + 7 * i % 60 for i in range(n_rows)],
            "born": born,
            "city": ["Ulm, Sued" if i % 5 == 0 else ["Bonn", "Kiel", "Rom"][i % 3] for i in range(n_rows)],
            "height": [round(1.5 + (i % 41) / 100, 2) for i in range(n_rows)],
            "disease": [1 + (i * i + i // 7) % 5 for i in range(n_rows)],
        }
    )


def write_csv(frame: pl.DataFrame, folder: Path) -> tuple[str, dict[str, Any]]:
    frame.write_csv(folder / "people.csv")
    return str(folder / "people.csv"), {}


def write_parquet(frame: pl.DataFrame, folder: Path) -> tuple[str, dict[str, Any]]:
    frame.write_parquet(folder / "people.parquet")
    return str(folder / "people.parquet"), {}


def write_openpyxl(frame: pl.DataFrame, folder: Path) -> tuple[str, dict[str, Any]]:
    """A workbook with a title over merged cells, an empty row, and another sheet."""
    book = openpyxl.Workbook()
    notes = book.active
    assert notes is not None
    notes.title = "Notes"
    notes.append(["made by", "hand"])
    sheet = book.create_sheet("People")
    sheet.append(["Patients of the year"])
    sheet.merge_cells("A1:F1")
    sheet.append(frame.columns)
    for number, row in enumerate(frame.iter_rows()):
        sheet.append(list(row))
        if number == 10:
            sheet.append([])
    book.save(folder / "people.xlsx")
    return str(folder / "people.xlsx"), {"sheet": "People"}


def write_xlsxwriter(frame: pl.DataFrame, folder: Path) -> tuple[str, dict[str, Any]]:
    """A workbook whose ages are formulas with their results, and whose other sheets are empty."""
    book = xlsxwriter.Workbook(folder / "formulas.xlsx")
    sheet, date = book.add_worksheet("Data"), book.add_format({"num_format": "dd.mm.yyyy"})
    book.add_worksheet("Sheet2")
    sheet.write_row(0, 0, frame.columns)
    for number, row in enumerate(frame.rows(named=True), 1):
        for place, (name, cell) in enumerate(row.items()):
            if name == "age" and cell is not None:
                sheet.write_formula(number, place, f"={cell - 1}+1", None, cell)
            elif name == "born":
                sheet.write_datetime(number, place, cell, date)
            elif cell is not None:
                sheet.write(number, place, cell)
    book.close()
    return str(folder / "formulas.xlsx"), {}


def write_ods(frame: pl.DataFrame, folder: Path) -> tuple[str, dict[str, Any]]:
    """A document as LibreOffice writes it: each cell has a type and a value."""
    book = opendocument.OpenDocumentSpreadsheet()
    sheet = table.Table(name="Tabelle1")
    for row in [tuple(frame.columns), *frame.rows()]:
        line = table.TableRow()
        for cell in row:
            if cell is None:
                line.addElement(table.TableCell())
            elif isinstance(cell, datetime.date):
                line.addElement(table.TableCell(valuetype="date", datevalue=cell.isoformat()))
            elif isinstance(cell, str):
                made = table.TableCell(valuetype="string")
                made.addElement(text.P(text=cell))
                line.addElement(made)
            else:
                line.addElement(table.TableCell(valuetype="float", value=repr(cell)))
        sheet.addElement(line)
    book.spreadsheet.addElement(sheet)
    book.save(str(folder / "people.ods"))
    return str(folder / "people.ods"), {}


def write_spss(frame: pl.DataFrame, folder: Path) -> tuple[str, dict[str, Any]]:
    """A file in which -9 is a declared missing age."""
    coded = frame.with_columns(pl.col("age").fill_null(-9))
    pyreadstat.write_sav(
        coded, folder / "people.sav", variable_value_labels={"disease": CODES}, missing_ranges={"age": [-9]}
    )
    return str(folder / "people.sav"), {}


def write_compressed_spss(frame: pl.DataFrame, folder: Path) -> tuple[str, dict[str, Any]]:
    pyreadstat.write_sav(frame, folder / "people.zsav", compress=True)
    return str(folder / "people.zsav"), {}


def write_stata(frame: pl.DataFrame, folder: Path) -> tuple[str, dict[str, Any]]:
    pyreadstat.write_dta(frame, folder / "people.dta", variable_value_labels={"disease": CODES})
    return str(folder / "people.dta"), {}


def write_older_stata(frame: pl.DataFrame, folder: Path) -> tuple[str, dict[str, Any]]:
    pyreadstat.write_dta(frame, folder / "older.dta", version=10)
    return str(folder / "older.dta"), {}


def write_transport(frame: pl.DataFrame, folder: Path) -> tuple[str, dict[str, Any]]:
    pyreadstat.write_xport(frame, folder / "people.xpt", file_format_version=8)
    return str(folder / "people.xpt"), {}


def write_sqlite(frame: pl.DataFrame, folder: Path) -> tuple[str, dict[str, Any]]:
    """A database whose first ages are missing, so that the first rows do not show the types."""
    path = folder / "people.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE people (name TEXT, age INTEGER, born DATE, city TEXT, height REAL, disease INT)"
        )
        rows = [(*row[:2], row[2].isoformat(), *row[3:]) for row in frame.sort("age").rows()]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.close()
    return f"sqlite:{path}", {"table_name": "people"}


def write_duckdb(frame: pl.DataFrame, folder: Path) -> tuple[str, dict[str, Any]]:
    path = folder / "people.duckdb"
    with duckdb.connect(path) as connection:
        connection.register("given", frame.to_arrow())
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return f"duckdb:{path}", {"query": "SELECT * FROM people;"}


WRITERS: dict[str, Callable[[pl.DataFrame, Path], tuple[str, dict[str, Any]]]] = {
    "csv": write_csv,
    "parquet": write_parquet,
    "xlsx": write_openpyxl,
    "xlsx with formulas": write_xlsxwriter,
    "ods": write_ods,
    "sav": write_spss,
    "zsav": write_compressed_spss,
    "dta": write_stata,
    "older dta": write_older_stata,
    "xpt": write_transport,
    "sqlite": write_sqlite,
    "duckdb": write_duckdb,
}
