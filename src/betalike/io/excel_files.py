"""Excel and OpenDocument workbooks: a sheet read as text, for the one rule that finds types."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from betalike.errors import BetalikeError, FileError, ParameterError, SchemaError, extra_needed, suggestion
from betalike.io.damaged_files import compiled_code_silenced
from betalike.io.sources import shown_name
from betalike.io.stored_numbers import as_whole, storable
from betalike.io.workbook_formulas import count_open_formulas
from betalike.io.workbook_numbers import with_plain_numbers
from betalike.io.workbook_size import check_size

READING = "reading Excel and OpenDocument workbooks"
DAMAGED = "{} is a workbook that cannot be read; it is damaged, cut off, or protected by a password."
MOMENT, MIDNIGHT, EPOCH = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$", " 00:00:00", r"^1899-12-3[01] "
LONGEST_TEXT = 32_767  # characters of a cell
DECIMAL = r"^-?[0-9]+(\.[0-9]+)?$"
NUMBER = re.compile(r"[-+]?[\d.,]+([eE][-+]?\d+)?")
# The library reports a column without any cell. Nobody can act on that, so it is not printed on standard error.
logging.getLogger("fastexcel").addHandler(logging.NullHandler())


def read_sheet(path: Path, sheet: str | None, memory: str | int | None = None) -> pl.DataFrame:
    """Read a sheet with all cells as text: dates in ISO form, whole numbers without decimals.

    Empty rows and columns are left out, and so is a title above the header. An error in a cell is a missing value.
    What the file takes counts as memory, of which most of what is free may be used if no limit is given.
    """
    name = shown_name(path)
    with extra_needed("excel", READING):
        import fastexcel
    is_wide = check_size(path, memory)
    with _damage_refused(name):
        book = fastexcel.read_excel(path)
        known = book.sheet_names
        if sheet is not None and sheet not in known:
            raise ParameterError(
                f"{name} has no sheet '{sheet}'. It has: {', '.join(known)}.{suggestion(sheet, known)}"
            )
        wanted = known if sheet is None else [sheet]
        try:
            cells = {each: _cells(book, each) for each in wanted}
        except fastexcel.CalamineError:  # which numbers with spaces around them cause, too
            plain = None if is_wide else with_plain_numbers(path)
            if plain is None:
                raise
            book = fastexcel.read_excel(plain)
            cells = {each: _cells(book, each) for each in wanted}
        sheet = _only([each for each, filled in cells.items() if filled.height], name)
    n_open = count_open_formulas(path, sheet)
    if n_open:
        raise FileError(
            f"{n_open} formulas in {name} have no results, and their cells would be read as missing values. Open the "
            "file in a spreadsheet program and save it."
        )
    return _as_table(cells[sheet], name)


def _only(sheets: Sequence[str], file_name: str) -> str:
    """Return the only sheet that has cells."""
    if not sheets:
        raise FileError(f"{file_name} has no cells; a table needs a header row and at least one row.")
    if len(sheets) > 1:
        raise ParameterError(f"{file_name} has {len(sheets)} sheets: {', '.join(sheets)}. Name one with --sheet.")
    return sheets[0]


def _cells(book: Any, sheet: str) -> pl.DataFrame:
    """Return all cells of a sheet as text, without empty rows and columns."""
    cells: pl.DataFrame = book.load_sheet(sheet, header_row=None, dtypes="string").to_polars()
    numbers: pl.DataFrame = book.load_sheet(sheet, header_row=None, dtypes="float").to_polars()
    cells = cells.select(_every_digit(cells[name], numbers[name]) for name in cells.columns)
    cells = cells.with_columns(pl.all().replace("", None))
    cells = cells.select(column for column in cells if column.null_count() < len(column))
    return cells.filter(~pl.all_horizontal(pl.all().is_null())) if cells.width else cells


def _every_digit(texts: pl.Series, numbers: pl.Series) -> pl.Series:
    """Return the cells of a column with every digit of its numbers: the library's text of a number ends after nine."""
    is_cut = texts.str.contains(DECIMAL) & (texts.cast(pl.Float64, strict=False) != numbers)
    return numbers.cast(pl.String).zip_with(is_cut.fill_null(False), texts).alias(texts.name)


