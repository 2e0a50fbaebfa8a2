"""SABRE's first phase: sensitive values that are near each other share a bucket."""

from __future__ import annotations

import numpy as np

from betalike.promises.rule import Rule, most_work
from betalike.runtime.arrays import Ints
from betalike.runtime.compilation import kernel
from betalike.schemes.sabre.draws import worst_work

INNER_SHARE = 0.5  # of t, that the choice of values within buckets may use; the rest is for uneven draws


def near_buckets(rule: Rule, is_line: bool) -> Ints:
    """Where each bucket begins among the values, and their end: few buckets, so that draws in proportion keep t.

    From a single bucket on, the split that most lowers how far classes can be from the table if they draw from each
    bucket in proportion, each time its least favourable value. On a line a bucket is split anywhere, on a tree only
    between the children of its lowest node.
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
    """How many tuples of the table are in each bucket."""
    return np.asarray(np.add.reduceat(prior, starts[:-1]))


@kernel
def _split_best(rule: Rule, starts: Ints, is_line: bool) -> Ints:
    """The starts with one more bucket, so that proportional draws lead least far; empty if none can be split."""
    n_rows = rule.prior.sum()
    best = np.empty(0, dtype=np.int64)
    least = 0
    for bucket in range(len(starts) - 1):
        for value in range(starts[bucket] + 1, starts[bucket + 1]):
            if not is_line and not is_between_children(rule, starts[bucket], starts[bucket + 1], value):
                continue
            tried = np.empty(len(starts) + 1, dtype=np.int64)
            tried[: bucket + 1] = starts[: bucket + 1]
            tried[bucket + 1] = value
            tried[bucket + 2 :] = starts[bucket + 1 :]
            sizes = np.empty(len(tried) - 1, dtype=np.int64)
            for i in range(len(sizes)):
                sizes[i] = rule.prior[tried[i] : tried[i + 1]].sum()
            work = worst_work(rule, tried, sizes, n_rows)
            if len(best) == 0 or work < least:
                best, least = tried, work
    return best


@kernel
def is_between_children(rule: Rule, begin: int, end: int, value: int) -> bool:
    """Whether a bucket may be split just before a value of a tree: each edge above the split holds all of it."""
    for edge in range(len(rule.length)):
        is_above = rule.first[edge] < value <= rule.last[edge]
        if is_above and (rule.first[edge] > begin or rule.last[edge] < end - 1):
            return False
    return True
