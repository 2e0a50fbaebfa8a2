"""The parts of a workbook that betalike wrote: is there anything beside the cells of its one sheet?

Whatever a reader does not read could hold the original table: other sheets, comments, properties, names. So each part
must be as the writer makes it, to the letter; only the cells and the time differ.
"""

from __future__ import annotations

import functools
import hashlib
import re
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from betalike.io.archives import check_bytes, unpacked
from betalike.io.excel_files import read_typed_sheet, write_sheet
from betalike.io.sources import open_file
from betalike.io.surplus import SurplusError

SHEET = "xl/worksheets/sheet1.xml"
TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
DIMENSION = re.compile(rb'<dimension ref="[A-Z]+\d+(:[A-Z]+\d+)?"/>')
TEXT = rb' t="inlineStr"><is><t(?: xml:space="preserve")?>[^<]*</t></is></c>'
NUMBER = rb"><v>[-+.0-9E]{1,24}</v></c>"
ROW = re.compile(rb'<row r="\d{1,7}">(?:<c r="[A-Z]{1,3}\d{1,7}"(?:' + TEXT + rb"|" + NUMBER + rb"))+</row>")
CELL = b"<c "
LARGEST_PART, LONGEST_ROW = 1 << 16, 1 << 24
# Digests of the parts as versions 3.2 and 3.3 of XlsxWriter make them; another version here may make others.
KNOWN = {
    "[Content_Types].xml": "c9e07af4a58801f88cc56b609f1a3e4f93f575d8a2eddf54759f8bb134638699",
    "_rels/.rels": "1285b20099c64699001f9d90ea040ca1c177fa99bc3ae8a841128874820f01a4",
    "xl/_rels/workbook.xml.rels": "075a012b1fb44946d69250bb48a45a73635f2217f3817d017b347b0e65f1af66",
    "xl/worksheets/sheet1.xml": "51fc73d4a698c46a0b0ad8a2078e78a8d0bae6e307a282802d35c005a044b958",
    "xl/workbook.xml": "840bef44277ac74628905f1bb1dfde76b6de9d85d99617409b9092d9ddd1a5b5",
    "xl/styles.xml": "b955eec7bf81e3497213a0e029a3d7837f6dd31fc9c30c829ac7358fe294b23c",
    "xl/theme/theme1.xml": "75104b2164c20dab2578383d827deac3a7eec077c3f7c99a4099a551fdebb134",
    "docProps/core.xml": "e8e4f7f1ff4e0fcbace657ad7c4879a0fb1d5e454f21a85407839b6d4568c229",
    "docProps/app.xml": "9e97028c3f5bdfadb6a7465fb4f26d70e27b434a8b47aeb14f41a99eba394b30",
}


def check_parts(path: Path) -> None:
    """Refuse a published workbook that has anything but the cells that are read from it."""
    names = check_bytes(path)
    usual = usual_parts()
    if sorted(names) != sorted(usual):
        raise SurplusError("other parts than a published workbook has")
    with open_file(path) as file, zipfile.ZipFile(file) as book:
        for member in book.infolist():
            pieces = unpacked(file, member)
            if member.filename == SHEET:
                frame, n_cells = _without_rows(pieces)
            else:
                frame = _whole(pieces)
            if _digest(frame) not in {usual[member.filename], KNOWN.get(member.filename)}:
                raise SurplusError(f"more in {member.filename} than a published workbook has")
    rows = read_typed_sheet(path)
    if n_cells != rows.width + sum(len(column) - column.null_count() for column in rows):
        raise SurplusError("cells that are not part of the table")


@functools.cache
def usual_parts() -> dict[str, str]:
    """Return the digest of each part of a workbook that is written here."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "usual.xlsx"
        write_sheet(pl.DataFrame({"a": ["b"]}), path)
        with zipfile.ZipFile(path) as book:
            parts = {name: book.read(name) for name in book.namelist()}
    return {name: _digest(_without_rows(iter([part]))[0] if name == SHEET else part) for name, part in parts.items()}


def _digest(part: bytes) -> str:
    """Return the digest of a part, whatever the time and the size of its table."""
    return hashlib.sha256(DIMENSION.sub(b"<dimension/>", TIME.sub(b"time", part))).hexdigest()


def _whole(pieces: Iterator[bytes]) -> bytes:
    """Return a part that is always small."""
    part = b""
    for piece in pieces:
        part += piece
        if len(part) > LARGEST_PART:
            raise SurplusError("larger parts than a published workbook has")
    return part


def _without_rows(pieces: Iterator[bytes]) -> tuple[bytes, int]:
    """Return the part of a sheet without its rows, and how many cells these have."""
    rest = b""
    n_cells = 0
    for piece in pieces:
        text = rest + piece
        rest = ROW.sub(b"", text)
        n_cells += text.count(CELL) - rest.count(CELL)
        if len(rest) > LONGEST_ROW:
            raise SurplusError("more in its sheet than a published workbook has")
    return rest, n_cells
