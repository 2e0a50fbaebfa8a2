"""Every engine in turn, the table that they publish, and a way to look at what they publish."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from contract import ENGINES, EngineMaker, table_of_every_kind

from betalike.engines.engine import Engine, Format
from betalike.runtime.randomness import randomness
from betalike.table.cells import Plan

SPARK_CASES = 1  # of each test of the contract in `make test`; the other cases on Spark are long


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spark writes Parquet alone, so there is nothing to ask of it in other forms; and it takes long to ask."""
    asked: Counter[str] = Counter()
    for item in list(items):
        params = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        if params.get("make_engine") != "spark":
            continue
        if params.get("form") not in (None, Format.PARQUET):
            items.remove(item)
            continue
        name = item.nodeid.partition("[")[0]
        asked[name] += 1
        if asked[name] > SPARK_CASES:
            item.add_marker(pytest.mark.long)


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.xdist_group("spark") if name == "spark" else ()) for name in ENGINES]
)
def make_engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> EngineMaker:
    make = ENGINES[request.param]
    return lambda frame, schema: make(frame, schema, tmp_path_factory.mktemp("scratch"))


@pytest.fixture(scope="session")
def table() -> pl.DataFrame:
    return table_of_every_kind()


@pytest.fixture
def publish(tmp_path: Path) -> Callable[..., pl.DataFrame]:
    """Assign, generalize, write and read: the published rows as a Polars frame, in their order."""

    def rows(engine: Engine, plan: Plan, seed: int | None = 0) -> pl.DataFrame:
        release = engine.generalize(plan, randomness(seed))
        path = tmp_path / "rows.parquet"
        engine.write(release, path, Format.PARQUET)
        return pl.read_parquet(path)

    return rows
