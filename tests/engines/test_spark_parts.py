"""Tables on Spark with more cells than the driver takes: parts are split by the workers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from contract import quick_session

import betalike
from betalike.engines.engine import Format
from betalike.engines.local import LocalEngine
from betalike.engines.spark.engine import SparkEngine
from betalike.errors import InputError
from betalike.promises import Likeness
from betalike.release.publish import Job, publish
from betalike.runtime.progress import Stopwatch
from betalike.runtime.randomness import randomness
from betalike.schemes import make_scheme
from betalike.table.schema import Attribute, Role, Schema

pytestmark = pytest.mark.xdist_group("spark")
N_ROWS = 4000


def schema(*qis: str, kept: tuple[str, ...] = ()) -> Schema:
    return Schema(
        tuple(Attribute(name, Role.QUASI_IDENTIFIER) for name in qis),
        Attribute("illness", Role.SENSITIVE),
        tuple(Attribute(name, Role.KEPT) for name in kept),
    )


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    income = rng.lognormal(10, 1, N_ROWS)
    return pl.DataFrame(
        {
            "income": pl.Series(income).set(pl.Series(rng.random(N_ROWS) < 0.05), None),
            "height": rng.normal(170, 10, N_ROWS),
            "work": [["cook", "nurse", "smith"][i] for i in rng.integers(0, 3, N_ROWS)],
            "illness": [
                f"i{v}" for v in np.clip(np.rint(np.log(income) - 8 + rng.normal(size=N_ROWS)), 0, 5).astype(int)
            ],
            "row": np.arange(N_ROWS),
        }
    )


def engine_of(table: pl.DataFrame, folder: Path, schema: Schema, most_cells: int = 1000) -> SparkEngine:
    folder.mkdir()
    for place, part in enumerate(table.iter_slices(1500)):
        part.write_parquet(folder / f"part-{place}.parquet", compression="snappy")
    engine = SparkEngine(quick_session().read.parquet(folder.as_uri()), schema, most_cells)
    engine.part_rows = 2000
    return engine


@pytest.mark.parametrize("scheme", ["seam", pytest.param("burel", marks=pytest.mark.long)])
def test_parts_are_split_by_the_workers(table: pl.DataFrame, tmp_path: Path, scheme: str) -> None:
    told = schema("income", "height", "work", kept=("row",))
    job = Job(make_scheme(scheme, randomness(1)), Likeness(2), Format.PARQUET, ("row",))
    published = publish(engine_of(table, tmp_path / "t", told), job, Stopwatch(), tmp_path / "out")
    assert published.certificate.scheme.details["coarse_cells"] <= 1000
    table.write_parquet(tmp_path / "table.parquet")
    assert betalike.verify(tmp_path / "out", original=tmp_path / "table.parquet").holds
    both = pl.read_parquet(tmp_path / "out" / "published.parquet").join(table, on="row", suffix=" before")
    assert both.height == N_ROWS
    assert (both["illness"] == both["illness before"]).all()
    for name in ("income", "height"):
        ends = both[name].str.strip_chars("[]").str.split(", ").cast(pl.List(pl.Float64), strict=False)
        true = both[f"{name} before"]
        is_within = (ends.list.first() <= true) & (true <= ends.list.last())
        assert is_within.fill_null((both[name] == "*") | true.is_null()).all()
    if scheme == "seam":
        exact = publish(LocalEngine(table, told), job, Stopwatch()).certificate
        assert published.certificate.release.average_loss <= 1.1 * exact.release.average_loss


def test_too_many_names_are_told(table: pl.DataFrame, tmp_path: Path) -> None:
    names = table.with_columns(pl.format("name {}", "row").alias("work"))
    engine = engine_of(names, tmp_path / "t", schema("work"))
    with pytest.raises(InputError, match="the column 'work' has more than 1,000 distinct values"):
        engine.count_cells()
