"""Distances between distributions, against a transport solver and against SciPy."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

import promise_twins
from betalike.promises.distances import Ground, divergences, earth_movers_distances, natural_ground
from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.table.cells import ClassCounts
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind

RowMaker = Callable[[random.Random, int], list[list[str]]]
DEEP = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]])


def ordered_axis(n_values: int, has_missing: bool = False) -> OrderedAxis:
    n_numbers = n_values - has_missing
    return OrderedAxis("s", Kind.REAL, np.arange(n_numbers) ** 2.0, (0.0, (n_numbers - 1) ** 2.0), has_missing)


def least_work(prior: np.ndarray, posterior: np.ndarray, distance: np.ndarray) -> float:
    """The cheapest way to turn one distribution into the other, by a linear program over all flows."""
    n = len(prior)
    leaves = np.kron(np.eye(n), np.ones(n))
    arrives = np.kron(np.ones(n), np.eye(n))
    solution = linprog(
        distance.ravel(), A_eq=np.vstack([leaves, arrives])[:-1], b_eq=np.append(prior, posterior)[:-1], method="highs"
    )
    assert solution.success
    return float(solution.fun)


def tree_distance(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Level of the lowest common node over the height, from the two lines of the hierarchy."""
    height = len(one) - 1
    return min(level for level in range(height + 1) if one[level:] == other[level:]) / height


def distance_matrix(ground: Ground, axis: Axis) -> np.ndarray:
    n = axis.size
    if ground is Ground.EQUAL:
        return 1.0 - np.eye(n)
    if ground is Ground.ORDERED:
        return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) / (n - 1)
    assert isinstance(axis, HierarchyAxis)
    paths = axis.hierarchy.paths
    distance = 1.0 - np.eye(n)  # as for a missing value, which is as far from the others as can be
    for i, one in enumerate(paths):
        for j, other in enumerate(paths):
            distance[i, j] = tree_distance(one, other)
    return distance


def random_classes(rng: random.Random, n_values: int) -> tuple[ClassCounts, np.ndarray]:
    """Three classes over the values, and the distribution of a table that has more of them."""
    parts = [(ec, rng.randrange(n_values), rng.randint(1, 9)) for ec in (0, 1, 1, 2, 2, 2)]
    ec, value, count = (np.array(column) for column in zip(*parts, strict=True))
    prior = np.array([rng.randint(0, 5) for _ in range(n_values)]) + np.bincount(value, minlength=n_values)
    return ClassCounts.of(ec, value, count, n_values), prior / prior.sum()


def check_against_solver(ground: Ground, axis: Axis, rng: random.Random) -> None:
    classes, prior = random_classes(rng, axis.size)
    measured = earth_movers_distances(classes, prior, ground, axis)
    for ec in range(3):
        here = classes.ec == ec
        posterior = np.bincount(classes.value[here], weights=classes.count[here], minlength=axis.size)
        expected = least_work(prior, posterior / posterior.sum(), distance_matrix(ground, axis))
        assert measured[ec] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize("ground", [Ground.EQUAL, Ground.ORDERED])
def test_equal_and_ordered_distance_are_the_least_work(ground: Ground, has_missing: bool, seed: int) -> None:
    rng = random.Random(seed)
    check_against_solver(ground, ordered_axis(rng.randint(2, 6), has_missing), rng)


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("has_missing", [False, True])
def test_hierarchical_distance_is_the_least_work(random_rows: RowMaker, has_missing: bool, seed: int) -> None:
    rng = random.Random(seed)
    tree = Hierarchy.from_rows(random_rows(rng, rng.randint(1, 6)))
    check_against_solver(Ground.HIERARCHICAL, HierarchyAxis("s", tree, has_missing), rng)


def test_chains_of_single_children_keep_their_levels() -> None:
    """An inner node over all values leaves the way to the missing one as long as the hierarchy is high."""
    tree = Hierarchy.from_rows([["a", "all", "more", "*"], ["b", "all", "more", "*"]])
    check_against_solver(Ground.HIERARCHICAL, HierarchyAxis("s", tree, has_missing=True), random.Random(0))


def test_the_distance_of_a_single_value_is_nothing() -> None:
    classes = ClassCounts.of(np.array([0]), np.array([0]), np.array([4]), 1)
    for ground in (Ground.EQUAL, Ground.ORDERED):
        assert earth_movers_distances(classes, np.array([1.0]), ground, ordered_axis(1)).tolist() == [0.0]


def test_hierarchical_distance_needs_a_hierarchy() -> None:
    classes = ClassCounts.of(np.array([0]), np.array([0]), np.array([4]), 2)
    with pytest.raises(TypeError, match="needs a hierarchy"):
        earth_movers_distances(classes, np.array([0.5, 0.5]), Ground.HIERARCHICAL, ordered_axis(2))


@pytest.mark.parametrize(
    ("axis", "ground"),
    [
        (ordered_axis(3), Ground.ORDERED),
        (HierarchyAxis("s", DEEP), Ground.HIERARCHICAL),
        (HierarchyAxis("s", Hierarchy.flat("abc")), Ground.EQUAL),
        (HierarchyAxis("s", Hierarchy.from_rows([["a", "all", "*"], ["b", "all", "*"]])), Ground.EQUAL),
    ],
    ids=["numbers", "hierarchy", "flat", "flat but for a chain"],
)
def test_the_natural_ground_follows_the_sensitive_attribute(axis: Axis, ground: Ground) -> None:
    assert natural_ground(axis) is ground


distributions = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


def measured_divergences(prior: list[int], rows: list[list[int]]) -> tuple[list[float], list[float]]:
    counts = np.array(rows)
    ec, value = np.nonzero(counts)
    classes = ClassCounts.of(ec, value, counts[ec, value], len(prior))
    kullback, jensen = divergences(classes, np.array(prior) / sum(prior))
    return kullback.tolist(), jensen.tolist()


@given(distributions, st.lists(distributions, min_size=1, max_size=4))
def test_divergences_are_those_of_scipy(prior: list[int], rows: list[list[int]]) -> None:
    kullback, jensen = measured_divergences(prior, rows)
    p = np.array(prior) / sum(prior)
    for row, kl, js in zip(rows, kullback, jensen, strict=True):
        q = np.array(row) / sum(row)
        expected = jensenshannon(p, q, base=2) ** 2
        assert kl == pytest.approx(entropy(p, q, base=2), abs=1e-12)
        assert js == pytest.approx(0.0 if np.isnan(expected) else expected, abs=1e-9)


@given(distributions, distributions)
def test_divergences_are_those_of_their_definitions(prior: list[int], row: list[int]) -> None:
    p, q = ([Fraction(n, sum(counts)) for n in counts] for counts in (prior, row))
    (kullback,), (jensen,) = measured_divergences(prior, [row])
    assert kullback == pytest.approx(promise_twins.kullback_leibler(p, q), abs=1e-12)
    assert jensen == pytest.approx(promise_twins.jensen_shannon(p, q), abs=1e-12)
    assert 0 <= jensen <= 1 + 1e-12


def test_divergences_of_equal_and_of_disjoint_distributions() -> None:
    kullback, jensen = measured_divergences([1, 1, 0, 0], [[7, 7, 0, 0], [0, 0, 3, 1], [2, 0, 0, 0]])
    assert kullback == [0.0, math.inf, math.inf]
    assert jensen == pytest.approx([0.0, 1.0, 0.5 * (math.log2(4 / 3) + 0.5 * math.log2(2 / 3) + 0.5)])
