"""SABRE's first phase: put sensitive values that are near each other into one bucket."""

from __future__ import annotations

import numpy as np

from betalike.promises.rule import Rule, most_work
from betalike.runtime.arrays import Ints
from betalike.runtime.compilation import kernel
from betalike.runtime.new_arrays import copy_ints
from betalike.schemes.sabre.draws import worst_work

INNER_SHARE = 0.5  # part of t for the choice of values within buckets; the rest is for uneven draws


def near_buckets(rule: Rule, is_line: bool) -> Ints:
    """Return where each bucket begins among the values, and their end: few buckets whose proportional draws keep t.

    It starts with a single bucket. Each step makes the split that most lowers the distance from the table that a class
    can have if it draws from each bucket in proportion, always its least favourable value. On a line a bucket is split
    anywhere, on a tree only between the children of its lowest node.
    """
    n_rows = int(rule.prior.sum())
    most = INNER_SHARE * most_work(rule, n_rows)
    starts = split = np.array([0, len(rule.prior)])
    while len(split):
        starts = split
        if worst_work(rule, starts, bucket_sizes(rule.prior, starts), n_rows) <= most:
            break
        split = _split_best(rule, starts, is_line)
    return starts


def bucket_sizes(prior: Ints, starts: Ints) -> Ints:
    """Count the table's tuples in each bucket."""
    return np.asarray(np.add.reduceat(prior, starts[:-1]))


@kernel
def _split_best(rule: Rule, starts: Ints, is_line: bool) -> Ints:
    """Return the starts with one more bucket, such that proportional draws deviate least; empty if none can split."""
    n_rows = rule.prior.sum()
    best = np.empty(0, dtype=np.int64)
    least = 0
    for bucket in range(len(starts) - 1):
        for value in range(starts[bucket] + 1, starts[bucket + 1]):
            if not is_line and not is_between_children(rule, starts[bucket], starts[bucket + 1], value):
                continue
            tried = np.empty(len(starts) + 1, dtype=np.int64)
            copy_ints(tried, starts[: bucket + 1])
            tried[bucket + 1] = value
            copy_ints(tried[bucket + 2 :], starts[bucket + 1 :])
            sizes = np.empty(len(tried) - 1, dtype=np.int64)
            for i in range(len(sizes)):
                sizes[i] = rule.prior[tried[i] : tried[i + 1]].sum()
            work = worst_work(rule, tried, sizes, n_rows)
            if len(best) == 0 or work < least:
                best, least = tried, work
    return best


@kernel
def is_between_children(rule: Rule, begin: int, end: int, value: int) -> bool:
    """Whether a bucket may be split just before a value of a tree: edges above the split cover the whole bucket."""
    for edge in range(len(rule.length)):
        is_above = rule.first[edge] < value <= rule.last[edge]
        if is_above and (rule.first[edge] > begin or rule.last[edge] < end - 1):
            return False
    return True
