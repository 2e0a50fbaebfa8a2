"""Workbooks, SPSS and Stata files: what they give back changed is refused, with the reason; all else comes back."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from betalike.engines.engine import Format
from betalike.engines.formats import read_held
from betalike.engines.streams import Stream, sink
from betalike.errors import SchemaError

KEPT = [
    " flu",
    "a\nb",
    "a\tb",
    "_x000D_",
    "emoji 😷",
    "é" * 1000,
    '"',
    "x" * 300,
    ".",
    "NA",
    "TRUE",
    "=1+1",
    "'a",
    "#N/A",
]
KEPT += ["2020-01-01", "1.10", "007", "a\u00a0b"]
NASTY = {
    "flu ": "end with a space",
    " ": "end with a space",
    "a\x00b": "a NUL character",
    "a\ufffeb": "control characters",
    "a\x01b": "control characters",
    "a\rb": "of the kind CR",
    "x" * 33_000: "longer than",
}
HELD = [Format.EXCEL, Format.SPSS, Format.STATA]


def write_and_read(values: list[object], path: Path, form: Format) -> list[object]:
    sink(Stream.of(pl.DataFrame({"number": range(len(values)), "text": values})), path, form)
    return read_held(path, form)["text"].to_list()


@pytest.mark.some(2)
@pytest.mark.parametrize("form", HELD)
def test_texts_come_back(tmp_path: Path, form: Format) -> None:
    values = [*KEPT, None, "flu"]
    assert write_and_read(values, tmp_path / f"table.{form.ending}", form) == values


@pytest.mark.parametrize("form", HELD)
@pytest.mark.parametrize("text", NASTY)
def test_a_text_comes_back_or_is_refused_with_the_reason(tmp_path: Path, form: Format, text: str) -> None:
    values: list[object] = ["flu", text, "cough"]
    found, refusal = values, ""
    try:
        found = write_and_read(values, tmp_path / f"table.{form.ending}", form)
    except SchemaError as error:
        refusal = str(error)
    assert found == values
    assert not refusal or (NASTY[text] in refusal and "csv or parquet" in refusal and text not in refusal.split())


def test_spaces_at_the_end_are_lost_in_spss_and_long_texts_in_stata(tmp_path: Path) -> None:
    words = "a sav file does not hold every value of the column 'text': 1 rows would come back with another one"
    with pytest.raises(SchemaError, match=words):
        write_and_read(["flu", "flu "], tmp_path / "table.sav", Format.SPSS)
    with pytest.raises(SchemaError, match="2 cells of the column 'text' are longer than 2045 bytes"):
        write_and_read(["é" * 1023, "x" * 2046], tmp_path / "table.dta", Format.STATA)
    assert write_and_read(["flu", "flu "], tmp_path / "table.dta", Format.STATA) == ["flu", "flu "]
