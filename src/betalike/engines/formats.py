"""The formats of a release: which there are, what each can hold, and those that are written and read at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from betalike.engines.engine import Format
from betalike.errors import InputError, ParameterError, SchemaError
from betalike.io.copies import ValueLabels
from betalike.io.excel_files import read_typed_sheet, write_sheet
from betalike.io.statistics_files import SPSS, STATA, read_statistics, write_statistics
from betalike.promises.parameters import unknown

MOST_ROWS = {Format.EXCEL: 2**20 - 1, Format.SPSS: 2**31 - 1, Format.STATA: 2**31 - 1}  # below the header
MOST_COLUMNS = {Format.EXCEL: 2**14, Format.SPSS: 2**15 - 1, Format.STATA: 2**15 - 1}
NAMES = {  # what a column may be called, and in words
    Format.SPSS: (r"[^\W\d_][\w.$#@]{,63}", "a letter first, then letters, digits and _, at most 64 bytes"),
    Format.STATA: (r"[A-Za-z_]\w{,31}", "a letter first, then letters, digits and _, at most 32 characters"),
}
KEYWORDS = {  # names that the programs use themselves
    Format.SPSS: {"all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"},
    Format.STATA: {"byte", "double", "float", "if", "in", "int", "long", "strl", "using", "with", "_all", "_n", "_pi"},
}
LOST = {  # texts that some formats change
    r"\x00": "texts with a NUL character",
    r"[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]": "texts with control characters",
    r"\s$": "texts that end with a space or a line end",
    r"\r": "texts with a line end of the kind CR",
}
PROGRAMS = {Format.SPSS: SPSS, Format.STATA: STATA}


def form_for(names: Sequence[str], given: str | None, is_on_spark: bool) -> Format:
    """Return the format for a release of these columns: the one given, or CSV, on Spark Parquet."""
    form = Format.PARQUET if is_on_spark else Format.CSV
    if given is not None:
        form = choose_format(given)
    check_column_names(form, names)
    return form


def choose_format(given: str) -> Format:
    """Return the format of this name."""
    if given not in list(Format):
        raise unknown("format", given, list(Format))
    return Format(given)


def check_column_names(form: Format, names: Iterable[str]) -> None:
    """Refuse columns that a format has no name for."""
    listed = list(names)
    if len(listed) > MOST_COLUMNS.get(form, len(listed)):
        raise SchemaError(f"a {form} file holds at most {MOST_COLUMNS[form]} columns. Publish another format.")
    pattern, words = NAMES.get(form, ("", ""))
    for name in listed if pattern else []:
        is_taken = name.lower() in KEYWORDS[form] or len(name.encode()) > 64
        if is_taken or not re.fullmatch(pattern, name):
            raise SchemaError(
                f"a {form} file has no column '{name}': it needs {words}, and no word of the program. Rename the "
                "column in the table, or publish another format."
            )
    if pattern and len({name.lower() for name in listed}) < len(listed):
        raise SchemaError(f"two columns have names that are the same in a {form} file. Rename one of them.")


def check_rows(form: Format, n_rows: int) -> None:
    """Refuse more rows than a format holds, before any work is done."""
    most = MOST_ROWS.get(form)
    if most is not None and n_rows > most:
        raise ParameterError(
            f"the table has {n_rows} rows, and a {form} file holds at most {most}. Publish csv or parquet."
        )


def cannot_hold(form: Format, column: pl.Series, n_rows: int) -> SchemaError:
    """Return the error for values that do not come back from a format as they were, with the likeliest reason."""
    texts = column.cast(pl.String)
    reasons = [words for pattern, words in LOST.items() if texts.str.contains(pattern).any()]
    reason = f", such as {reasons[0]}" if reasons else ""
    return SchemaError(
        f"a {form} file does not hold every value of the column '{column.name}': {n_rows} rows would come back with "
        f"another one{reason}. Publish csv or parquet, leave the column out, or change these values in the table."
    )


def write_held(frame: pl.DataFrame, path: Path, form: Format, value_labels: ValueLabels) -> None:
    """Write all rows at once; `value_labels` say what the codes of some columns mean."""
    check_column_names(form, frame.columns)
    check_rows(form, frame.height)
    if form is Format.EXCEL:
        write_sheet(frame, path)
    else:
        write_statistics(frame, path, PROGRAMS[form], value_labels)


def read_held(path: Path, form: Format) -> pl.DataFrame:
    """Read all rows at once; OSError for a file that cannot be read."""
    try:
        return read_typed_sheet(path) if form is Format.EXCEL else read_statistics(path, PROGRAMS[form])[0]
    except InputError:
        raise OSError("the file cannot be read") from None
