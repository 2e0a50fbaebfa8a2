"""Mondrian as a slow, obvious twin: on cells, in plain NumPy, for any promise that can be asked of counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from betalike.promises import Likeness
from betalike.table.axis import HierarchyAxis, OrderedAxis
from betalike.table.cells import Cells, Plan

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class SlowMondrian:
    """Cuts the widest attribute in two while both parts are allowed; with a second try, else the next widest.

    An attribute is cut between any two codes, or along its hierarchy: only between two children of the lowest node.
    """

    is_allowed: Callable[[Ints], bool]
    has_second_try: bool = True
    follows_hierarchies: bool = False

    def plan(self, cells: Cells) -> Plan:
        """Form classes."""
        waiting, classes = [np.arange(len(cells.count))], []
        while waiting:
            members = waiting.pop()
            parts = self._cut(cells, members)
            if parts is None:
                classes.append(members)
            else:
                waiting.extend(parts)
        cell = np.concatenate(classes)
        ec = np.repeat(np.arange(len(classes)), [len(members) for members in classes])
        return Plan(cells, cell.astype(np.int32), cells.count[cell], ec.astype(np.int32), len(classes))

    def _cut(self, cells: Cells, members: Ints) -> tuple[Ints, Ints] | None:
        """The first cut that is allowed, trying the attributes from the widest to the narrowest."""
        codes = cells.points[cells.point[members]].astype(np.int64)
        low, high = codes.min(axis=0), codes.max(axis=0)
        shares = np.asarray(cells.weights) / sum(cells.weights)
        widths = [float(shares[i] * width_of(cells, i, low[i], high[i])) for i in range(len(shares))]
        for i in sorted(range(len(widths)), key=lambda i: -widths[i]):
            if low[i] == high[i]:
                continue
            last = self._last_code_left(cells, i, codes[:, i], cells.count[members])
            left, right = members[codes[:, i] <= last], members[codes[:, i] > last]
            if self.is_allowed(values_of(cells, left)) and self.is_allowed(values_of(cells, right)):
                return left, right
            if not self.has_second_try:
                return None
        return None

    def _last_code_left(self, cells: Cells, i: int, codes: Ints, counts: Ints) -> int:
        """Of the boundaries that an attribute may be cut at, the one that halves the tuples best, the first of equals.

        Along a hierarchy a missing value is one more child of the root.
        """
        seen = np.unique(codes)
        boundaries = seen[:-1]
        axis = cells.axes[i]
        if self.follows_hierarchies and isinstance(axis, HierarchyAxis):
            child = children_above(axis, seen)
            boundaries = boundaries[child[1:] != child[:-1]]
        before = np.array([counts[codes <= last].sum() for last in boundaries])
        return int(boundaries[np.argmin(np.abs(2 * before - counts.sum()))])


def keeping(model: Likeness, counts: Ints) -> Callable[[Ints], bool]:
    """Whether a class keeps likeness and has at least k tuples."""
    caps = model.caps(counts)
    return lambda ec: bool(ec.sum() >= max(model.k, 1) and (ec <= caps.most(int(ec.sum()))).all())


def width_of(cells: Cells, i: int, low: int, high: int) -> float:
    """What an attribute loses on a range of codes, with the very rounding of a difference of positions."""
    axis = cells.axes[i]
    if isinstance(axis, OrderedAxis) and not (axis.has_missing and high == axis.size - 1):
        return float(axis.positions[high] - axis.positions[low])
    return float(axis.losses(np.array([low]), np.array([high]))[0])


def values_of(cells: Cells, members: Ints) -> Ints:
    """How many tuples of each sensitive value some cells have."""
    counts = np.bincount(cells.value[members], cells.count[members], cells.sensitive.size)
    return np.asarray(counts.astype(np.int64))


def children_above(axis: HierarchyAxis, leaves: Ints) -> Ints:
    """The child of the leaves' lowest common ancestor that each leaf is under; -1 for a missing value."""
    tree = axis.hierarchy
    present = leaves[leaves < tree.n_leaves]
    ancestor = tree.root
    if len(present) == len(leaves):
        ancestor = int(tree.lowest_common_ancestor(present[:1], present[-1:])[0])
    children = []
    for leaf in leaves.tolist():
        node = leaf if leaf < tree.n_leaves else -1
        while node >= 0 and tree.parent[node] != ancestor:
            node = int(tree.parent[node])
        children.append(node)
    return np.array(children)
