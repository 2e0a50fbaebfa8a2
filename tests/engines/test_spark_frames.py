"""Spark frames go in, and Spark frames come out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pyspark.sql
import pytest
from contract import quick_session

import betalike
from betalike.datasets import census_like

pytestmark = pytest.mark.xdist_group("spark")
ASKED: dict[str, Any] = {"quasi_identifiers": ["age", "gender"], "sensitive": "salary_class", "beta": 4, "seed": 1}


@pytest.fixture
def frame(tmp_path: Path) -> pyspark.sql.DataFrame:
    census_like(2000, seed=1).write_parquet(tmp_path / "table.parquet", compression="snappy")
    return quick_session().read.parquet((tmp_path / "table.parquet").as_uri())


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "scheme",
    [
        "seam",
        "perturb",
        "perturb by sets",
        "baseline",
        *(pytest.param(scheme, marks=pytest.mark.long) for scheme in ("whole", "lmondrian", "burel", "sabre")),
    ],
)
def test_every_scheme_gives_a_spark_frame_with_the_rows_that_memory_gives(
    frame: pyspark.sql.DataFrame, scheme: str
) -> None:
    name, _, by_sets = scheme.partition(" by ")
    asked = {**ASKED, "scheme": name, "options": {"mechanism": by_sets} if by_sets else None}
    if scheme == "sabre":
        asked = {**asked, "beta": None, "t": 0.3}
    release = betalike.publish(frame, **asked)
    assert isinstance(release.frame, pyspark.sql.DataFrame)
    expected = betalike.publish(census_like(2000, seed=1), **asked).frame
    assert release.frame.columns == expected.columns
    assert Counter(map(tuple, release.frame.collect())) == Counter(expected.rows())


def test_a_release_in_a_folder_is_a_spark_frame_of_its_files(frame: pyspark.sql.DataFrame, tmp_path: Path) -> None:
    release = betalike.publish(frame, out=tmp_path / "out", **ASKED)
    assert isinstance(release.frame, pyspark.sql.DataFrame)
    written = pl.read_parquet(tmp_path / "out" / "published.parquet").rows()
    assert Counter(map(tuple, release.frame.collect())) == Counter(written)
    assert betalike.verify(tmp_path / "out", original=census_like(2000, seed=1)).holds
