"""Values of each kind: as they go in, as they are written, and what a written text stands for."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Hashable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

Key = Hashable
ORDERED = ("integer", "real", "date", "datetime")
EPOCH = datetime.datetime(1, 1, 1)


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
        header, *rows = csv.reader(file, strict=True)
    return header, [[cell or None for cell in row] for row in rows]


def read_table(path: Path) -> tuple[list[str], list[list[str | None]]]:
    """Header and rows of a published table, as text."""
    if path.suffix == ".csv":
        return read_csv(path)
    table = pq.read_table(path)
    columns = [[text_of_cell(cell) for cell in column.to_pylist()] for column in table.columns]
    return table.column_names, [list(row) for row in zip(*columns, strict=True)]
