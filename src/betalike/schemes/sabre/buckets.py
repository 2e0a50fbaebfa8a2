"""SABRE's first phase: sensitive values that are near each other share a bucket."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from betalike.compilation import kernel
from betalike.models.rule import Rule, most_work
from betalike.schemes.sabre.redistribution import worst_work

Ints = NDArray[np.int64]


def bucketizations(rule: Rule, is_line: bool) -> Iterator[Ints]:
    """Where buckets begin among the values, and their end: from one bucket on, each with one more than the one before.

    Each is the split of a bucket that most lowers how far classes that draw in proportion can be from the table. Those
    that lead too far, even so, are left out. On a line a bucket may be split anywhere, on a tree only between the
    children of its lowest node.
    """
    n_rows = int(rule.prior.sum())
    starts = np.array([0, len(rule.prior)])
    while len(starts):
        if worst_work(rule, starts, bucket_sizes(rule.prior, starts), n_rows) <= most_work(rule, n_rows):
            yield starts
        starts = _split_best(rule, starts, is_line)


def bucket_sizes(prior: Ints, starts: Ints) -> Ints:
    """How many tuples of the table are in each bucket."""
    return np.asarray(np.add.reduceat(prior, starts[:-1]))


@kernel
def _split_best(rule: Rule, starts: Ints, is_line: bool) -> Ints:
    """The starts with one more bucket, so that proportional draws lead least far; empty if none can be split."""
    n_rows = rule.prior.sum()
    best = np.empty(0, dtype=np.int64)
    least = np.int64(0)
    for bucket in range(len(starts) - 1):
        for value in range(starts[bucket] + 1, starts[bucket + 1]):
            if not is_line and not _is_between_children(rule, starts[bucket], starts[bucket + 1], value):
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
def _is_between_children(rule: Rule, begin: int, end: int, value: int) -> bool:
    """Whether every edge that a bucket is split on, just before this value, holds the whole bucket."""
    for edge in range(len(rule.length)):
        if rule.first[edge] < value <= rule.last[edge] and not (rule.first[edge] <= begin and rule.last[edge] >= end - 1):
            return False
    return True
