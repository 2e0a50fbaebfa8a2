"""Delta-disclosure privacy, and the delta that stands for a beta."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from betalike.errors import ParameterError, SchemaError
from betalike.promises import Disclosure, DisclosureForLikeness, Likeness
from betalike.promises.disclosure import delta_for
from betalike.table.axis import HierarchyAxis
from betalike.table.hierarchy import Hierarchy
from promise_cases import Case, cases, class_counts
from random_tables import BETAS

AXIS = HierarchyAxis("s", Hierarchy.flat("abc"))


def test_section_2_a_value_that_a_class_lacks_breaks_every_delta() -> None:
    counts = np.array([50, 49, 1])
    lacking = class_counts([[10, 9, 0]])
    for delta in (0.1, 10, 99, 100, 1e6, 1e300):
        assert not Disclosure(delta).judge(lacking, counts, AXIS).holds
        assert Disclosure(delta).judge(lacking, counts, AXIS).worst_ratio == math.inf


def test_section_2_a_modest_delta_does_not_cap_a_frequent_value() -> None:
    """p = .9 and delta .2 cap q at 1.099: only the lower bounds of the others keep it below 1."""
    rule = Disclosure(0.2).rule(np.array([90, 5, 5]), AXIS)
    assert rule.cap_numerator[0] == rule.cap_denominator[0]


def test_the_bounds_are_p_times_and_over_e_to_the_delta() -> None:
    """With p = 1/10 and delta = ln 2 a class of a hundred holds 6 to 19 of the value; 5 and 20 are too far."""
    counts = np.array([100, 900])
    for n in range(1, 40):
        holds = Disclosure(math.log(2)).judge(class_counts([[n, 100 - n]]), counts, AXIS).holds
        assert holds is (5 < n < 20)


def test_every_share_is_allowed_by_a_very_large_delta_in_the_largest_table() -> None:
    n_rows = 2 * 10**9
    counts = np.array([1, n_rows - 1])
    assert Disclosure(1000).judge(class_counts([[1, 1], [0, n_rows - 2]]), counts, AXIS).holds is False
    assert Disclosure(1000).judge(class_counts([[1, 1]]), counts, AXIS).holds


@given(beta=BETAS, counts=st.lists(st.integers(0, 50), min_size=2, max_size=5).filter(lambda c: sum(map(bool, c)) > 1))
def test_the_delta_for_a_beta_is_that_of_6_2_and_never_above_it(beta: float, counts: list[int]) -> None:
    delta = delta_for(beta, np.array(counts))
    surprise = -math.log(max(counts) / sum(counts))
    assert delta == pytest.approx(math.log(1 + min(beta, surprise)), rel=1e-9)
    assert math.exp(delta) <= 1 + min(beta, surprise)
    assert DisclosureForLikeness(beta, 3).settle(np.array([*counts, 3]), AXIS).k == 3


@given(case=cases(), beta=BETAS)
def test_the_delta_for_a_beta_promises_enhanced_likeness(case: Case, beta: float) -> None:
    """6.2: whatever keeps this delta keeps beta-likeness; here decided by the twin of the definition."""
    if sum(n > 0 for n in case.counts) < 2:
        return
    model = DisclosureForLikeness(beta).settle(case.table, case.axis)
    for row, ec in zip(case.matrix, case.twins, strict=True):
        if model.judge(class_counts([row]), case.table, case.axis).holds:
            assert twins.broken_classes([ec], case.prior.counts, beta, "enhanced") == []
            assert Likeness(beta).judge(class_counts([row]), case.table).holds


@pytest.mark.parametrize("number", [0, -1, math.nan, math.inf, True, "4", None])
def test_delta_and_beta_are_numbers_greater_than_zero(number: object) -> None:
    with pytest.raises(ParameterError, match="delta is"):
        Disclosure(number)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="beta is"):
        DisclosureForLikeness(number)  # type: ignore[arg-type]


def test_no_delta_is_chosen_for_a_table_that_has_nothing_to_protect_or_too_few_rows() -> None:
    with pytest.raises(SchemaError, match="1 distinct value"):
        DisclosureForLikeness(2).settle(np.array([0, 7]), AXIS)
    with pytest.raises(ParameterError, match="k is 9"):
        DisclosureForLikeness(2, 9).settle(np.array([4, 4]), AXIS)
    with pytest.raises(ParameterError, match="k is"):
        DisclosureForLikeness(2, 0)
