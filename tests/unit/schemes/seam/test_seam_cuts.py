"""Bins and the best cut of an attribute, against a search over every cut in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.axis import HierarchyAxis, OrderedAxis
from betalike.hierarchy import Hierarchy
from betalike.models import Likeness
from betalike.schema import Kind
from betalike.schemes.seam.cuts import MOST_BINS, best_cut_of_axis, bin_codes, count_bins
from betalike.schemes.seam.packing import pack_axes
from betalike.schemes.seam.problem import Problem, pose
from betalike.schemes.seam.splitting import codes_on
from betalike.table import Cells
from seam_tables import problem_of, random_cells

SEEDS = st.integers(0, 10**6)
AXES = st.integers(0, 2)


def many_codes(n_codes: int, has_missing: bool) -> Problem:
    axis = OrderedAxis("x", Kind.REAL, np.arange(n_codes) * 1.0, (0.0, n_codes - 1.0), has_missing=has_missing)
    return problem_of([1, 1], 1)._replace(axes=pack_axes([axis], [1.0]))


def some_cells(rng: np.random.Generator, cells: Cells, axis: int) -> np.ndarray | None:
    """Some of the cells, if an attribute has two values among them."""
    chosen = np.flatnonzero(rng.random(len(cells.count)) < rng.choice([0.1, 0.5, 1.0])).astype(np.int32)
    codes = cells.points[cells.point[chosen], axis]
    return chosen if len(chosen) and codes.min() < codes.max() else None


# --- bins ---


@given(seed=SEEDS, n_codes=st.integers(300, 3000), n=st.integers(2, 800), has_missing=st.booleans())
def test_many_codes_are_parted_into_some_ranges(seed: int, n_codes: int, n: int, has_missing: bool) -> None:
    rng = np.random.default_rng(seed)
    problem = many_codes(n_codes, has_missing)
    codes = rng.integers(0, n_codes + has_missing, n)
    codes[:2] = 0, n_codes - 1 + has_missing
    counts = rng.integers(1, 50, n)
    bins, n_bins = bin_codes(problem, 0, codes, counts, codes.min(), codes.max())
    order = np.argsort(codes, kind="stable")
    in_order = bins[order]
    assert in_order[0] == 0
    assert in_order[-1] == n_bins - 1
    assert set(np.diff(in_order).tolist()) <= {0, 1}
    assert len({(code, b) for code, b in zip(codes.tolist(), bins.tolist(), strict=True)}) == len(set(codes.tolist()))
    if has_missing:
        assert set(codes[bins == n_bins - 1].tolist()) == {n_codes}
    assert n_bins <= MOST_BINS + 1  # one for missing values


def test_ranges_of_many_codes_are_about_equally_filled() -> None:
    codes = np.random.default_rng(1).permutation(20_000)
    bins, n_bins = bin_codes(many_codes(20_000, False), 0, codes, np.ones_like(codes), 0, 19_999)
    assert n_bins == MOST_BINS
    sizes = np.bincount(bins)
    assert sizes.max() < 2 * len(codes) / MOST_BINS
    assert sizes.min() > len(codes) / MOST_BINS / 2


def test_of_very_many_children_the_largest_can_be_cut_off_and_the_others_are_one() -> None:
    n_leaves = 1000
    axis = HierarchyAxis("word", Hierarchy.flat(map(str, range(n_leaves))))
    problem = problem_of([1, 1], 1)._replace(axes=pack_axes([axis], [1.0]))
    codes = np.arange(n_leaves)
    counts = np.random.default_rng(1).permutation(n_leaves) + 1
    bins, n_bins = bin_codes(problem, 0, codes, counts, 0, n_leaves - 1)
    alone = {int(codes[bins == b][0]) for b in range(n_bins) if (bins == b).sum() == 1}
    assert n_bins <= MOST_BINS
    assert alone == set(np.argsort(-counts)[: len(alone)].tolist())
    assert len(alone) == n_bins - 1


@given(seed=SEEDS, n=st.integers(2, 50))
def test_few_codes_are_bins_of_their_own(seed: int, n: int) -> None:
    codes = np.random.default_rng(seed).integers(100, 150, n)
    if codes.min() < codes.max():
        bins, n_bins = bin_codes(many_codes(200, True), 0, codes, np.ones_like(codes), codes.min(), codes.max())
        assert (bins == codes - codes.min()).all()
        assert n_bins == codes.max() - codes.min() + 1


@given(seed=SEEDS, axis=st.sampled_from([1, 2]))
def test_bins_of_a_hierarchy_are_children_of_the_lowest_common_ancestor(seed: int, axis: int) -> None:
    cells = random_cells(seed)
    problem, chosen = pose(cells, Likeness(1)), some_cells(np.random.default_rng(seed), cells, axis)
    if chosen is None:
        return
    codes = codes_on(problem, axis, chosen)
    bins, n_bins = bin_codes(problem, axis, codes, cells.count[chosen], codes.min(), codes.max())
    assert 0 <= bins.min() < bins.max() < n_bins
    hierarchy_axis = cells.axes[axis]
    whole = hierarchy_axis.losses(codes.min(keepdims=True), codes.max(keepdims=True))[0]
    assert (np.diff(bins[np.argsort(codes, kind="stable")]) >= 0).all()
    for i, code in enumerate(codes):
        losses = hierarchy_axis.losses(np.minimum(code, codes), np.maximum(code, codes))
        assert ((bins[i] == bins) == (losses < whole)).all()


@given(seed=SEEDS, axis=AXES)
def test_bins_are_counted(seed: int, axis: int) -> None:
    cells = random_cells(seed)
    problem = pose(cells, Likeness(1))
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(cells.count)).astype(np.int32)[: rng.integers(1, len(cells.count) + 1)]
    counts, codes, bins = cells.count[chosen], codes_on(problem, axis, chosen), rng.integers(0, 5, len(chosen))
    assert codes.tolist() == [cells.points[cells.point[cell], axis] for cell in chosen]
    table, sizes, low, high = count_bins(problem, chosen, counts, codes, bins, 5)
    for b in range(5):
        for value in range(cells.sensitive.size):
            assert table[b, value] == counts[(bins == b) & (cells.value[chosen] == value)].sum()
        assert sizes[b] == table[b].sum()
        if sizes[b]:
            assert (low[b], high[b]) == (codes[bins == b].min(), codes[bins == b].max())


# --- the best cut ---


def core_size(side: list[int], other: list[int], cap: list[float]) -> int:
    """The formula of a core's size, by trying all sizes."""
    n, values = sum(side) + sum(other), [v for v in range(len(cap)) if side[v] + other[v]]
    room = math.floor(min(n - other[v] / cap[v] for v in values))
    sizes = range(sum(side) + 1)
    largest = max(size for size in sizes if sum(min(side[v], math.floor(cap[v] * size)) for v in values) >= size)
    return max(min(largest, room), 0)


