"""Sorting within kernels. NumPy's sorts take seconds to compile for each kernel and type; this one, much less."""

from __future__ import annotations

from typing import Any

import numpy as np

from betalike.runtime.arrays import Ids, Ints
from betalike.runtime.compilation import inner_kernel, kernel

FEW_BITS = 8
FEW = 1 << FEW_BITS
DIGIT_BITS = 11
DIGITS = 1 << DIGIT_BITS
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


@inner_kernel
def _sort_few(keys: Ints) -> None:
    """Sort keys in place, by insertion over shorter and shorter distances."""
    for gap in (57, 23, 10, 4, 1):
        for i in range(gap, len(keys)):
            key, j = keys[i], i
            while j >= gap and keys[j - gap] > key:
                keys[j] = keys[j - gap]
                j -= gap
            keys[j] = key


@kernel
def order_of_codes(codes: Ints, n_codes: int) -> Ints:
    """Return the same as `stable_order`, faster, for codes from 0 to `n_codes` - 1.

    >>> order_of_codes(np.array([30, 10, 20, 10]), 31)
    array([1, 3, 2, 0])
    """
    n = len(codes)
    if n <= FEW < n_codes:
        keys = np.empty(n, dtype=np.int64)
        for i in range(n):
            keys[i] = codes[i] << FEW_BITS | i
        _sort_few(keys)
        return keys & (FEW - 1)
    order, before = np.arange(n), np.empty(n, dtype=np.int64)
    shift = 0
    while shift == 0 or n_codes >> shift > 0:  # digit by digit, the lowest first
        order, before = before, order
        _order_by_digit(codes, shift, np.zeros(min(n_codes >> shift, DIGITS - 1) + 2, dtype=np.int64), before, order)
        shift += DIGIT_BITS
    return order


@inner_kernel
def _order_by_digit(codes: Ints, shift: int, starts: Ints, before: Ints, order: Ints) -> None:
    """Put places in the order of one digit of their codes; where that is equal, in the order that they had before."""
    for i in range(len(codes)):
        starts[(codes[i] >> shift & (DIGITS - 1)) + 1] += 1
    for digit in range(len(starts) - 1):
        starts[digit + 1] += starts[digit]
    for i in before:
        digit = codes[i] >> shift & (DIGITS - 1)
        order[starts[digit]] = i
        starts[digit] += 1


@inner_kernel
def rank_few(codes: Ints, keys: Ints, ranks: Ids) -> int:
    """Number the distinct codes of at most `FEW` in ascending order, and return how many there are.

    Codes are below 2 ** 55. `keys` is scratch space of the same length, so that no array is made.
    """
    n = len(codes)
    for i in range(n):
        keys[i] = codes[i] << FEW_BITS | i
    _sort_few(keys)
    rank, last = -1, -1
    for i in range(n):
        code = keys[i] >> FEW_BITS
        if code != last:
            rank, last = rank + 1, code
        ranks[keys[i] & (FEW - 1)] = rank
    return rank + 1
