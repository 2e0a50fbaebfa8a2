"""Limits on sets of values: they allow what the promise's rule allows, and measure what is missing."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.promises import Likeness
from betalike.promises.rule import Rule, is_allowed
from betalike.schemes.limits import count_sets, judge_sum, make_limits
from betalike.table.axis import HierarchyAxis
from betalike.table.hierarchy import Hierarchy
from seam_tables import random_cells

TREE = Hierarchy.from_rows([[leaf, "low" if leaf < "v" else "high", "*"] for leaf in "stuvwxyz"])
SENSITIVE = HierarchyAxis("illness", TREE, is_declared=True)
SEEDS = st.integers(0, 10**6)
FORMS: list[dict[str, Any]] = [
    {},
    {"k": 7},
    {"negative_beta": "symmetric"},
    {"negative_beta": 0.5},
    {"groups": ("low",)},
    {"groups": ("low", "high"), "with_values": True, "negative_beta": 0.6},
]


def rule_of(seed: int, beta: float, form: dict[str, Any]) -> Rule:
    return Likeness(beta, **form).rule(random_cells(seed).value_counts, SENSITIVE)


def totals(rule: Rule, counts: np.ndarray) -> list[int]:
    """How often the values of each set occur, set by set."""
    if not len(rule.demands):
        return [int(count) for count in counts]
    return [int(counts[rule.order[first : last + 1]].sum()) for first, last in rule.demands[:, :2]]


@given(seed=SEEDS, beta=st.sampled_from([0.3, 1, 4]), form=st.sampled_from(FORMS))
def test_limits_allow_exactly_what_the_rule_allows(seed: int, beta: float, form: dict[str, Any]) -> None:
    rule, rng = rule_of(seed, beta, form), np.random.default_rng(seed)
    limits = make_limits(rule, 10_000)
    prior = random_cells(seed).value_counts
    for _ in range(30):
        shares = rng.permutation(prior) if rng.random() < 0.3 else prior * rng.integers(0, 4, len(prior))
        counts = (shares * rng.choice([0.1, 0.5, 1.0])).astype(np.int64)
        counts[prior == 0] = 0
        halves = rng.integers(0, counts + 1)
        one, other = (np.array(totals(rule, part), dtype=np.float64) for part in (halves, counts - halves))
        size = int(counts.sum())
        if size:
            assert judge_sum(limits, one, other, 1.0, size)[2] == is_allowed(rule, counts, size)
            assert judge_sum(limits, one + other + other, other, -1.0, size)[2] == is_allowed(rule, counts, size)


def test_a_class_at_its_cap_is_allowed_and_one_row_more_is_not() -> None:
    """Shares that are no binary fractions, at the very edge."""
    for numerator, denominator in ((1, 3), (7, 10), (333_333, 1_000_000), (10**6 - 1, 10**6 + 1)):
        rule = Rule(cap_numerator=np.array([numerator]), cap_denominator=np.array([denominator]))
        limits = make_limits(rule, 10**7)
        for times in (1, 3, 7):
            most, size = numerator * times, denominator * times
            none = np.zeros(1)
            assert judge_sum(limits, np.array([float(most)]), none, 1.0, size)[2]
            assert not judge_sum(limits, np.array([most + 1.0]), none, 1.0, size)[2]


def test_where_floats_cannot_see_a_row_the_caps_are_on_the_safe_side() -> None:
    numerator, denominator = 2**40 + 1, 2**41 + 3
    rule = Rule(cap_numerator=np.array([numerator]), cap_denominator=np.array([denominator]))
    limits = make_limits(rule, 2**41)
    for size in (2**40, 2**40 + 7, 2**41 - 1):
        most = numerator * size // denominator
        assert not judge_sum(limits, np.array([most + 1.0]), np.zeros(1), 1.0, size)[2]
        assert judge_sum(limits, np.array([most - 1.0]), np.zeros(1), 1.0, size)[2]


@given(seed=SEEDS, form=st.sampled_from(FORMS))
def test_what_is_too_much_and_what_is_lacking(seed: int, form: dict[str, Any]) -> None:
    rule, rng = rule_of(seed, 1, form), np.random.default_rng(seed)
    counts = rng.integers(0, 9, 8) * (random_cells(seed).value_counts > 0)
    size = int(counts.sum()) or 1
    rows = rule.demands.tolist() if len(rule.demands) else None
    caps = rows or [[0, 0, n, d, 0, 1] for n, d in zip(rule.cap_numerator, rule.cap_denominator, strict=True)]
    excess, needed = Fraction(0), Fraction(rule.k)
    for count, (_, _, above, of, below, of_floor) in zip(totals(rule, counts), caps, strict=True):
        cap, floor = Fraction(int(above), int(of)), Fraction(int(below), int(of_floor))
        excess += max(count - cap * size, Fraction(0)) + max(floor * size - count, Fraction(0))
        needed = max(needed, count / cap if cap else Fraction(0))
        if floor < 1:
            needed = max(needed, size + (floor * size - count) / (1 - floor))
    found = judge_sum(
        make_limits(rule, 1000), np.array(totals(rule, counts), dtype=float), np.zeros(len(caps)), 1.0, size
    )
    assert found[0] == pytest.approx(float(excess), abs=1e-9)
    assert found[1] == pytest.approx(float(max(needed - size, Fraction(0))), abs=1e-9)


@given(seed=SEEDS, form=st.sampled_from(FORMS))
def test_sets_are_counted_at_each_point(seed: int, form: dict[str, Any]) -> None:
    cells, rule = random_cells(seed), rule_of(seed, 2, form)
    starts, number, count = count_sets(rule, cells)
    for point in range(len(cells.points)):
        at = cells.point == point
        counts = np.bincount(cells.value[at], cells.count[at], 8).astype(np.int64)
        expected = {s: total for s, total in enumerate(totals(rule, counts)) if total}
        inside = slice(starts[point], starts[point + 1])
        found = Counter(dict(zip(number[inside].tolist(), count[inside].tolist(), strict=True)))
        assert found == expected
