"""Formulas of a workbook that no program has computed yet: their cells would be read as missing values."""

from __future__ import annotations

import contextlib
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

# A cell with a formula and no result; the result of a formula that is declared a text may be empty.
OPEN_FORMULA = re.compile(rb'<c (?![^>]*\bt="str")[^>]*><f(?:[^>]*/>|[^>]*>[^<]*</f>)(?:<v></v>|<v ?/>)?</c>')
UNREADABLE = (zipfile.BadZipFile, KeyError, OSError, ElementTree.ParseError)  # the reader reports the damage
CHUNK, LONGEST_CELL = 1 << 20, 1 << 16


def count_open_formulas(path: Path, sheet: str) -> int:
    """Count the formulas of a sheet that have no result; 0 where this is not a workbook of Excel's newer form."""
    with contextlib.suppress(*UNREADABLE), zipfile.ZipFile(path) as book:
        name = _file_of(book, sheet)
        return 0 if name is None else sum(_counts(book, name))
    return 0


def _file_of(book: zipfile.ZipFile, sheet: str) -> str | None:
    """Return the file of a sheet: the workbook lists its relation, and the relations list its file."""
    relation = None
    for element in ElementTree.fromstring(book.read("xl/workbook.xml")).iter():
        if element.tag.endswith("}sheet") and element.get("name") == sheet:
            relation = next((value for name, value in element.items() if name.endswith("}id")), None)
    for element in ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels")).iter():
        if relation is not None and element.get("Id") == relation:
            target = str(element.get("Target")).removeprefix("/")
            return target if target.startswith("xl/") else f"xl/{target}"
    return None


def _counts(book: zipfile.ZipFile, name: str) -> Iterator[int]:
    """Yield how many open formulas each piece of a sheet's file has; a cell may reach into the next piece."""
    rest = b""
    with book.open(name) as file:
        while piece := file.read(CHUNK):
            text = rest + piece
            ends = [found.end() for found in OPEN_FORMULA.finditer(text)] if b"<f" in text else []
            yield len(ends)
            rest = text[max(ends[-1] if ends else 0, len(text) - LONGEST_CELL) :]