def every_cut(axis: OrderedAxis | HierarchyAxis, codes: list[int], bins: list[int]) -> list[set[int]]:
    """The codes left of each cut: prefixes, and for a hierarchy also each child alone."""
    groups = [{c for c, b in zip(codes, bins, strict=True) if b == wanted} for wanted in sorted(set(bins))]
    cuts = [set().union(*groups[:end]) for end in range(1, len(groups))]
    return cuts + groups if isinstance(axis, HierarchyAxis) else cuts


def gain_of(
    cells: Cells, axis: int, chosen: np.ndarray, bins: np.ndarray, left_codes: set[int], cap: list[float], ahead: bool
) -> float:
    """What both cores of a cut gain on the attribute, tuple by tuple.

    Who looks ahead counts a group of a hierarchy's children as if it lost in proportion to the children in it.
    """
    weight = cells.weights[axis] / sum(cells.weights)
    codes = cells.points[cells.point[chosen], axis].astype(np.int64)

    def loss(some: np.ndarray) -> float:
        return weight * float(cells.axes[axis].losses(some.min(keepdims=True), some.max(keepdims=True))[0])

    is_left = np.array([code in left_codes for code in codes.tolist()])
    sides = [
        np.bincount(cells.value[chosen[mask]], cells.count[chosen[mask]], len(cap)).astype(int).tolist()
        for mask in (is_left, ~is_left)
    ]
    gains = []
    for mask in (is_left, ~is_left):
        n_children, n_all = len(set(bins[mask].tolist())), len(set(bins.tolist()))
        expected = loss(codes[mask])
        if ahead and isinstance(cells.axes[axis], HierarchyAxis) and n_children > 1:
            expected = min(expected, loss(codes) * (n_children - 1) / (n_all - 1))
        gains.append(loss(codes) - expected)
    return core_size(*sides, cap) * gains[0] + core_size(*sides[::-1], cap) * gains[1]


@given(seed=SEEDS, axis=AXES, beta=st.sampled_from([0.5, 1, 2, 4]), ahead=st.booleans())
def test_the_best_cut_gains_as_much_as_any(seed: int, axis: int, beta: float, ahead: bool) -> None:
    cells = random_cells(seed, n_cells=40, most=4)
    problem, chosen = pose(cells, Likeness(beta)), some_cells(np.random.default_rng(seed), cells, axis)
    if chosen is None:
        return
    codes, counts = codes_on(problem, axis, chosen), cells.count[chosen]
    bins, n_bins = bin_codes(problem, axis, codes, counts, codes.min(), codes.max())
    binned = count_bins(problem, chosen, counts, codes, bins, n_bins)
    total = binned[0].sum(axis=0)
    values = np.flatnonzero(total)
    gain, of_axis, last, is_single, size_left, size_right = best_cut_of_axis(
        problem, axis, binned, total, problem.cap, values, 0.0, ahead
    )
    cuts = every_cut(cells.axes[axis], codes.tolist(), bins.tolist())
    cap = problem.cap.tolist()
    gains = [gain_of(cells, axis, chosen, bins, cut, cap, ahead) for cut in cuts]
    assert gain == pytest.approx(max([0.0, *gains]), abs=1e-9)
    if of_axis < 0:
        assert gain == 0.0
        return
    assert of_axis == axis
    is_left = bins == last if is_single else bins <= last
    left_codes = set(codes[is_left].tolist())
    assert gain_of(cells, axis, chosen, bins, left_codes, cap, ahead) == pytest.approx(gain)
    assert 0 <= size_left <= counts[is_left].sum()
    assert 0 <= size_right <= counts[~is_left].sum()
    beaten = best_cut_of_axis(problem, axis, binned, total, problem.cap, values, gain, ahead)
    assert beaten[1] == -1  # as good is not better
