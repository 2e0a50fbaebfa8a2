"""LMondrian, a rival that SEAM must never lose more than: Mondrian under beta-likeness, on cells, in plain NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from betalike.axis import HierarchyAxis
from betalike.models import Caps, Likeness
from betalike.table import Cells, Plan

Ints = NDArray[np.int64]


def lmondrian(cells: Cells, model: Likeness) -> Plan:
    """Cut the widest attribute in two while both parts keep the promise; where they do not, the next widest."""
    caps = model.caps(cells.value_counts)
    waiting, classes = [np.arange(len(cells.count))], []
    while waiting:
        members = waiting.pop()
        parts = cut(cells, members, caps, model.k)
        if parts is None:
            classes.append(members)
        else:
            waiting.extend(parts)
    cell = np.concatenate(classes)
    ec = np.repeat(np.arange(len(classes)), [len(members) for members in classes])
    return Plan(cells, cell.astype(np.int32), cells.count[cell], ec.astype(np.int32), len(classes))


def cut(cells: Cells, members: Ints, caps: Caps, k: int) -> tuple[Ints, Ints] | None:
    """The first cut that is allowed, trying the attributes from the widest to the narrowest."""
    codes = cells.points[cells.point[members]].astype(np.int64)
    low, high = codes.min(axis=0), codes.max(axis=0)
    shares = np.asarray(cells.weights) / sum(cells.weights)
    widths = [
        float(share * axis.losses(low[i : i + 1], high[i : i + 1])[0])
        for i, (axis, share) in enumerate(zip(cells.axes, shares, strict=True))
    ]
    for i in np.argsort(widths, kind="stable")[::-1]:
        if low[i] == high[i]:
            continue
        last = last_code_left(cells, int(i), codes[:, i], cells.count[members])
        left, right = members[codes[:, i] <= last], members[codes[:, i] > last]
        if all(is_allowed(cells, part, caps, k) for part in (left, right)):
            return left, right
    return None


def last_code_left(cells: Cells, i: int, codes: Ints, counts: Ints) -> int:
    """Of the boundaries that an attribute may be cut at, the one that halves the tuples best.

    Between any two codes of a number; between two children of the lowest common ancestor in a hierarchy, where a
    missing value is one more child of the root.
    """
    seen = np.unique(codes)
    boundaries = seen[:-1]
    axis = cells.axes[i]
    if isinstance(axis, HierarchyAxis):
        child = children_above(axis, seen)
        boundaries = boundaries[child[1:] != child[:-1]]
    before = np.array([counts[codes <= last].sum() for last in boundaries])
    return int(boundaries[np.argmin(np.abs(2 * before - counts.sum()))])


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


def is_allowed(cells: Cells, members: Ints, caps: Caps, k: int) -> bool:
    """Whether a set keeps the promise and has at least k tuples."""
    counts = np.bincount(cells.value[members], cells.count[members], len(caps.numerator)).astype(np.int64)
    size = int(counts.sum())
    return size >= max(k, 1) and bool((counts <= caps.most(size)).all())
