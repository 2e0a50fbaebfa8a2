"""Merging classes that break a promise in people: the cheapest partner first, until all keep it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.measures.loss import class_losses
from betalike.promises import Likeness
from betalike.promises.people import Holdings, judge_in_people
from betalike.promises.sets import Sets
from betalike.schemes.people import merge_for_people
from betalike.table.axis import OrderedAxis
from betalike.table.cells import Cells, Plan
from betalike.table.schema import Kind

N_VALUES = 3


def plan_of(position: np.ndarray, value: np.ndarray, ec: np.ndarray) -> Plan:
    """One cell for each row, on a line."""
    axis = OrderedAxis("place", Kind.INTEGER, np.arange(100), (0, 99))
    sensitive = OrderedAxis("value", Kind.INTEGER, np.arange(N_VALUES), (0, N_VALUES - 1))
    number, one = np.arange(len(value), dtype=np.int32), np.ones(len(value), dtype=np.int64)
    points = position.astype(np.int32)[:, None]
    cells = Cells((axis,), sensitive, (1.0,), points, number, value.astype(np.int32), one)
    return Plan(cells, number, one, ec.astype(np.int32), int(ec.max()) + 1)


def cheapest(plan: Plan, ec: int) -> int:
    """The slow obvious twin: the partner with the least further loss, by trying all."""
    (low, high), sizes = plan.boxes, plan.class_counts.sizes

    def loss(of: list[int]) -> float:
        return class_losses(plan.cells.axes, low[of].min(axis=0)[None], high[of].max(axis=0)[None])[0, 0]

    costs = {
        other: (sizes[ec] + sizes[other]) * loss([ec, other]) - sizes[ec] * loss([ec]) - sizes[other] * loss([other])
        for other in range(plan.n_classes)
        if other != ec
    }
    return min(costs, key=costs.__getitem__)


@given(st.integers(0, 10**6), st.sampled_from([0.2, 1, 3]), st.integers(1, 3))
def test_every_class_keeps_the_promise_in_the_end(seed: int, beta: float, k: int) -> None:
    random = np.random.default_rng(seed)
    n_rows = int(random.integers(4, 40))
    person, value = random.integers(0, 9, n_rows), random.integers(0, N_VALUES, n_rows)
    _, ec = np.unique(random.integers(0, 8, n_rows), return_inverse=True)
    plan = plan_of(random.integers(0, 100, n_rows), value, ec)
    sets = Sets.singletons(N_VALUES)
    held, promise = Holdings.of(ec, person, value, sets, N_VALUES), Likeness(beta, k=min(k, len(set(person))))
    number = merge_for_people(plan, held, promise.rule_in_people(held.totals, held.n_people))
    assert len(number) == plan.n_classes
    assert set(number.tolist()) == set(range(int(number.max()) + 1))
    merged = plan.join(number)
    assert judge_in_people(promise, Holdings.of(merged.ec, person, value, sets, N_VALUES)).holds
    if judge_in_people(promise, held).holds:
        assert merged.n_classes == plan.n_classes


@pytest.mark.parametrize("seed", range(20))
def test_the_partner_is_the_cheapest_one(seed: int) -> None:
    """One class has a single person, all others many, so exactly one merging is needed."""
    random = np.random.default_rng(seed)
    ec = np.repeat(np.arange(6), 5)
    person = np.arange(30)
    person[:5] = 0
    value = np.tile(np.arange(N_VALUES), 10)
    plan = plan_of(np.sort(random.integers(0, 100, 30)) if seed % 2 else random.integers(0, 100, 30), value, ec)
    held = Holdings.of(ec, person, value, Sets.singletons(N_VALUES), N_VALUES)
    rule = Likeness(100, "basic", k=2).rule_in_people(held.totals, held.n_people)
    number = merge_for_people(plan, held, rule)
    together = [other for other in range(1, 6) if number[other] == number[0]]
    assert together == [cheapest(plan, 0)]
