"""Entropy l, recursive c and alpha against their definitions, class by class."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.measures.diversity import alpha, entropy_l, recursive_c
from betalike.table.cells import ClassCounts

CLASSES = st.lists(st.dictionaries(st.integers(0, 5), st.integers(1, 30), min_size=1), min_size=1, max_size=8)


def counted(classes: list[dict[int, int]]) -> ClassCounts:
    rows = [(ec, value, count) for ec, counts in enumerate(classes) for value, count in counts.items()]
    ec, value, count = (np.array(column) for column in zip(*rows, strict=True))
    return ClassCounts.of(ec, value, count, 6)


@given(CLASSES)
def test_entropy_and_alpha_are_those_of_the_worst_class(classes: list[dict[int, int]]) -> None:
    shares = [[count / sum(counts.values()) for count in counts.values()] for counts in classes]
    least = min(-sum(share * math.log(share) for share in row) for row in shares)
    assert entropy_l(counted(classes)) == pytest.approx(math.exp(least))
    assert alpha(counted(classes)) == max(max(row) for row in shares)


@given(CLASSES, st.integers(1, 6))
def test_recursive_diversity_holds_for_every_greater_c_and_for_no_other(classes: list[dict[int, int]], l: int) -> None:  # noqa: E741
    found = recursive_c(counted(classes), l)
    if min(len(counts) for counts in classes) < l:
        assert found is None
        return
    worst = Fraction(0)
    for counts in classes:
        descending = sorted(counts.values(), reverse=True)
        worst = max(worst, Fraction(descending[0], sum(descending[l - 1 :])))
    assert found == pytest.approx(float(worst))
