"""The most exposed values and classes, against a count by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from betalike.measures.exposure import highest_shares, most_exposed
from betalike.table.cells import ClassCounts

TABLES = st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any), min_size=1, max_size=12)


def counted(table: list[list[int]]) -> ClassCounts:
    ec, value = np.nonzero(np.array(table))
    return ClassCounts.of(ec, value, np.array(table)[ec, value].astype(np.int64), 3)


@given(TABLES)
def test_the_highest_share_of_each_value_is_that_of_some_class(table: list[list[int]]) -> None:
    shares = [[Fraction(count, sum(row)) for count in row] for row in table]
    expected = [float(max(row[value] for row in shares)) for value in range(3)]
    assert highest_shares(counted(table)).tolist() == expected


@given(TABLES, st.booleans())
def test_the_worst_classes_are_in_order_and_each_occurs_once(table: list[list[int]], has_caps: bool) -> None:
    prior_counts = np.maximum(np.array(table).sum(axis=0), 1)
    prior, caps = prior_counts / prior_counts.sum(), np.array([0.5, 0.75, 1.0])
    limits = caps if has_caps else prior
    worst = sorted(
        (max(c / sum(row) / limit for c, limit in zip(row, limits, strict=True)) for row in table), reverse=True
    )
    n_rows = int(prior_counts.sum())
    found = list(islice(most_exposed(counted(table), prior_counts, n_rows, caps if has_caps else None), 5))
    assert np.allclose([it.posterior / (it.cap if has_caps else it.prior) for it in found], worst[:5])
    assert all(it.count == round(it.posterior * it.size) for it in found)
