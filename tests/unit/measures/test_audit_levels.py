"""The audit of counts, fact by fact, against plain fractions; and the traps that others fell into."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.measures.audit import Audit, measure
from betalike.promises.distances import Ground
from betalike.table.axis import HierarchyAxis, OrderedAxis
from betalike.table.cells import ClassCounts
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind

Matrix = list[list[int]]


def counts_of(matrix: Matrix) -> ClassCounts:
    ec, value = np.nonzero(np.array(matrix))
    return ClassCounts.of(ec, value, np.array(matrix)[ec, value], len(matrix[0]))


def measured(matrix: Matrix, prior: list[int] | None = None) -> Audit:
    axis = OrderedAxis("s", Kind.INTEGER, np.arange(len(matrix[0])), (0.0, float(len(matrix[0]) - 1)))
    return measure(counts_of(matrix), np.array(prior or np.sum(matrix, axis=0)), axis)


matrices = st.integers(2, 4).flatmap(
    lambda n_values: st.lists(
        st.lists(st.integers(0, 6), min_size=n_values, max_size=n_values).filter(any), min_size=1, max_size=4
    )
)


@given(matrices)
def test_levels_are_what_their_definitions_say(matrix: Matrix) -> None:
    audit = measured(matrix)
    sizes = [sum(row) for row in matrix]
    prior = [Fraction(sum(column), sum(sizes)) for column in zip(*matrix, strict=True)]
    posterior = [[Fraction(n, size) for n in row] for row, size in zip(matrix, sizes, strict=True)]
    assert (audit.rows, audit.classes, audit.k) == (sum(sizes), len(sizes), min(sizes))
    assert audit.distinct_l == min(sum(n > 0 for n in row) for row in matrix)
    highest = [max(q) for q in posterior]
    assert audit.l == pytest.approx(float(1 / max(highest)))
    assert audit.average_l == pytest.approx(float(sum(1 / q for q in highest) / len(highest)))
    equal = [sum(abs(p - q) for p, q in zip(prior, row, strict=True)) / 2 for row in posterior]
    ordered = [sum(abs(sum(prior[:i]) - sum(row[:i])) for i in range(len(row))) / (len(row) - 1) for row in posterior]
    assert audit.t_ground == Ground.ORDERED
    assert audit.t == pytest.approx(float(max(ordered)))
    assert audit.average_t == pytest.approx(float(sum(ordered) / len(ordered)))
    assert audit.t_by_ground == pytest.approx({"equal": float(max(equal)), "ordered": float(max(ordered))})


@given(matrices)
def test_the_largest_gain_is_the_least_basic_beta(matrix: Matrix) -> None:
    audit = measured(matrix)
    prior = [Fraction(int(n), int(np.sum(matrix))) for n in np.sum(matrix, axis=0)]
    gains = {
        (ec, v): Fraction(n, sum(row)) / prior[v] - 1 for ec, row in enumerate(matrix) for v, n in enumerate(row) if n
    }
    assert audit.basic_beta == pytest.approx(float(max(gains.values())), abs=1e-12)
    worst = audit.worst
    of_worst = [g for (ec, v), g in gains.items() if v == worst.value and sum(matrix[ec]) == worst.size]
    assert float(max(of_worst)) == pytest.approx(float(max(gains.values())), abs=1e-12)
    assert worst.prior == pytest.approx(float(prior[worst.value]))
    assert worst.posterior == pytest.approx(worst.prior * (1 + audit.basic_beta))


@given(matrices)
def test_an_enhanced_beta_holds_only_where_each_gain_is_within_its_own_bound(matrix: Matrix) -> None:
    audit = measured(matrix)
    prior = np.sum(matrix, axis=0) / np.sum(matrix)
    holds = all(
        n / sum(row) / prior[v] - 1 <= -math.log(prior[v]) + 1e-12 for row in matrix for v, n in enumerate(row) if n
    )
    assert audit.enhanced_beta == (audit.basic_beta if holds else None)


@given(matrices)
def test_delta_is_the_largest_logarithm_or_infinite_where_a_value_is_absent(matrix: Matrix) -> None:
    audit = measured(matrix)
    prior = np.sum(matrix, axis=0) / np.sum(matrix)
    if any(n == 0 and prior[v] > 0 for row in matrix for v, n in enumerate(row)):
        assert audit.delta is None
    else:
        logs = [abs(math.log(n / sum(row) / prior[v])) for row in matrix for v, n in enumerate(row) if n]
        assert audit.delta == pytest.approx(max(logs), abs=1e-12)


def test_pure_classes_keep_no_enhanced_beta() -> None:
    """min(largest gain, -ln p_min) would let this table pass; each value has its own bound."""
    audit = measured([[8, 0], [0, 2]])
    assert audit.enhanced_beta is None
    assert audit.basic_beta == pytest.approx(4.0)
    assert audit.delta is None
    assert audit.distinct_l == 1


def test_a_value_that_the_original_lacks_keeps_no_beta() -> None:
    audit = measured([[3, 1]], prior=[4, 0])
    assert (audit.basic_beta, audit.enhanced_beta, audit.delta) == (None, None, None)
    assert (audit.worst.value, audit.worst.prior) == (1, 0.0)


def test_the_prior_is_the_original_s() -> None:
    audit = measured([[1, 1]], prior=[1, 3])
    assert audit.basic_beta == pytest.approx(1.0)
    assert audit.t == pytest.approx(0.25)


def test_one_class_of_everything_gains_nothing() -> None:
    audit = measured([[5, 3, 2]])
    assert (audit.basic_beta, audit.enhanced_beta, audit.delta) == (0.0, 0.0, 0.0)
    assert audit.t == 0.0


def test_a_hierarchy_gives_the_hierarchical_and_the_equal_distance() -> None:
    tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]])
    classes = counts_of([[2, 0, 2, 0], [0, 2, 0, 2]])
    audit = measure(classes, np.array([2, 2, 2, 2]), HierarchyAxis("s", tree))
    assert audit.t_ground == Ground.HIERARCHICAL
    assert audit.t_by_ground == pytest.approx({"equal": 0.5, "hierarchical": 0.25})
    assert audit.t == pytest.approx(0.25)
