"""The axes of a table as flat arrays, so that kernels can compute the loss of a range of codes. Paper: Eq. 2 and 3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from betalike.errors import InternalError
from betalike.runtime.arrays import Bools, Floats, Ints
from betalike.runtime.compilation import inner_kernel, kernel
from betalike.runtime.sorting import stable_order
from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis


class PackedAxes(NamedTuple):
    """All axes one after the other; axis i owns the places `start[i]` .. `start[i + 1] - 1` of the node arrays.

    An ordered axis has a place per code with its position in the unit interval. A hierarchy axis has a place per node:
    leaves first, then inner nodes, the root last; a missing value is an extra leaf just before the root.
    """

    is_tree: Bools
    start: Ints
    size: Ints
    missing: Ints
    weight: Floats
    position: Floats
    last: Ints
    parent: Ints
    rank: Ints
    loss: Floats


def pack_axes(axes: Sequence[Axis], weights: Sequence[float]) -> PackedAxes:
    """Lay out the axes for the kernels; weights are divided by their sum."""
    columns: list[tuple[Floats, Ints, Ints, Ints, Floats]] = []
    for axis in axes:
        if isinstance(axis, OrderedAxis):
            columns.append(_pack_ordered(axis))
        elif isinstance(axis, HierarchyAxis):
            columns.append(_pack_tree(axis))
        else:
            raise InternalError(f"the axis of '{axis.name}' is of an unknown kind.")
    position, last, parent, rank, loss = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    return PackedAxes(
        is_tree=np.array([isinstance(axis, HierarchyAxis) for axis in axes]),
        start=np.append(0, np.cumsum([len(column[0]) for column in columns])),
        size=np.array([axis.size for axis in axes]),
        missing=np.array([axis.size - 1 if axis.has_missing else -1 for axis in axes]),
        weight=np.asarray(weights, dtype=np.float64) / np.sum(weights),
        position=position,
        last=last,
        parent=parent,
        rank=rank,
        loss=loss,
    )


def _pack_ordered(axis: OrderedAxis) -> tuple[Floats, Ints, Ints, Ints, Floats]:
    none = np.zeros(axis.size, dtype=np.int64)
    return axis.positions, none, none, none, np.zeros(axis.size)


def _pack_tree(axis: HierarchyAxis) -> tuple[Floats, Ints, Ints, Ints, Floats]:
    tree = axis.hierarchy
    n_leaves, n_nodes = axis.size, len(tree.labels) + axis.has_missing
    shift = np.where(np.arange(len(tree.labels)) < tree.n_leaves, 0, int(axis.has_missing))
    place = np.arange(len(tree.labels)) + shift
    last = np.arange(n_nodes)
    parent = np.full(n_nodes, n_nodes - 1, dtype=np.int64)
    last[place], parent[place] = tree.last, place[tree.parent]
    last[-1] = n_leaves - 1
    loss = np.zeros(n_nodes)
    inner = place[tree.n_leaves :]
    loss[inner] = (tree.last - tree.first + 1)[tree.n_leaves :] / n_leaves
    loss[-1] = 1.0 if n_leaves > 1 else 0.0
    rank = np.zeros(n_nodes, dtype=np.int64)
    first = np.arange(n_nodes)
    first[place] = tree.first
    seen = np.zeros(n_nodes, dtype=np.int64)
    for node in sorted(range(n_nodes - 1), key=lambda i: first[i]):
        rank[node] = seen[parent[node]]
        seen[parent[node]] += 1
    return np.zeros(n_nodes), last, parent, rank, loss


@inner_kernel
def lowest_ancestor(axes: PackedAxes, axis: int, low: int, high: int) -> int:
    """Return the place of the lowest node above a least and a greatest leaf."""
    start = axes.start[axis]
    node = low
    while axes.last[start + node] < high:
        node = axes.parent[start + node]
    return node


@inner_kernel
def range_loss(axes: PackedAxes, axis: int, low: int, high: int) -> float:
    """Return the loss of a range of codes on an axis, without the axis's weight."""
    if low == high:
        return 0.0
    start = axes.start[axis]
    if axes.is_tree[axis]:
        return float(axes.loss[start + lowest_ancestor(axes, axis, low, high)])
    if high == axes.missing[axis]:
        return 1.0
    return float(axes.position[start + high] - axes.position[start + low])


@inner_kernel
def child_above(axes: PackedAxes, axis: int, leaf: int, ancestor: int) -> int:
    """Return which child of an ancestor a leaf is under, counted from 0 in pre-order."""
    start = axes.start[axis]
    node = leaf
    while axes.parent[start + node] != ancestor:
        node = axes.parent[start + node]
    return int(axes.rank[start + node])


@kernel
def widest_first(axes: PackedAxes, low: Ints, high: Ints) -> Ints:
    """Return the attributes that can be cut, in descending order of loss."""
    n_axes = len(low)
    narrowness = np.empty(n_axes)
    for axis in range(n_axes):
        narrowness[axis] = -axes.weight[axis] * range_loss(axes, axis, low[axis], high[axis])
    chosen = np.empty(n_axes, dtype=np.int64)
    n = 0
    for axis in stable_order(narrowness):
        if low[axis] < high[axis]:
            chosen[n] = axis
            n += 1
    return chosen[:n]


@kernel
def median_code(tuples_of_code: Ints, low: int, high: int, total: int) -> int:
    """Return the last code of the lower part in the cut between two codes that halves the tuples best."""
    best, least, before = low, 2 * total, 0
    for code in range(low, high):
        before += tuples_of_code[code]
        if tuples_of_code[code] > 0 and abs(2 * before - total) < least:
            best, least = code, abs(2 * before - total)
    return best
