"""What SEAM loses on the paper's table and on Adult: never more than it is known to reach."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from betalike.engines.local import LocalEngine
from betalike.io.arguments import make_schema
from betalike.measures.loss import plan_loss
from betalike.promises import Likeness
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes import Seam
from betalike.table.cells import Cells

pytestmark = pytest.mark.xdist_group("census")  # one process folds the table and keeps its plans
CENSUS_3 = ["age", "gender", "education"]
CENSUS_5 = [*CENSUS_3, "marital_status", "work_class"]
ADULT = ["age", "sex", "education", "marital-status", "workclass"]

# What SEAM reaches, and 3 % for a changed order of equals; the floors that were set for it are higher by half and more.
LIMITS = {
    "census 3": {1: 0.061, 2: 0.0205, 4: 0.0037},
    "census 5": {1: 0.131, 2: 0.052, 4: 0.0195},
    "adult occupation": {1: 0.51, 2: 0.283, 4: 0.136},
    "adult salary-class": {1: 0.120, 2: 0.089},
}
SEEDS = {"census": 1, "adult": 5}  # on a small table the loss of one plan varies by up to 4 % with its random draws


class Tables:
    """The tables of the experiments, each folded once."""

    def __init__(self, folder: Path, census: pl.DataFrame) -> None:
        self.folder, self.census = folder, census
        self.cells = cache(self._cells)

    def _cells(self, name: str) -> Cells:
        table, what = name.split(" ")
        if table == "census":
            columns, sensitive, kinds = CENSUS_3 if what == "3" else CENSUS_5, "salary_class", {}
            frame = self.census
        else:
            columns, sensitive, kinds = ADULT, what, {"age": "integer"}
            frame = pl.read_csv(self.folder / "adult" / "adult.csv", separator=";")
        hierarchies = self.folder / table / "hierarchies"
        schema = make_schema(columns, sensitive, hierarchies, kinds, None, None, (), False)
        return LocalEngine(frame, schema).count_cells()


@pytest.fixture(scope="module")
def tables(data_folder: Path, census: pl.DataFrame) -> Tables:
    return Tables(data_folder, census)


@pytest.mark.parametrize(
    ("name", "beta"),
    [
        pytest.param(name, beta, marks=() if beta == 4 and "census" in name else pytest.mark.long)
        for name, limits in LIMITS.items()
        for beta in limits
    ],
)
def test_seam_keeps_the_promise_and_loses_no_more_than_its_limit(tables: Tables, name: str, beta: int) -> None:
    cells, model = tables.cells(name), Likeness(beta)
    losses = []
    for seed in range(SEEDS[name.split(" ")[0]]):
        plan = Seam(SeededRandomness(seed)).plan(cells, model)
        assert model.judge(plan.class_counts, cells.value_counts).holds
        assert np.array_equal(np.bincount(plan.cell, plan.count, len(cells.count)), cells.count)
        losses.append(plan_loss(plan).average)
    assert np.mean(losses) <= LIMITS[name][beta], f"{name}, beta {beta}: {losses}"
