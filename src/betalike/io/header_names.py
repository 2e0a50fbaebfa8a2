"""Whether the names of a CSV file's columns may be the cells of its first row, which nobody may see."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

from betalike.errors import BetalikeError, FileError
from betalike.io.csv_text import SAMPLE_BYTES, file_pieces, recognize_delimiter
from betalike.io.sources import shown_name
from betalike.io.text_encoding import decode_text

NUMBER = re.compile(r"\s*[+-]?(\d[\d., ]*|\d*[.,]\d+)([eE][+-]?\d+)?\s*%?\s*")
MOMENT = re.compile(
    r"\s*\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T].*)?\s*|\s*\d{4}-(0[1-9]|1[0-2])\s*|\s*\d{1,2}:\d{2}(:\d{2})?.*"
)
STRANGE = "empty, a number, a date, or a value of the column itself"


def check_header(file: Path, shown: str, delimiter: str | None) -> list[str]:
    """Refuse a CSV file if most of its columns have names like cells, and return a warning if a few have."""
    rows = _first_rows(file, delimiter)
    if not rows:
        return []
    columns = zip(rows[0], zip(*rows[1:], strict=True) if rows[1:] else [()] * len(rows[0]), strict=True)
    n_strange = sum(_is_like_a_cell(name, place, cells) for place, (name, cells) in enumerate(columns))
    if not n_strange:
        return []
    counted = f"{n_strange} of its {len(rows[0])} columns"
    if 2 * n_strange > len(rows[0]):
        raise FileError(
            f"{shown} seems to have no header line: {counted} have in its first line what is {STRANGE}. Add a line "
            "with the names of the columns."
        )
    has = "has" if n_strange == 1 else "have"
    return [f"{counted} {has} a name that is {STRANGE}; if {shown} has no header line, add one with the names"]


def _first_rows(file: Path, delimiter: str | None) -> list[list[str]]:
    """Return the cells of the first whole rows; nothing for a file that cannot be read, which reading it reports."""
    beginning = b""
    with contextlib.suppress(BetalikeError, csv.Error):
        for piece in file_pieces(file):
            beginning += piece
            if len(beginning) >= SAMPLE_BYTES:
                break
        name = shown_name(file)
        text = decode_text(beginning[:SAMPLE_BYTES], name)
        sign = recognize_delimiter(text.encode(), name, delimiter)
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=sign))
        is_whole = len(beginning) < SAMPLE_BYTES
        rows = [line for line in (lines if is_whole else lines[:-1]) if line]
        return [row for row in rows if len(row) == len(rows[0])]
    return []


def _is_like_a_cell(name: str, place: int, cells: Sequence[str]) -> bool:
    if not name.strip():
        return place > 0  # the first column may be the index of a data frame, which has no name
    return bool(NUMBER.fullmatch(name) or MOMENT.fullmatch(name)) or name in cells
