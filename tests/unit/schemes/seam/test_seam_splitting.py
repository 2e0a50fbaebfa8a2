"""Splitting and improving: what they conserve, what they promise, and that loss never grows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from betalike import schemes
from betalike.engines.local import LocalEngine
from betalike.errors import ParameterError
from betalike.io.arguments import make_schema
from betalike.measures.loss import plan_loss
from betalike.promises import Form, Likeness
from betalike.runtime.arrays import Words
from betalike.runtime.draws import Draws, draws_from
from betalike.runtime.progress import SilentProgress
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes import Seam
from betalike.schemes.seam.improving import SHARES, improve, merge_fragments, resplit_windows, starts_of, total_loss
from betalike.schemes.seam.problem import SplitProblem, pose
from betalike.schemes.seam.splitting import box_loss, box_of, cut_set, split_set
from betalike.table.axis import HierarchyAxis, OrderedAxis
from betalike.table.cells import Cells, Plan
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind
from examples import examples
from seam_tables import check_plan, draws, is_allowed, random_cells, scratch, wide_cells

SEEDS = st.integers(0, 10**6)
RESERVES = st.sampled_from([0.0, 0.1, 0.3, 1.0])
MODELS = st.builds(
    Likeness,
    beta=st.sampled_from([0.3, 1, 2, 4, 9]),
    form=st.sampled_from(list(Form)),
    k=st.sampled_from([1, 1, 2, 5, 20]),
)


Fragments = tuple[np.ndarray, np.ndarray]
Class = tuple[tuple[int, int], ...]


def split(
    cells: Cells, model: Likeness, reserve: float, looks_ahead: bool = False, small: int = 0, seed: int = 0
) -> Plan:
    everything = np.arange(len(cells.count), dtype=np.int32)
    found = split_set(pose(cells, model), everything, cells.count, reserve, looks_ahead, small, draws(seed))
    return Plan(cells, *found)


def classes_of(cell: np.ndarray, count: np.ndarray, ec: np.ndarray, n_classes: int) -> list[Fragments]:
    return [(cell[ec == c], count[ec == c]) for c in range(n_classes)]


def as_pairs(fragments: Fragments) -> Class:
    """The cells of a class and how many tuples of each, in the order of the fragments."""
    return tuple(zip(fragments[0].tolist(), fragments[1].tolist(), strict=True))


def as_sets(plan: Plan) -> list[list[tuple[int, int]]]:
    """The classes of a plan, whatever their order and that of their fragments."""
    return sorted(sorted(as_pairs(one)) for one in classes_of(plan.cell, plan.count, plan.ec, plan.n_classes))


def loss_of_all(cells: Cells) -> float:
    """The loss of one class of all tuples."""
    n = len(cells.count)
    return plan_loss(Plan(cells, np.arange(n, dtype=np.int32), cells.count, np.zeros(n, dtype=np.int32), 1)).average


def counts_of(problem: SplitProblem, cells: np.ndarray, counts: np.ndarray) -> list[int]:
    return np.bincount(problem.cell_value[cells], counts, len(problem.numerator)).astype(int).tolist()


# --- one cut ---


@given(seed=SEEDS, model=MODELS, reserve=RESERVES, looks_ahead=st.booleans())
def test_a_cut_makes_three_allowed_parts_none_of_which_loses_more(
    seed: int, model: Likeness, reserve: float, looks_ahead: bool
) -> None:
    cells = random_cells(seed)
    problem = pose(cells, model)
    everything = np.arange(len(cells.count), dtype=np.int32)
    side, kept = np.zeros(len(everything), dtype=np.int8), np.zeros(len(everything), dtype=np.int64)
    number = scratch(problem)
    is_cut = cut_set(problem, everything, cells.count, reserve, looks_ahead, number, draws(seed), side, kept)
    assert set(number.tolist()) == {-1}
    if not is_cut:
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


@examples(20)
@given(seed=SEEDS, model=MODELS, looks_ahead=st.booleans())
def test_a_table_with_very_many_codes_is_split_too(seed: int, model: Likeness, looks_ahead: bool) -> None:
    cells = wide_cells(seed)
    plan = split(cells, model, 0.1, looks_ahead)
    check_plan(plan, cells, model)
    assert plan_loss(plan).average < loss_of_all(cells)


def cut_apart(
    problem: SplitProblem, fragments: Fragments, reserve: float, looks_ahead: bool, small: int, words: Draws
) -> list[Fragments]:
    """The classes of a set: itself if it is small or cannot be cut, else those of its seam, right and left core."""
    cell, count = fragments
    part, kept = np.zeros(len(cell), dtype=np.int8), np.zeros(len(cell), dtype=np.int64)
    if len(cell) < small or not cut_set(
        problem, cell, count, reserve, looks_ahead, scratch(problem), words, part, kept
    ):
        return [fragments]
    classes = []
    for give in (count - kept, np.where(part == 1, kept, 0), np.where(part == 0, kept, 0)):
        if give.any():
            some = cell[give > 0], give[give > 0]
            classes += cut_apart(problem, some, reserve, looks_ahead, small, words)
    return classes


@given(
    seed=SEEDS, model=MODELS, reserve=RESERVES, looks_ahead=st.booleans(), small=st.sampled_from([0, 3, 10, 40, 1000])
)
def test_a_split_cuts_what_can_be_cut_and_is_not_small(
    seed: int, model: Likeness, reserve: float, looks_ahead: bool, small: int
) -> None:
    cells = random_cells(seed, n_cells=150)
    plan = split(cells, model, reserve, looks_ahead, small)
    everything = np.arange(len(cells.count), dtype=np.int32), cells.count
    expected = cut_apart(pose(cells, model), everything, reserve, looks_ahead, small, draws())
    found = classes_of(plan.cell, plan.count, plan.ec, plan.n_classes)
    assert [as_pairs(one) for one in found] == [as_pairs(one) for one in expected]
    if small > len(cells.count):
        assert plan.n_classes == 1


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
        new_cell, new_count, new_class, n_classes = split_set(
            problem, members, counts, again, looks_ahead, 0, draws(seed)
        )
        bounds = starts_of(new_class, n_classes)
        assert total_loss(problem, new_cell, new_count, bounds) <= before * (1 + 1e-12)
        for begin, end in itertools.pairwise(bounds):
            assert is_allowed(problem, counts_of(problem, new_cell[begin:end], new_count[begin:end]))


@given(seed=SEEDS, model=MODELS, reserve=RESERVES)
def test_the_same_cells_and_draws_give_the_same_split(seed: int, model: Likeness, reserve: float) -> None:
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
    after = improve(pose(cells, model), before, window, offset, 0.1, looks_ahead, SeededRandomness(seed), turn)
    check_plan(after, cells, model)
    assert plan_loss(after).average <= plan_loss(before).average * (1 + 1e-12)


class Same:
    """Randomness that never changes, so that every share of the work draws the same words."""

    is_seeded = True

    def words(self, count: int) -> Words:
        return np.arange(count, dtype=np.uint64)


@given(seed=SEEDS, model=MODELS, reserve=RESERVES, looks_ahead=st.booleans())
def test_with_a_window_of_1_each_class_is_split_by_itself(
    seed: int, model: Likeness, reserve: float, looks_ahead: bool
) -> None:
    cells = random_cells(seed, n_cells=200)
    problem, before = pose(cells, model), split(cells, model, 1.0, small=40)
    assume(before.n_classes < 2 * SHARES)  # each class is a share of its own
    after = improve(problem, before, 1, 0, reserve, looks_ahead, Same())
    expected = []
    for cell, count in classes_of(before.cell, before.count, before.ec, before.n_classes):
        order = np.argsort(cell)
        found = split_set(problem, cell[order], count[order], reserve, looks_ahead, 0, draws_from(Same()))
        old, new = [(cell, count)], classes_of(*found)
        expected += new if loss_of_classes(cells, new) < loss_of_classes(cells, old) * (1 - 1e-9) else old
    assert as_sets(after) == sorted(sorted(as_pairs(one)) for one in expected)


def loss_of_classes(cells: Cells, classes: list[Fragments]) -> float:
    """The loss of all tuples of some classes, by their boxes."""
    cell, count = (np.concatenate(arrays) for arrays in zip(*classes, strict=True))
    ec = np.repeat(np.arange(len(classes)), [len(one) for one, _ in classes]).astype(np.int32)
    return plan_loss(Plan(cells, cell, count, ec, len(classes))).average * int(count.sum())


@given(
    seed=SEEDS, model=MODELS, window=st.integers(1, 9), offset=st.integers(0, 8), share=st.sampled_from([0, 0.5, 1, 9])
)
def test_each_window_is_split_anew_and_the_better_is_kept(
    seed: int, model: Likeness, window: int, offset: int, share: float
) -> None:
    """Windows behind each other, the first one as long as the offset if there is one; those that lose little stay."""
    cells = random_cells(seed, n_cells=150)
    problem, plan = pose(cells, model), split(cells, model, 1.0)
    least_loss = share * 1.001 * plan_loss(plan).average
    old = classes_of(plan.cell, plan.count, plan.ec, plan.n_classes)
    firsts = [0, *range(offset or window, plan.n_classes, window)]
    expected: list[Fragments] = []
    words = draws(seed)
    for first, last in itertools.pairwise([*firsts, plan.n_classes]):
        classes = old[first:last]
        members, counts = (np.concatenate(arrays) for arrays in zip(*classes, strict=True))
        loss = loss_of_classes(cells, classes)
        if loss > least_loss * counts.sum():
            merged = np.bincount(members, counts).astype(np.int64)
            cell = np.flatnonzero(merged).astype(np.int32)
            new = classes_of(*split_set(problem, cell, merged[cell], 0.1, False, 0, words))
            classes = new if loss_of_classes(cells, new) < loss * (1 - 1e-9) else classes
        expected += classes
    starts = starts_of(plan.ec, plan.n_classes)
    found = resplit_windows(problem, plan.cell, plan.count, starts, window, offset, 0.1, False, least_loss, draws(seed))
    assert [as_pairs(one) for one in classes_of(*found)] == [as_pairs(one) for one in expected]
    assert found[2].tolist() == sorted(found[2].tolist())


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


@examples(25)
@given(seed=SEEDS, model=MODELS, n_cells=st.sampled_from([1, 30, 200]))
def test_a_plan_keeps_the_promise_and_loses_no_more_than_the_best_split(
    seed: int, model: Likeness, n_cells: int
) -> None:
    cells = random_cells(seed, n_cells)
    if model.k > cells.n_rows:
        return
    plan, first = (Seam(SeededRandomness(seed), effort).plan(cells, model) for effort in (1, 0))
    check_plan(plan, cells, model)
    assert plan_loss(plan).average <= plan_loss(first).average * (1 + 1e-12)


@pytest.mark.parametrize("effort", [True, -1, 1.5, "2", 1001, None])
def test_an_effort_that_is_no_whole_number_from_0_to_1000_is_refused(effort: object) -> None:
    with pytest.raises(ParameterError, match="effort is"):
        Seam(effort=effort)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="effort is"):
        schemes.make_scheme("seam", SeededRandomness(1), effort=effort)


def test_efforts_from_0_to_1000_are_taken() -> None:
    assert [Seam(effort=effort).effort for effort in (0, 1, 1000)] == [0, 1, 1000]
    assert Seam().effort == 1


class Counting(SilentProgress):
    """Counts the passes, and makes none of them."""

    n_passes = -1

    def track(self, items: Sequence[Any], step: str) -> Iterable[Any]:
        self.n_passes = len(items)
        return ()


@pytest.mark.parametrize(
    ("effort", "n_cells", "n_passes"), [(0, 150, 0), (1, 150, 80), (3, 150, 240), (1, 15_000, 73), (1, 22_000, 25)]
)
def test_no_effort_is_no_pass_more_effort_more_passes_and_small_tables_get_twice_as_many(
    effort: int, n_cells: int, n_passes: int
) -> None:
    every = np.arange(n_cells, dtype=np.int32)
    axis = OrderedAxis("number", Kind.INTEGER, np.arange(n_cells), (0.0, n_cells - 1.0))
    sensitive = HierarchyAxis("illness", Hierarchy.flat("stu"))
    cells = Cells((axis,), sensitive, (1.0,), every[:, None], every, every % 3, np.ones(n_cells, dtype=np.int64))
    counting = Counting()
    Seam(SeededRandomness(1), effort).plan(cells, Likeness(0.5), counting)
    assert counting.n_passes == n_passes


class Drawing(SeededRandomness):
    """Counts how often it is asked for words: by each way that is tried."""

    n_asked = 0

    def words(self, count: int) -> Words:
        self.n_asked += 1
        return super().words(count)


def test_with_no_effort_two_of_twelve_ways_are_tried_and_not_again() -> None:
    cells, n_asked = random_cells(1, n_cells=150), []
    for effort in (0, 1):
        randomness = Drawing(1)
        Seam(randomness, effort).plan(cells, Likeness(2), Counting())
        n_asked.append(randomness.n_asked)
    assert 1 < n_asked[0] < n_asked[1] / 10


@examples(6)
@given(seed=SEEDS, model=MODELS)
def test_more_effort_never_loses_more(seed: int, model: Likeness) -> None:
    cells = random_cells(seed, n_cells=120)
    plans = [Seam(SeededRandomness(seed), effort).plan(cells, model) for effort in (0, 1, 2)]
    losses = [plan_loss(plan).average for plan in plans]
    for plan in plans:
        check_plan(plan, cells, model)
    assert all(more <= less * (1 + 1e-12) for less, more in itertools.pairwise(losses))


def test_effort_pays() -> None:
    """A pass that never found anything better would keep every law above."""
    losses = []
    for seed in range(5):
        cells = random_cells(seed, n_cells=200)
        losses.append(
            [plan_loss(Seam(SeededRandomness(1), effort).plan(cells, Likeness(1))).average for effort in (0, 1)]
        )
    assert sum(with_effort < without * 0.99 for without, with_effort in losses) >= 3
    assert all(with_effort <= without for without, with_effort in losses)


@examples(8)
@given(seed=SEEDS, beta=st.sampled_from([1, 2, 4]), k=st.integers(1, 9))
def test_a_plan_depends_on_the_seed_and_not_on_the_order_of_rows(seed: int, beta: float, k: int) -> None:
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
        Seam(SeededRandomness(seed)).plan(LocalEngine(rows, schema).count_cells(), Likeness(beta, k=k))
        for rows in (frame, frame[rng.permutation(n).tolist()])
    ]
    for name in ("cell", "count", "ec", "n_classes"):
        assert np.array_equal(getattr(plans[0], name), getattr(plans[1], name))
