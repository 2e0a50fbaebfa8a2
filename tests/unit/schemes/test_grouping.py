"""Groups of near items, and neighbours within them."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from betalike.measures.loss import class_losses
from betalike.runtime.noise import STATE_WORDS
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes.grouping import find_neighbours, make_groups
from betalike.schemes.spans import list_spans
from seam_tables import random_cells

SEEDS = st.integers(0, 10**6)


def state_of(seed: int) -> np.ndarray:
    return SeededRandomness(seed).words(STATE_WORDS).copy()


@given(seed=SEEDS, jitter=st.sampled_from([0.0, 1.0]), most=st.sampled_from([1.0, 5.0, 40.0]))
def test_every_item_is_in_one_group_and_groups_are_small(seed: int, jitter: float, most: float) -> None:
    rng = np.random.default_rng(seed)
    positions = rng.integers(0, 5, (int(rng.integers(1, 80)), 3)) / 4
    weight = rng.integers(1, 4, len(positions)).astype(float)
    order, starts = make_groups(positions, weight, most, jitter, state_of(seed))
    assert sorted(order.tolist()) == list(range(len(positions)))
    groups = [order[first:last] for first, last in itertools.pairwise(starts)]
    assert all(len(group) == 1 or (len(group) > 1 and weight[group].sum() <= most) for group in groups)


def test_groups_are_near() -> None:
    """Two heaps that lie far apart are cut at one place only, so that one group at most holds items of both."""
    rng = np.random.default_rng(1)
    heaps = np.repeat([0.0, 10.0], 30)[:, None] + rng.random((60, 2))
    order, starts = make_groups(heaps, np.ones(60), 6.0, 0.0, state_of(1))
    assert len(starts) > 10
    assert sum(np.ptp(heaps[order[first:last], 0]) > 2 for first, last in itertools.pairwise(starts)) <= 1


@given(seed=SEEDS)
def test_neighbours_are_the_cheapest_to_join_but_for_noise(seed: int) -> None:
    cells = random_cells(seed)
    spans, n = list_spans(cells), len(cells.points)
    nearest = find_neighbours(spans, cells.points, np.arange(n), np.array([0, n]), 5, state_of(seed))
    weights = np.array(cells.weights) / sum(cells.weights)
    for one in range(n):
        low, high = np.minimum(cells.points[one], cells.points), np.maximum(cells.points[one], cells.points)
        losses = class_losses(cells.axes, low, high) @ weights
        found = nearest[one][nearest[one] >= 0]
        assert len(set(found.tolist())) == len(found) == min(5, n - 1)
        assert one not in found
        others = np.delete(losses, [one, *found])
        assert len(others) == 0 or losses[found].max() <= others.min() * 1.1 + 1e-12


def test_a_point_alone_has_no_neighbours() -> None:
    cells = random_cells(3)
    n = len(cells.points)
    nearest = find_neighbours(list_spans(cells), cells.points, np.arange(n), np.arange(n + 1), 4, state_of(1))
    assert (nearest == -1).all()
    assert nearest.shape == (n, 4)
