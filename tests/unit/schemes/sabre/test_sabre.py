"""SABRE put together: every tuple in a class that keeps t, and never a greater loss than tMondrian's."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import promise_twins
from betalike.api import make_schema
from betalike.engines.local import LocalEngine
from betalike.errors import ParameterError
from betalike.measures.loss import plan_loss
from betalike.promises import Closeness, Likeness
from betalike.promises.distances import Ground
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes import Mondrian, Redistribution, Sabre, make_scheme
from betalike.schemes.sabre.buckets import near_buckets
from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.table.cells import Cells, Plan
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind
from examples import examples
from promise_cases import told
from seam_tables import random_cells

LINE = OrderedAxis("salary", Kind.INTEGER, np.arange(8), (0.0, 7.0))
TREE = HierarchyAxis(
    "illness",
    Hierarchy.from_rows([[f"{i}", f"pair {i // 2}", f"{'low' if i < 4 else 'high'}", "*"] for i in range(8)]),
)
GROUNDS: dict[Ground, Axis] = {Ground.ORDERED: LINE, Ground.HIERARCHICAL: TREE, Ground.EQUAL: LINE}
EVERY_GROUND = pytest.mark.parametrize("ground", GROUNDS)
TS = st.sampled_from([0.02, 0.05, 0.1, 0.2, 0.4])


def cells_on(ground: Ground, seed: int) -> Cells:
    return replace(random_cells(seed), sensitive=GROUNDS[ground])


def check(plan: Plan, cells: Cells, model: Closeness) -> None:
    """Every tuple is in one class, and every class keeps t by the twin."""
    assert np.bincount(plan.cell, plan.count, len(cells.count)).tolist() == cells.count.tolist()
    assert sorted(set(plan.ec.tolist())) == list(range(plan.n_classes))
    paths = TREE.hierarchy.paths if model.ground is Ground.HIERARCHICAL else ()
    prior = promise_twins.Prior(dict(enumerate(cells.value_counts.tolist())), range(8), paths)
    classes: list[Counter[int]] = [Counter() for _ in range(plan.n_classes)]
    for cell, count, ec in zip(plan.cell.tolist(), plan.count.tolist(), plan.ec.tolist(), strict=True):
        classes[ec][int(cells.value[cell])] += count
    assert promise_twins.broken(told(model), classes, prior) == []


@examples(25)
@pytest.mark.parametrize("redistribution", Redistribution)
@EVERY_GROUND
@given(seed=st.integers(0, 10**6), t=TS, k=st.sampled_from([1, 1, 5, 40]))
def test_every_tuple_is_in_one_class_that_keeps_t(
    ground: Ground, redistribution: Redistribution, seed: int, t: float, k: int
) -> None:
    cells = cells_on(ground, seed)
    model = Closeness(t, ground, k)
    plan = Sabre(redistribution, SeededRandomness(seed)).plan(cells, model)
    check(plan, cells, model)
    assert plan.details["redistribution"] == str(redistribution)
    assert 1 <= int(str(plan.details["buckets"])) <= 8


@examples(25)
@EVERY_GROUND
@given(seed=st.integers(0, 10**6), t=TS, k=st.sampled_from([1, 5]))
def test_in_space_it_goes_on_where_tmondrian_ends(ground: Ground, seed: int, t: float, k: int) -> None:
    cells = cells_on(ground, seed)
    model = Closeness(t, ground, k)
    sabre = Sabre(randomness=SeededRandomness(seed)).plan(cells, model)
    mondrian = Mondrian().plan(cells, model)
    class_of_cell = dict(zip(mondrian.cell.tolist(), mondrian.ec.tolist(), strict=True))
    around = {(ec, class_of_cell[cell]) for cell, ec in zip(sabre.cell.tolist(), sabre.ec.tolist(), strict=True)}
    assert len(around) == sabre.n_classes  # each class lies within one of tMondrian's
    assert plan_loss(sabre).average <= plan_loss(mondrian).average + 1e-12


@examples(25)
@given(seed=st.integers(0, 10**6), t=st.sampled_from([0.1, 0.2, 0.4]))
def test_by_counts_it_never_looks_at_the_secrets_within_a_bucket(seed: int, t: float) -> None:
    """Secrets that are exchanged within their buckets leave every class's box as it was."""
    rng = np.random.default_rng(seed)
    secrets = rng.choice(8, 150)
    points = {"x": rng.integers(0, 9, 150), "y": rng.integers(0, 5, 150)}
    schema = make_schema(["x", "y"], "secret", None, None, None, None, (), False)

    def plan_of(column: np.ndarray) -> Plan:
        cells = LocalEngine(pl.DataFrame({**points, "secret": column}), schema).count_cells()
        return Sabre(Redistribution.COUNTS, SeededRandomness(seed)).plan(cells, Closeness(t, Ground.ORDERED))

    counts = np.bincount(secrets, minlength=8)
    assume((counts > 0).all())
    bucket = np.searchsorted(near_buckets(Closeness(t).rule(counts, LINE), is_line=True), secrets, side="right")
    exchanged = secrets.copy()
    for number in np.unique(bucket):
        exchanged[bucket == number] = rng.permutation(secrets[bucket == number])
    boxes = [np.column_stack(plan_of(column).boxes).tolist() for column in (secrets, exchanged)]
    assert boxes[0] == boxes[1]


def test_it_keeps_t_closeness_alone() -> None:
    with pytest.raises(ParameterError, match="the scheme 'sabre' keeps t-closeness, not enhanced-likeness"):
        Sabre().plan(cells_on(Ground.ORDERED, 1), Likeness(2))


def test_its_option_is_checked() -> None:
    with pytest.raises(ParameterError, match="redistribution is 'chance'; it must be one of: space, counts"):
        make_scheme("sabre", SeededRandomness(1), redistribution="chance")
    with pytest.raises(ParameterError, match="redistribution is 'chance'"):
        Sabre("chance")  # type: ignore[arg-type]
    made = make_scheme("sabre", SeededRandomness(1), redistribution="counts")
    assert isinstance(made, Sabre)
    assert (made.name, made.redistribution) == ("sabre", Redistribution.COUNTS)
