"""Exact rows and what lies beside them reach every reader: values with odd characters, rows of missing values."""

from __future__ import annotations

import csv

import pandas as pd
import polars as pl
import pytest

import betalike
from betalike.errors import InfeasibleError

TABLE = pl.DataFrame({"age": [None, 30, None, 40] * 30, "secret": ["flu", "cr\rhere", "crlf\r\nhere"] * 40})


@pytest.mark.parametrize("kind", [pl.Int64, pl.Float64, pl.String])
def test_a_row_that_is_a_missing_value_alone_is_no_blank_line(tmp_path, kind, engine):
    table = TABLE.with_columns(pl.col("age").cast(kind))
    arguments = {"quasi_identifiers": ["age"], "sensitive": "secret", "beta": 2, "scheme": "baseline", "seed": 1}
    betalike.publish(table.lazy(), out=tmp_path / "out", engine=engine, **arguments)
    path = tmp_path / "out" / "published.csv"
    with path.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    assert [len(row) for row in rows] == [1] * 120
    assert pd.read_csv(path)["age"].isna().sum() == 60  # pandas, like others, skips blank lines
    assert betalike.verify(tmp_path / "out", original=table).to_dict()["holds"]


@pytest.mark.parametrize("scheme", ["perturb", "baseline"])
def test_values_with_carriage_returns_are_read_back_from_the_files_beside(tmp_path, scheme):
    arguments = {"quasi_identifiers": ["age"], "sensitive": "secret", "beta": 2, "scheme": scheme, "seed": 1}
    betalike.publish(TABLE, out=tmp_path / "out", **arguments)
    assert betalike.verify(tmp_path / "out", original=TABLE).to_dict()["holds"]


def test_a_cap_without_any_room_is_infeasible_and_not_a_bug(tmp_path):
    arguments = {"quasi_identifiers": ["age"], "sensitive": "secret", "scheme": "perturb"}
    with pytest.raises(InfeasibleError, match="baseline"):
        betalike.publish(TABLE, out=tmp_path / "out", cap=lambda share: share, **arguments)
    assert not (tmp_path / "out").exists()
