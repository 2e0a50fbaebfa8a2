"""What quotes and empty fields of a CSV file mean."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from betalike.io.tables import load, scan_table

QUOTED_WORD = "n;s\n1;'quoted'\n2;plain\n3;[1, 2]\n"
QUOTED_ALWAYS = "n;s\n1;'a'\n2;'b'\n"


def both(path: Path) -> list[pl.DataFrame]:
    """The table read into memory, and in batches."""
    return [load(path), scan_table(path, None, (), (), None).table.collect()]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (QUOTED_WORD, ["'quoted'", "plain", "[1, 2]"]),
        (QUOTED_ALWAYS, ["'a'", "'b'"]),
    ],
)
def test_single_quotes_are_part_of_a_value(text: str, values: list[str], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    for frame in both(path):
        assert frame["s"].to_list() == values


def test_an_empty_field_is_missing_quoted_or_not(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('"n","s","x"\n"1","","1.5"\n"","a",\n3,,""\n')
    for frame in both(path):
        assert frame.rows() == [(1, None, 1.5), (None, "a", None), (3, None, None)]
