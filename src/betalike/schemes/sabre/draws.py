"""SABRE's second phase by counts: decide how many tuples each class draws from each bucket.

Buckets are intervals of values, and so are the edges that tuples move along. Buckets are chosen so that each edge lies
inside one of them, or ends inside at most one. The distance of a class from the table is a sum over edges. So the worst
that the draws from one bucket can do does not depend on the others, and the overall worst is found value by value.
"""

from __future__ import annotations

import numpy as np

from betalike.promises.rule import Rule, most_work
from betalike.runtime.arrays import Ints
from betalike.runtime.compilation import kernel
from betalike.runtime.new_arrays import copy_ints, new_int_grid, new_ints
from betalike.schemes.sabre.parting import halves


@kernel
def worst_work(rule: Rule, bucket_start: Ints, draws: Ints, size: int) -> int:
    """Return the greatest earth mover's distance of a class with these draws, whatever values the draws have.

    It is in the units of `work_of`. `bucket_start` is where each bucket begins among the values, and their end.
    """
    n_rows, n_values = rule.prior.sum(), len(rule.prior)
    due = np.zeros(n_values + 1, dtype=np.int64)  # the table's share of all values before each
    drawn = np.zeros(n_values + 1, dtype=np.int64)  # their draws; a bucket's draw counts at its last value
    bucket_of_value = np.empty(n_values, dtype=np.int64)
    for bucket in range(len(draws)):
        for v in range(bucket_start[bucket], bucket_start[bucket + 1]):
            due[v + 1] = due[v] + rule.prior[v] * size
            drawn[v + 1] = drawn[bucket_start[bucket]]
            bucket_of_value[v] = bucket
        drawn[bucket_start[bucket + 1]] += draws[bucket] * n_rows
    work = 0
    rises = np.zeros(n_values + 1, dtype=np.int64)  # extra work if a bucket's draw has this value, not an earlier one
    for edge in range(len(rule.length)):
        first, last, length = rule.first[edge], rule.last[edge], rule.length[edge]
        share = due[last + 1] - due[first]
        bucket = bucket_of_value[last]
        begin, end = bucket_start[bucket], bucket_start[bucket + 1]
        if first <= begin and last + 1 == end:
            work += length * abs(drawn[end] - drawn[first] - share)
            continue
        others = drawn[begin] - drawn[min(first, begin)]
        without = length * abs(others - share)
        rise = length * abs(others + draws[bucket] * n_rows - share) - without
        work += without
        rises[max(first, begin)] += rise
        if last + 1 < end:
            rises[last + 1] -= rise
    for bucket in range(len(draws)):
        if draws[bucket] > 0:
            work += _greatest(rises, rule.prior, bucket_start[bucket], bucket_start[bucket + 1])
    return work


@kernel
def _greatest(rises: Ints, prior: Ints, begin: int, end: int) -> int:
    """Return the greatest sum of rises up to a value that occurs."""
    greatest, total, is_found = 0, 0, False
    for v in range(begin, end):
        total += rises[v]
        if prior[v] > 0 and (not is_found or total > greatest):
            greatest, is_found = total, True
    return greatest


@kernel
def class_draws(rule: Rule, bucket_start: Ints, bucket_sizes: Ints) -> Ints:
    """Halve the table's draws repeatedly while both halves are sure to keep t; return one row per class.

    Odd tuples go to the left and the right half in turn, so that sums over neighbouring buckets stay balanced.
    """
    n_buckets = len(bucket_sizes)
    leaves, n_leaves = new_int_grid(64, n_buckets, 0), 0
    stack = new_int_grid(130, n_buckets, 0)  # a depth of 64 halvings leaves nothing to halve
    copy_ints(stack[0], bucket_sizes)
    height = 1
    node, right = new_ints(n_buckets, 0), new_ints(n_buckets, 0)
    while height > 0:
        height -= 1
        copy_ints(node, stack[height])
        left = halves(node)
        for bucket in range(n_buckets):
            right[bucket] = node[bucket] - left[bucket]
        if _is_eligible(rule, bucket_start, left) and _is_eligible(rule, bucket_start, right):
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


@kernel
def _is_eligible(rule: Rule, bucket_start: Ints, draws: Ints) -> bool:
    """Whether a class keeps t even if all its draws from a bucket have the bucket's least favourable value."""
    size = draws.sum()
    return size >= rule.k and size > 0 and worst_work(rule, bucket_start, draws, size) <= most_work(rule, size)
