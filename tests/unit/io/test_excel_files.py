"""Workbooks: what people make of sheets, and what is read from them."""

from __future__ import annotations

import datetime
import struct
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pytest
import xlsxwriter

from betalike.errors import FileError, InputError, MissingDependencyError, SchemaError
from betalike.io.excel_files import read_sheet, read_typed_sheet, write_sheet
from betalike.io.foreign_tables import OLE

SECRET = "CANARY7731"
NOON, MIDNIGHT = datetime.datetime(2020, 1, 2, 12, 30), datetime.datetime(2020, 1, 3)


def book(path: Path, *rows: Sequence[Any]) -> Path:
    made = openpyxl.Workbook()
    assert made.active is not None
    for row in rows:
        made.active.append(row)
    made.save(path)
    return path


def read(tmp_path: Path, *rows: Sequence[Any]) -> pl.DataFrame:
    return read_sheet(book(tmp_path / "book.xlsx", *rows), None)


def test_cells_are_the_text_that_a_csv_file_would_have(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        ["age", "share", "zip", "born", "seen", "at", "well"],
        [30, 0.25, "02110", datetime.date(1970, 1, 2), NOON, datetime.time(8, 30), True],
        [31.0, 1e-3, None, MIDNIGHT, MIDNIGHT, datetime.time(9), False],
    )
    assert found.rows() == [
        ("30", "0.25", "02110", "1970-01-02", "2020-01-02 12:30:00", "08:30:00", "true"),
        ("31", "0.001", None, "2020-01-03", "2020-01-03 00:00:00", "09:00:00", "false"),
    ]


def test_numbers_keep_every_digit_and_texts_stay_as_they_were_typed(tmp_path: Path) -> None:
    """Numbers, and texts that look like numbers, also in one column; the library has nine digits after the point."""
    numbers = [0.1234567890123456, 6e-10, -2.5e-13, 5e-324, 1234567.12345678, 1 / 3, 0.25, 12]
    texts = ["0.12345678901234567890", "007", "9007199254740993", "1e-12", "0", "true", "-0", "1.50"]
    found = read(tmp_path, ["number", "text", "mixed"], *zip(numbers, texts, numbers[:4] + texts[:4], strict=True))
    assert [float(text) for text in found["number"]] == [float(f"{number:.16g}") for number in numbers]
    assert found["number"].to_list()[-2:] == ["0.25", "12"]
    assert found["text"].to_list() == texts
    assert [float(text) for text in found["mixed"][:4]] == [float(f"{number:.16g}") for number in numbers[:4]]
    assert found["mixed"].to_list()[4:] == texts[:4]


def test_empty_rows_and_columns_are_left_out(tmp_path: Path) -> None:
    found = read(tmp_path, [], [None, "a", None, " b "], [], [None, 1, None, "x"], [None, "", None, None], [None, 2])
    assert found.to_dict(as_series=False) == {"a": ["1", "2"], "b": ["x", None]}


@pytest.mark.parametrize("n_titles", [1, 2])
def test_titles_above_the_header_are_left_out(tmp_path: Path, n_titles: int) -> None:
    found = read(tmp_path, *[["Title"]] * n_titles, ["a", "b"], [1, 2], [3, 4])
    assert found.to_dict(as_series=False) == {"a": ["1", "3"], "b": ["2", "4"]}


def test_the_index_of_a_data_frame_has_no_name(tmp_path: Path) -> None:
    found = read(tmp_path, [None, "a"], [0, "x"], [1, "y"])
    assert found.columns == ["", "a"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([["a", None, "c"], [SECRET, 2, 3], [SECRET, 5, 6]], "leaves 1 of its 3 columns without a name"),
        ([["group", None], ["a", 1], [SECRET, 2]], "leaves 1 of its 2 columns without a name"),
        ([["a", "a"], [SECRET, 2]], "more than one column of the same name"),
        ([], "has no cells"),
    ],
)
def test_a_header_with_gaps_is_refused(tmp_path: Path, rows: list[list[Any]], words: str) -> None:
    with pytest.raises((FileError, SchemaError), match=words) as caught:
        read(tmp_path, *rows)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("n_bytes", [40, 2000, 4500])
def test_a_damaged_workbook_is_refused(tmp_path: Path, n_bytes: int) -> None:
    path = book(tmp_path / "book.xlsx", ["a"], *[[f"{SECRET}{i}"] for i in range(100)])
    path.write_bytes(path.read_bytes()[:n_bytes])
    with pytest.raises(InputError, match="cannot be read") as caught:
        read_sheet(path, None)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("n_rows", [1, 30_000])
def test_formulas_without_results_are_refused(tmp_path: Path, n_rows: int) -> None:
    """A program that only writes a workbook computes nothing; the cells would be read as missing."""
    path = book(tmp_path / "book.xlsx", ["a", "b"], *[[i, f"=A{i + 2}+1"] for i in range(n_rows)])
    with pytest.raises(FileError, match=f"{n_rows} formulas in book.xlsx have no results"):
        read_sheet(path, "Sheet")


