"""t-closeness: distances against a transport solver, the limit reached exactly, and tables without the distance."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from betalike.errors import ParameterError
from betalike.promises import Closeness
from betalike.promises.distances import Ground, edges_of
from betalike.promises.rule import work_of
from betalike.table.axis import HierarchyAxis, OrderedAxis
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind
from examples import examples
from promise_cases import Case, cases, class_counts

NUMBERS = OrderedAxis("salary", Kind.INTEGER, np.arange(9), (0.0, 8.0))
FLAT = HierarchyAxis("disease", Hierarchy.flat("abc"))
DEEP = HierarchyAxis(
    "disease", Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]]), is_declared=True
)


def ground_distances(ground: Ground, case: Case) -> list[list[Fraction]]:
    """How far apart any two values are, by the definition of each ground."""
    n = len(case.counts)
    if ground is Ground.EQUAL:
        return [[Fraction(i != j) for j in range(n)] for i in range(n)]
    if ground is Ground.ORDERED:
        return [[Fraction(abs(i - j), n - 1) for j in range(n)] for i in range(n)]
    return twins.tree_distances(case.prior.paths)


@examples(100)
@given(case=cases(), data=st.data())
def test_what_is_judged_is_the_least_work_of_a_transport(case: Case, data: st.DataObject) -> None:
    ground = data.draw(st.sampled_from(case.grounds))
    model = Closeness(1, ground)
    rule = model.rule(case.table, case.axis, max(map(sum, case.matrix)))
    scale = edges_of(ground, case.axis, len(case.counts)).scale
    costs = ground_distances(ground, case)
    least = []
    for row, ec in zip(case.matrix, case.twins, strict=True):
        least.append(twins.transport_distance(case.prior.shares, twins.shares(ec, case.prior.order), costs))
        work = work_of(rule, np.array(row), sum(row))
        assert work / (scale * sum(row) * sum(case.counts)) == pytest.approx(least[-1], abs=1e-9)
    verdict = model.judge(case.classes, case.table, case.axis)
    assert verdict.worst_ratio == pytest.approx(max(least), abs=1e-9)


def test_li_et_al_their_salaries() -> None:
    """The example of the t-closeness paper: 3K .. 11K; {3K, 4K, 5K} is 0.375 away, {6K, 8K, 11K} only 0.167."""
    counts = np.ones(9, dtype=np.int64)
    near, far = [0, 0, 0, 1, 0, 1, 0, 0, 1], [1, 1, 1, 0, 0, 0, 0, 0, 0]
    for row, distance in ((far, 0.375), (near, 1 / 6)):
        verdict = Closeness(1).judge(class_counts([row]), counts, NUMBERS)
        assert verdict.worst_ratio == pytest.approx(distance)


def test_a_class_at_t_is_allowed_and_one_tuple_further_is_not() -> None:
    """With half the table of one value, six of ten are just 0.1 away; so, too, in a table of 1.4 billion rows."""
    axis = HierarchyAxis("s", Hierarchy.flat("ab"))
    for n_rows in (20, 14 * 10**8):
        counts = np.array([n_rows // 2, n_rows // 2])
        size, most = n_rows // 2, 6 * (n_rows // 2) // 10
        for extra, holds in ((0, True), (1, False)):
            classes = class_counts([[most + extra, size - most - extra]])
            assert Closeness(0.1).judge(classes, counts, axis).holds is holds


@pytest.mark.parametrize(
    ("axis", "natural"), [(NUMBERS, Ground.ORDERED), (FLAT, Ground.EQUAL), (DEEP, Ground.HIERARCHICAL)]
)
def test_without_a_ground_the_natural_one_is_taken(axis: OrderedAxis | HierarchyAxis, natural: Ground) -> None:
    assert Closeness(0.2).ground_of(axis) is natural
    assert Closeness(0.2, Ground.EQUAL).ground_of(axis) is Ground.EQUAL
    assert Closeness(0.2).parameters == {"t": 0.2}
    assert Closeness(0.2, natural).parameters == {"t": 0.2, "ground": str(natural)}


def test_a_hierarchy_makes_similar_values_near() -> None:
    """Table 1's attack: three values of one kind are no farther than three of all kinds, unless a hierarchy tells."""
    rows = [
        [disease, kind, "*"] for kind in ("nervous", "blood") for disease in (f"{kind} 1", f"{kind} 2", f"{kind} 3")
    ]
    axis = HierarchyAxis("disease", Hierarchy.from_rows(rows))
    counts = np.ones(6, dtype=np.int64)
    alike, mixed = class_counts([[1, 1, 1, 0, 0, 0]]), class_counts([[1, 1, 0, 1, 0, 0]])
    for classes in (alike, mixed):
        assert Closeness(1, Ground.EQUAL).judge(classes, counts, axis).worst_ratio == pytest.approx(0.5)
    assert Closeness(1, Ground.HIERARCHICAL).judge(alike, counts, axis).worst_ratio == pytest.approx(0.5)
    assert Closeness(1, Ground.HIERARCHICAL).judge(mixed, counts, axis).worst_ratio == pytest.approx(1 / 3)


def test_numbers_have_no_hierarchy_and_categories_no_order() -> None:
    counts = np.array([3, 3, 3])
    with pytest.raises(ParameterError, match="'disease' is categorical"):
        Closeness(0.2, Ground.ORDERED).settle(counts, FLAT)
    with pytest.raises(ParameterError, match="'salary' holds numbers"):
        Closeness(0.2, Ground.HIERARCHICAL).settle(counts, NUMBERS)
    Closeness(0.2, Ground.HIERARCHICAL).settle(counts, FLAT)
    Closeness(0.2, Ground.ORDERED).settle(counts, NUMBERS)


def test_tables_too_large_for_whole_numbers_are_refused() -> None:
    counts = np.array([10**9, 10**9])
    with pytest.raises(ParameterError, match="decided exactly for up to"):
        Closeness(0.2).rule(counts, HierarchyAxis("s", Hierarchy.flat("ab")), 2**31)


@pytest.mark.parametrize("t", [0, -0.1, 1.01, float("nan"), float("inf"), True, "0.2", None])
def test_t_is_a_number_above_0_and_at_most_1(t: object) -> None:
    with pytest.raises(ParameterError, match="t is"):
        Closeness(t)  # type: ignore[arg-type]
    assert Closeness(1).t == 1


@pytest.mark.parametrize("k", [0, 1.5, True])
def test_k_is_a_whole_number_of_one_or_more(k: object) -> None:
    with pytest.raises(ParameterError, match="k is"):
        Closeness(0.2, k=k)  # type: ignore[arg-type]
