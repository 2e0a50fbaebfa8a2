"""Workbooks that would take more memory than is allowed are refused before they are read; the process goes on."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import openpyxl
import polars as pl
import pytest

import betalike
from betalike.errors import FileError
from betalike.io.excel_files import read_sheet, read_typed_sheet
from betalike.io.workbook_size import CHUNK

SHEET, END = "xl/worksheets/sheet1.xml", b"</sheetData>"
TABLE = {"age": ["30", "31"], "d": ["x", "y"]}
REFUSED = "cannot be read; it is damaged or takes more than .* of memory"
URN = "urn:oasis:names:tc:opendocument:xmlns"
MANIFEST = f'<manifest:manifest xmlns:manifest="{URN}:manifest:1.0"></manifest:manifest>'
ODS = f"""<office:document-content xmlns:office="{URN}:office:1.0"
 xmlns:table="{URN}:table:1.0" xmlns:text="{URN}:text:1.0">
 <office:body><office:spreadsheet><table:table table:name="S">
 <table:table-row><table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell></table:table-row>
 <table:table-row table:number-rows-repeated="300000"><table:table-cell office:value-type="string"
 table:number-columns-repeated="20"><text:p>x</text:p></table:table-cell></table:table-row>
 </table:table></office:spreadsheet></office:body></office:document-content>"""


def book(path: Path, added: bytes, extra: bytes = b"") -> Path:
    """Write a small table; rows are added at the end of its sheet, and bytes to the part of its styles."""
    made = openpyxl.Workbook()
    assert made.active is not None
    for row in (["age", "d"], [30, "x"], [31, "y"]):
        made.active.append(row)
    made.save(path)
    with zipfile.ZipFile(path) as written:
        parts = {name: written.read(name) for name in written.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as changed:
        for name, content in parts.items():
            changed.writestr(name, content.replace(END, added + END) if name == SHEET else content)
        if extra:
            changed.writestr("xl/extra.xml", extra)
    return path


FAR = {
    "a number": b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
    "an empty text": b'<row r="1048576"><c r="XFD1048576" t="str"><v></v></c></row>',
    "other quotes": b"<row r='1048576'><c t='n' r='XFD1048576'><v>1</v></c></row>",
    "spaces": b'<row><c r = "XFD1048576"><v>1</v></c></row>',
    "a line end": b'<row><c r="XFD1048576"><v>1</v></c></row>'.replace(b" r=", b"\nr\n="),
    "no places": b'<row r="3"><c><v>1</v></c></row><row r="1048576">' + b"<c><v>1</v></c>" * 16384 + b"</row>",
    "no places with a prefix": b'<row r="1048576">' + b"<x:c t='n'><x:v>1</x:v></x:c>" * 16384 + b"</row>",
    "a long place": b'<row><c r="XFD00000000000001048576"><v>1</v></c></row>',
    "a column and a row": b'<row><c r="XFD4"><v>1</v></c></row><row r="1048576"><c r="A1048576"/><c><v>1</v></c></row>',
}


@pytest.mark.parametrize("what", FAR)
def test_a_cell_far_from_the_table_is_refused(tmp_path: Path, what: str) -> None:
    path = book(tmp_path / "far.xlsx", FAR[what])
    for read in (lambda: read_sheet(path, None), lambda: read_typed_sheet(path)):
        with pytest.raises(FileError, match=REFUSED):
            read()


@pytest.mark.parametrize("n_left", [-600, *range(0, 40, 4)])
def test_a_far_cell_is_found_where_one_piece_of_a_sheet_ends(tmp_path: Path, n_left: int) -> None:
    path = book(tmp_path / "far.xlsx", b"")
    with zipfile.ZipFile(path) as made:
        start = made.read(SHEET).index(END)
    with pytest.raises(FileError, match=REFUSED):
        read_sheet(book(path, b" " * (CHUNK - start - n_left) + FAR["a number"]), None)


@pytest.mark.parametrize(
    "added",
    [
        b'<row r="1048576" s="0" customFormat="1"/>',
        b'<row r="1048576"><c r="XFD1048576" s="0"/></row>',
        b'<row r="1048576"><c r="XFD1048576" s="0"></c></row>',
    ],
)
def test_empty_cells_far_from_the_table_are_left_out(tmp_path: Path, added: bytes) -> None:
    """As a spreadsheet program writes them where the whole sheet has a format."""
    assert read_sheet(book(tmp_path / "far.xlsx", added), None).to_dict(as_series=False) == TABLE


def test_a_table_in_the_last_rows_is_read(tmp_path: Path) -> None:
    path = tmp_path / "low.xlsx"
    made = openpyxl.Workbook()
    assert made.active is not None
    for row, cells in enumerate((["age", "d"], [30, "x"], [31, "y"]), 1_048_574):
        for column, cell in enumerate(cells, 16_383):
            made.active.cell(row, column, cell)
    made.save(path)
    assert read_sheet(path, None, "256MB").to_dict(as_series=False) == TABLE


def test_the_room_between_cells_counts_as_memory(tmp_path: Path) -> None:
    path = book(tmp_path / "far.xlsx", b'<row r="400000"><c r="AD400000"><v>1</v></c></row>')
    with pytest.raises(FileError, match=r"takes more than 256\.0 MB of memory"):
        read_sheet(path, None, "256MB")


def test_an_open_document_whose_cells_repeat_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "far.ods"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        made.writestr("content.xml", ODS)
        made.writestr("META-INF/manifest.xml", MANIFEST)
    with pytest.raises(FileError, match=REFUSED):
        read_sheet(path, None, "256MB")


@pytest.fixture(scope="module")
def blanks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small workbook that unpacks to more than 256 MB."""
    return book(tmp_path_factory.mktemp("blanks") / "blanks.xlsx", b"", b" " * (257 << 20))


def test_what_the_parts_unpack_to_counts_as_memory(blanks: Path) -> None:
    assert blanks.stat().st_size < 1 << 20
    with pytest.raises(FileError, match=r"takes more than 256\.0 MB of memory"):
        read_sheet(blanks, None, "256MB")
    assert read_sheet(blanks, None, "258MB").to_dict(as_series=False) == TABLE


def test_what_the_parts_unpack_to_is_measured_and_not_believed(blanks: Path, tmp_path: Path) -> None:
    content = bytearray(blanks.read_bytes())
    at = content.rindex(b"PK\x01\x02")  # the last part in the list of parts
    assert struct.unpack_from("<I", content, at + 24) == (257 << 20,)
    struct.pack_into("<I", content, at + 24, 100)
    (tmp_path / "blanks.xlsx").write_bytes(content)
    with pytest.raises(FileError, match=r"takes more than 256\.0 MB of memory"):
        read_sheet(tmp_path / "blanks.xlsx", None, "256MB")


def test_the_limit_of_a_publication_holds_for_its_workbook(blanks: Path) -> None:
    given = {"quasi_identifiers": ["age"], "sensitive": "d", "beta": 2, "seed": 1}
    with pytest.raises(FileError, match=r"takes more than 256\.0 MB of memory"):
        betalike.publish(blanks, memory="256MB", **given)


def test_verify_refuses_a_published_workbook_with_a_far_cell(tmp_path: Path) -> None:
    table = pl.DataFrame({"age": [*range(20, 60)], "d": ["x", "y", "z", "x"] * 10})
    out = tmp_path / "out"
    betalike.publish(table, quasi_identifiers=["age"], sensitive="d", beta=2, seed=1, format="xlsx", out=out)
    book(out / "published.xlsx", FAR["a number"])
    checked = betalike.verify(out)
    assert not checked.holds
    assert checked.checks["readable"] is False