@contextlib.contextmanager
def _damage_refused(name: str) -> Iterator[None]:
    """Refuse a damaged file; the reader has errors of its own, whose words may show a cell, and may panic."""
    try:
        with compiled_code_silenced():
            yield
    except (BetalikeError, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise  # an interrupt
        raise FileError(DAMAGED.format(name)) from None


def _as_table(cells: pl.DataFrame, name: str) -> pl.DataFrame:
    """Take the first row that is not a title as the header."""
    first = next(place for place in range(cells.height) if not _is_title(cells, place))
    header = [text.strip() if text is not None else "" for text in cells.row(first)]
    n_unnamed = header[1:].count("")  # the first column may be the index of a data frame, which has no name
    if n_unnamed:
        raise FileError(
            f"the header row of {name} leaves {n_unnamed} of its {len(header)} columns without a name, as merged cells "
            "do. Give every column a name, in one row."
        )
    if len(set(header)) < len(header):
        raise SchemaError(f"{name} has more than one column of the same name. Give each column a different name.")
    rows = cells.slice(first + 1).rename(dict(zip(cells.columns, header, strict=True)))
    return rows.select(_short_dates(column) for column in rows)


def _is_title(cells: pl.DataFrame, place: int) -> bool:
    """Return whether a row is a title: one cell at the left, above a row with a name for every column."""
    row = cells.row(place)
    if place + 2 >= cells.height or row[0] is None or len(row) < 2 or any(cell is not None for cell in row[1:]):
        return False
    below = cells.row(place + 1)
    is_header = all(cell is not None and not NUMBER.fullmatch(cell.strip()) for cell in below)
    return is_header or _is_title(cells, place + 1)


def _short_dates(column: pl.Series) -> pl.Series:
    """Return dates without a time if none has one, and times of day without a date."""
    moments = column.filter(column.str.contains(MOMENT).fill_null(False))
    if not len(moments):
        return column
    if moments.str.contains(EPOCH).all():
        return column.str.replace(EPOCH, "")
    return column.str.strip_suffix(MIDNIGHT) if moments.str.ends_with(MIDNIGHT).all() else column


def read_typed_sheet(path: Path) -> pl.DataFrame:
    """Read the only sheet of a workbook that betalike wrote: each column is text, whole or real numbers."""
    with extra_needed("excel", READING):
        import fastexcel
    check_size(path)
    with _damage_refused(path.name):
        book = fastexcel.read_excel(path)
        frame: pl.DataFrame = book.load_sheet(0, header_row=0, schema_sample_rows=None).to_polars()
        frame = frame.with_columns(pl.col(pl.Null).cast(pl.String), pl.col(pl.Boolean).cast(pl.String))
        return frame.with_columns(as_whole(column) for column in frame)


def write_sheet(frame: pl.DataFrame, path: Path) -> None:
    """Write a workbook of one sheet: numbers that it holds exactly as numbers, all else as text, never as a formula."""
    with extra_needed("excel", "writing workbooks"):
        import xlsxwriter
    stored = storable(frame, _is_exact)
    for column in stored:
        n_long = int((column.str.len_chars() > LONGEST_TEXT).sum()) if column.dtype == pl.String else 0
        if n_long:
            raise SchemaError(
                f"{n_long} cells of the column '{column.name}' are longer than {LONGEST_TEXT} characters, the most "
                "that a workbook holds. Publish csv or parquet, or leave the column out."
            )
    n_empty = stored.select(pl.all_horizontal(pl.all().is_null()).sum()).item()
    if n_empty:
        raise SchemaError(
            f"{n_empty} rows of the release have no cell that is not missing, and programs that read a workbook leave "
            "out empty rows. Publish csv or parquet."
        )
    book = xlsxwriter.Workbook(path, {"constant_memory": True, "tmpdir": str(path.parent)})
    sheet = book.add_worksheet("published")
    for place, name in enumerate(stored.columns):
        sheet.write_string(0, place, name)
    writers = [sheet.write_string if dtype == pl.String else sheet.write_number for dtype in stored.dtypes]
    for number, row in enumerate(stored.iter_rows(), 1):
        for place, cell in enumerate(row):
            if cell is not None:
                writers[place](number, place, cell)
    book.close()


def _is_exact(numbers: pl.Series) -> bool:
    """Return whether a workbook has as many digits as these numbers, which are written with sixteen of them."""
    return all(float(f"{number:.16G}") == number for number in numbers.unique().drop_nulls())
