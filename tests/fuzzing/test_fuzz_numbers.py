"""The first inputs of a campaign, for every parser; `python -m tests.fuzzing` runs as many as are wanted."""

from __future__ import annotations

import pytest

from .conftest import Check
from .mutations import make_input
from .targets import TARGETS

N_INPUTS = 75


@pytest.mark.parametrize("first", [0, pytest.param(N_INPUTS, marks=pytest.mark.long)])
@pytest.mark.parametrize("target", list(TARGETS))
def test_no_input_leads_to_a_bug_a_leak_or_leftovers(check: Check, target: str, first: int) -> None:
    for number in range(first, first + N_INPUTS):
        check(target, make_input(target, number))


@pytest.mark.parametrize("target", list(TARGETS))
def test_inputs_follow_from_their_numbers_and_differ(target: str) -> None:
    inputs = [make_input(target, number) for number in range(40)]
    assert inputs == [make_input(target, number) for number in range(40)]
    assert len(set(inputs)) > 30
