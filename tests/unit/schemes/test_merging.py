"""Merging items until all classes are allowed: against a slow twin, and its laws."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.measures.loss import class_losses
from betalike.promises import Likeness
from betalike.runtime.noise import STATE_WORDS
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes.merging import ANY, SMALLEST, WORST, Style, find_candidates, merge_items
from betalike.schemes.whole.problem import GroupingProblem, pose
from betalike.table.cells import Cells
from examples import examples
from seam_tables import random_cells

SEEDS = st.integers(0, 10**6)
BY_SCORE = Style(is_blind=False, n_candidates=5, patience=0.1, lack=1.0, order=SMALLEST, noise=0.0)
STYLES = [BY_SCORE, BY_SCORE._replace(order=WORST, lack=0.3), BY_SCORE._replace(is_blind=True, patience=0.3)]


def dense(cells: Cells) -> np.ndarray:
    counts = np.zeros((len(cells.points), cells.sensitive.size), dtype=np.int64)
    np.add.at(counts, (cells.point, cells.value), cells.count)
    return counts


class Twin:
    """The same merging with sets of points, in plain Python."""

    def __init__(self, cells: Cells, model: Likeness, style: Style) -> None:
        self.cells, self.style, self.counts = cells, style, dense(cells)
        self.caps = model.caps(cells.value_counts)
        self.cap = model.ceilings(cells.value_counts)
        self.k = model.k
        self.weights = np.array(cells.weights) / sum(cells.weights)
        self.loss, self.bad = cache(self._loss), cache(self._bad)

    def size(self, points: frozenset[int]) -> int:
        return int(self.counts[sorted(points)].sum())

    def _loss(self, points: frozenset[int]) -> float:
        inside = self.cells.points[sorted(points)]
        return float(
            class_losses(self.cells.axes, inside.min(axis=0)[None], inside.max(axis=0)[None])[0] @ self.weights
        )

    def is_allowed(self, points: frozenset[int]) -> bool:
        counts, size = self.counts[sorted(points)].sum(axis=0), self.size(points)
        pairs = zip(self.caps.numerator.tolist(), self.caps.denominator.tolist(), strict=True)
        return size >= self.k and all(int(c) * d <= n * size for c, (n, d) in zip(counts, pairs, strict=True))

    def _bad(self, points: frozenset[int]) -> float:
        if self.is_allowed(points):
            return 0.0
        if self.style.is_blind:
            return 1.0
        counts, size = self.counts[sorted(points)].sum(axis=0), self.size(points)
        needed = max([self.k, *(c / cap for c, cap in zip(counts, self.cap, strict=True) if c)])
        return float(np.maximum(counts - self.cap * size, 0).sum() + self.style.lack * max(needed - size, 0))

    def cost(self, one: frozenset[int], other: frozenset[int]) -> float:
        return sum(
            sign * self.size(points) * self.loss(points) for sign, points in ((1, one | other), (-1, one), (-1, other))
        )

    def score(self, one: frozenset[int], other: frozenset[int]) -> float:
        cost = self.cost(one, other)
        gain = self.bad(one) + self.bad(other) - self.bad(one | other) + self.style.patience
        return (cost + 1e-9) / gain if gain > 0 else 1e100 * (1 + cost)

    def key(self, points: frozenset[int]) -> float:
        return self.size(points) if self.style.order == SMALLEST else -self.bad(points)

    def merge(self) -> set[frozenset[int]] | None:
        """The classes; None if a near tie leaves open which step comes next."""
        classes = {frozenset([point]) for point in range(len(self.cells.points))}
        while len(classes) > 1:
            waiting = sorted((self.key(points), sorted(points)) for points in classes if not self.is_allowed(points))
            if not waiting:
                break
            if len(waiting) > 1 and math.isclose(waiting[0][0], waiting[1][0], rel_tol=1e-9):
                return None
            one = frozenset(waiting[0][1])
            near = sorted((self.cost(one, other), sorted(other)) for other in classes - {one})
            if len(near) > self.style.n_candidates:
                last, first_left = near[self.style.n_candidates - 1 : self.style.n_candidates + 1]
                if math.isclose(last[0], first_left[0], rel_tol=1e-9, abs_tol=1e-9):
                    return None
            scored = sorted((self.score(one, frozenset(o)), o) for _, o in near[: self.style.n_candidates])
            if len(scored) > 1 and math.isclose(scored[0][0], scored[1][0], rel_tol=1e-9, abs_tol=1e-12):
                return None
            other = frozenset(scored[0][1])
            classes = classes - {one, other} | {one | other}
        return classes


def merged(problem: GroupingProblem, style: Style, seed: int = 1) -> tuple[np.ndarray, float, bool]:
    every = np.arange(len(problem.items.size))
    state = SeededRandomness(seed).words(STATE_WORDS).copy()
    return merge_items(problem.spans, problem.limits, problem.items, every, every, style, state)


def as_sets(label: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(label == name).tolist()) for name in np.unique(label)}


def distinct_sizes(cells: Cells, seed: int) -> Cells:
    """The same cells with counts that are seldom equal, so that there are few ties."""
    rng = np.random.default_rng(seed)
    axes, values = cells.axes, rng.integers(50, 5000, len(cells.count))
    return Cells(axes, cells.sensitive, (1.0, 0.7, 0.4), cells.points, cells.point, cells.value, values)


@pytest.mark.some(2)
@pytest.mark.parametrize("style", STYLES, ids=["score", "worst first", "blind"])
def test_classes_are_those_of_a_slow_twin(style: Style) -> None:
    compared = 0
    for seed in range(40):
        cells, model = (
            distinct_sizes(random_cells(seed, n_cells=14), seed),
            Likeness([0.5, 1, 3][seed % 3], k=seed % 5 + 1),
        )
        expected = Twin(cells, model, style).merge()
        if expected is not None:
            compared += 1
            assert as_sets(merged(pose(cells, model), style)[0]) == expected
    assert compared >= 12


@examples(60)
@given(seed=SEEDS, n=st.integers(1, 3000), n_wanted=st.integers(1, 70), n_distinct=st.sampled_from([1, 3, 50, 10**6]))
def test_candidates_are_the_first_of_all_partners_in_order_of_cost(
    seed: int, n: int, n_wanted: int, n_distinct: int
) -> None:
    costs = np.random.default_rng(seed).integers(0, n_distinct, n) / 7
    costs[seed % n] = np.inf  # the class itself
    if seed % 3 == 0:
        costs.sort()
    cost, candidate = np.zeros(n_wanted), np.zeros(n_wanted, dtype=np.int64)
    n_found = find_candidates(costs, cost, candidate)
    expected = np.argsort(costs, kind="stable")[: min(n_wanted, n - 1)]
    assert candidate[:n_found].tolist() == expected.tolist()
    assert cost[:n_found].tolist() == costs[expected].tolist()


@examples(40)
@given(seed=SEEDS, beta=st.sampled_from([0.5, 1, 4]), order=st.sampled_from([SMALLEST, WORST, ANY]))
def test_all_classes_are_allowed_whatever_the_style(seed: int, beta: float, order: int) -> None:
    cells = random_cells(seed, n_cells=150)
    model = Likeness(beta)
    problem = pose(cells, model)
    style = Style(seed % 2 == 0, 1 + seed % 9, 0.01, 10.0, order, 0.3)
    label, total, is_allowed = merged(problem, style, seed)
    twin = Twin(cells, model, style)
    classes = as_sets(label)
    assert is_allowed
    assert all(twin.is_allowed(points) for points in classes)
    assert total == pytest.approx(sum(twin.size(points) * twin.loss(points) for points in classes))


def test_items_that_start_together_stay_together_and_what_is_not_allowed_is_reported() -> None:
    cells = random_cells(5, n_cells=60)
    problem = pose(cells, Likeness(1, k=cells.n_rows))
    n = len(cells.points)
    group, state = np.arange(n) // 3, SeededRandomness(1).words(STATE_WORDS).copy()
    label, _, is_allowed = merge_items(
        problem.spans, problem.limits, problem.items, np.arange(n), group, BY_SCORE, state
    )
    assert is_allowed
    assert len(as_sets(label)) == 1
    some = np.arange(n - 3)
    _, _, is_allowed = merge_items(problem.spans, problem.limits, problem.items, some, group[: n - 3], BY_SCORE, state)
    assert not is_allowed
