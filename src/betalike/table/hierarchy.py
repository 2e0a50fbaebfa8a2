"""Generalization hierarchies: trees over the values of a categorical attribute. Paper: 4.1, Figure 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from betalike.errors import HierarchyError
from betalike.runtime.arrays import Ints

ROOT = "*"


@dataclass(frozen=True)
class Hierarchy:
    """A tree whose leaves are numbered in pre-order, so that every node covers an interval of leaf numbers.

    So the lowest common ancestor of a set of leaves follows from its least and greatest leaf alone. Nodes 0 .. n_leaves
    - 1 are the leaves; the root comes last. A node's level is its height in the file.
    """

    labels: tuple[str, ...]
    first: Ints
    last: Ints
    parent: Ints
    level: Ints
    n_leaves: int
    height: int
    paths: tuple[tuple[str, ...], ...]

    @property
    def leaves(self) -> tuple[str, ...]:
        """Labels of the leaves in pre-order."""
        return self.labels[: self.n_leaves]

    @property
    def root(self) -> int:
        """The node that covers every leaf."""
        return len(self.labels) - 1

    def lowest_common_ancestor(self, low: Ints, high: Ints) -> Ints:
        """Return the lowest node above each pair of a least and a greatest leaf."""
        node = np.array(low, dtype=np.int64)
        while True:
            outside = self.last[node] < high
            if not outside.any():
                return node
            node[outside] = self.parent[node[outside]]

    def n_leaves_under(self, node: Ints) -> Ints:
        """Return how many leaves each node covers: |leaves(a)| of Eq. 3."""
        return self.last[node] - self.first[node] + 1

    def restricted_to(self, leaves: Iterable[str]) -> Hierarchy:
        """Return the same tree over some of its leaves."""
        wanted = set(leaves)
        return Hierarchy.from_rows([path for path in self.paths if path[0] in wanted])

    @staticmethod
    def flat(leaves: Iterable[str]) -> Hierarchy:
        """Put every value directly under the root, as for a text column without a hierarchy."""
        return Hierarchy.from_rows([(leaf, ROOT) for leaf in leaves])

    @staticmethod
    def from_rows(rows: Iterable[Sequence[str]], source: str = "the hierarchy") -> Hierarchy:
        """Build the tree from lines of `leaf, its ancestors, *`, the form that ARX reads and writes."""
        numbered = [(number, tuple(row)) for number, row in enumerate(rows, start=1) if row and any(row)]
        _check_shape(numbered, source)
        paths = [row for _, row in numbered]
        _check_single_parents(numbered, source)
        # Pre-order: the children of a node in the order of their first line.
        order: dict[tuple[str, ...], int] = {}
        for path in paths:
            for depth in range(1, len(path) + 1):
                order.setdefault(path[::-1][:depth], len(order))
        ranked = sorted(paths, key=lambda path: [order[path[::-1][:depth]] for depth in range(1, len(path) + 1)])
        return _build(ranked, source)


def _check_shape(numbered: list[tuple[int, tuple[str, ...]]], source: str) -> None:
    if not numbered:
        raise HierarchyError(f"{source} is empty; it needs one line for each value: the value, its ancestors, '*'.")
    first, levels = numbered[0][0], len(numbered[0][1])
    lines: dict[str, int] = {}
    for number, row in numbered:
        leaf, problem = row[0], ""
        if len(row) != levels:
            problem = (
                f"has {len(row)} levels, but line {first} has {levels}. Give every line the same number of levels."
            )
        elif row[-1] != ROOT:
            problem = f"ends with '{row[-1]}'; every line must end with '*'."
        elif "" in row:
            problem = "has an empty level. Give every node a label."
        elif leaf == ROOT:
            problem = "has '*' as its leaf, but '*' cannot be a leaf; it is the label of the root."
        elif leaf in lines:
            problem = f"has a leaf that is already in line {lines[leaf]}. Remove one of the two lines."
        if problem:
            raise HierarchyError(f"{source}, line {number} (leaf '{leaf}') {problem}")
        lines[leaf] = number


def _check_single_parents(numbered: list[tuple[int, tuple[str, ...]]], source: str) -> None:
    parents: dict[tuple[int, str], tuple[str, int]] = {}
    for number, row in numbered:
        for level in range(1, len(row) - 1):
            parent, line = parents.setdefault((level, row[level]), (row[level + 1], number))
            if parent != row[level + 1]:
                raise HierarchyError(
                    f"{source}, line {number}: the node '{row[level]}' has the parent '{row[level + 1]}' here, but "
                    f"'{parent}' in line {line}. A node has one parent."
                )


def _build(ranked: list[tuple[str, ...]], source: str) -> Hierarchy:
    """Number the nodes; a node that covers the same leaves as its child is never published and left out."""
    n_leaves, height = len(ranked), len(ranked[0])
    labels = [path[0] for path in ranked]
    first, last, levels = list(range(n_leaves)), list(range(n_leaves)), [0] * n_leaves
    top = list(range(n_leaves))  # the highest node so far above each leaf
    parents: dict[int, int] = {}
    covered = {label: (leaf, leaf) for leaf, label in enumerate(labels)} | {ROOT: (0, n_leaves - 1)}
    for level in range(1, height):
        start = 0
        while start < n_leaves:
            end = start
            while end + 1 < n_leaves and ranked[end + 1][level:] == ranked[start][level:]:
                end += 1
            _check_one_meaning(ranked[start][level], (start, end), covered, source)
            below = sorted(set(top[start : end + 1]))
            if len(below) > 1 or (level == height - 1 and n_leaves == 1):
                node = len(labels)
                labels.append(ranked[start][level])
                first.append(start)
                last.append(end)
                levels.append(level)
                parents.update(dict.fromkeys(below, node))
                top[start : end + 1] = [node] * (end - start + 1)
            start = end + 1
    root = len(labels) - 1
    labels[root] = ROOT  # even if an inner node already covers everything
    parent = [parents.get(node, root) for node in range(len(labels))]
    return Hierarchy(
        labels=tuple(labels),
        first=np.array(first, dtype=np.int64),
        last=np.array(last, dtype=np.int64),
        parent=np.array(parent, dtype=np.int64),
        level=np.array(levels, dtype=np.int64),
        n_leaves=n_leaves,
        height=height - 1,
        paths=tuple(ranked),
    )


def _check_one_meaning(label: str, leaves: tuple[int, int], covered: dict[str, tuple[int, int]], source: str) -> None:
    """Raise an error for a label that stands for two sets of values, even if one of them is never published.

    A node may repeat the label of its only child, as ARX writes it: both cover the same values.
    """
    if covered.setdefault(label, leaves) != leaves:
        raise HierarchyError(
            f"{source}: the label '{label}' names two nodes that cover different values. "
            "Give each node a label of its own, or readers of the release cannot distinguish them."
        )
