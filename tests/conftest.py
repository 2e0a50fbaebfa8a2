"""What all tests share: Hypothesis's profile, and the data that is not part of the project."""

from __future__ import annotations

import functools
import gc
import lzma
import os
from pathlib import Path

import polars as pl
import pytest
import typer.testing
from hypothesis import is_hypothesis_test

from examples import FACTOR, load_profile

load_profile()
gc.set_threshold(100_000)  # as the program does
pl.thread_pool_size()  # takes what `make test` asks for
for threads in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.pop(threads, None)  # processes that tests start take as many as there are cores, as users' do
typer.testing._get_command = functools.cache(typer.testing._get_command)  # made for each run, it took a third of it
# Spark's programs end after seconds here, so Java's second compiler costs twice what it saves.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
PROJECT = Path(__file__).parent.parent


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make test` leaves to `make test-long`.

    That is all but some cases of long lists; and laws that say how many examples they want run there once more.
    """
    lists: dict[object, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("some") is not None and item.get_closest_marker("long") is None:
            lists.setdefault((item.path, item.originalname), []).append(item)
    for cases in lists.values():
        (number,) = cases[0].get_closest_marker("some").args
        usual = {round(place * (len(cases) - 1) / max(number - 1, 1)) for place in range(number)}  # evenly spread
        for place, case in enumerate(cases):
            if place not in usual:
                case.add_marker(pytest.mark.long)
    laws = [item for item in items if isinstance(item, pytest.Function) and is_hypothesis_test(item.obj)]
    for law in laws if FACTOR > 1 else []:
        if hasattr(law.module, "examples"):
            law.add_marker(pytest.mark.long)


@pytest.fixture(params=["local", "batches"])
def engine(request: pytest.FixtureRequest) -> str:
    """The engine on this machine: a small file is read at once, or in batches, as it reads large ones."""
    return str(request.param)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the paper's data, which may not be shipped; tests that need it are skipped without it."""
    folder = Path(os.environ.get("BETALIKE_DATA", PROJECT / ".." / "shared" / "data")).resolve()
    if not (folder / "census" / "census.csv.xz").is_file():
        pytest.skip(f"the data folder (BETALIKE_DATA, or ../shared/data) is not there: {folder}")
    return folder


@pytest.fixture(scope="session")
def census_hierarchies(data_folder: Path) -> Path:
    """The folder with the paper's hierarchies for CENSUS."""
    return data_folder / "census" / "hierarchies"


@pytest.fixture(scope="session")
def census(data_folder: Path) -> pl.DataFrame:
    """The CENSUS table of the paper, 500,000 rows, with a number for each row."""
    text = lzma.decompress((data_folder / "census" / "census.csv.xz").read_bytes())
    return pl.read_csv(text).with_row_index("row")
