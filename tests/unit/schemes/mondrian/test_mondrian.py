"""Mondrian with every promise, against slow twins of its two attribute rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import promise_twins
from betalike.errors import ParameterError
from betalike.measures.loss import plan_loss
from betalike.promises import Anonymity, Closeness, Disclosure, Diversity, Form, Likeness, Model, Variety
from betalike.promises.distances import Ground
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes import PROMISES, AttributeRule, Mondrian, choose_promise, make_scheme
from betalike.schemes.mondrian.halving import halve_tuples
from betalike.table.cells import Cells, Plan
from examples import examples
from promise_cases import told
from rivals import SlowMondrian
from seam_tables import random_cells

MODELS: list[Model] = [
    Likeness(1.3),
    Likeness(0.4, Form.BASIC, 5),
    Disclosure(1.2),
    Closeness(0.3, Ground.EQUAL),
    Closeness(0.2, Ground.HIERARCHICAL, 9),
    Diversity(3),
    Diversity(2.7, Variety.ENTROPY),
    Diversity(2, Variety.RECURSIVE, 1.5, 4),
    Anonymity(6),
]
EVERY_MODEL = pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.name}-{model.k}")
SEEDS = st.integers(0, 10**6)


def keeping(model: Model, cells: Cells) -> Callable[[np.ndarray], bool]:
    """Whether counts keep a promise, by its twin."""
    tree = cells.sensitive.hierarchy
    prior = promise_twins.Prior(dict(enumerate(cells.value_counts.tolist())), range(cells.sensitive.size), tree.paths)
    return lambda counts: promise_twins.keeps(
        told(model), Counter({v: int(n) for v, n in enumerate(counts) if n}), prior
    )


def classes_of(plan: Plan) -> set[frozenset[tuple[int, int]]]:
    """The classes of a plan, each the tuples that it has of each cell."""
    classes: dict[int, set[tuple[int, int]]] = {}
    for cell, count, ec in zip(plan.cell.tolist(), plan.count.tolist(), plan.ec.tolist(), strict=True):
        classes.setdefault(ec, set()).add((cell, count))
    return set(map(frozenset, classes.values()))


@examples(20)
@EVERY_MODEL
@given(seed=SEEDS, second_try=st.booleans())
def test_the_widest_attribute_is_cut_between_two_values(model: Model, seed: int, second_try: bool) -> None:
    cells = random_cells(seed, n_cells=50)
    is_allowed = keeping(model, cells)
    assume(is_allowed(cells.value_counts))
    plan = Mondrian(second_try=second_try).plan(cells, model)
    assert classes_of(plan) == classes_of(SlowMondrian(is_allowed, second_try).plan(cells))
    assert plan.details == {"attribute": "widest", "second_try": second_try}


def slow_halves(
    tuples: list[int], codes: np.ndarray, is_allowed: Callable[[list[int]], bool], k: int, has_second_try: bool
) -> list[list[int]]:
    """Halve tuples at the median of the attribute with the fewest codes between its ends, and each half again."""
    half = len(tuples) // 2
    if half < max(k, 1):
        return [tuples]
    spans = [int(np.ptp(codes[tuples, axis])) for axis in range(codes.shape[1])]
    for axis in sorted(range(len(spans)), key=lambda axis: spans[axis]):
        by_code = sorted(range(len(tuples)), key=lambda place: (codes[tuples[place], axis], place))
        lower = set(by_code[:half])
        tuples = [t for i, t in enumerate(tuples) if i in lower] + [t for i, t in enumerate(tuples) if i not in lower]
        if is_allowed(tuples[:half]) and is_allowed(tuples[half:]):
            parts = (tuples[:half], tuples[half:])
            return [ec for part in parts for ec in slow_halves(part, codes, is_allowed, k, has_second_try)]
        if not has_second_try:
            break
    return [tuples]


@examples(20)
@EVERY_MODEL
@given(seed=SEEDS, second_try=st.booleans())
def test_the_narrowest_attribute_is_halved_at_its_median_row(model: Model, seed: int, second_try: bool) -> None:
    cells = random_cells(seed, n_cells=30, most=4)
    is_counted_allowed = keeping(model, cells)
    assume(is_counted_allowed(cells.value_counts))
    tuples = np.repeat(np.arange(len(cells.count)), cells.count)
    tuples = np.random.default_rng(seed).permutation(tuples).astype(np.int32)

    def is_allowed(part: list[int]) -> bool:
        return is_counted_allowed(np.bincount(cells.value[part], minlength=cells.sensitive.size))

    expected = slow_halves(tuples.tolist(), cells.points[cells.point], is_allowed, model.k, second_try)
    rule = model.rule(cells.value_counts, cells.sensitive)
    starts = halve_tuples(
        tuples, cells.points, cells.point, cells.value, rule, cells.sensitive.size, has_second_try=second_try
    )
    found = [part.tolist() for part in np.split(tuples, starts[1:-1])]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))


@pytest.mark.some(4)
@examples(20)
@pytest.mark.parametrize("attribute", AttributeRule)
@EVERY_MODEL
@given(seed=SEEDS, second_try=st.booleans())
def test_every_tuple_is_in_one_class_that_keeps_the_promise(
    model: Model, attribute: AttributeRule, seed: int, second_try: bool
) -> None:
    cells = random_cells(seed)
    is_allowed = keeping(model, cells)
    assume(is_allowed(cells.value_counts))
    plan = Mondrian("x", attribute, second_try, SeededRandomness(seed)).plan(cells, model)
    handed_out = np.bincount(plan.cell, plan.count, len(cells.count))
    assert handed_out.tolist() == cells.count.tolist()
    assert sorted(set(plan.ec.tolist())) == list(range(plan.n_classes))
    counts = np.zeros((plan.n_classes, cells.sensitive.size), dtype=np.int64)
    np.add.at(counts, (plan.ec, cells.value[plan.cell]), plan.count)
    assert all(map(is_allowed, counts))


def test_only_the_narrowest_rule_draws_lots_for_rows_that_are_alike() -> None:
    """Eight equal rows: between two values they cannot be parted, at the median row they can."""
    cells = replace(random_cells(1, n_cells=1), count=np.array([8]))
    whole = Mondrian().plan(cells, Anonymity(2))
    assert whole.n_classes == 1
    parted = Mondrian(attribute=AttributeRule.NARROWEST).plan(cells, Anonymity(2))
    assert parted.count.tolist() == [2, 2, 2, 2]
    assert plan_loss(parted).average == plan_loss(whole).average == 0


def test_options_are_checked_and_named() -> None:
    with pytest.raises(ParameterError, match="attribute is 'longest'; it must be one of: widest, narrowest"):
        make_scheme("lmondrian", SeededRandomness(1), attribute="longest")
    with pytest.raises(ParameterError, match="attribute is 'longest'"):
        Mondrian(attribute="longest")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="second_try is 'no'; it must be true or false"):
        make_scheme("mondrian", SeededRandomness(1), second_try="no")
    with pytest.raises(ParameterError, match="has no option 'effort'; it has: attribute, second_try"):
        make_scheme("tmondrian", SeededRandomness(1), effort=2)
    made = make_scheme("dmondrian", SeededRandomness(1), attribute="narrowest", second_try=False)
    assert isinstance(made, Mondrian)
    assert (made.name, made.attribute, made.second_try) == ("dmondrian", AttributeRule.NARROWEST, False)


def test_a_scheme_keeps_the_promise_that_it_is_named_after() -> None:
    assert choose_promise("seam", None) == choose_promise("lmondrian", None) == "enhanced"
    assert choose_promise("dmondrian", None) == "delta-disclosure"
    assert choose_promise("tmondrian", None) == choose_promise("sabre", None) == "t-closeness"
    assert [choose_promise("mondrian", model) for model in PROMISES["mondrian"]] == list(PROMISES["mondrian"])
    for scheme, model in (("seam", "t-closeness"), ("tmondrian", "enhanced"), ("sabre", "k-anonymity")):
        with pytest.raises(ParameterError, match=f"the scheme '{scheme}' keeps the promise .* not {model}"):
            choose_promise(scheme, model)
    with pytest.raises(ParameterError, match="Did you mean 't-closeness'"):
        choose_promise("mondrian", "t-closnes")
