"""Codes for missing values: the same cells become missing in every kind of table."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from betalike.io.missing_codes import without_codes
from betalike.io.tables import load, read_text

COLUMNS = [
    (pl.Series("x", [1, -9, 99]), [1, None, 99]),
    (pl.Series("x", [1.5, -9.0, -9.5]), [1.5, None, -9.5]),
    (pl.Series("x", [1, -9, 99], dtype=pl.Int8), [1, None, 99]),
    (pl.Series("x", [1, 2, 3], dtype=pl.UInt8), [1, 2, 3]),
    (pl.Series("x", [Decimal("1.50"), Decimal("-9.00")]), [Decimal("1.50"), None]),
    (pl.Series("x", ["NA", "-9", "-9.0", "na", "-09"]), [None, None, None, "na", "-09"]),
    (pl.Series("x", ["-9.00", "-9,0", "-9.01", "-90", "-9."]), [None, None, "-9.01", "-90", "-9."]),
    (pl.Series("x", ["NA", "b"], dtype=pl.Categorical), [None, "b"]),
    (pl.Series("x", [[1], [2]]), [[1], [2]]),
]


@pytest.mark.parametrize(("column", "expected"), COLUMNS, ids=[str(column.dtype) for column, _ in COLUMNS])
def test_codes_become_missing(column: pl.Series, expected: list[object]) -> None:
    found = without_codes(column.to_frame(), ["NA", "-9"])["x"]
    assert found.to_list() == expected
    assert found.dtype == column.dtype
    assert without_codes(column.to_frame().lazy(), ["NA", "-9"]).collect()["x"].to_list() == expected


def test_every_source_loses_the_same_cells(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1.5, -9.0, None], "b": ["NA", "x", "-9"], "c": [-9, 1, 2]})
    money = pl.DataFrame({"a": [Decimal("1.50"), Decimal("-9.00")]})
    money.write_csv(tmp_path / "money.csv")
    assert load(tmp_path / "money.csv", missing=["-9"])["a"].to_list() == [1.5, None]
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    expected = [(1.5, None, None), (None, "x", 1), (None, None, 2)]
    codes = ["NA", "-9"]
    for name in ("t.csv", "t.parquet"):
        assert load(tmp_path / name, missing=codes).rows() == expected
    assert read_text(frame, None, codes, None).rows() == expected
    assert read_text(frame.to_pandas(), None, codes, None).rows() == expected
