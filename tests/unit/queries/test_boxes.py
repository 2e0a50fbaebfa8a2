"""Unions and intersections of boxes, against sets of points."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.errors import QueryError
from betalike.queries.boxes import MOST_BOXES, Box, intersect, unite
from betalike.queries.value_sets import ValueSet

COLUMNS = ("a", "b", "c")
VALUES = (None, 0, 1, 2, 3)
POINTS = set(itertools.product(VALUES, repeat=len(COLUMNS)))
Point = tuple[int | None, ...]


def to_set(members: Sequence[int | None]) -> ValueSet:
    return ValueSet.of([(n, n) for n in members if n is not None], True, None in members)


SETS = st.lists(st.sampled_from(VALUES), min_size=1, unique=True).map(to_set)
BOXES = st.dictionaries(st.sampled_from(COLUMNS), SETS)
UNIONS = st.lists(st.lists(BOXES, max_size=3), min_size=1, max_size=5)


def holds(values: ValueSet, value: int | None) -> bool:
    return values.missing if value is None else any(low <= value <= high for low, high in values.spans)


def points(box: Box) -> set[Point]:
    names = dict.fromkeys(COLUMNS, to_set(VALUES)) | dict(box)
    return {point for point in POINTS if all(holds(names[c], v) for c, v in zip(COLUMNS, point, strict=True))}


def all_points(boxes: Sequence[Box]) -> set[Point]:
    return set().union(*map(points, boxes))


@given(UNIONS)
def test_a_union_is_that_of_sets_and_has_no_point_twice(unions: list[list[Box]]) -> None:
    disjoint = [unite([[box] for box in union]) if union else [] for union in unions]
    united = unite(disjoint)
    assert all_points(united) == set().union(*map(all_points, unions))
    assert sum(len(points(box)) for box in united) == len(all_points(united))


@given(UNIONS)
def test_an_intersection_is_that_of_sets_and_has_no_point_twice(unions: list[list[Box]]) -> None:
    disjoint = [unite([[box] for box in union]) if union else [] for union in unions]
    met = intersect(disjoint)
    assert all_points(met) == POINTS.intersection(*map(all_points, unions))
    assert sum(len(points(box)) for box in met) == len(all_points(met))


def test_boxes_that_differ_on_one_column_are_one_wherever_they_stand() -> None:
    singles = [{"ab"[i % 2]: to_set([i // 2 % 4])} for i in range(8)]
    assert len(unite([[box] for box in singles])) == 2


def test_many_boxes_that_join_are_not_refused() -> None:
    grid = [{"a": to_set([i % 50]), "b": to_set([i // 50])} for i in range(3 * MOST_BOXES)]
    assert len(unite([[box] for box in grid])) == 1
    diagonal = [{"a": to_set([i]), "b": to_set([i])} for i in range(MOST_BOXES + 1)]
    assert len(unite([[box] for box in diagonal[:-1]])) == MOST_BOXES
    with pytest.raises(QueryError, match="more than 1000 parts"):
        unite([[box] for box in diagonal])
