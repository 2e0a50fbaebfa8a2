"""The registry of engines, and what their contract is tested with: a table of every kind, random plans, plain counts.

A new engine is one more line in ENGINES.
"""

from __future__ import annotations

import datetime
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pyspark import cloudpickle

from betalike.engines.engine import Engine, Format, Recount
from betalike.engines.local import LocalEngine
from betalike.engines.spark.engine import SparkEngine
from betalike.engines.spark.session import start_session
from betalike.table.axis import Axis
from betalike.table.cells import Cells, Plan
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Attribute, Kind, Role, Schema

EngineMaker = Callable[[pl.DataFrame, Schema], Engine]
ScratchEngineMaker = Callable[[pl.DataFrame, Schema, Path], Engine]
Value = str | None
Label = str | tuple[float, ...] | None


def in_batches(frame: pl.DataFrame, schema: Schema, scratch: Path) -> Engine:
    """From a Parquet file, and with so little memory that even a small table does not fit."""
    frame.write_parquet(scratch / "table.parquet", row_group_size=50)
    return LocalEngine(
        pl.scan_parquet(scratch / "table.parquet"), schema, memory=20_000, batch_rows=70, most_cells=10_000
    )


MASTER = "BETALIKE_TEST_MASTER"
QUICK_FOR_FEW_ROWS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


def quick_session() -> Any:
    """Spark on this machine, or on the cluster that the environment names; all tests of a process share it."""
    session = start_session(os.environ.get(MASTER, "local[1]"))
    for name, value in QUICK_FOR_FEW_ROWS.items():
        session.conf.set(name, value)
    return session


def on_spark(frame: pl.DataFrame, schema: Schema, scratch: Path) -> Engine:
    """From a folder of Parquet files."""
    session = quick_session()
    for name in ("contract", "test_contract_exact"):
        if name in sys.modules:
            cloudpickle.register_pickle_by_value(sys.modules[name])  # workers do not know the tests
    for place, part in enumerate(frame.iter_slices(100) if frame.height else [frame]):
        part.write_parquet(scratch / f"part-{place}.parquet", compression="snappy")
    return SparkEngine(session.read.parquet(scratch.as_uri()), schema)


ENGINES: dict[str, ScratchEngineMaker] = {
    "held": lambda frame, schema, _: LocalEngine(frame, schema),
    "batches": in_batches,
    "spark": on_spark,
}

WORK = Hierarchy.from_rows([["nurse", "care", "*"], ["doctor", "care", "*"], ["cook", "other", "*"]])
AWKWARD = ['a, "b"', "line\nbreak", " space ", "null", "007", "1e5", "é", "[1, 2]"]
N_ROWS = 240
# What engines write themselves; workbooks and statistics files, made of these, have tests of their own in tests/cli.
FORMATS = (Format.CSV, Format.PARQUET)
QIS = ["age", "weight", "born", "seen", "work", "place"]


def schema_of(qis: list[str], kept: tuple[str, ...] = (), missing_is_value: bool = True) -> Schema:
    trees = {"work": WORK}
    return Schema(
        tuple(Attribute(name, Role.QUASI_IDENTIFIER, hierarchy=trees.get(name)) for name in qis),
        Attribute("illness", Role.SENSITIVE),
        tuple(Attribute(name, Role.KEPT) for name in kept),
        missing_is_value,
    )


def some_missing(rng: np.random.Generator, pool: list[Any]) -> list[Any]:
    """A column from a pool of values, with a missing value in every eighth row or so."""
    return [None if rng.random() < 0.12 else pool[i] for i in rng.integers(0, len(pool), N_ROWS)]


