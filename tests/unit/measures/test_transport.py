"""Sharing points out to boxes: as many as a maximum flow over all pairs can."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow

from betalike.measures.transport import share_out, unmatched


def flow_over_all_pairs(points, supply, low, high, need) -> int:
    """The slow obvious twin: every pair is listed, and scipy finds the flow."""
    n_points, n_boxes = len(points), len(need)
    graph = np.zeros((n_points + n_boxes + 2, n_points + n_boxes + 2), dtype=np.int32)
    graph[0, 1 : n_points + 1] = supply
    inside = ((points[:, None] >= low[None]) & (points[:, None] <= high[None])).all(axis=2)
    graph[1 : n_points + 1, n_points + 1 : -1] = inside * 1_000_000
    graph[n_points + 1 : -1, -1] = need
    return int(need.sum()) - int(maximum_flow(csr_matrix(graph), 0, n_points + n_boxes + 1).flow_value)


@given(st.integers(0, 10**6))
def test_as_many_as_a_maximum_flow(seed: int) -> None:
    random = np.random.default_rng(seed)
    n_points, n_boxes, n_columns, size = random.integers([1, 1, 1, 1], [60, 40, 4, 9])
    points = random.integers(0, size, (n_points, n_columns + 1)).astype(np.int32)
    points[:, 0] %= 3
    ends = np.sort(random.integers(0, size, (2, n_boxes, n_columns + 1)), axis=0).astype(np.int32)
    ends[:, :, 0] = ends[0, :, 0] % 3
    supply, need = random.integers(0, 6, n_points), random.integers(0, 6, n_boxes)
    problem = (points, supply.astype(np.int64), ends[0], ends[1], need.astype(np.int64))
    assert unmatched(*problem) == flow_over_all_pairs(*problem)
    shared = share_out(*problem)
    given_to, taken_from = np.zeros(n_boxes, dtype=np.int64), np.zeros(n_points, dtype=np.int64)
    np.add.at(given_to, shared.box, shared.amount)
    np.add.at(taken_from, shared.point, shared.amount)
    inside = (points[shared.point] >= ends[0][shared.box]) & (points[shared.point] <= ends[1][shared.box])
    assert inside.all()
    assert (given_to <= need).all()
    assert (taken_from <= supply).all()
    assert shared.amount.sum() == need.sum() - shared.unmet


@pytest.mark.parametrize("shift", [0, 1])
def test_a_chain_in_which_every_point_must_change_its_box(shift: int) -> None:
    """Point i fits boxes i and i + 1; one more row at the far end leaves one way to share out, or none."""
    n_points = 3000
    points = np.column_stack([np.zeros(n_points), np.arange(n_points)]).astype(np.int32)
    low = np.column_stack([np.zeros(n_points), np.maximum(np.arange(n_points) - 1 + shift, 0)]).astype(np.int32)
    high = np.column_stack([np.zeros(n_points), np.arange(n_points) + shift]).astype(np.int32)
    one = np.ones(n_points, dtype=np.int64)
    assert unmatched(points, one, low, high, one) == flow_on_a_line(points, low, high)


def flow_on_a_line(points, low, high) -> int:
    """Intervals on a line: the one that ends first takes the first point that it can."""
    free, lost = set(points[:, 1].tolist()), 0
    for begin, end in sorted(zip(low[:, 1].tolist(), high[:, 1].tolist(), strict=True), key=lambda ends: ends[1]):
        fit = [place for place in range(begin, end + 1) if place in free]
        if fit:
            free.remove(fit[0])
        lost += not fit
    return lost


def test_no_points_or_no_boxes() -> None:
    none, one = np.zeros((0, 2), dtype=np.int32), np.zeros((1, 2), dtype=np.int32)
    nothing, three = np.zeros(0, dtype=np.int64), np.array([3])
    assert unmatched(none, nothing, one, one, three) == 3
    assert unmatched(one, three, none, none, nothing) == 0
