"""Sets of values, against sets of Python on a small range of numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.queries.value_sets import ValueSet
from betalike.table.exact_numbers import TINY

RANGE = range(-3, 13)
SPANS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=4)
SETS = st.builds(lambda spans, missing: ValueSet.of(spans, True, missing), SPANS, st.booleans())


def members(values: ValueSet) -> set[int | None]:
    inside = {n for n in RANGE if any(low <= n <= high for low, high in values.spans)}
    return inside | ({None} if values.missing else set())


@given(SETS, SETS)
def test_unions_and_intersections_are_those_of_sets(a: ValueSet, b: ValueSet) -> None:
    assert members(a | b) == members(a) | members(b)
    assert members(a & b) == members(a) & members(b)


@given(SETS)
def test_a_complement_is_what_is_left(a: ValueSet) -> None:
    assert members(a.complement()) == {None, *RANGE} - members(a)
    assert a.complement().complement() == a
    assert (a | a.complement()).is_everything
    assert (a & a.complement()).is_empty


@given(SETS)
def test_the_form_is_the_only_one(a: ValueSet) -> None:
    """Equal sets are equal objects: spans ascend and do not touch."""
    again = ValueSet.of([(n, n) for n in members(a) if n is not None], True, a.missing)
    assert a == again


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), max_size=4), st.floats(-6, 6))
def test_every_real_is_in_a_set_or_in_its_complement(spans: list[tuple[float, float]], x: float) -> None:
    values = ValueSet.of(spans, is_discrete=False)
    inside, outside = (any(low <= x <= high for low, high in one.spans) for one in (values, values.complement()))
    assert inside is not outside


@pytest.mark.parametrize("is_discrete", [True, False])
def test_everything_and_nothing(is_discrete: bool) -> None:
    nothing = ValueSet.of([], is_discrete)
    assert nothing.is_empty
    assert nothing.complement().is_everything
    present = ValueSet.present(is_discrete)
    assert not present.is_everything
    assert present.complement() == ValueSet((), True, is_discrete)
    assert present.spans == ((-math.inf, math.inf),)


@given(st.lists(SETS, min_size=1, max_size=6))
def test_many_sets_at_once_are_joined_and_met_as_two_by_two(sets: list[ValueSet]) -> None:
    assert members(ValueSet.union(sets)) == set.union(*map(members, sets))
    assert members(ValueSet.intersection(sets)) == set.intersection(*map(members, sets))


@given(SETS, SETS)
def test_disjoint_sets_share_nothing(a: ValueSet, b: ValueSet) -> None:
    assert a.is_disjoint(b) is (not members(a) & members(b))


@given(SETS)
def test_others_are_never_missing(a: ValueSet) -> None:
    assert members(a.others()) == set(RANGE) - members(a)


@given(SETS)
def test_equal_sets_have_equal_hashes(a: ValueSet) -> None:
    assert hash(a) == hash(ValueSet.of(reversed(a.spans), True, a.missing))


ENDS = st.sampled_from([Fraction(n, 4) + open_end * TINY for n in range(4) for open_end in (-1, 0, 1)] + [1, 2])


@given(st.lists(st.tuples(ENDS, ENDS), max_size=5))
def test_decimals_that_touch_are_joined_as_if_each_gap_was_measured(spans: list[tuple[Fraction, Fraction]]) -> None:
    joined = ValueSet.of(spans, is_discrete=False)
    gaps = zip(joined.spans, joined.spans[1:], strict=False)
    assert all(second[0] > first[1] + TINY for first, second in gaps)
    probes = [Fraction(n, 8) for n in range(18)]
    for x in probes:
        assert any(low <= x <= high for low, high in joined.spans) is any(low <= x <= high for low, high in spans)
