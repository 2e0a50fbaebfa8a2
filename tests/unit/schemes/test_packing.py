"""Packed axes: the kernels tell the losses and ancestors that the axes and hierarchies themselves tell."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.errors import InternalError
from betalike.schemes.packing import child_above, lowest_ancestor, pack_axes, range_loss
from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind

RowMaker = Callable[[random.Random, int], list[list[str]]]
SEEDS = st.integers(0, 10**6)


def random_tree(seed: int, random_rows: RowMaker) -> HierarchyAxis:
    rng = random.Random(seed)
    tree = Hierarchy.from_rows(random_rows(rng, rng.randint(1, 9)))
    return HierarchyAxis("place", tree, has_missing=rng.random() < 0.5)


def random_numbers(seed: int) -> OrderedAxis:
    rng = np.random.default_rng(seed)
    values = np.unique(rng.normal(0, 100, int(rng.integers(1, 9))))
    margin = float(rng.choice([0.0, 7.5]))
    domain = (float(values[0]) - margin, float(values[-1]) + margin)
    return OrderedAxis("number", Kind.REAL, values, domain, has_missing=bool(rng.integers(2)))


def ranges(axis: Axis) -> list[tuple[int, int]]:
    return [(low, high) for low in range(axis.size) for high in range(low, axis.size)]


@given(seed=SEEDS)
def test_ranges_lose_what_the_axes_say(random_rows: RowMaker, seed: int) -> None:
    axes: list[Axis] = [random_numbers(seed), random_tree(seed, random_rows), random_numbers(seed + 1)]
    packed = pack_axes(axes, [1.0] * 3)
    for i, axis in enumerate(axes):
        for low, high in ranges(axis):
            expected = axis.losses(np.array([low]), np.array([high]))[0]
            assert range_loss(packed, i, low, high) == pytest.approx(expected, abs=1e-12)


@given(seed=SEEDS)
def test_the_lowest_ancestor_is_the_one_of_the_hierarchy(random_rows: RowMaker, seed: int) -> None:
    axis = random_tree(seed, random_rows)
    tree, n_places = axis.hierarchy, len(axis.hierarchy.labels) + axis.has_missing
    packed = pack_axes([random_numbers(seed), axis], [1.0, 1.0])
    for low, high in ranges(axis):
        place = lowest_ancestor(packed, 1, low, high)
        if high == tree.n_leaves:  # a missing value: alone, or at the root with others
            assert place == (high if low == high else n_places - 1)
            continue
        node = int(tree.lowest_common_ancestor(np.array([low]), np.array([high]))[0])
        assert place == node + (axis.has_missing if node >= tree.n_leaves else 0)


@given(seed=SEEDS)
def test_leaves_share_a_child_just_if_they_meet_below_the_ancestor(random_rows: RowMaker, seed: int) -> None:
    axis = random_tree(seed, random_rows)
    packed = pack_axes([axis], [1.0])
    for low, high in ranges(axis):
        if low == high:
            continue
        ancestor = lowest_ancestor(packed, 0, low, high)
        children = [child_above(packed, 0, leaf, ancestor) for leaf in range(low, high + 1)]
        assert children == sorted(children)
        assert children[0] < children[-1]
        for (i, one), (j, other) in itertools.combinations(enumerate(children, start=low), 2):
            assert (one == other) == (lowest_ancestor(packed, 0, i, j) != ancestor)


@given(seed=SEEDS)
def test_children_of_the_root_are_counted_from_0_and_the_missing_value_comes_last(
    random_rows: RowMaker, seed: int
) -> None:
    axis = random_tree(seed, random_rows)
    packed = pack_axes([axis], [1.0])
    root = len(axis.hierarchy.labels) + axis.has_missing - 1
    children = [child_above(packed, 0, leaf, root) for leaf in range(axis.size)]
    assert sorted(set(children)) == list(range(max(children) + 1))
    if axis.has_missing:
        assert children.count(children[-1]) == 1


def test_weights_are_shares() -> None:
    packed = pack_axes([random_numbers(1), random_numbers(2)], [3.0, 1.0])
    assert packed.weight.tolist() == [0.75, 0.25]


def test_an_axis_of_another_kind_is_refused() -> None:
    class Strange:
        name = "strange"

    with pytest.raises(InternalError, match="strange"):
        pack_axes([Strange()], [1.0])  # type: ignore[list-item]
