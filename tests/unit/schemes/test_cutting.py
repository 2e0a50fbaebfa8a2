"""Cuts into groups that are allowed: what is cut, and how much room is left."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.promises import Likeness
from betalike.runtime.noise import STATE_WORDS
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes.cutting import Cutting, cut_groups
from betalike.schemes.whole.problem import pose
from betalike.table.axis import OrderedAxis
from betalike.table.cells import Cells
from betalike.table.schema import Kind
from examples import examples
from seam_tables import random_cells

NEVER = 10**6


def cut(cells: Cells, model: Likeness, cutting: Cutting, seed: int = 1) -> list[Any]:
    """The groups of points."""
    problem, every = pose(cells, model), np.arange(len(cells.points))
    state = SeededRandomness(seed).words(STATE_WORDS).copy()
    order, starts = cut_groups(problem.positions, problem.limits, problem.items, every, cutting, state)
    assert sorted(order.tolist()) == every.tolist()
    return [order[first:last] for first, last in itertools.pairwise(starts)]


def use_of(cells: Cells, model: Likeness, points: Any) -> Fraction:
    """The greatest share of its cap that a value has among some points."""
    inside = np.isin(cells.point, points)
    counts = np.bincount(cells.value[inside], cells.count[inside], cells.sensitive.size).astype(int).tolist()
    caps = model.caps(cells.value_counts)
    limits = zip(caps.numerator.tolist(), caps.denominator.tolist(), strict=True)
    shares = [Fraction(c * d, n * sum(counts)) for c, (n, d) in zip(counts, limits, strict=True) if c]
    return max([Fraction(model.k, sum(counts)), *shares])


@examples(30)
@given(
    seed=st.integers(0, 10**6),
    beta=st.sampled_from([0.5, 1, 4]),
    k=st.sampled_from([1, 20]),
    room=st.sampled_from([0.7, 0.9, 1.0]),
    most_roomy=st.sampled_from([0, 12, NEVER]),
)
def test_groups_are_allowed_and_leave_room(seed: int, beta: float, k: int, room: float, most_roomy: int) -> None:
    cells, model = random_cells(seed, n_cells=120), Likeness(beta, k=k)
    groups = cut(cells, model, Cutting(5, most_roomy, room), seed)
    assert all(use_of(cells, model, group) <= 1 for group in groups)
    if most_roomy == NEVER and len(groups) > 1:
        assert all(use_of(cells, model, group) <= room + 1e-9 for group in groups)


def grid(values: Any, side: int = 16) -> Cells:
    """A square of points with a row each, a long and a short axis, and these values."""
    points = np.array(list(itertools.product(range(side), repeat=2)), dtype=np.int32)
    axes = tuple(
        OrderedAxis(name, Kind.INTEGER, np.arange(side), (0.0, top)) for name, top in (("a", 15.0), ("b", 60.0))
    )
    every = np.arange(len(points), dtype=np.int32)
    sensitive = OrderedAxis("value", Kind.INTEGER, np.arange(2), (0.0, 1.0))
    value = np.asarray(values(points), dtype=np.int32)
    return Cells(axes, sensitive, (1.0, 1.0), points, every, value, np.ones(len(points), dtype=np.int64))


def test_groups_are_small_where_values_are_evenly_spread_and_narrow_on_the_axis_that_loses_more() -> None:
    cells = grid(lambda points: points.sum(axis=1) % 2)
    groups = cut(cells, Likeness(1), Cutting(16, NEVER, 0.9))
    assert max(len(group) for group in groups) <= 16
    spans = np.array([np.ptp(cells.points[group], axis=0) for group in groups])
    assert spans[:, 0].mean() < 6


def test_a_set_is_cut_along_another_axis_where_a_cut_along_the_best_one_is_not_allowed() -> None:
    cells = grid(lambda points: points[:, 0] >= 8)  # each half of the long axis has one value only
    groups = cut(cells, Likeness(0.5), Cutting(32, NEVER, 1.0))
    assert len(groups) > 2
    assert all(np.ptp(cells.points[group, 1]) < 15 for group in groups)


@pytest.mark.parametrize(("most_roomy", "has_cuts"), [(NEVER, False), (100, True)])
def test_only_large_sets_are_cut_where_little_room_is_left(most_roomy: int, has_cuts: bool) -> None:
    cells = grid(lambda points: points.sum(axis=1) % 2)
    assert (len(cut(cells, Likeness(1), Cutting(16, most_roomy, 0.4))) > 1) == has_cuts
