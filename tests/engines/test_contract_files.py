"""What every engine's files keep: they count as was planned, and differently once they were altered."""

from __future__ import annotations

import csv
import datetime
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from contract import AWKWARD, FORMATS, QIS, EngineMaker, counted, planned, random_plan, replace_rows, schema_of

from betalike.engines.engine import Format
from betalike.engines.spark.rows import to_polars
from betalike.errors import SchemaError
from betalike.measures.loss import plan_loss
from betalike.promises import Form, Likeness
from betalike.release.verify import PlannedLabels, verify
from betalike.runtime.randomness import randomness
from betalike.table.cells import Plan

ANYTHING_GOES = Likeness(1e9, Form.BASIC)


@pytest.mark.some(3)
@pytest.mark.parametrize("form", FORMATS)
def test_a_written_release_counts_as_it_was_planned(
    make_engine: EngineMaker, table: pl.DataFrame, tmp_path: Path, form: Format
) -> None:
    engine = make_engine(table, schema_of(QIS, kept=("row",)))
    plan = random_plan(engine.count_cells(), 60)
    release = engine.generalize(plan, randomness(1))
    engine.write(release, tmp_path / "release", form)
    expected = planned(engine, plan)
    assert counted(engine, engine.recount(release, None, form)) == expected
    assert counted(engine, engine.recount(None, tmp_path / "release", form)) == expected


@pytest.mark.some(2)
@pytest.mark.parametrize("form", FORMATS)
def test_rows_that_kept_columns_single_out_are_counted(
    make_engine: EngineMaker, table: pl.DataFrame, tmp_path: Path, form: Format
) -> None:
    table = table.with_columns(
        real=pl.Series([(0.0, -0.0, 0.5, None, float("nan"))[row % 5] for row in range(table.height)])
    )
    kept = ("place", "born", "real", "weight")
    engine = make_engine(table, schema_of(["age"], kept=kept))
    release = engine.generalize(random_plan(engine.count_cells(), 60), randomness(1))
    engine.write(release, tmp_path / "release", form)
    rows = engine.give_back(release, tmp_path / "release", form)()
    rows = rows.lazy().collect() if isinstance(rows, pl.DataFrame | pl.LazyFrame) else to_polars(rows)
    truth = [sum(n == 1 for n in Counter(as_texts(rows, names)).values()) for names in (kept, ("age", *kept))]
    assert 0 < truth[0] < truth[1] < table.height
    found = engine.count_singled_out(release, tmp_path / "release", form, ["age"], table.height)
    assert [found.alone, found.with_classes] == truth


def as_texts(rows: pl.DataFrame, names: Sequence[str]) -> list[tuple[str, ...]]:
    """The rows as texts; an empty one is missing, as in a CSV file."""
    return [tuple("" if cell is None else str(cell) for cell in row) for row in rows.select(names).iter_rows()]


SENSITIVE: dict[str, list[Any]] = {
    "integers": [3, -1, 10**12],
    "reals": [0.1 + 0.2, 1e-7, 1e16, 2.0],
    "booleans": [True, False],
    "dates": [datetime.date(2020, 1, 1), datetime.date(1899, 12, 31)],
    "moments": [datetime.datetime(2020, 1, 1, 12, 30), datetime.datetime(2020, 1, 1, 12, 30, 0, 5)],
    "texts": AWKWARD,
}


@pytest.mark.some(9)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", SENSITIVE)
def test_sensitive_values_of_every_type_are_read_back(
    make_engine: EngineMaker, tmp_path: Path, kind: str, form: Format
) -> None:
    pool = [*SENSITIVE[kind], None]
    frame = pl.DataFrame({"age": [1, 2] * len(pool), "illness": pool * 2})
    engine = make_engine(frame, schema_of(["age"]))
    plan = random_plan(engine.count_cells(), 2)
    engine.write(engine.generalize(plan, randomness(1)), tmp_path / "release", form)
    expected = planned(engine, plan)
    assert counted(engine, engine.recount(None, tmp_path / "release", form)) == expected


