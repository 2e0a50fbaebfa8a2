"""BUREL's second phase: decide how many tuples each class draws from each bucket. Paper: 4.4, the ECTree."""

from __future__ import annotations

import numpy as np

from betalike.runtime.arrays import Ints
from betalike.runtime.compilation import kernel


@kernel
def is_eligible(draws: Ints, numerator: Ints, denominator: Ints, k: int) -> bool:
    """Whether a class keeps the promise even if all its draws from a bucket have the bucket's rarest value.

    `numerator / denominator` is the cap of each bucket's rarest value. Paper: 4.3, Theorem 1.
    """
    size = draws.sum()
    if size < k:
        return False
    for bucket in range(len(draws)):
        if draws[bucket] * denominator[bucket] > numerator[bucket] * size:
            return False
    return True


@kernel
def class_draws(bucket_sizes: Ints, numerator: Ints, denominator: Ints, k: int) -> Ints:
    """Halve the table's draws repeatedly while both halves stay eligible; return one row per class.

    The left half takes the smaller part of an odd number, as in Example 2. Paper: 4.4, biSplit, S_a.
    """
    n_buckets = len(bucket_sizes)
    leaves = np.empty((64, n_buckets), dtype=np.int64)
    n_leaves = 0
    stack = np.empty((130, n_buckets), dtype=np.int64)  # a depth of 64 halvings leaves nothing to halve
    stack[0] = bucket_sizes
    height = 1
    while height > 0:
        height -= 1
        node = stack[height].copy()
        left = node // 2
        right = node - left
        if is_eligible(left, numerator, denominator, k) and is_eligible(right, numerator, denominator, k):
            stack[height] = right
            stack[height + 1] = left
            height += 2
            continue
        if n_leaves == len(leaves):
            grown = np.empty((2 * n_leaves, n_buckets), dtype=np.int64)
            grown[:n_leaves] = leaves
            leaves = grown
        leaves[n_leaves] = node
        n_leaves += 1
    return leaves[:n_leaves].copy()
