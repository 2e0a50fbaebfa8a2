"""The Hilbert curve: it visits every point of a grid once, in steps of one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from betalike.schemes.retrieval import KEY_BITS, hilbert_keys, keys_of_grid


@pytest.mark.parametrize(("n_axes", "bits"), [(1, 1), (1, 6), (2, 1), (2, 4), (3, 3), (4, 2), (5, 2), (8, 1)])
def test_the_curve_visits_every_point_once_in_steps_of_one(n_axes: int, bits: int) -> None:
    grid = np.array(list(itertools.product(range(1 << bits), repeat=n_axes)), dtype=np.uint64)
    keys = keys_of_grid(grid, bits)
    assert sorted(keys.tolist()) == list(range(len(grid)))
    path = grid[np.argsort(keys)].astype(np.int64)
    assert (np.abs(np.diff(path, axis=0)).sum(axis=1) == 1).all()


@pytest.mark.parametrize("n_axes", [1, 2, 3, 5, 31, 62])
def test_the_unit_interval_is_stretched_to_the_whole_curve(n_axes: int) -> None:
    bits = min(20, KEY_BITS // n_axes)
    rng = np.random.default_rng(n_axes)
    grid = rng.integers(0, 1 << bits, (50, n_axes))
    grid[0], grid[1] = 0, (1 << bits) - 1
    keys = hilbert_keys(grid / ((1 << bits) - 1))
    assert keys.tolist() == keys_of_grid(grid.astype(np.uint64), bits).tolist()


def test_an_attribute_of_two_values_sits_at_the_extremes() -> None:
    """Two genders at the same age are as far apart as the two ends of the ages."""
    ages = np.linspace(0, 1, 64)
    women, men = (hilbert_keys(np.column_stack([np.full(64, gender), ages])) for gender in (0.0, 1.0))
    grid = np.column_stack([np.full(64, (1 << 20) - 1), np.rint(ages * ((1 << 20) - 1))]).astype(np.uint64)
    assert men.tolist() == keys_of_grid(grid, 20).tolist()
    assert not set(women.tolist()) & set(men.tolist())
    half = 1 << 39  # the curve covers one half of the square before the other
    assert len({tuple((keys >= half).tolist()) for keys in (women, men)}) == 2


def test_beyond_62_axes_the_curve_runs_through_the_first() -> None:
    positions = np.random.default_rng(0).random((40, 70))
    keys = hilbert_keys(positions)
    assert keys.tolist() == hilbert_keys(positions[:, :62]).tolist()
    assert len(set(keys.tolist())) == 40
    assert int(keys.max()) < 2**62


def test_positions_outside_the_unit_interval_count_as_its_ends() -> None:
    assert hilbert_keys(np.array([[-0.5, 1.5]])).tolist() == hilbert_keys(np.array([[0.0, 1.0]])).tolist()


def test_points_near_on_the_curve_are_near_in_space() -> None:
    rng = np.random.default_rng(3)
    points = rng.random((4_000, 2))
    path = points[np.argsort(hilbert_keys(points))]
    neighbours = np.abs(np.diff(path, axis=0)).sum(axis=1).mean()
    strangers = np.abs(np.diff(points, axis=0)).sum(axis=1).mean()
    assert neighbours < strangers / 20
