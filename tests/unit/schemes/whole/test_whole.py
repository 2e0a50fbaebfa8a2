"""WHOLE: its plans keep the promise and every point, and what they depend on."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike import schemes
from betalike.engines.local import LocalEngine
from betalike.errors import InfeasibleError, ParameterError
from betalike.io.arguments import make_schema
from betalike.measures.loss import plan_loss
from betalike.promises import Form, Likeness
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes import Whole
from betalike.schemes.regrouping import MOST_ITEMS
from betalike.schemes.whole.problem import pose
from betalike.schemes.whole.searching import Schedule, Search
from betalike.table.axis import HierarchyAxis, OrderedAxis
from betalike.table.cells import Cells, Plan
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind
from examples import examples
from seam_tables import random_cells, wide_cells

SEEDS = st.integers(0, 10**6)
MODELS = st.builds(
    Likeness, st.sampled_from([0.3, 1, 2, 4]), form=st.sampled_from(Form), k=st.integers(1, 9)
) | st.builds(Likeness, st.sampled_from([1, 4]), negative_beta=st.sampled_from(["symmetric", 0.5]))


def scheduled(**sizes: Any) -> type[Whole]:
    """WHOLE with other sizes, at which small tables are searched as large ones are."""
    return type("Whole", (Whole,), {"schedule": Schedule(**sizes)})


def check_plan(plan: Plan, cells: Cells, model: Likeness) -> None:
    """The promise is kept, nobody is lost, and every point is in one class."""
    assert model.judge(plan.class_counts, cells.value_counts, cells.sensitive).holds
    assert np.array_equal(plan.cell, np.arange(len(cells.count)))
    assert np.array_equal(plan.count, cells.count)
    for point in range(len(cells.points)):
        assert len(set(plan.ec[cells.point == point].tolist())) == 1
    assert set(plan.ec.tolist()) == set(range(plan.n_classes))


def classes_of(plan: Plan) -> set[frozenset[int]]:
    points = plan.cells.point
    return {frozenset(points[plan.ec == ec].tolist()) for ec in range(plan.n_classes)}


@examples(25)
@given(seed=SEEDS, model=MODELS, strict=st.booleans(), n_cells=st.sampled_from([1, 30, 200]))
def test_a_plan_keeps_the_promise_and_every_point(seed: int, model: Likeness, strict: bool, n_cells: int) -> None:
    cells = random_cells(seed, n_cells)
    if model.k > cells.n_rows:
        return
    plan = Whole(SeededRandomness(seed), strict=strict).plan(cells, model)
    check_plan(plan, cells, model)
    assert plan.details == {"strict": strict}


@pytest.mark.parametrize("strict", [False, True])
def test_large_groups_are_merged_where_small_ones_are_not_allowed(
    strict: bool,
) -> None:
    scheme = scheduled(few_points=40, first_group=4, few_to_share=1)  # on several threads
    for seed in range(4):
        cells, model = wide_cells(seed), Likeness([0.5, 4][seed % 2])
        check_plan(scheme(strict=strict).plan(cells, model), cells, model)


@pytest.mark.some(2)
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("effort", [1, 2])
def test_tables_with_many_points_are_cut_first(strict: bool, effort: int) -> None:
    scheme = scheduled(many_points=40, few_to_share=1, cuts_of_many=(4, 8), most_items=30)
    for seed in range(4):
        cells, model = wide_cells(seed), Likeness([0.5, 4][seed % 2], k=1 + 4 * (seed // 2))
        plan = scheme(SeededRandomness(seed), effort, strict).plan(cells, model)
        check_plan(plan, cells, model)
        assert seed % 2 == 0 or plan.n_classes > 1


@pytest.mark.parametrize("strict", [False, pytest.param(True, marks=pytest.mark.long)])
def test_near_points_join_where_values_are_so_rare_that_classes_have_to_be_large(
    strict: bool,
) -> None:
    scheme = scheduled(most_counts=4000)
    rng = np.random.default_rng(3)
    value = np.sort(rng.permutation(np.arange(900) % 300))
    cells = Cells(
        axes=(OrderedAxis("number", Kind.INTEGER, np.arange(900), (0.0, 899.0)),),
        sensitive=OrderedAxis("pay", Kind.INTEGER, np.arange(300), (0.0, 299.0)),
        weights=(1.0,),
        points=np.arange(900, dtype=np.int32)[:, None],
        point=np.arange(900, dtype=np.int32),
        value=rng.permutation(value).astype(np.int32),
        count=np.ones(900, dtype=np.int64),
    )
    for model in (Likeness(4), Likeness(1), Likeness(0.1)):
        plan = scheme(SeededRandomness(1), strict=strict).plan(cells, model)
        check_plan(plan, cells, model)
    assert scheme(SeededRandomness(1), strict=strict).plan(cells, Likeness(9)).n_classes > 1


def test_a_point_that_is_allowed_may_stay_alone_and_loses_nothing() -> None:
    axis = OrderedAxis("number", Kind.INTEGER, np.arange(9), (0.0, 8.0))
    point, value = np.divmod(np.arange(18), 2)
    cells = Cells(
        axes=(axis,),
        sensitive=HierarchyAxis("illness", Hierarchy.flat("st")),
        weights=(1.0,),
        points=np.arange(9, dtype=np.int32)[:, None],
        point=point.astype(np.int32),
        value=value.astype(np.int32),
        count=np.full(18, 5),
    )
    plan = Whole().plan(cells, Likeness(0.5))
    assert plan.n_classes == 9
    assert plan_loss(plan).average == 0


@examples(6)
@given(seed=SEEDS, model=MODELS, strict=st.booleans())
def test_more_effort_never_loses_more(seed: int, model: Likeness, strict: bool) -> None:
    cells = random_cells(seed, n_cells=120)
    plans = [Whole(SeededRandomness(seed), effort, strict).plan(cells, model) for effort in (0, 1, 2)]
    losses = [plan_loss(plan).average for plan in plans]
    assert all(more <= less * (1 + 1e-12) for less, more in itertools.pairwise(losses))


@pytest.mark.parametrize("strict", [False, True])
def test_effort_pays(strict: bool) -> None:
    """A pass that never found anything better would keep every law above."""
    losses = []
    for seed in range(5):
        cells = random_cells(seed, n_cells=200)
        plans = [Whole(SeededRandomness(1), effort, strict).plan(cells, Likeness(1)) for effort in (0, 1)]
        losses.append([plan_loss(plan).average for plan in plans])
    assert sum(with_effort < without * 0.99 for without, with_effort in losses) >= 3


def test_later_rounds_find_what_the_first_ones_do_not() -> None:
    """They work on small neighbourhoods, at temperatures that follow from what these lose."""
    losses = []
    for seed in range(3):
        cells = random_cells(seed, n_cells=400)
        plans = [Whole(SeededRandomness(1), effort).plan(cells, Likeness(1)) for effort in (1, 2)]
        check_plan(plans[1], cells, Likeness(1))
        losses.append([plan_loss(plan).average for plan in plans])
    assert all(more <= less * (1 + 1e-12) for less, more in losses)
    assert any(more < less * 0.999 for less, more in losses)


@pytest.mark.parametrize(("few", "strict", "n_wide"), [(40, True, 2), (40, False, 0), (8192, True, 0)])
def test_a_strict_search_of_groups_begins_with_wide_neighbourhoods(few: int, strict: bool, n_wide: int) -> None:
    """A group that is only just allowed becomes one large class, which narrow neighbourhoods cannot take apart."""
    sizes = []

    class Recording(Search):
        def _regroup_groups(self, label: Any, most: int) -> None:
            sizes.append(most)
            super()._regroup_groups(label, most)

    problem = pose(wide_cells(2), Likeness(4))
    search = Recording(problem, strict, SeededRandomness(1), Schedule(few_points=few))
    label = search.merge()
    search.improve(label, 0, 1)
    assert [size == MOST_ITEMS for size in sizes] == [True] * n_wide + [False] * (len(sizes) - n_wide)


# --- what a release does not depend on ---


@pytest.mark.parametrize("strict", [False, True])
def test_it_does_not_matter_who_of_a_point_has_which_value(strict: bool) -> None:
    rng = np.random.default_rng(1)
    n = 400
    frame = pl.DataFrame(
        {"number": rng.integers(0, 12, n), "word": rng.integers(0, 3, n).astype(str), "person": np.arange(n)}
    ).with_columns(secret=pl.Series((rng.integers(0, 12, n) // 4 + rng.integers(0, 2, n)).astype(str)))
    shuffled = frame.with_columns(pl.col("secret").shuffle(seed=3).over("number", "word"))
    assert not shuffled["secret"].equals(frame["secret"])
    schema = make_schema(["number", "word"], "secret", None, None, None, None, (), False)
    plans = [
        Whole(SeededRandomness(7), strict=strict).plan(LocalEngine(rows, schema).count_cells(), Likeness(1))
        for rows in (frame, shuffled)
    ]
    assert np.array_equal(plans[0].ec, plans[1].ec)
    assert np.array_equal(plans[0].count, plans[1].count)


def small_table(rng: np.random.Generator, sizes: Any) -> Cells:
    """A table of a few points with these sizes, whatever the values."""
    n = len(sizes)
    points = np.stack([np.arange(n), np.arange(n)[::-1] ** 2 % 5], axis=1).astype(np.int32)
    counts = np.array([rng.multinomial(size, rng.dirichlet([0.7, 0.7, 0.7])) for size in sizes])
    point, value = np.nonzero(counts)
    axes = tuple(OrderedAxis(name, Kind.INTEGER, np.arange(9), (0.0, 8.0)) for name in ("one", "two"))
    sensitive = HierarchyAxis("illness", Hierarchy.flat("stu"))
    values = (point.astype(np.int32), value.astype(np.int32), counts[point, value])
    return Cells(axes, sensitive, (1.0, 1.0), points, *values)


def answers(cells: Cells, model: Likeness) -> tuple[bool, ...]:
    """Which sets of points are allowed, for all sets."""
    counts = np.zeros((len(cells.points), 3), dtype=np.int64)
    np.add.at(counts, (cells.point, cells.value), cells.count)
    caps = model.caps(cells.value_counts)
    found = []
    for chosen in itertools.product([False, True], repeat=len(counts)):
        inside = counts[list(chosen)].sum(axis=0)
        found.append(bool((inside * caps.denominator <= caps.numerator * inside.sum()).all()))
    return tuple(found)


@pytest.mark.parametrize("many_points", [100_000, 3])
def test_strict_classes_depend_on_answers_alone_and_others_do_not(many_points: int) -> None:
    scheme = scheduled(many_points=many_points)
    rng, model = np.random.default_rng(5), Likeness(0.4)
    sizes = [13, 8, 21, 5, 11]
    alike: dict[tuple[bool, ...], list[Cells]] = defaultdict(list)
    for _ in range(600):
        cells = small_table(rng, sizes)
        if (cells.value_counts > 0).all():
            alike[answers(cells, model)].append(cells)
    tables = [group[:4] for group in alike.values() if len(group) > 1 and sum(answers(group[0], model)) > 3]
    assert len(tables) >= 10

    def found(strict: bool) -> list[set[frozenset[frozenset[int]]]]:
        plans = [[scheme(SeededRandomness(2), strict=strict).plan(c, model) for c in group] for group in tables]
        return [{frozenset(classes_of(plan)) for plan in group} for group in plans]

    assert all(len(classes) == 1 for classes in found(strict=True))
    with_effort_0 = [
        {frozenset(classes_of(scheme(SeededRandomness(2), 0).plan(c, model))) for c in group} for group in tables
    ]
    assert any(len(classes) > 1 for classes in with_effort_0)


def test_a_seed_repeats_a_plan_and_the_system_does_not_need_one() -> None:
    cells, model = random_cells(4, n_cells=200), Likeness(1)
    plans = [Whole(SeededRandomness(3)).plan(cells, model) for _ in range(2)]
    assert np.array_equal(plans[0].ec, plans[1].ec)
    check_plan(Whole().plan(cells, model), cells, model)


# --- arguments ---


@pytest.mark.parametrize("effort", [True, -1, 1.5, "2", 1001, None])
def test_an_effort_that_is_no_whole_number_from_0_to_1000_is_refused(effort: object) -> None:
    with pytest.raises(ParameterError, match="effort is"):
        schemes.make_scheme("whole", SeededRandomness(1), effort=effort)


@pytest.mark.parametrize("strict", [1, "yes", None])
def test_strict_is_true_or_false(strict: object) -> None:
    with pytest.raises(ParameterError, match="strict is"):
        schemes.make_scheme("whole", SeededRandomness(1), strict=strict)


def test_a_table_that_breaks_the_promise_as_a_whole_is_refused() -> None:
    cells = random_cells(1)
    with pytest.raises(InfeasibleError, match="do not keep the promise"):
        Whole().plan(cells, Likeness(1, k=cells.n_rows + 1))
