"""Distances between the sensitive distribution of a class and of the table. Paper: Section 2."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from betalike.runtime.arrays import Floats, Ints
from betalike.runtime.compilation import kernel
from betalike.runtime.new_arrays import new_floats
from betalike.table.axis import Axis, HierarchyAxis
from betalike.table.cells import ClassCounts


class Ground(StrEnum):
    """How far apart two sensitive values are, for the earth mover's distance."""

    EQUAL = "equal"
    ORDERED = "ordered"
    HIERARCHICAL = "hierarchical"


def divergences(classes: ClassCounts, prior: Floats) -> tuple[Floats, Floats]:
    """Return the Kullback-Leibler divergence of the prior from each class, and the Jensen-Shannon one, in bits.

    The first is infinite where a class lacks a value of the prior; the second is at most 1. Paper: Section 2.

    >>> even = ClassCounts.of(np.array([0, 0]), np.array([0, 1]), np.array([1, 1]), 2)
    >>> [measured.round(4).tolist() for measured in divergences(even, np.array([0.4, 0.6]))]
    [[0.029], [0.0073]]
    """
    q, p = classes.count / classes.sizes[classes.ec], prior[classes.value]
    mixture = (p + q) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        against_class = np.where(p > 0, p * np.log2(p / q), 0.0)
        against_mixture = np.where(p > 0, p * np.log2(p / mixture), 0.0) + q * np.log2(q / mixture)
    begins = classes.starts[:-1]
    absent = np.maximum(1.0 - np.add.reduceat(p, begins), 0.0)  # of these the mixture has half the prior's share
    is_whole = np.add.reduceat(p > 0, begins, dtype=np.int64) == (prior > 0).sum()
    kullback = np.where(is_whole, np.add.reduceat(against_class, begins), np.inf)
    jensen = (np.add.reduceat(against_mixture, begins) + np.where(is_whole, 0.0, absent)) / 2
    return np.maximum(kullback, 0.0), np.maximum(jensen, 0.0)


@dataclass(frozen=True)
class Edges:
    """Edges that separate the values `first` .. `last` from the others, each `length / scale` long."""

    first: Ints
    last: Ints
    length: Ints
    scale: int


def natural_ground(sensitive: Axis) -> Ground:
    """Return ordered for numbers and dates, hierarchical where a real hierarchy is given, else equal."""
    if sensitive.kind.is_ordered:
        return Ground.ORDERED
    is_deep = (
        isinstance(sensitive, HierarchyAxis) and len(sensitive.hierarchy.labels) > sensitive.hierarchy.n_leaves + 1
    )
    return Ground.HIERARCHICAL if is_deep else Ground.EQUAL


def earth_movers_distances(classes: ClassCounts, prior: Floats, ground: Ground, sensitive: Axis) -> Floats:
    """Return the distance of each class's distribution from the prior. Paper: Section 2, EMD (after Li et al.)."""
    posterior = classes.count / classes.sizes[classes.ec]
    edges = edges_of(ground, sensitive, classes.n_values)
    weight = edges.length / edges.scale
    return interval_distances(classes.starts, classes.value, posterior, prior, edges.first, edges.last, weight)


def edges_of(ground: Ground, sensitive: Axis, n_values: int) -> Edges:
    """Return the tree, or the line, along which tuples move from one sensitive value to another."""
    if ground is Ground.HIERARCHICAL:
        return _tree_edges(sensitive)
    every = np.arange(n_values if ground is Ground.EQUAL else n_values - 1)
    if ground is Ground.ORDERED:
        return Edges(np.zeros_like(every), every, np.ones_like(every), max(n_values - 1, 1))
    return Edges(every, every, np.ones_like(every), 2)


def _tree_edges(sensitive: Axis) -> Edges:
    """Return the edge above each node of the hierarchy; half the way between two leaves goes up."""
    if not isinstance(sensitive, HierarchyAxis):
        raise TypeError("hierarchical distance needs a hierarchy on the sensitive attribute")
    tree = sensitive.hierarchy
    nodes = np.arange(tree.root)
    length = tree.level[tree.parent[nodes]] - tree.level[nodes]
    if not sensitive.has_missing:
        return Edges(tree.first[nodes], tree.last[nodes], length, 2 * tree.height)
    # a missing value hangs directly under the root, as far from every other as can be
    leaf = tree.n_leaves
    first = np.append(tree.first[nodes], [0, leaf])
    last = np.append(tree.last[nodes], [leaf - 1, leaf])
    return Edges(first, last, np.append(length, [tree.height - tree.level[tree.root], tree.height]), 2 * tree.height)


@kernel
def interval_distances(
    starts: Ints, value: Ints, posterior: Floats, prior: Floats, first: Ints, last: Ints, weight: Floats
) -> Floats:
    """Sum over intervals of values of weight * |posterior mass - prior mass|, for each class."""
    n_values = len(prior)
    distances, cumulated, gap = (
        new_floats(len(starts) - 1, 0.0),
        new_floats(n_values + 1, 0.0),
        new_floats(n_values, 0.0),
    )
    for ec in range(len(distances)):
        for v in range(n_values):
            gap[v] = -prior[v]
        for i in range(starts[ec], starts[ec + 1]):
            gap[value[i]] += posterior[i]
        cumulated[0] = 0.0
        for v in range(n_values):
            cumulated[v + 1] = cumulated[v] + gap[v]
        for edge in range(len(weight)):
            distances[ec] += weight[edge] * abs(cumulated[last[edge] + 1] - cumulated[first[edge]])
    return distances
