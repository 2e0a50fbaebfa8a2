"""BUREL's second phase: decide how many tuples each class draws from each bucket. Paper: 4.4, the ECTree."""

from __future__ import annotations

from betalike.runtime.arrays import IntGrid, Ints
from betalike.runtime.compilation import kernel
from betalike.runtime.new_arrays import copy_ints, new_int_grid, new_ints


@kernel
def is_eligible(draws: Ints, numerator: Ints, denominator: Ints, k: int) -> bool:
    """Whether a class keeps the promise even if all its draws from a bucket have the bucket's rarest value.

    `numerator / denominator` is the cap of each bucket's rarest value. Paper: 4.3, Theorem 1.
    """
    size = 0
    for bucket in range(len(draws)):
        size += draws[bucket]
    if size < k:
        return False
    for bucket in range(len(draws)):
        if draws[bucket] * denominator[bucket] > numerator[bucket] * size:
            return False
    return True


@kernel
def class_draws(bucket_sizes: Ints, numerator: Ints, denominator: Ints, k: int) -> IntGrid:
    """Halve the table's draws repeatedly while both halves stay eligible; return one row per class.

    The left half takes the smaller part of an odd number, as in Example 2. Paper: 4.4, biSplit, S_a.
    """
    n_buckets = len(bucket_sizes)
    leaves, n_leaves = new_int_grid(64, n_buckets, 0), 0
    stack = new_int_grid(130, n_buckets, 0)  # a depth of 64 halvings leaves nothing to halve
    copy_ints(stack[0], bucket_sizes)
    height = 1
    node, left, right = new_ints(n_buckets, 0), new_ints(n_buckets, 0), new_ints(n_buckets, 0)
    while height > 0:
        height -= 1
        copy_ints(node, stack[height])
        for bucket in range(n_buckets):
            left[bucket] = node[bucket] // 2
            right[bucket] = node[bucket] - left[bucket]
        if is_eligible(left, numerator, denominator, k) and is_eligible(right, numerator, denominator, k):
            copy_ints(stack[height], right)
            copy_ints(stack[height + 1], left)
            height += 2
            continue
        if n_leaves == len(leaves):
            grown = new_int_grid(2 * n_leaves, n_buckets, 0)
            for leaf in range(n_leaves):
                copy_ints(grown[leaf], leaves[leaf])
            leaves = grown
        copy_ints(leaves[n_leaves], node)
        n_leaves += 1
    return leaves[:n_leaves].copy()
