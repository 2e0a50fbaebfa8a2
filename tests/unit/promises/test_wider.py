"""Wider promises are decided as their twins decide them: two-sided, of groups, of intervals."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wider_twins
from betalike.errors import ParameterError
from betalike.promises import Form, Likeness, make_model
from betalike.promises.caps import Bound
from betalike.promises.rule import is_allowed
from betalike.promises.sets import Windows, windows
from betalike.table.axis import HierarchyAxis, OrderedAxis
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind
from examples import examples
from promise_cases import Case, cases, class_counts, near, told
from promise_twins import Prior

TREE = Hierarchy.from_rows([["flu", "lungs", "*"], ["cough", "lungs", "*"], ["ulcer", "gut", "*"], ["gout", "x", "*"]])
DISEASES = HierarchyAxis("disease", TREE, is_declared=True)
SALARIES = OrderedAxis("salary", Kind.REAL, np.array([1.0, 2.0, 3.0, 7.0]), (1.0, 7.0))
COUNTS = np.array([10, 20, 30, 40])


@st.composite
def spans(draw: st.DrawFn, case: Case) -> dict[str, Any]:
    """Sets that the values of a case have; none, often enough."""
    parameters: dict[str, Any] = {}
    if isinstance(case.axis, HierarchyAxis):
        labels = {label for path in case.axis.hierarchy.paths for label in path[:-1]}
        partly = [
            label
            for label in sorted(labels)
            if sum(label in path[:-1] for path in case.axis.hierarchy.paths) < case.axis.size
        ]
        chosen = draw(st.lists(st.sampled_from(partly), unique=True, max_size=3)) if partly else []
        parameters = {"groups": chosen} if chosen else {}
    elif len(case.axis.values) > 1 and draw(st.booleans()):
        widest = float(case.axis.values[-1] - case.axis.values[0])
        width = draw(st.sampled_from([1.0, 3.0, 4.5, 5.0, 8.0]) | st.floats(0.01, widest))
        parameters = {"width": width} if width < widest else {}
    return {**parameters, "with_values": draw(st.booleans())} if parameters else {}


@st.composite
def promises(draw: st.DrawFn, case: Case) -> Likeness:
    """A wider promise, often one that some class just reaches."""
    parameters = draw(spans(case))
    form = draw(st.sampled_from(list(Form)))
    prior = twin_prior(case)
    told_so = {"model": str(form), "beta": 1, "parameters": parameters}
    pairs = wider_twins.shares(draw(st.sampled_from(case.twins)), prior, wider_twins.sets_of(told_so, prior))
    q, p = draw(st.sampled_from(pairs))
    beta = draw(near(float(q / p) - 1)) if q > p and draw(st.booleans()) else draw(st.floats(0.1, 5))
    if 0 < q < p and draw(st.booleans()):
        beta = draw(near(float(p / q) - 1))
    negative = draw(st.sampled_from([None, "symmetric"]) | st.floats(0.05, 0.95))
    if 0 < q < p and negative not in (None, "symmetric") and draw(st.booleans()):
        negative = draw(near(float((p - q) / p)))
    k = draw(st.integers(1, 3))
    return Likeness(beta, form, k, negative_beta=negative, **parameters)


def declared(case: Case) -> Case:
    """The same case, with a hierarchy that was given."""
    axis = case.axis
    if isinstance(axis, HierarchyAxis):
        axis = HierarchyAxis("s", axis.hierarchy, axis.has_missing, is_declared=True)
    return Case(case.matrix, case.counts, axis)


def twin_prior(case: Case) -> Prior:
    """The values of a case as its axis has them: numbers, or leaves of its hierarchy, and a missing one."""
    axis = case.axis
    missing = [""] * axis.has_missing
    if isinstance(axis, HierarchyAxis):
        rows = [*axis.hierarchy.paths, *([("", *[""] * (axis.hierarchy.height - 1), "*")] * axis.has_missing)]
        order: list[Any] = [*axis.hierarchy.leaves, *missing]
        return Prior(dict(zip(order, case.counts, strict=True)), order, rows)
    order = [*axis.values.tolist(), *missing]
    return Prior(dict(zip(order, case.counts, strict=True)), order)


def twin_classes(case: Case) -> list[dict[Any, int]]:
    """The classes of a case by the values of its axis."""
    order = twin_prior(case).order
    return [{order[v]: n for v, n in enumerate(row) if n} for row in case.matrix]


@examples(250)
@given(data=st.data())
def test_a_verdict_is_what_the_definition_says_of_every_class(data: st.DataObject) -> None:
    case = declared(data.draw(cases().filter(lambda case: min(case.counts) > 0)))
    model, prior = data.draw(promises(case)), twin_prior(case)
    promise = told(model)
    verdict = model.judge(case.classes, case.table, case.axis)
    kept = [wider_twins.keeps(promise, ec, prior) for ec in twin_classes(case)]
    assert verdict.holds == all(kept)
    rule = model.rule(case.table, case.axis, max(map(sum, case.matrix)))
    assert [bool(is_allowed(rule, np.array(row), sum(row))) for row in case.matrix] == kept
    worst = max(wider_twins.used(promise, ec, prior) for ec in twin_classes(case))
    if verdict.holds:
        assert verdict.worst_ratio == pytest.approx(min(worst, 1.0), abs=1e-9)
    assert model.judge(class_counts([case.counts]), case.table, case.axis).holds == (sum(case.counts) >= model.k)


@examples(100)
@given(data=st.data())
def test_classes_that_keep_a_promise_keep_it_together(data: st.DataObject) -> None:
    """Lemma 1 for caps and floors, on values and on sets of them."""
    case = declared(data.draw(cases().filter(lambda case: min(case.counts) > 0)))
    model = data.draw(promises(case))
    if model.judge(case.classes, case.table, case.axis).holds:
        assert model.judge(class_counts([np.sum(case.matrix, axis=0)]), case.table, case.axis).holds


NUMBERS = st.lists(st.decimals(-50, 50, places=2).map(Fraction), min_size=2, max_size=12, unique=True).map(sorted)


@examples(200)
@given(numbers=NUMBERS, share=st.fractions(0, 1, max_denominator=40), place=st.integers(0, 11))
def test_the_windows_are_all_intervals_of_a_width(numbers: list[Fraction], share: Fraction, place: int) -> None:
    """Every set of numbers that some interval holds, and no other; with widths that just reach a number."""
    reach = numbers[place % len(numbers)] - numbers[0]
    for width in (reach, (numbers[-1] - numbers[0]) * share):
        if 0 < width < numbers[-1] - numbers[0]:
            found = windows(numbers, width)
            assert len(set(found)) == len(found)
            assert {frozenset(numbers[a : b + 1]) for a, b in found} == wider_twins.intervals(numbers, width)


def test_widths_and_numbers_are_taken_as_typed() -> None:
    """0.3 - 0.1 is 0.19999999999999998 for a machine, and 0.7 - 0.5 is not the same."""
    axis = OrderedAxis("s", Kind.REAL, np.array([0.1, 0.3, 0.5, 0.7]), (0.1, 0.7))
    sets = Windows(0.2).sets(axis, 4)
    assert list(zip(sets.first, sets.last, strict=True)) == [(0, 1), (1, 1), (1, 2), (2, 2), (2, 3)]


@given(
    prior=st.fractions(0, 1, max_denominator=60),
    factor=st.fractions(0, 1, max_denominator=30),
    largest=st.integers(1, 40),
)
def test_a_floor_is_rounded_up_to_the_next_fraction(prior: Fraction, factor: Fraction, largest: int) -> None:
    every = [Fraction(a, b) for b in range(1, largest + 1) for a in range(b + 1)]
    plain = prior * factor
    assert Bound(plain, is_floor=True).least_fraction(largest) == min(f for f in every if f >= plain)
    if 0 < prior < 1:
        reached = float(prior) / (1 - math.log(prior))
        assert Bound(prior, is_logarithmic=True, is_floor=True).least_fraction(largest) == min(
            f for f in every if f > reached
        )
        assert float(Bound(prior, is_logarithmic=True, is_floor=True)) == pytest.approx(reached)


def test_the_name_and_the_numbers_tell_what_is_promised() -> None:
    model = Likeness(2, negative_beta="symmetric", groups=["lungs"], with_values=True)
    assert model.name == "two-sided-enhanced-likeness-of-groups"
    assert model.parameters == {"negative_beta": "symmetric", "groups": ["lungs"], "with_values": True}
    model = Likeness(2, Form.BASIC, width=5)
    assert (model.name, model.beta, model.k) == ("basic-likeness-of-intervals", 2, 1)
    assert model.parameters == {"width": 5.0, "with_values": False}
    assert Likeness(2).is_plain
    assert not model.is_plain
    for model in (
        Likeness(3, k=4, negative_beta=0.25),
        Likeness(3, groups=["a", "b"]),
        Likeness(3, negative_beta=0.5, width=2),
    ):
        assert make_model("enhanced", model.k, {"beta": 3, **model.parameters}) == model


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"negative_beta": 0}, "negative_beta is 0"),
        ({"negative_beta": 1}, "nothing would be promised"),
        ({"negative_beta": True}, "negative_beta is True"),
        ({"negative_beta": "both"}, "'symmetric'"),
        ({"groups": []}, "list of nodes"),
        ({"groups": "lungs"}, "must be a list of nodes"),
        ({"groups": ["lungs", "lungs"]}, "twice"),
        ({"groups": ["lungs"], "width": 2}, "choose one"),
        ({"with_values": True}, "neither groups nor a width"),
        ({"with_values": "too", "width": 2}, "true or false"),
        ({"width": 0}, "width is 0"),
        ({"width": math.inf}, "width is inf"),
    ],
)
def test_what_no_promise_can_be_is_refused(given: dict[str, Any], word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        make_model("enhanced", 1, {"beta": 2, **given})


@pytest.mark.parametrize(
    ("span", "axis", "word"),
    [
        ({"groups": ["lung"]}, DISEASES, "Did you mean 'lungs'"),
        ({"groups": ["*"]}, DISEASES, "no node"),
        ({"groups": ["lungs"]}, SALARIES, "has none"),
        ({"groups": ["lungs"]}, HierarchyAxis("disease", TREE), "has none"),
        ({"groups": ["all"]}, HierarchyAxis("d", Hierarchy.from_rows([["a", "all", "*"], ["b", "all", "*"]]), False,
                                        Kind.CATEGORICAL, True), "further down"),
        ({"width": 6}, SALARIES, "smaller width"),
        ({"width": 1}, DISEASES, "categories"),
        ({"width": 1}, OrderedAxis("s", Kind.DATETIME, np.array([1, 5]), (1, 5)), "moments"),
    ],
)  # fmt: skip
def test_sets_that_a_table_does_not_have_are_refused(span: dict[str, Any], axis: Any, word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        Likeness(2, **span).settle(COUNTS, axis)


def test_values_in_no_group_are_promised_by_themselves() -> None:
    model = Likeness(1, Form.BASIC, groups=["lungs"])
    # lungs (30 %) may make 60 % of a class, however these are parted; gout (40 %) up to 80 %
    assert model.judge(class_counts([[6, 0, 2, 2], [4, 20, 28, 38]]), COUNTS, DISEASES).holds
    assert not model.judge(class_counts([[7, 0, 2, 1], [3, 20, 28, 39]]), COUNTS, DISEASES).holds
    assert not model.judge(class_counts([[0, 0, 1, 9], [10, 20, 29, 31]]), COUNTS, DISEASES).holds
    with_values = Likeness(1, Form.BASIC, groups=["lungs"], with_values=True)
    assert not with_values.judge(class_counts([[6, 0, 2, 2], [4, 20, 28, 38]]), COUNTS, DISEASES).holds


def test_a_two_sided_promise_on_values_has_each_value_in_each_class() -> None:
    model = Likeness(4, negative_beta="symmetric")
    assert not model.judge(class_counts([[0, 5, 5, 5], [10, 15, 25, 35]]), COUNTS, DISEASES).holds
    assert model.judge(class_counts([[1, 5, 5, 5], [9, 15, 25, 35]]), COUNTS, DISEASES).holds