def test_formulas_with_results_are_read_even_if_the_result_is_an_empty_text(tmp_path: Path) -> None:
    made = xlsxwriter.Workbook(tmp_path / "book.xlsx")
    sheet = made.add_worksheet("Data")
    sheet.write_row(0, 0, ["a", "b"])
    for number, result in enumerate([7, "nothing", "x", 0], 1):
        sheet.write_number(number, 0, number)
        sheet.write_formula(number, 1, "=IF(A1,1,2)", None, result)
    made.close()
    with zipfile.ZipFile(tmp_path / "book.xlsx") as written, zipfile.ZipFile(tmp_path / "empty.xlsx", "w") as changed:
        for name in written.namelist():
            changed.writestr(name, written.read(name).replace(b"<v>nothing</v>", b"<v></v>"))
    assert read_sheet(tmp_path / "empty.xlsx", None)["b"].to_list() == ["7", None, "x", "0"]


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'betalike\[excel\]'"):
        read(tmp_path, ["a"], [1])


def test_rows_without_any_cell_are_refused_because_they_would_be_lost(tmp_path: Path) -> None:
    rows = pl.DataFrame({"age": [None, "20", None], "city": [None, "Rom", "Ulm"]})
    with pytest.raises(SchemaError, match="1 rows of the release have no cell"):
        write_sheet(rows, tmp_path / "book.xlsx")
    write_sheet(rows[1:], tmp_path / "book.xlsx")
    assert read_typed_sheet(tmp_path / "book.xlsx").equals(rows[1:])


def test_a_column_without_any_cell_prints_nothing(tmp_path: Path) -> None:
    """In a process of its own: pytest has handlers for what libraries report."""
    write_sheet(pl.DataFrame({"age": [None, None], "city": ["Rom", "Ulm"]}), tmp_path / "book.xlsx")
    code = "import sys; from pathlib import Path; from betalike.io.excel_files import read_typed_sheet as read; "
    words = [sys.executable, "-c", f"{code}read(Path(sys.argv[1]))", str(tmp_path / "book.xlsx")]
    done = subprocess.run(words, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_numbers_with_spaces_around_them_are_numbers(tmp_path: Path) -> None:
    """As a package of R writes them, to align columns."""
    path = book(tmp_path / "book.xlsx", ["age", "text"], [30, " 41"], [31, "x"])
    with zipfile.ZipFile(path) as made:
        files = {name: made.read(name) for name in made.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    assert b"<v>30</v>" in files[sheet]
    files[sheet] = files[sheet].replace(b"<v>30</v>", b"<v> 30 </v>")
    with zipfile.ZipFile(path, "w") as made:
        for name, content in files.items():
            made.writestr(name, content)
    assert read_sheet(path, None).to_dict(as_series=False) == {"age": ["30", "31"], "text": [" 41", "x"]}
    files[sheet] = files[sheet].replace(b"<v> 30 </v>", b"<v> 3 0 </v>")
    with zipfile.ZipFile(path, "w") as made:
        for name, content in files.items():
            made.writestr(name, content)
    with pytest.raises(FileError, match="cannot be read; it is damaged"):
        read_sheet(path, None)


def test_older_workbooks_of_excel_are_read(tmp_path: Path) -> None:
    xlwt = pytest.importorskip("xlwt", reason="xlwt, which writes .xls files, is not installed")
    made = xlwt.Workbook()
    sheet, date = made.add_sheet("Patients"), xlwt.easyxf(num_format_str="DD.MM.YYYY")
    made.add_sheet("Empty")
    for place, name in enumerate(["born", "height", "zip", "well", "seen"]):
        sheet.write(0, place, name)
    sheet.write(1, 0, datetime.date(1970, 1, 2), date)
    for place, cell in enumerate([1.75, "02110", True], 1):
        sheet.write(1, place, cell)
    sheet.write(2, 1, 2)
    sheet.write(2, 4, NOON, xlwt.easyxf(num_format_str="DD.MM.YYYY HH:MM"))
    made.save(str(tmp_path / "book.xls"))
    found = read_sheet(tmp_path / "book.xls", None)
    assert found.columns == ["born", "height", "zip", "well", "seen"]
    assert found.rows() == [
        ("1970-01-02", "1.75", "02110", "true", None),
        (None, "2", None, None, "2020-01-02 12:30:00"),
    ]


def test_damage_that_ends_the_process_of_the_reader_is_refused(tmp_path: Path) -> None:
    xlwt = pytest.importorskip("xlwt", reason="xlwt, which writes .xls files, is not installed")
    made, path = xlwt.Workbook(), tmp_path / "book.xls"
    sheet = made.add_sheet("Patients")
    for row, cells in enumerate([("age", "height"), *((30 + n, n / 3) for n in range(1, 40))]):
        for place, cell in enumerate(cells):
            sheet.write(row, place, cell)
    made.save(str(path))
    whole = path.read_bytes()
    number = whole.rfind(b"\x03\x02\x0e\x00")  # the record of a number becomes one of the size of the sheet
    path.write_bytes(whole[:number] + b"\x00" + whole[number + 1 :])
    with pytest.raises(FileError, match="cannot be read; it is damaged"):
        read_sheet(path, None)


def test_damage_that_makes_the_reader_panic_is_refused_without_its_words(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    header = OLE + bytes(16) + struct.pack("<HHHH", 0x3E, 3, 0xFFFE, 9)
    header += struct.pack("<H", 6) + bytes(10) + struct.pack("<IIIIIIIII", 1, 1, 0, 4096, 2, 0, 0xFFFFFFFE, 0, 0)
    table = struct.pack("<I", 0xFFFFFFFD) + struct.pack("<I", 0xFFFFFFFE) + b"\xff" * 504
    path = tmp_path / "book.xls"
    path.write_bytes(header.ljust(512, b"\xff") + table + bytes(56))  # the list of parts ends too soon
    with pytest.raises(FileError, match="cannot be read; it is damaged"):
        read_sheet(path, None)
    assert capfd.readouterr() == ("", "")
