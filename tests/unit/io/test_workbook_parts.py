"""Published workbooks have the parts that are known, and only these; tests/tampering adds others."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from betalike.io.excel_files import write_sheet
from betalike.io.workbook_parts import KNOWN, check_parts, usual_parts

TEXTS = [" a ", "b\nc", "<d>&\"'", "=1+1", "", "é", "x_x0041_", "r", None, "<!-- -->"]


def test_the_parts_are_those_of_earlier_versions() -> None:
    """If a new XlsxWriter makes others, the digests of both are known from then on."""
    assert usual_parts() == KNOWN


@pytest.mark.parametrize("n_rows", [1, 9, 5000])
def test_what_is_written_has_nothing_more(tmp_path: Path, n_rows: int) -> None:
    rows = pl.DataFrame(
        {
            "number": list(range(n_rows)),
            "<name>": [TEXTS[n % len(TEXTS)] for n in range(n_rows)],
            "real": [(-1) ** n * n / 7 * 10.0 ** (n % 40 - 20) if n % 5 else None for n in range(n_rows)],
            "range": [f"[{n}, {n + 3}]" for n in range(n_rows)],
            **{f"c{n}": [n] * n_rows for n in range(30)},
        }
    )
    write_sheet(rows, tmp_path / "book.xlsx")
    check_parts(tmp_path / "book.xlsx")
