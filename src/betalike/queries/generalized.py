"""Counts from a generalized release: each class's tuples are spread within its labels. Paper: 6.2.

The error has two parts. Members of a class may lie together, so that a class is inside or outside as a whole; and the
spread itself may be wrong in the same direction for all classes, by so much in the log-odds of lying inside.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from betalike.queries.answer import Estimates
from betalike.queries.boxes import Box
from betalike.queries.index import ClassIndex
from betalike.queries.kernels import CLUMPED, DOUBT, INDEPENDENT, ESTIMATE, POSSIBLE, SURE
from betalike.queries.shares import Shares, Spread

CLUMPING = 1.0
MISFIT = {Spread.DENSITY: 0.5, Spread.UNIFORM: 0.75}  # log-odds, one standard deviation; measured on CENSUS


def estimate(
    index: ClassIndex,
    shares: Sequence[Shares],
    boxes: Sequence[Box],
    masks: Sequence[NDArray[np.bool_]],
    misfit: float,
) -> Estimates:
    """How many tuples lie in each box and have one of its sensitive values."""
    sums = index.sum_boxes(boxes, masks, shares)
    error = np.sqrt(CLUMPING * sums[:, CLUMPED] + (1 - CLUMPING) * sums[:, INDEPENDENT] + sums[:, DOUBT] ** 2)
    return Estimates(sums[:, ESTIMATE], error, sums[:, SURE], sums[:, POSSIBLE]).clipped()
