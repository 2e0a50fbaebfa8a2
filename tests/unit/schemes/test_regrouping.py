"""Groups of classes that are merged, and regrouped: what is written, and what is left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from betalike.measures.loss import class_losses
from betalike.promises import Likeness
from betalike.runtime.noise import STATE_WORDS
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes.regrouping import draw_places, merge_groups, outline_classes, regroup
from betalike.schemes.whole.problem import GroupingProblem, pose
from betalike.schemes.whole.searching import ANSWERS, BY_ANSWERS, BY_SCORE, SCORES
from betalike.table.cells import Cells
from seam_tables import random_cells

SEEDS = st.integers(0, 10**6)


def state_of(seed: int) -> Any:
    return SeededRandomness(seed).words(STATE_WORDS).copy()


def kernels(problem: GroupingProblem) -> tuple[Any, Any, Any]:
    return problem.spans, problem.limits, problem.items


def is_allowed(cells: Cells, model: Likeness, points: Any) -> bool:
    inside = np.isin(cells.point, points)
    counts = np.bincount(cells.value[inside], cells.count[inside], cells.sensitive.size).astype(np.int64)
    caps = model.caps(cells.value_counts)
    return bool((counts * caps.denominator <= caps.numerator * counts.sum()).all())


def total_loss(problem: GroupingProblem, label: Any) -> float:
    classes = outline_classes(problem.spans, problem.items, label)
    return float(classes.size @ classes.loss)


@given(seed=SEEDS)
def test_the_outline_of_classes_is_that_of_their_points(seed: int) -> None:
    cells = random_cells(seed)
    problem = pose(cells, Likeness(1))
    label = np.random.default_rng(seed).integers(0, 5, len(cells.points))
    classes = outline_classes(problem.spans, problem.items, label)
    places = draw_places(classes, problem.positions, 0.0, state_of(seed))
    weights = np.array(cells.weights) / sum(cells.weights)
    for c, name in enumerate(np.unique(label)):
        points = np.flatnonzero(label == name)
        assert classes.items[classes.start[c] : classes.start[c + 1]].tolist() == points.tolist()
        low, high = cells.points[points].min(axis=0), cells.points[points].max(axis=0)
        assert classes.low[c].tolist() == low.tolist()
        assert classes.high[c].tolist() == high.tolist()
        assert classes.size[c] == cells.count[np.isin(cells.point, points)].sum()
        assert classes.loss[c] == pytest.approx(class_losses(cells.axes, low[None], high[None])[0] @ weights)
        at = problem.positions[points]
        assert places[c] == pytest.approx((at.min(axis=0) + at.max(axis=0)) / 2)


@settings(max_examples=30)
@given(seed=SEEDS, beta=st.sampled_from([0.3, 1, 4]), is_blind=st.booleans())
def test_groups_that_are_allowed_are_merged_and_others_left(seed: int, beta: float, is_blind: bool) -> None:
    cells, model = random_cells(seed, 150), Likeness(beta)
    problem, n = pose(cells, model), len(cells.points)
    label = np.arange(n)
    classes = outline_classes(problem.spans, problem.items, label)
    starts = np.array([0, n // 3, n])
    style = BY_ANSWERS if is_blind else BY_SCORE
    is_done = merge_groups(*kernels(problem), classes, np.arange(n), starts, style, state_of(seed), label)
    groups = [np.arange(n // 3), np.arange(n // 3, n)]
    could = [is_allowed(cells, model, group) for group in groups]
    assert is_done == all(could)
    for group, was_allowed in zip(groups, could, strict=True):
        names = np.unique(label[group])
        assert set(names) <= set(group)
        if was_allowed:
            assert all(is_allowed(cells, model, np.flatnonzero(label == name)) for name in names)
        else:
            assert label[group].tolist() == group.tolist()


@settings(max_examples=20)
@given(seed=SEEDS, beta=st.sampled_from([0.5, 1, 4]), is_blind=st.booleans())
def test_regrouping_keeps_the_promise_and_never_loses_more(seed: int, beta: float, is_blind: bool) -> None:
    cells, model = random_cells(seed, 200), Likeness(beta)
    problem, n = pose(cells, model), len(cells.points)
    label = np.zeros(n, dtype=np.int64)  # one class of everybody
    before = total_loss(problem, label)
    for turn in range(6):
        classes = outline_classes(problem.spans, problem.items, label)
        n_classes = len(classes.size)
        order = np.random.default_rng(seed + turn).permutation(n_classes)
        starts = np.unique([0, n_classes // 2, n_classes])
        styles = ANSWERS if is_blind else SCORES
        regroup(*kernels(problem), classes, order, starts, styles, state_of(seed + turn), label)
        after = total_loss(problem, label)
        assert after <= before * (1 + 1e-12)
        before = after
    assert all(is_allowed(cells, model, np.flatnonzero(label == name)) for name in np.unique(label))
