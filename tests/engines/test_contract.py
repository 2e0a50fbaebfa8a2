"""What every engine keeps: the same cells, the plan to the letter, and chance within cells.

The tests see an engine only through its protocol and the files it writes.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from contract import N_ROWS, QIS, EngineMaker, class_labels, random_plan, schema_of, single_labels
from scipy import stats

from betalike.engines.engine import Engine
from betalike.engines.local import LocalEngine
from betalike.errors import InputError, SchemaError
from betalike.table.cells import Cells, Plan
from betalike.table.schema import Kind

Published = Callable[..., pl.DataFrame]
BY_CHANCE = 1e-7  # how often a test may fail with good draws: Spark's order also depends on what its workers do first


@pytest.mark.some(2)
def test_cells_are_the_distinct_rows_of_the_table(make_engine: EngineMaker, table: pl.DataFrame) -> None:
    engine = make_engine(table, schema_of(["age", "work", "place"]))
    cells = engine.count_cells()
    texts = [single_labels(axis) for axis in cells.axes]
    found = {
        (*(texts[i][code] for i, code in enumerate(cells.points[point])), engine.sensitive_labels[value]): int(count)
        for point, value, count in zip(cells.point, cells.value, cells.count, strict=True)
    }
    rows = table.select(pl.col("age").cast(pl.String), "work", "place", pl.col("illness").fill_null("")).rows()
    assert found == Counter(rows)
    assert len(found) == len(cells.count)
    assert cells.n_rows == N_ROWS


@pytest.mark.some(2)
def test_cells_are_the_same_whatever_the_order_of_rows(make_engine: EngineMaker, table: pl.DataFrame) -> None:
    one = make_engine(table, schema_of(QIS)).count_cells()
    for seed in range(3):
        other = make_engine(table.sample(fraction=1, shuffle=True, seed=seed), schema_of(QIS)).count_cells()
        for name in ("points", "point", "value", "count"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()
        assert [single_labels(axis) for axis in one.axes] == [single_labels(axis) for axis in other.axes]


def test_points_and_cells_are_sorted(make_engine: EngineMaker, table: pl.DataFrame) -> None:
    cells = make_engine(table, schema_of(QIS)).count_cells()
    points = list(map(tuple, cells.points.tolist()))
    assert points == sorted(set(points))
    pairs = list(zip(cells.point.tolist(), cells.value.tolist(), strict=True))
    assert pairs == sorted(set(pairs))


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("dtype", "kind"),
    [(pl.Int32, Kind.INTEGER), (pl.Float64, Kind.REAL), (pl.Date, Kind.DATE), (pl.Datetime("us"), Kind.DATETIME)],
)
def test_a_column_without_any_value_keeps_its_kind(
    make_engine: EngineMaker, table: pl.DataFrame, dtype: pl.DataType, kind: Kind
) -> None:
    without = table.with_columns(pl.lit(None).cast(dtype).alias("age"))
    assert make_engine(without, schema_of(["age", "work"])).count_cells().axes[0].kind is kind


@pytest.mark.some(2)
def test_each_class_receives_just_the_rows_that_were_planned(
    make_engine: EngineMaker, publish: Published, table: pl.DataFrame
) -> None:
    qis = ["age", "work"]
    twins = table.with_columns(pl.col("age").alias("age again"), pl.col("work").alias("work again"))
    engine = make_engine(twins, schema_of(qis, kept=("age again", "work again")))
    plan = random_plan(engine.count_cells(), 6)
    cells, labels = plan.cells, class_labels(plan)
    texts = [single_labels(axis) for axis in cells.axes]
    expected: Counter[tuple[Any, ...]] = Counter()
    for cell, count, ec in zip(plan.cell, plan.count, plan.ec, strict=True):
        point = (texts[i][code] for i, code in enumerate(cells.points[cells.point[cell]]))
        expected[(*labels[ec], engine.sensitive_labels[cells.value[cell]], *point)] += int(count)
    rows = publish(engine, plan).with_columns(pl.col("illness").fill_null(""), pl.col("age again").cast(pl.String))
    assert Counter(rows.rows()) == expected


@pytest.fixture
def pairs() -> tuple[pl.DataFrame, Callable[[Cells], Plan]]:
    """500 cells of two rows; the plan sends one of each pair to class A, the other to class B. A also has age 0."""
    ages = [0, *(age for age in range(1, 501) for _ in range(2))]
    frame = pl.DataFrame({"age": ages, "illness": ["x", *["x", "x"] * 500], "row": range(1001)})

    def plan(cells: Cells) -> Plan:
        cell = np.append(0, np.tile(np.arange(1, 501), 2)).astype(np.int32)
        ec = np.append(0, np.repeat([0, 1], 500)).astype(np.int32)
        return Plan(cells, cell, np.ones(1001, dtype=np.int64), ec, 2)

    return frame, plan


@pytest.mark.some(2)
def test_which_row_of_a_cell_a_class_receives_is_chance(
    make_engine: EngineMaker, publish: Published, pairs: tuple[pl.DataFrame, Callable[[Cells], Plan]]
) -> None:
    frame, plan = pairs
    engine = make_engine(frame, schema_of(["age"], kept=("row",)))
    rows = publish(engine, plan(engine.count_cells()), seed=5)
    in_a = sorted(rows.filter((pl.col("age") == "[0, 500]") & (pl.col("row") > 0))["row"])
    assert [(row + 1) // 2 for row in in_a] == list(range(1, 501))  # one of each pair
    n_first = sum(row % 2 for row in in_a)
    assert stats.binomtest(n_first, 500).pvalue > BY_CHANCE
    runs = sum(one % 2 != other % 2 for one, other in itertools.pairwise(in_a))
    assert stats.binomtest(runs, 499).pvalue > BY_CHANCE


@pytest.mark.some(2)
def test_rows_are_published_in_random_order(
    make_engine: EngineMaker, publish: Published, pairs: tuple[pl.DataFrame, Callable[[Cells], Plan]]
) -> None:
    frame, plan = pairs
    engine = make_engine(frame, schema_of(["age"], kept=("row",)))
    plan_of_pairs = plan(engine.count_cells())
    order = publish(engine, plan_of_pairs, seed=5)["row"].to_list()
    assert sorted(order) == list(range(1001))
    assert stats.spearmanr(order, range(1001)).pvalue > BY_CHANCE
    assert order != publish(engine, plan_of_pairs, seed=6)["row"].to_list()
    assert (
        publish(engine, plan_of_pairs, seed=None)["row"].to_list()
        != publish(engine, plan_of_pairs, None)["row"].to_list()
    )


def test_the_order_of_publication_tells_nothing_of_how_a_cell_was_shared_out(
    make_engine: EngineMaker, publish: Published
) -> None:
    """Else readers see which rows of two classes came from one cell, and narrow both to what their boxes share."""
    frame = pl.DataFrame({"age": [0, *[1] * 1000], "illness": ["x"] * 1001})
    engine = make_engine(frame, schema_of(["age"]))
    plan = Plan(
        engine.count_cells(), np.array([0, 1, 1], np.int32), np.array([1, 500, 500]), np.array([0, 0, 1], np.int32), 2
    )
    published = publish(engine, plan, seed=5)["age"].to_list()
    places = [[i for i, label in enumerate(published) if label == of_class] for of_class in ("[0, 1]", "1")]
    assert [len(of_class) for of_class in places] == [501, 500]
    assert stats.mannwhitneyu(*places).pvalue > BY_CHANCE


@pytest.mark.some(2)
def test_a_seed_gives_the_same_rows_on_every_engine_whatever_their_order(
    make_engine: EngineMaker, publish: Published, table: pl.DataFrame
) -> None:
    def multiset(engine: Engine) -> Counter[tuple[Any, ...]]:
        plan = random_plan(engine.count_cells(), 30, seed=2)
        return Counter(publish(engine, plan, seed=3).rows())

    schema = schema_of(QIS)
    reference = multiset(LocalEngine(table, schema))
    assert multiset(make_engine(table, schema)) == reference
    assert multiset(make_engine(table.reverse(), schema)) == reference


@pytest.mark.some(2)
def test_kept_columns_stay_with_their_row(make_engine: EngineMaker, publish: Published, table: pl.DataFrame) -> None:
    engine = make_engine(table, schema_of(["age"], kept=("row", "born", "place")))
    rows = publish(engine, random_plan(engine.count_cells(), 5))
    assert rows.columns == ["age", "illness", "row", "born", "place"]
    original = table.sort("row")
    again = rows.sort("row")
    for name in ("row", "illness", "born", "place"):
        assert again[name].to_list() == original[name].to_list()
    for label, age in zip(again["age"], original["age"], strict=True):
        if label is None or age is None:
            assert age is None
            assert label in (None, "*")
        elif label != "*":
            low, high = (int(end) for end in label.strip("[]").split(", ")) if "[" in label else (int(label),) * 2
            assert low <= age <= high


@pytest.mark.some(2)
def test_missing_values_are_published_as_missing_or_as_everything(make_engine: EngineMaker, publish: Published) -> None:
    frame = pl.DataFrame(
        {"age": [None, None, 30, 40], "place": ["a", "b", None, None], "illness": ["x", "y", "x", "y"]}
    )
    engine = make_engine(frame, schema_of(["age", "place"]))
    cells = engine.count_cells()
    apart = Plan(cells, np.arange(4, dtype=np.int32), np.ones(4, dtype=np.int64), np.arange(4, dtype=np.int32), 4)
    assert Counter(publish(engine, apart).rows()) == Counter(
        [(None, "a", "x"), (None, "b", "y"), ("30", None, "x"), ("40", None, "y")]
    )
    together = Plan(cells, apart.cell, apart.count, np.zeros(4, dtype=np.int32), 1)
    assert Counter(publish(engine, together).rows()) == Counter([("*", "*", "x")] * 2 + [("*", "*", "y")] * 2)


def test_a_missing_sensitive_value_is_an_error_or_a_value(make_engine: EngineMaker, publish: Published) -> None:
    frame = pl.DataFrame({"age": [1, 1, 2], "illness": ["x", None, None]})
    with pytest.raises(SchemaError, match="2 missing values"):
        make_engine(frame, schema_of(["age"], missing_is_value=False)).count_cells()
    engine = make_engine(frame, schema_of(["age"]))
    cells = engine.count_cells()
    assert dict(zip(engine.sensitive_labels, cells.value_counts.tolist(), strict=True)) == {"x": 1, "": 2}
    rows = publish(engine, random_plan(cells, 1))
    assert sorted(rows["illness"].to_list(), key=str) == [None, None, "x"]


def test_a_table_that_cannot_be_published_is_refused(make_engine: EngineMaker, table: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="no rows"):
        make_engine(table.clear(), schema_of(["age"]))
    with pytest.raises(SchemaError, match=r"no column 'agee'.*Did you mean 'age'"):
        make_engine(table, schema_of(["agee", "work"]))


def test_the_first_rows_have_all_columns_that_are_read(
    make_engine: EngineMaker, pairs: tuple[pl.DataFrame, Callable[[Cells], Plan]]
) -> None:
    engine = make_engine(pairs[0].with_columns(other=1), schema_of(["age"], kept=("row",)))
    few = engine.first_rows(7)
    assert few.columns == ["age", "illness", "row"]
    assert few.height == 7
    assert set(few["row"]) <= set(pairs[0]["row"])
    assert sorted(engine.first_rows(5000)["row"]) == sorted(pairs[0]["row"])
