"""Values of each kind: as they go in, as they are written, and what a written text stands for."""

from __future__ import annotations

import csv
import datetime
import re
from collections.abc import Hashable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

Key = Hashable
ORDERED = ("integer", "real", "date", "datetime")
CANARY = "canary-"  # begins every text that no release may hold
EPOCH = datetime.datetime(1, 1, 1)
RUN = [*"=+-@\t\r\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"]  # also the wide forms of the signs
PLAIN_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?inf")


def text_of(kind: str, cell: Any) -> str:
    """A value as text, as it is written into a CSV file."""
    if kind == "boolean":
        return "true" if cell else "false"
    if kind == "real":
        return repr(float(cell))
    if kind == "datetime":
        return cell.isoformat(sep=" ")
    return cell.isoformat() if kind == "date" else str(cell)


def key_of(kind: str, cell: Any) -> Any:
    """What makes two values of a kind the same, and puts numbers and dates in order; missing ones are None."""
    if cell is None:
        return None
    if kind == "integer":
        return int(cell)
    if kind == "real":
        return Fraction(float(cell))
    if kind == "date":
        return cell.toordinal()
    if kind == "datetime":
        return (cell.replace(tzinfo=None) - EPOCH) // datetime.timedelta(microseconds=1)
    return text_of(kind, cell)


def read(kind: str, text: str) -> Any:
    """What a written value stands for: the same as `key_of` the value."""
    if kind == "integer":
        return int(text)
    if kind == "real":
        return Fraction(float(text))
    if kind == "date":
        return datetime.date.fromisoformat(text).toordinal()
    if kind == "datetime":
        return key_of(kind, datetime.datetime.fromisoformat(text))
    return text


def text_of_cell(cell: Any) -> str | None:
    """A cell of a Parquet file as text; missing ones are None."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, Decimal):  # whole numbers beyond 64 bits
        return format(cell, "f")
    if isinstance(cell, datetime.datetime):
        return cell.replace(tzinfo=None).isoformat(sep=" ")
    return cell.isoformat() if isinstance(cell, datetime.date) else repr(cell)


def read_csv(path: Path) -> tuple[list[str], list[list[str | None]]]:
    """Header and rows of a CSV file; an empty field is None."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file, strict=True))
    return lines[0], [[cell or None for cell in row] for row in lines[1:]]


def is_run(text: str | None) -> bool:
    """Whether a spreadsheet would run a cell as a formula; plain numbers are none."""
    return text is not None and text[:1] in RUN and not PLAIN_NUMBER.fullmatch(text)


def read_table(path: Path) -> tuple[list[str], list[list[str | None]]]:
    """Header and rows of a published table, as text."""
    if path.suffix == ".csv":
        return read_csv(path)
    if path.suffix == ".xlsx":
        return _read_sheet(path)
    if path.suffix in (".sav", ".dta"):
        return _read_statistics(path)
    table = pq.read_table(path)
    columns = [[text_of_cell(cell) for cell in column.to_pylist()] for column in table.columns]
    return table.column_names, [list(row) for row in zip(*columns, strict=True)]


def _read_sheet(path: Path) -> tuple[list[str], list[list[str | None]]]:
    """The only sheet of a workbook; none of its cells may be a formula."""
    import openpyxl

    (sheet,) = openpyxl.load_workbook(path).worksheets
    lines = [*sheet.iter_rows()]
    if any(cell.data_type not in ("s", "n", "inlineStr") for line in lines for cell in line):
        raise ValueError("a cell that is neither text nor a number")
    texts = [[_text_of_number(cell.value) for cell in line] for line in lines]
    return [text or "" for text in texts[0]], texts[1:]


def _read_statistics(path: Path) -> tuple[list[str], list[list[str | None]]]:
    """All cells of an SPSS or Stata file; an empty text is missing."""
    import pyreadstat

    read_file = pyreadstat.read_sav if path.suffix == ".sav" else pyreadstat.read_dta
    frame, _ = read_file(path, output_format="polars")
    return frame.columns, [[_text_of_number(cell) for cell in row] for row in frame.iter_rows()]


def _text_of_number(cell: Any) -> str | None:
    """A cell of a file that has one kind of number, as text."""
    if isinstance(cell, float):
        return None if cell != cell else str(int(cell)) if cell.is_integer() and abs(cell) <= 2**53 else repr(cell)
    return None if cell is None or cell == "" else str(cell)
