"""Sorting within kernels."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from betalike.runtime.sorting import stable_order


@given(st.lists(st.integers(-5, 5), max_size=200))
def test_the_order_is_that_of_a_stable_sort(keys: list[int]) -> None:
    array = np.array(keys, dtype=np.int64)
    assert stable_order(array).tolist() == np.argsort(array, kind="stable").tolist()


@given(st.lists(st.floats(allow_nan=False), max_size=100))
def test_so_it_is_for_floats(keys: list[float]) -> None:
    array = np.array(keys, dtype=np.float64)
    assert stable_order(array).tolist() == np.argsort(array, kind="stable").tolist()
