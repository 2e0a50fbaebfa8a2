"""Sorting within kernels."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from betalike.runtime.sorting import FEW, order_of_codes, rank_few, stable_order


@given(st.lists(st.integers(-5, 5), max_size=200))
def test_the_order_is_that_of_a_stable_sort(keys: list[int]) -> None:
    array = np.array(keys, dtype=np.int64)
    assert stable_order(array).tolist() == np.argsort(array, kind="stable").tolist()


@given(st.lists(st.floats(allow_nan=False), max_size=100))
def test_so_it_is_for_floats(keys: list[float]) -> None:
    array = np.array(keys, dtype=np.float64)
    assert stable_order(array).tolist() == np.argsort(array, kind="stable").tolist()


@given(st.lists(st.integers(0, 2**31) | st.integers(0, 20), min_size=1, max_size=FEW))
def test_few_codes_are_ranked(codes: list[int]) -> None:
    array, ranks = np.array(codes, dtype=np.int64), np.empty(len(codes), dtype=np.int32)
    n_distinct = rank_few(array, np.empty_like(array), ranks)
    distinct, expected = np.unique(array, return_inverse=True)
    assert n_distinct == len(distinct)
    assert ranks.tolist() == expected.tolist()


@given(
    st.integers(1, 2**31).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n - 1), max_size=40))),
    st.sampled_from([1, 7, 100]),
)
def test_codes_are_ordered_as_by_a_stable_sort(case: tuple[int, list[int]], repeated: int) -> None:
    n_codes, codes = case
    array = np.array(codes * repeated, dtype=np.int64)
    assert order_of_codes(array, n_codes).tolist() == np.argsort(array, kind="stable").tolist()
