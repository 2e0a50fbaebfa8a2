"""Sets of boxes that classes may be formed in, for the linear program: every possible box, or those of one k-d tree.

Tuples start in the box of their own point and may move to any box that contains it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from betalike.measures.loss import class_losses
from betalike.table.axis import Axis, HierarchyAxis
from betalike.table.cells import Cells

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Boxes:
    """The loss of each box, the moves from box to box, and the box of each point."""

    loss: NDArray[np.float64]
    inner: Ints
    outer: Ints
    of_point: Ints


def every_box(cells: Cells) -> Boxes:
    """Return all products of ranges (hierarchy nodes) of the axes: no class can have another box.

    A box is reached from a point by widening the axes one after another; the order costs nothing and saves moves.
    """
    ranges = [_ranges(axis) for axis in cells.axes]
    sizes = [len(low) for low, _, _ in ranges]
    all_ranges = np.meshgrid(*(np.arange(size) for size in sizes), indexing="ij")
    low = np.column_stack([ranges[i][0][at.ravel()] for i, at in enumerate(all_ranges)])
    high = np.column_stack([ranges[i][1][at.ravel()] for i, at in enumerate(all_ranges)])
    inner, outer = [], []
    for i, (_, _, moves) in enumerate(ranges):
        before = [np.arange(size) for size in sizes[:i]]
        after = [np.arange(axis.size) for axis in cells.axes[i + 1 :]]  # still single values, which come first
        chosen = np.meshgrid(*before, np.arange(len(moves)), *after, indexing="ij")
        for side, found in enumerate((inner, outer)):
            at = [moves[grid, side] if j == i else grid for j, grid in enumerate(chosen)]
            found.append(np.ravel_multi_index(at, sizes).ravel())
    return Boxes(
        _losses(cells, low, high),
        np.concatenate(inner),
        np.concatenate(outer),
        np.ravel_multi_index(list(cells.points.T.astype(np.int64)), sizes),
    )


def count_boxes(cells: Cells) -> int:
    """Count the boxes that `every_box` would make."""
    return math.prod(len(_ranges(axis)[0]) for axis in cells.axes)


def kd_tree_boxes(cells: Cells) -> Boxes:
    """Return the boxes of one k-d tree, down to single points, cut at the median tuple of the widest axis."""
    weight = np.bincount(cells.point, weights=cells.count)
    shares = np.asarray(cells.weights) / np.sum(cells.weights)
    low, high, parent = [], [], []
    of_point = np.empty(len(cells.points), dtype=np.int64)
    waiting = [(np.arange(len(cells.points)), -1)]
    while waiting:
        members, above = waiting.pop()
        node = len(parent)
        parent.append(above)
        points = cells.points[members]
        low.append(points.min(axis=0))
        high.append(points.max(axis=0))
        if len(members) == 1:
            of_point[members] = node
            continue
        widths = class_losses(cells.axes, low[-1][None], high[-1][None])[0] * shares
        widths[low[-1] == high[-1]] = -1.0  # cannot be cut
        axis = int(np.argmax(widths))
        is_left = points[:, axis] <= _middle(points[:, axis], weight[members])
        waiting += [(members[is_left], node), (members[~is_left], node)]
    inner = np.arange(1, len(parent))
    return Boxes(_losses(cells, np.array(low), np.array(high)), inner, np.array(parent)[1:], of_point)


def _middle(codes: NDArray[np.int32], weight: NDArray[np.float64]) -> int:
    """Return the code of the median tuple, but not the greatest code, so that something is left for the other side."""
    order = np.argsort(codes, kind="stable")
    at = int(np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2))
    middle, greatest = int(codes[order[at]]), int(codes.max())
    return middle if middle < greatest else int(codes[codes < greatest].max())


def _ranges(axis: Axis) -> tuple[Ints, Ints, Ints]:
    """Return the least and greatest code of each range on an axis, single values first, and moves to wider ranges."""
    if isinstance(axis, HierarchyAxis):
        if axis.has_missing:
            raise ValueError(f"the column '{axis.name}' has missing values, which the reference does not know.")
        tree = axis.hierarchy
        below_root = np.arange(len(tree.labels) - 1)
        return tree.first, tree.last, np.column_stack([below_root, tree.parent[below_root]])
    pairs = [(low, low + width) for width in range(axis.size) for low in range(axis.size - width)]
    number = {pair: i for i, pair in enumerate(pairs)}
    moves = [
        (number[low, high], number[wider])
        for low, high in pairs
        for wider in ((low - 1, high), (low, high + 1))
        if wider in number
    ]
    low, high = np.array(pairs).T
    return low, high, np.array(moves, dtype=np.int64).reshape(-1, 2)


def _losses(cells: Cells, low: NDArray[np.integer], high: NDArray[np.integer]) -> NDArray[np.float64]:
    shares = np.asarray(cells.weights) / np.sum(cells.weights)
    return np.asarray(class_losses(cells.axes, low, high) @ shares)
