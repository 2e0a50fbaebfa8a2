"""Spark frames go in, and Spark frames come out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pyspark.sql
import pytest
from contract import quick_session
from pyspark.sql import functions, types

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


def test_comments_on_columns_are_not_published(frame: pyspark.sql.DataFrame, tmp_path: Path) -> None:
    """Spark writes them into its files, those on the fields of a column too."""
    comment = {"comment": "CANARY7731"}
    nested = types.StructType([types.StructField("part", types.StringType(), metadata=comment)])
    frame = frame.withColumn("age", functions.col("age").alias("age", metadata=comment))
    frame = frame.withColumn("more", functions.struct(functions.lit("x").alias("part")).cast(nested))
    release = betalike.publish(frame, out=tmp_path / "out", keep=["more"], scheme="lmondrian", **ASKED)
    assert "CANARY7731" not in release.frame.schema.json()
    for path in (tmp_path / "out").rglob("*.parquet"):
        assert path.is_dir() or b"CANARY7731" not in path.read_bytes()
    assert betalike.verify(tmp_path / "out").holds


def test_a_zero_with_a_minus_is_the_zero_that_is_counted(frame: pyspark.sql.DataFrame, tmp_path: Path) -> None:
    """Spark groups both as one value; a kept column takes the rows themselves along."""
    zero = functions.when(functions.col("salary_class") % 3 == 0, -0.0).otherwise(functions.col("salary_class") % 3)
    frame = frame.withColumn("salary_class", zero.cast("double")).withColumn("more", functions.lit("x"))
    betalike.publish(frame, out=tmp_path / "out", keep=["more"], scheme="lmondrian", **ASKED)
    checked = betalike.verify(tmp_path / "out")
    assert checked.holds, checked.explanations
