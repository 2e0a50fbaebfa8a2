"""Promises counted in people, against sets of persons and fractions."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from betalike.errors import ParameterError
from betalike.promises import Anonymity, Closeness, Disclosure, Diversity, Likeness
from betalike.promises.people import Holdings, judge_in_people
from betalike.promises.sets import Sets

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=40)
Row = tuple[int, int, int]  # class, person, value


def held_by(rows: list[Row], sets: Sets | None = None, n_values: int = 5) -> Holdings:
    ec, person, value = (np.array(column) for column in zip(*rows, strict=True))
    _, ec = np.unique(ec, return_inverse=True)
    return Holdings.of(ec, person, value, sets or Sets.singletons(n_values), n_values)


def people_by_class(rows: list[Row]) -> dict[int, dict[int, set[int]]]:
    found: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for ec, person, value in rows:
        found[ec][value].add(person)
    return found


def shares_of(rows: list[Row]) -> dict[int, Fraction]:
    whole = people_by_class([(0, person, value) for _, person, value in rows])[0]
    return {value: Fraction(len(who), len({row[1] for row in rows})) for value, who in whole.items()}


@given(ROWS, st.sampled_from([0.3, 1, 2.5]), st.sampled_from(["basic", "enhanced"]), st.integers(1, 3))
def test_the_verdict_is_that_of_sets_of_persons(rows: list[Row], beta: float, form: str, k: int) -> None:
    verdict = judge_in_people(Likeness(beta, form, k), held_by(rows))
    prior, keeps, gains, sizes = shares_of(rows), True, [], []
    for who in people_by_class(rows).values():
        size = len(set().union(*who.values()))
        sizes.append(size)
        for value, having in who.items():
            keeps &= twins.is_allowed(len(having), size, prior[value], twins.promised(beta), form)
            gains.append(Fraction(len(having), size) / prior[value] - 1)
    assert verdict.holds == (keeps and min(sizes) >= k)
    assert (verdict.smallest_class, verdict.n_people) == (min(sizes), len({row[1] for row in rows}))
    assert verdict.worst_gain == pytest.approx(float(max(gains)), abs=1e-12)


@given(ROWS)
def test_a_set_is_had_by_those_who_have_one_of_its_values(rows: list[Row]) -> None:
    members = [[0, 1, 2], [2, 3], [4], [0]]
    held = held_by(rows, Sets.of(members))
    found = set(zip(held.ec.tolist(), held.person.tolist(), held.member.tolist(), strict=True))
    number = {ec: place for place, ec in enumerate(sorted({row[0] for row in rows}))}
    expected = {(number[ec], p, s) for ec, p, v in rows for s, values in enumerate(members) if v in values}
    assert found == expected
    assert held.totals.tolist() == [len({p for _, p, v in rows if v in values}) for values in members]


@given(ROWS, st.sampled_from([Likeness(0.1), Likeness(1, negative_beta=0.1), Disclosure(0.01), Diversity(1)]))
def test_one_class_of_all_rows_keeps_every_promise(rows: list[Row], promise: Likeness) -> None:
    assert judge_in_people(promise, held_by([(0, person, value) for _, person, value in rows])).holds


VISITS = [  # class, person, value: the example of the page on people; 0 is gout, 1 flu, 2 cough
    *((0, 0, value) for value in (0, 0, 0, 1)),
    *((0, 1, value) for value in (1, 2)),
    *((1, 2, value) for value in (1, 2)),
    *((1, 3, value) for value in (1, 1)),
]


def test_the_example_of_the_page() -> None:
    verdict = judge_in_people(Likeness(0.8, "basic"), held_by(VISITS, n_values=3))
    assert (verdict.holds, verdict.worst_gain, verdict.smallest_class) == (False, 1.0, 2)
    counts = np.array([3, 5, 2])
    assert all(twins.is_allowed(n, 6, Fraction(total, 10), Fraction("0.8"), "basic") for n, total in ((3, 3), (2, 5)))
    assert counts.sum() == len(VISITS)


def test_merging_two_classes_may_break_the_promise_in_people() -> None:
    """Ann and Bob have gout in one class each, and all others have none: half of each class, but all of the union."""
    crossed = [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0), *((2, person, 1) for person in range(2, 8))]
    promise = Likeness(1.5, "basic")
    assert judge_in_people(promise, held_by(crossed)).holds
    merged = [(0 if ec == 1 else ec, person, value) for ec, person, value in crossed]
    assert not judge_in_people(promise, held_by(merged)).holds


def test_k_counts_people() -> None:
    assert judge_in_people(Anonymity(2), held_by(VISITS, n_values=3)).holds
    assert not judge_in_people(Anonymity(3), held_by(VISITS, n_values=3)).holds


@pytest.mark.parametrize("promise", [Closeness(0.2), Diversity(2, "entropy"), Diversity(2, "recursive")])
def test_promises_about_whole_distributions_are_refused(promise: Closeness) -> None:
    with pytest.raises(ParameterError, match="cannot be promised in people"):
        judge_in_people(promise, held_by(VISITS, n_values=3))
