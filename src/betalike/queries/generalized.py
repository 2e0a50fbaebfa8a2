"""Counts from a generalized release: each class's tuples are spread within its labels. Paper: 6.2.

The error has three parts. Members of a class lie together more often than chance would have it. The spread itself may
be wrong in the same direction for all classes, by as much as `shares.label_weights` allows. And within a class,
sensitive values may go with quasi-identifiers: a small beta makes classes resemble the table, and so hides it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from betalike.queries.answer import RELATION, Estimates
from betalike.queries.boxes import Box
from betalike.queries.index import ClassIndex
from betalike.queries.kernels import CLUMPED, DOUBT, ESTIMATE, INDEPENDENT, POSSIBLE, RELATED, SURE
from betalike.queries.shares import Shares
from betalike.runtime.arrays import Bools

CLUMPING = 0.25  # correlation of two members of a class in lying inside; chosen on real tables, checked on others


def estimate(index: ClassIndex, shares: Sequence[Shares], boxes: Sequence[Box], masks: Sequence[Bools]) -> Estimates:
    """How many tuples lie in each box and have one of its sensitive values."""
    sums = index.sum_boxes(boxes, masks, shares)
    by_chance = (1.0 - CLUMPING) * sums[:, INDEPENDENT] + CLUMPING * sums[:, CLUMPED]
    error = np.sqrt(by_chance + sums[:, DOUBT] ** 2 + (RELATION * sums[:, RELATED]) ** 2)
    return Estimates(sums[:, ESTIMATE], error, sums[:, SURE], sums[:, POSSIBLE]).clipped()
