"""Tables on Spark with more cells, or more values of a column, than the driver takes: they are refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from contract import quick_session

from betalike.engines.spark.engine import SparkEngine
from betalike.errors import InputError
from betalike.table.schema import Attribute, Role, Schema

pytestmark = pytest.mark.xdist_group("spark")
N_ROWS = 400


@pytest.fixture
def engine(tmp_path: Path) -> SparkEngine:
    table = pl.DataFrame(
        {
            "height": [150 + row % 40 for row in range(N_ROWS)],
            "name": [f"name {row}" for row in range(N_ROWS)],
            "illness": ["flu", "gout"] * (N_ROWS // 2),
        }
    )
    table.write_parquet(tmp_path / "table.parquet", compression="snappy")
    columns = tuple(Attribute(name, Role.QUASI_IDENTIFIER) for name in ("height", "name"))
    rows = quick_session().read.parquet((tmp_path / "table.parquet").as_uri())
    return SparkEngine(rows, Schema(columns, Attribute("illness", Role.SENSITIVE)), most_cells=100)


def test_too_many_cells_are_refused_with_the_columns_that_have_most_values(engine: SparkEngine) -> None:
    with pytest.raises(InputError, match=r"more than 100 .*: 'name' \(about \d+\), 'height' \(about \d+\).*--engine"):
        engine.count_cells()


def test_too_many_values_of_a_column_are_refused(engine: SparkEngine) -> None:
    with pytest.raises(InputError, match="the column 'name' has more than 100 distinct values"):
        engine.count_values()
