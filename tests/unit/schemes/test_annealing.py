"""Annealing: classes stay what they are made of, cold moves never lose, and the penalties work."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from betalike.promises import Likeness
from betalike.runtime.noise import STATE_WORDS
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes import annealing
from betalike.schemes.annealing import FORBIDDEN, Heat, Pieces, anneal
from betalike.schemes.limits import judge_sum
from betalike.schemes.merging import Items
from betalike.schemes.regrouping import outline_classes
from betalike.schemes.spans import box_loss
from betalike.schemes.whole.cooling import count_lacking, weigh_loss
from betalike.schemes.whole.problem import GroupingProblem, pose
from betalike.table.axis import HierarchyAxis, OrderedAxis
from betalike.table.cells import Cells
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind
from seam_tables import random_cells

SEEDS = st.integers(0, 10**6)
COLD = Heat(3000, 1e-9, 1e-12, FORBIDDEN, FORBIDDEN, alone=0.1, block=0.5, calm=0.5, slab=0.1)
HOT = COLD._replace(hot=5.0, cold=0.01, soft=0.5, hard=20.0)


def state_of(seed: int) -> Any:
    return SeededRandomness(seed).words(STATE_WORDS).copy()


def whole_points(problem: GroupingProblem, seed: int) -> Pieces:
    """Every point is a piece; its neighbours are random ones, and some places are empty."""
    n = len(problem.items.size)
    near = np.random.default_rng(seed).integers(-1, n, (n, 4)).astype(np.int32)
    return Pieces(problem.items, np.arange(n), np.arange(n + 1), near)


def fragments(problem: GroupingProblem, seed: int) -> Pieces:
    """Every count of a point is cut in two where it can be."""
    items, rng = problem.items, np.random.default_rng(seed)
    point, number, rows = [], [], []
    for p in range(len(items.size)):
        for i in range(items.start[p], items.start[p + 1]):
            part = int(rng.integers(0, int(items.rows[i])))
            for some in (part, int(items.rows[i]) - part):
                if some:
                    point.append(p)
                    number.append(items.number[i])
                    rows.append(float(some))
    n, points = len(point), np.array(point)
    start = np.searchsorted(points, np.arange(len(items.size) + 1))
    pieces = Items(
        items.low[points],
        items.high[points],
        np.array(rows),
        np.arange(n + 1),
        np.array(number, np.int32),
        np.array(rows),
    )
    near = rng.integers(-1, len(items.size), (len(items.size), 4)).astype(np.int32)
    return Pieces(pieces, points, start, near)


MAKERS = st.sampled_from([whole_points, fragments])


def weigh(problem: GroupingProblem, pieces: Pieces, label: Any) -> tuple[float, float]:
    """The loss of all rows, and what all classes lack, from the pieces alone."""
    items, loss, lack = pieces.items, 0.0, 0.0
    for name in np.unique(label):
        inside = np.flatnonzero(label == name)
        counts, size = np.zeros(len(problem.limits.cap)), items.size[inside].sum()
        for piece in inside:
            for i in range(items.start[piece], items.start[piece + 1]):
                counts[items.number[i]] += items.rows[i]
        loss += size * box_loss(problem.spans, items.low[inside].min(axis=0), items.high[inside].max(axis=0))
        _, lacking, is_allowed = judge_sum(problem.limits, counts, np.zeros(len(counts)), 1.0, size)
        lack += 0.0 if is_allowed else max(lacking, annealing.LEAST_LACK)
    return loss, lack


@settings(max_examples=25)
@given(seed=SEEDS, beta=st.sampled_from([0.5, 2]), maker=MAKERS)
def test_cold_moves_from_allowed_classes_never_lose_more_and_stay_allowed(seed: int, beta: float, maker: Any) -> None:
    problem = pose(random_cells(seed, 60), Likeness(beta))
    pieces = maker(problem, seed)
    label = np.zeros(len(pieces.items.size), dtype=np.int64)
    before, _ = weigh(problem, pieces, label)
    anneal(problem.spans, problem.limits, pieces, COLD, label, state_of(seed))
    after, lack = weigh(problem, pieces, label)
    assert after <= before * (1 + 1e-9) + 1e-9
    assert lack == 0


@settings(max_examples=25)
@given(seed=SEEDS, beta=st.sampled_from([0.5, 2]))
def test_what_points_lack_alone_is_what_classes_of_one_point_lack(seed: int, beta: float) -> None:
    problem = pose(random_cells(seed, 60), Likeness(beta))
    pieces = whole_points(problem, seed)
    _, lack = weigh(problem, pieces, np.arange(len(problem.items.size)))
    assert np.isclose(count_lacking(problem.limits, problem.items), lack)


@settings(max_examples=25)
@given(seed=SEEDS)
def test_what_a_row_of_loss_sees_is_an_average_weighted_by_loss(seed: int) -> None:
    problem, rng = pose(random_cells(seed, 60), Likeness(2)), np.random.default_rng(seed)
    label = rng.integers(0, len(problem.items.size), len(problem.items.size))
    classes = outline_classes(problem.spans, problem.items, label)
    chosen = rng.permutation(len(classes.size))[: rng.integers(1, len(classes.size) + 1)]
    lost = (classes.size * classes.loss)[chosen]
    expected = np.average(lost, weights=lost) if lost.any() else annealing.LEAST_LOSS
    assert np.isclose(weigh_loss(classes, chosen), expected, atol=0)


@settings(max_examples=25)
@given(seed=SEEDS, maker=MAKERS)
def test_what_the_kernel_keeps_in_mind_is_what_the_pieces_say(seed: int, maker: Any) -> None:
    """After hot moves, a cold run that is charged for what classes lack still never costs more."""
    problem = pose(random_cells(seed, 60), Likeness(0.5))
    pieces = maker(problem, seed)
    label = np.random.default_rng(seed).integers(0, 4, len(pieces.items.size))
    anneal(problem.spans, problem.limits, pieces, HOT, label, state_of(seed))
    assert label.min() >= 0
    names = np.unique(label, return_inverse=True)[1]
    loss, lack = weigh(problem, pieces, names)
    charged = COLD._replace(soft=3.0, hard=3.0)
    anneal(problem.spans, problem.limits, pieces, charged, names, state_of(seed + 1))
    after, lack_after = weigh(problem, pieces, names)
    assert after + 3 * lack_after <= (loss + 3 * lack) * (1 + 1e-9) + 1e-9


def test_cold_moves_find_better_classes() -> None:
    """A kernel that never took a move would keep the laws above."""
    losses = []
    for seed in range(6):
        problem = pose(random_cells(seed, 120), Likeness(4))
        pieces = whole_points(problem, seed)
        label = np.zeros(len(problem.items.size), dtype=np.int64)
        before, _ = weigh(problem, pieces, label)
        anneal(problem.spans, problem.limits, pieces, COLD._replace(moves=20_000), label, state_of(seed))
        losses.append(weigh(problem, pieces, label)[0] / before)
    assert sum(loss < 0.99 for loss in losses) >= 4


def test_slabs_split_a_class_whose_points_cannot_leave_one_by_one() -> None:
    """Two pairs of points, far apart; each pair is allowed, and no single point is."""
    axis = OrderedAxis("number", Kind.INTEGER, np.arange(10), (0.0, 9.0))
    cells = Cells(
        axes=(axis,),
        sensitive=HierarchyAxis("illness", Hierarchy.flat("st")),
        weights=(1.0,),
        points=np.array([[0], [1], [8], [9]], dtype=np.int32),
        point=np.arange(4, dtype=np.int32),
        value=np.array([0, 1, 0, 1], dtype=np.int32),
        count=np.full(4, 5),
    )
    problem = pose(cells, Likeness(0.5))
    pieces = Pieces(problem.items, np.arange(4), np.arange(5), np.array([[1], [0], [3], [2]], dtype=np.int32))
    found = []
    for slab in (0.0, 0.5):
        label = np.zeros(4, dtype=np.int64)
        anneal(problem.spans, problem.limits, pieces, COLD._replace(slab=slab), label, state_of(1))
        found.append((label[:, None] == label).tolist())
    assert found[0] == [[True] * 4] * 4
    assert found[1] == [[True, True, False, False]] * 2 + [[False, False, True, True]] * 2


def test_the_same_state_gives_the_same_classes() -> None:
    problem = pose(random_cells(2, 120), Likeness(1))
    labels = []
    for _ in range(2):
        label = np.arange(len(problem.items.size)) % 5
        anneal(problem.spans, problem.limits, whole_points(problem, 1), HOT, label, state_of(3))
        labels.append(label)
    assert np.array_equal(*labels)
    assert len(np.unique(labels[0])) > 1
