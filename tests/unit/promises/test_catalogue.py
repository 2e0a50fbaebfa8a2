"""Promises by their names: what each needs and takes, and what a table decides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from betalike.errors import ParameterError, SchemaError
from betalike.promises import (
    Anonymity,
    Closeness,
    Disclosure,
    DisclosureForLikeness,
    Diversity,
    Form,
    Likeness,
    Model,
    Variety,
    fit,
    make_model,
)
from betalike.promises.distances import Ground
from betalike.promises.parameters import PROMISES
from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind

NUMBERS = OrderedAxis("s", Kind.INTEGER, np.arange(3), (0.0, 2.0))
WORDS = HierarchyAxis("s", Hierarchy.flat("abc"))
EXPECTED: dict[str, tuple[dict[str, Any], Model]] = {
    "enhanced": ({"beta": 2}, Likeness(2, Form.ENHANCED, 7)),
    "basic": ({"beta": 2}, Likeness(2, Form.BASIC, 7)),
    "delta-disclosure": ({"delta": 1.5}, Disclosure(1.5, 7)),
    "t-closeness": ({"t": 0.2}, Closeness(0.2, None, 7)),
    "distinct-l-diversity": ({"l": 3}, Diversity(3, Variety.DISTINCT, k=7)),
    "entropy-l-diversity": ({"l": 2.5}, Diversity(2.5, Variety.ENTROPY, k=7)),
    "recursive-l-diversity": ({"l": 3, "c": 2}, Diversity(3, Variety.RECURSIVE, 2, 7)),
    "k-anonymity": ({}, Anonymity(7)),
}
NOTHING = dict.fromkeys(("beta", "t", "delta", "l", "c", "ground"))


def test_every_promise_is_expected_here() -> None:
    assert list(PROMISES) == list(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_promise_is_made_from_its_name_and_numbers(name: str) -> None:
    numbers, model = EXPECTED[name]
    assert make_model(name, 7, {**NOTHING, **numbers}) == model


@pytest.mark.parametrize("name", EXPECTED)
def test_every_number_that_a_promise_needs_is_asked_for(name: str) -> None:
    numbers, _ = EXPECTED[name]
    for left_out in numbers:
        with pytest.raises(ParameterError, match=f"{left_out} is missing. The promise '{name}' needs it"):
            make_model(name, 7, {**numbers, left_out: None})


@pytest.mark.parametrize("name", EXPECTED)
def test_a_number_that_a_promise_does_not_take_is_refused(name: str) -> None:
    numbers, _ = EXPECTED[name]
    taken = {*numbers, *(["ground"] if name == "t-closeness" else [])}
    for other, value in {"beta": 4, "t": 0.2, "delta": 1, "l": 2, "c": 1, "ground": "equal"}.items():
        if other not in taken:
            with pytest.raises(ParameterError, match=f"{other} is given, but the promise '{name}' does not take it"):
                make_model(name, 7, {**numbers, other: value})


@pytest.mark.parametrize("ground", Ground)
def test_a_ground_is_named(ground: Ground) -> None:
    assert make_model("t-closeness", 1, {"t": 0.2, "ground": str(ground)}) == Closeness(0.2, ground)


def test_what_is_not_known_is_refused_with_a_suggestion() -> None:
    with pytest.raises(ParameterError, match="Did you mean 't-closeness'"):
        make_model("t-closenes", 1, {"t": 0.2})
    with pytest.raises(ParameterError, match="Did you mean 'ordered'"):
        make_model("t-closeness", 1, {"t": 0.2, "ground": "order"})


def test_a_table_decides_the_delta_for_a_beta_and_the_natural_ground() -> None:
    counts = np.array([2, 3, 5])
    waiting = make_model("delta-disclosure", 2, {"beta": 1})
    assert isinstance(waiting, DisclosureForLikeness)
    fitted = fit(waiting, counts, WORDS)
    assert isinstance(fitted, Disclosure)
    assert fitted.delta == pytest.approx(np.log(1 - np.log(0.5)))
    assert fitted.k == 2
    pairs: list[tuple[Axis, Ground]] = [(NUMBERS, Ground.ORDERED), (WORDS, Ground.EQUAL)]
    for axis, ground in pairs:
        assert fit(Closeness(0.2), counts, axis) == Closeness(0.2, ground)
        assert fit(Closeness(0.2, Ground.EQUAL), counts, axis) == Closeness(0.2, Ground.EQUAL)


def test_a_table_that_cannot_keep_the_promise_is_refused() -> None:
    counts = np.array([2, 3, 5])
    for model in (Diversity(4), Closeness(0.2, Ground.ORDERED), Anonymity(11), Likeness(2, k=11)):
        with pytest.raises(ParameterError):
            fit(model, counts, WORDS)
    for name, (numbers, _) in EXPECTED.items():
        with pytest.raises(SchemaError, match="nothing to protect"):
            fit(make_model(name, 7, numbers), np.array([9, 0, 0]), WORDS)
