"""BUREL's further split, which the paper's figures used but its text omits."""

from __future__ import annotations

import numpy as np

from betalike.runtime.arrays import Ids, IntGrid, Ints
from betalike.runtime.compilation import kernel
from betalike.schemes.burel.ectree import is_eligible


@kernel
def split_further(
    cells: Ids,
    class_start: Ints,
    draws: IntGrid,
    cell_value: Ids,
    numerator: Ints,
    denominator: Ints,
    k: int,
) -> tuple[Ids, Ints]:
    """Halve each class again, each bucket along the curve, while the *actual* counts of both halves are allowed.

    This reads sensitive values, so Section 7's argument against minimality attacks does not cover it. The result has
    the form of `gather_classes`.
    """
    n_classes, n_buckets = draws.shape
    n_values = len(numerator)
    out = np.empty_like(cells)
    starts = np.empty(len(cells) + 1, dtype=np.int64)
    n_starts = 0
    place = 0
    begins = np.empty((130, n_buckets), dtype=np.int64)
    ends = np.empty((130, n_buckets), dtype=np.int64)
    counts = np.empty((130, n_values), dtype=np.int64)
    left = np.empty(n_values, dtype=np.int64)
    for ec in range(n_classes):
        where = class_start[ec]
        counts[0] = 0
        for i in range(class_start[ec], class_start[ec + 1]):
            counts[0, cell_value[cells[i]]] += 1
        for bucket in range(n_buckets):
            begins[0, bucket] = where
            where += draws[ec, bucket]
            ends[0, bucket] = where
        height = 1
        while height > 0:
            top = height - 1
            left[:] = 0
            for bucket in range(n_buckets):
                half = (ends[top, bucket] - begins[top, bucket]) // 2
                for i in range(begins[top, bucket], begins[top, bucket] + half):
                    left[cell_value[cells[i]]] += 1
            if is_eligible(left, numerator, denominator, k) and is_eligible(
                counts[top] - left, numerator, denominator, k
            ):
                for bucket in range(n_buckets):
                    middle = begins[top, bucket] + (ends[top, bucket] - begins[top, bucket]) // 2
                    begins[height, bucket] = begins[top, bucket]
                    ends[height, bucket] = middle
                    begins[top, bucket] = middle
                counts[top] -= left
                counts[height] = left
                height += 1
                continue
            starts[n_starts] = place
            n_starts += 1
            for bucket in range(n_buckets):
                for i in range(begins[top, bucket], ends[top, bucket]):
                    out[place] = cells[i]
                    place += 1
            height -= 1
    starts[n_starts] = place
    return out, starts[: n_starts + 1].copy()
