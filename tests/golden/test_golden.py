"""Releases with seeds stay as they are, unless a change renews them with its reason."""

from __future__ import annotations

import pytest

from .cases import CASES
from .comparing import can_compare, compare

pytestmark = pytest.mark.skipif(
    not can_compare(), reason="this is another environment, and this checkout lacks the commit of the golden file"
)


def test_releases_on_one_machine_are_those_of_the_golden_file():
    comparison = compare([case for case in CASES if not case.is_on_spark])
    assert not comparison.differing, str(comparison)


@pytest.mark.long
def test_releases_on_spark_are_those_of_the_golden_file():
    comparison = compare([case for case in CASES if case.is_on_spark])
    assert not comparison.differing, str(comparison)