WITH_MISSING: dict[str, list[Any]] = {
    "numbers": [20, 30, None],
    "one number": [30, None],
    "reals": [0.1, 0.7, None],
    "dates": [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1), None],
    "texts": ["a", "b", "c", None],
    "one text": ["a", None],
    "nothing": [None],
}


@pytest.mark.some(21)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", WITH_MISSING)
def test_the_labels_of_a_file_lose_what_was_planned(
    make_engine: EngineMaker, tmp_path: Path, kind: str, form: Format
) -> None:
    """`verify` raises where the labels are not the planned ones; the loss read from them is that of the boxes."""
    pool = WITH_MISSING[kind]
    frame = pl.DataFrame({"x": pool * 8, "illness": ["x", "y"] * 4 * len(pool)})
    engine = make_engine(frame, schema_of(["x"]))
    for n_classes in (1, 2, 4):
        plan = random_plan(engine.count_cells(), n_classes, seed=n_classes)
        engine.write(engine.generalize(plan, randomness(1)), tmp_path / "release", form)
        planned = PlannedLabels.of(plan)
        verified = verify(engine.recount(None, tmp_path / "release", form), plan.cells, ANYTHING_GOES, planned)
        assert verified.loss.average == pytest.approx(plan_loss(plan).average)


@pytest.mark.some(6)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["plain", "a, b", "é ü", "x;y"])
def test_columns_keep_their_names_and_order(make_engine: EngineMaker, tmp_path: Path, name: str, form: Format) -> None:
    frame = pl.DataFrame({column: [str(i % 3) for i in range(12)] for column in ("kept", "illness", "age", name)})
    engine = make_engine(frame, schema_of([name, "age"], kept=("kept",)))
    plan = random_plan(engine.count_cells(), 3)
    path = tmp_path / "release"
    engine.write(engine.generalize(plan, randomness(1)), path, form)
    if form is Format.PARQUET:
        header = pl.scan_parquet(path).collect_schema().names()
    else:
        with path.open(newline="", encoding="utf-8", errors="replace") as file:
            header = next(csv.reader(file))
    assert header == [name, "age", "illness", "kept"]
    assert counted(engine, engine.recount(None, path, form)) == planned(engine, plan)


@pytest.mark.parametrize("name", ['say "x"', "two\nlines"])
def test_names_that_a_csv_header_cannot_carry_are_refused(make_engine: EngineMaker, name: str) -> None:
    with pytest.raises(SchemaError, match="rename the column"):
        make_engine(pl.DataFrame({name: [1, 2], "illness": ["x", "y"]}), schema_of([name]))


@pytest.mark.some(5)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "altered",
    [pl.col("illness").replace("x", "y"), pl.col("illness").replace("x", "new"), pl.col("age").replace("1", "2")],
    ids=["another value", "an unknown value", "another label"],
)
def test_a_file_that_was_altered_counts_differently(
    make_engine: EngineMaker, tmp_path: Path, form: Format, altered: pl.Expr
) -> None:
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "illness": ["x", "y", "y", "z"]})
    engine = make_engine(frame, schema_of(["age"]))
    plan = Plan(
        engine.count_cells(), np.arange(4, dtype=np.int32), np.ones(4, np.int64), np.array([0, 0, 1, 1], np.int32), 2
    )
    path = tmp_path / "release"
    engine.write(engine.generalize(plan, randomness(0)), path, form)
    honest = engine.recount(None, path, form)
    rows = (pl.read_parquet(path) if form is Format.PARQUET else pl.read_csv(path, infer_schema=False)).with_columns(
        altered
    )
    replace_rows(rows, path, form)
    forged = engine.recount(None, path, form)
    assert counted(engine, honest) == planned(engine, plan)
    assert forged.n_unknown or counted(engine, forged) != counted(engine, honest)
