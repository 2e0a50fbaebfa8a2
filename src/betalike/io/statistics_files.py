"""SPSS, Stata and SAS files: their codes, what the codes mean, and values that their owner declared missing."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import polars as pl

from betalike.errors import FileError, SchemaError, extra_needed
from betalike.io.copies import ValueLabels
from betalike.io.damaged_files import compiled_code_silenced, ends_its_reader
from betalike.io.sources import shown_name
from betalike.io.stored_numbers import as_whole, storable

SPSS, STATA, SAS, TRANSPORT = "SPSS", "Stata", "SAS", "SAS transport"
READERS = {SPSS: "read_sav", STATA: "read_dta", SAS: "read_sas7bdat", TRANSPORT: "read_xport"}
WRITERS = {SPSS: "write_sav", STATA: "write_dta"}
READING = "reading SPSS, Stata and SAS files"
DAMAGED = "{} looks like a file of {}, but cannot be read; it is damaged or cut off."
ATTEMPT = """
import sys, pyreadstat
getattr(pyreadstat, sys.argv[2])(sys.argv[1], metadataonly=True, output_format="dict")  # a frame might need pandas
"""
WESTERN = "WINDOWS-1252"  # of older files that do not say their encoding
LONGEST_TEXT = {SPSS: 32_767, STATA: 2045}  # bytes of a cell
LAST_OF_STATA = b"</stata_dta>"


def read_statistics(path: Path, kind: str, with_labels: bool = False) -> tuple[pl.DataFrame, ValueLabels]:
    """Read a file into memory, and what its codes mean; `with_labels` puts the meanings in place of the codes.

    Values that the file declares missing are missing. All numbers are stored as real ones; a column without fractions
    becomes whole. An empty text is missing, because these formats have no other form of it.
    """
    name = shown_name(path)
    with extra_needed("stats", READING):
        import pyreadstat
    if ends_its_reader(path, ATTEMPT, READERS[kind]):
        raise FileError(DAMAGED.format(name, kind))
    read = getattr(pyreadstat, READERS[kind])
    frame, facts = _read(read, path, DAMAGED.format(name, kind))
    if (facts.number_rows is not None and facts.number_rows != frame.height) or _is_cut_off(path):
        raise FileError(DAMAGED.format(name, kind))
    frame = frame.with_columns(pl.col(pl.String).replace("", None))
    frame = frame.with_columns(as_whole(column) for column in frame)
    labels = {column: meanings for column, meanings in facts.variable_value_labels.items() if column in frame.columns}
    if with_labels:
        return frame.with_columns(_labelled(frame[column], meanings) for column, meanings in labels.items()), {}
    return frame, labels


def _read(read: Any, path: Path, damaged: str) -> tuple[pl.DataFrame, Any]:
    """Read a file in the encoding that it names, or else as Western text."""
    for encoding in (None, WESTERN):
        try:
            with compiled_code_silenced(), warnings.catch_warnings(action="ignore"):
                frame, facts = read(path, output_format="polars", encoding=encoding)
        except MemoryError:
            raise
        except Exception:  # the library's words may show a cell
            continue
        return frame, facts
    raise FileError(damaged) from None


def _is_cut_off(path: Path) -> bool:
    """Return whether a newer Stata file lacks its end; the library would leave out what the codes mean."""
    with path.open("rb") as file:
        if not file.read(len(LAST_OF_STATA)).startswith(b"<stata_dta>"):
            return False
        file.seek(-len(LAST_OF_STATA), 2)
        return file.read() != LAST_OF_STATA


def _labelled(column: pl.Series, meanings: Any) -> pl.Series:
    """Return what each code means; a code without a meaning stays as it is."""
    texts = {_code_text(code, column.dtype): text for code, text in meanings.items()}
    return column.cast(pl.String).replace(texts)


def _code_text(code: Any, dtype: pl.DataType) -> str:
    """Return a code as the text that a column of this type has for it."""
    if isinstance(code, int | float) and dtype.is_integer():
        return str(int(code))
    return str(float(code)) if isinstance(code, int | float) else str(code)


def write_statistics(frame: pl.DataFrame, path: Path, kind: str, value_labels: ValueLabels) -> None:
    """Write a file, with the meanings of those codes that occur in it."""
    with extra_needed("stats", "writing SPSS and Stata files"):
        import pyreadstat
    stored = storable(frame)
    _check_lengths(stored, kind)
    coded = {name: _occurring(stored[name], of) for name, of in value_labels.items() if name in stored.columns}
    meanings = {name: of for name, of in coded.items() if of and (kind != STATA or stored[name].dtype == pl.Int64)}
    try:
        write = getattr(pyreadstat, WRITERS[kind])
        write(stored, path, variable_value_labels=meanings or None)
    except (MemoryError, OSError):
        raise
    except Exception:  # the library's words may show a cell
        raise SchemaError(
            f"a file of {kind} cannot hold this release: its writer gives no reason. Publish csv or parquet."
        ) from None


def _check_lengths(stored: pl.DataFrame, kind: str) -> None:
    """Refuse texts that are longer than a program takes, which it would cut off."""
    for column in stored:
        n_long = int((column.str.len_bytes() > LONGEST_TEXT[kind]).sum()) if column.dtype == pl.String else 0
        if n_long:
            raise SchemaError(
                f"{n_long} cells of the column '{column.name}' are longer than {LONGEST_TEXT[kind]} bytes, the most "
                f"that a file of {kind} holds. Publish csv or parquet, or leave the column out."
            )


def _occurring(column: pl.Series, meanings: Any) -> dict[Any, str]:
    """Return the meanings of codes that occur; text has none in these files."""
    if not column.dtype.is_numeric():
        return {}
    codes = {code: code for code in column.drop_nulls().unique()}  # as the column has them
    return {codes[code]: text for code, text in meanings.items() if code in codes}
