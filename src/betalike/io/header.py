"""Whether the first line of a CSV file is a header, or a person whose cells nobody may see."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from betalike.errors import FileError
from betalike.io.sources import shown_name, table_files
from betalike.io.tables import CSV, kind_of, load

NUMBER = re.compile(r"\s*[+-]?(\d[\d., ]*|\d*[.,]\d+)([eE][+-]?\d+)?\s*%?\s*")
MOMENT = re.compile(r"\s*\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T].*)?\s*|\s*\d{1,2}:\d{2}(:\d{2})?.*")


def load_described(path: str | Path, delimiter: str | None) -> pl.DataFrame:
    """Read a table to describe it, with its column names; refuse a CSV file whose names look like cells."""
    frame = load(path, delimiter=delimiter)
    if kind_of(table_files(path)[0]) == CSV:
        if delimiter is None and frame.width == 1 and _has_other_delimiter(frame.to_series()):
            raise FileError(
                f"{shown_name(Path(path))} seems to have one column, but the same sign divides all of its lines. Name "
                "the delimiter with --delimiter."
            )
        n_strange = sum(_is_like_a_cell(column, place) for place, column in enumerate(frame))
        if n_strange:
            raise FileError(
                f"{shown_name(Path(path))} seems to have no header line: of the {frame.width} names in its first line, "
                f"{n_strange} {'is' if n_strange == 1 else 'are'} empty, a number, a date, or a value of the column "
                "itself. Add a line with the names of the columns."
            )
    return frame


def _has_other_delimiter(column: pl.Series) -> bool:
    """Return whether a possible delimiter occurs as often in each of the first cells as in the name."""
    cells = column.head(100).cast(pl.String).drop_nulls()
    found = {sign for sign in column.name if not sign.isalnum() and sign != "_"}
    return len(cells) > 0 and any(
        bool((cells.str.count_matches(sign, literal=True) == column.name.count(sign)).all()) for sign in found
    )


def _is_like_a_cell(column: pl.Series, place: int) -> bool:
    name = column.name
    if not name.strip():
        return place > 0  # the first may be the index of a data frame, which has no name
    if NUMBER.fullmatch(name) or MOMENT.fullmatch(name):
        return True
    return column.dtype == pl.String and bool((column == name).any())
