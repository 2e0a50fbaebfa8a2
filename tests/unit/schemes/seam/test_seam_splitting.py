"""Splitting and improving: what they conserve, what they promise, and that loss never grows."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from betalike.api import make_schema
from betalike.engines.memory import MemoryEngine
from betalike.loss import plan_loss
from betalike.models import Form, Likeness
from betalike.randomness import SeededRandomness
from betalike.schemes import Seam
from betalike.schemes.seam.improving import improve, merge_fragments, starts_of, total_loss
from betalike.schemes.seam.problem import Problem, pose
from betalike.schemes.seam.splitting import box_loss, box_of, cut_set, reserved_cap, split_set
from betalike.table import Cells, Plan
from seam_tables import check_plan, is_allowed, random_cells

SEEDS = st.integers(0, 10**6)
RESERVES = st.sampled_from([0.0, 0.1, 0.3, 1.0])
MODELS = st.builds(
    Likeness,
    beta=st.sampled_from([0.3, 1, 2, 4, 9]),
    form=st.sampled_from(list(Form)),
    k=st.sampled_from([1, 1, 2, 5, 20]),
)


def split(cells: Cells, model: Likeness, reserve: float, looks_ahead: bool = False) -> Plan:
    everything = np.arange(len(cells.count), dtype=np.int32)
    return Plan(cells, *split_set(pose(cells, model), everything, cells.count, reserve, looks_ahead))


def loss_of_all(cells: Cells) -> float:
    """The loss of one class of all tuples."""
    n = len(cells.count)
    return plan_loss(Plan(cells, np.arange(n, dtype=np.int32), cells.count, np.zeros(n, dtype=np.int32), 1)).average


def counts_of(problem: Problem, cells: np.ndarray, counts: np.ndarray) -> list[int]:
    return np.bincount(problem.cell_value[cells], counts, len(problem.cap)).astype(int).tolist()


# --- one cut ---


@given(seed=SEEDS, model=MODELS, reserve=RESERVES, looks_ahead=st.booleans())
def test_a_cut_makes_three_allowed_parts_none_of_which_loses_more(
    seed: int, model: Likeness, reserve: float, looks_ahead: bool
) -> None:
    cells = random_cells(seed)
    problem = pose(cells, model)
    everything = np.arange(len(cells.count), dtype=np.int32)
    side, kept = np.zeros(len(everything), dtype=np.int8), np.zeros(len(everything), dtype=np.int64)
    if not cut_set(problem, everything, cells.count, reserve, looks_ahead, side, kept):
        return
    assert (kept >= 0).all()
    assert (kept <= cells.count).all()
    whole = box_loss(problem, *box_of(problem, everything))
    parts = [np.where(side == 0, kept, 0), np.where(side == 1, kept, 0), cells.count - kept]
    assert sum(map(np.sum, parts[:2])) > 0
    losses = 0.0
    for counts in parts:
        inside = np.flatnonzero(counts).astype(np.int32)
        if len(inside):
            assert is_allowed(problem, counts_of(problem, inside, counts[inside]))
            assert counts.sum() >= model.k
            loss = box_loss(problem, *box_of(problem, inside))
            assert loss <= whole + 1e-12
            losses += loss * counts.sum()
    assert losses <= whole * cells.n_rows * (1 + 1e-12)


@given(seed=SEEDS)
def test_the_loss_of_a_box_is_that_of_the_plan(seed: int) -> None:
    cells = random_cells(seed)
    problem = pose(cells, Likeness(1))
    everything = np.arange(len(cells.count), dtype=np.int32)
    assert box_loss(problem, *box_of(problem, everything)) == pytest.approx(loss_of_all(cells))


@given(seed=SEEDS, model=MODELS, reserve=RESERVES, loss=st.floats(0, 1))
def test_the_reserved_cap_lies_between_what_the_set_holds_and_the_cap(
    seed: int, model: Likeness, reserve: float, loss: float
) -> None:
    cells = random_cells(seed)
    problem, total = pose(cells, model), cells.value_counts
    values = np.flatnonzero(total)
    cap = reserved_cap(problem, total, cells.n_rows, loss, reserve, values)
    for v in values:
        held = total[v] / cells.n_rows
        midpoint = (held + problem.cap[v]) / 2
        assert cap[v] == pytest.approx(max(problem.cap[v] * (1 - reserve * loss**0.5), midpoint))
        assert held <= cap[v] * (1 + 1e-12)
        assert cap[v] <= problem.cap[v] * (1 + 1e-12)


# --- the recursion ---


@given(
    seed=SEEDS,
    n_cells=st.sampled_from([1, 10, 80, 300]),
    model=MODELS,
    reserve=RESERVES,
    looks_ahead=st.booleans(),
)
def test_a_split_conserves_every_cell_and_keeps_the_promise(
    seed: int, n_cells: int, model: Likeness, reserve: float, looks_ahead: bool
) -> None:
    cells = random_cells(seed, n_cells)
    if model.k > cells.n_rows:
        return
    plan = split(cells, model, reserve, looks_ahead)
    check_plan(plan, cells, model)
    assert plan_loss(plan).average <= loss_of_all(cells) + 1e-12


@given(seed=SEEDS, model=MODELS, reserve=RESERVES, again=RESERVES, looks_ahead=st.booleans())
def test_a_split_never_raises_the_loss_of_a_class(
    seed: int, model: Likeness, reserve: float, again: float, looks_ahead: bool
) -> None:
    cells = random_cells(seed)
    problem, plan = pose(cells, model), split(cells, model, reserve)
    for ec in range(plan.n_classes):
        inside = plan.ec == ec
        members, counts = plan.cell[inside], plan.count[inside]
        before = total_loss(problem, members, counts, np.array([0, len(members)]))
        new_cell, new_count, new_class, n_classes = split_set(problem, members, counts, again, looks_ahead)
        bounds = starts_of(new_class, n_classes)
        assert total_loss(problem, new_cell, new_count, bounds) <= before * (1 + 1e-12)
        for begin, end in itertools.pairwise(bounds):
            assert is_allowed(problem, counts_of(problem, new_cell[begin:end], new_count[begin:end]))


@given(seed=SEEDS, model=MODELS, reserve=RESERVES)
def test_the_same_cells_are_split_in_the_same_way(seed: int, model: Likeness, reserve: float) -> None:
    cells = random_cells(seed)
    one, other = split(cells, model, reserve), split(cells, model, reserve)
    for name in ("cell", "count", "ec"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()


def test_many_tuples_in_few_cells_outgrow_the_first_stack() -> None:
    """Few cells of many tuples each are shared between many sets."""
    cells = random_cells(3, n_cells=300, most=100_000)
    plan = split(cells, Likeness(1), 0.1)
    check_plan(plan, cells, Likeness(1))
    assert plan.n_classes > 64


def test_a_billion_tuples_do_not_overflow() -> None:
    cells = random_cells(5, n_cells=60, most=10**8)
    check_plan(split(cells, Likeness(2), 0.1), cells, Likeness(2))


# --- looking again ---


@given(
    seed=SEEDS,
    model=MODELS,
    window=st.integers(1, 9),
    offset=st.integers(0, 5),
    turn=st.integers(0, 4),
    looks_ahead=st.booleans(),
)
def test_improving_conserves_keeps_the_promise_and_never_raises_the_loss(
    seed: int, model: Likeness, window: int, offset: int, turn: int, looks_ahead: bool
) -> None:
    cells = random_cells(seed, n_cells=200)
    before = split(cells, model, 1.0)
    after = improve(pose(cells, model), before, window, offset, 0.1, looks_ahead, turn)
    check_plan(after, cells, model)
    assert plan_loss(after).average <= plan_loss(before).average * (1 + 1e-12)


@given(seed=SEEDS)
def test_total_loss_is_the_loss_of_the_plan(seed: int) -> None:
    cells = random_cells(seed)
    plan = split(cells, Likeness(1), 0.1)
    loss = total_loss(pose(cells, Likeness(1)), plan.cell, plan.count, starts_of(plan.ec, plan.n_classes))
    assert loss / cells.n_rows == pytest.approx(plan_loss(plan).average)


@given(fragments=st.lists(st.tuples(st.integers(0, 6), st.integers(1, 9)), min_size=1, max_size=30))
def test_fragments_of_the_same_cell_become_one(fragments: list[tuple[int, int]]) -> None:
    cell, count = np.array(fragments).T
    merged_cell, merged_count = merge_fragments(cell.astype(np.int32), count)
    expected = {c: sum(n for other, n in fragments if other == c) for c in sorted({c for c, _ in fragments})}
    assert dict(zip(merged_cell.tolist(), merged_count.tolist(), strict=True)) == expected
    assert merged_cell.tolist() == sorted(expected)


# --- the scheme ---


@settings(max_examples=25)
@given(seed=SEEDS, model=MODELS, n_cells=st.sampled_from([1, 30, 200]))
def test_a_plan_keeps_the_promise_and_loses_no_more_than_a_single_split(
    seed: int, model: Likeness, n_cells: int
) -> None:
    cells = random_cells(seed, n_cells)
    if model.k > cells.n_rows:
        return
    plan = Seam().plan(cells, model)
    check_plan(plan, cells, model)
    assert plan_loss(plan).average <= plan_loss(split(cells, model, reserve=0.1)).average * (1 + 1e-12)


@settings(max_examples=15)
@given(seed=SEEDS, beta=st.sampled_from([1, 2, 4]), k=st.integers(1, 9))
def test_a_plan_depends_neither_on_the_order_of_rows_nor_on_chance(seed: int, beta: float, k: int) -> None:
    rng = np.random.default_rng(seed)
    n = 300
    numbers, words = rng.integers(0, 40, n), rng.integers(0, 6, n).astype(str)
    frame = pl.DataFrame(
        {
            "number": [None if rng.random() < 0.1 else x for x in numbers.tolist()],
            "real": rng.random(n).round(2),
            "word": words,
            "secret": (numbers // 10 + rng.integers(0, 3, n)).astype(str),
        }
    )
    schema = make_schema(["number", "real", "word"], "secret", None, None, None, None, (), False)
    plans = [
        Seam(SeededRandomness(number)).plan(MemoryEngine(rows, schema).count_cells(), Likeness(beta, k=k))
        for number, rows in enumerate([frame, frame[rng.permutation(n).tolist()]])
    ]
    for name in ("cell", "count", "ec", "n_classes"):
        assert np.array_equal(getattr(plans[0], name), getattr(plans[1], name))