def table_of_every_kind() -> pl.DataFrame:
    """Every kind of column, all with missing values, among them texts that CSV files trip over."""
    rng = np.random.default_rng(4)
    day = datetime.date(1960, 5, 17)
    moment = datetime.datetime(2024, 2, 29, 23, 59, 30)
    return pl.DataFrame(
        {
            "age": some_missing(rng, [20, 21, 35, 60]),
            "weight": some_missing(rng, [50.5, 1e-7, 1e16]),
            "born": some_missing(rng, [day, day + datetime.timedelta(days=9_000)]),
            "seen": some_missing(rng, [moment, moment + datetime.timedelta(microseconds=5)]),
            "work": some_missing(rng, ["nurse", "doctor", "cook"]),
            "place": some_missing(rng, AWKWARD),
            "illness": some_missing(rng, AWKWARD),
            "row": list(range(N_ROWS)),
        }
    )


def random_plan(cells: Cells, n_classes: int, seed: int = 0) -> Plan:
    """Share every cell out among some of the classes, without any promise; fragments in random order."""
    rng = np.random.default_rng(seed)
    parts: list[tuple[int, int, int]] = []
    for cell, count in enumerate(cells.count.tolist()):
        chosen = rng.choice(n_classes, min(3, n_classes), replace=False)
        shares = rng.multinomial(count, np.full(len(chosen), 1 / len(chosen)))
        parts += [(cell, int(n), int(ec)) for n, ec in zip(shares, chosen, strict=True) if n]
    numbers = {ec: i for i, ec in enumerate(sorted({ec for _, _, ec in parts}))}
    rng.shuffle(parts)
    cell, n, ec = (np.array(column) for column in zip(*parts, strict=True))
    ec = np.array([numbers[c] for c in ec.tolist()])
    return Plan(cells, cell.astype(np.int32), n.astype(np.int64), ec.astype(np.int32), len(numbers))


def replace_rows(rows: pl.DataFrame, path: Path, form: Format) -> None:
    """Write other rows in the place of those that an engine wrote."""
    if path.is_dir():
        shutil.rmtree(path)
    if form is Format.PARQUET:
        rows.write_parquet(path)
    else:
        rows.write_csv(path)


def single_labels(axis: Axis) -> list[Value]:
    """How each code of an axis would be published alone."""
    codes = np.arange(axis.size)
    return axis.labels(codes, codes)


def as_read(label: Value, axis: Axis) -> Label:
    """A published label as its reader takes it: 1e-7 is 1e-07, and [2, 2] is 2."""
    if label is None or label == "*" or axis.kind is not Kind.REAL:
        return label
    ends = [float(end) for end in label.strip("[]").split(", ")]
    return ends[0], ends[-1]


def class_labels(plan: Plan) -> list[tuple[Label, ...]]:
    """The labels of each class, as their reader takes them."""
    low, high = (side.astype(np.int64) for side in plan.boxes)
    columns: list[list[Label]] = []
    for i, axis in enumerate(plan.cells.axes):
        labels = axis.labels(low[:, i], high[:, i])
        columns.append([as_read(label, axis) for label in labels])
    return list(zip(*columns, strict=True))


def planned(engine: Engine, plan: Plan) -> Counter[tuple[Any, ...]]:
    """How many rows of each sensitive value the plan has for each set of labels."""
    labels, values = class_labels(plan), engine.sensitive_labels
    rows: Counter[tuple[Any, ...]] = Counter()
    for cell, count, ec in zip(plan.cell, plan.count, plan.ec, strict=True):
        rows[(*labels[ec], values[plan.cells.value[cell]])] += int(count)
    return rows


def counted(engine: Engine, recount: Recount) -> Counter[tuple[Any, ...]]:
    """The same, as counted again."""
    assert recount.n_unknown == 0
    axes, values = engine.count_cells().axes, engine.sensitive_labels
    read = [[as_read(label, axis) for label in labels] for labels, axis in zip(recount.labels, axes, strict=True)]
    labels = list(zip(*read, strict=True))
    classes = recount.classes
    return Counter(
        {
            (*labels[ec], values[value]): int(count)
            for ec, value, count in zip(classes.ec, classes.value, classes.count, strict=True)
        }
    )
