"""Sorting within kernels. NumPy's sorts take seconds to compile for each kernel and type; this one, much less."""

from __future__ import annotations

from typing import Any

import numpy as np

from betalike.runtime.arrays import Ints
from betalike.runtime.compilation import kernel

RUN = 16  # keys that are sorted by insertion before runs are merged


@kernel
def stable_order(keys: Any) -> Ints:
    """Return the places of the keys in ascending order; equal keys stay in their order.

    >>> stable_order(np.array([30, 10, 20, 10]))
    array([1, 3, 2, 0])
    """
    n = len(keys)
    order = np.empty(n, dtype=np.int64)
    for begin in range(0, n, RUN):
        for i in range(begin, min(begin + RUN, n)):
            j = i
            while j > begin and keys[order[j - 1]] > keys[i]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
    merged = np.empty(n if n > RUN else 0, dtype=np.int64)
    width = RUN
    while width < n:
        for begin in range(0, n, 2 * width):
            _merge(keys, order, merged, begin, min(begin + width, n), min(begin + 2 * width, n))
        order, merged = merged, order
        width *= 2
    return order


@kernel
def _merge(keys: Any, order: Ints, merged: Ints, begin: int, middle: int, end: int) -> None:
    """Merge two sorted parts of an order."""
    left, right = begin, middle
    for place in range(begin, end):
        if left < middle and (right >= end or keys[order[left]] <= keys[order[right]]):
            merged[place] = order[left]
            left += 1
        else:
            merged[place] = order[right]
            right += 1
