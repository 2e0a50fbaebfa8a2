"""BUREL's first phase: put sensitive values of similar frequency into one bucket. Paper: 4.3."""

from __future__ import annotations

import numpy as np

from betalike.promises.caps import Caps
from betalike.runtime.arrays import Bools, Ints
from betalike.runtime.compilation import kernel


def fewest_buckets(counts: Ints, caps: Caps) -> list[Ints]:
    """Partition the sensitive values into as few buckets as Lemma 2 allows; each bucket starts with its rarest value.

    Values that do not occur are in no bucket. Paper: 4.3, Function DPpartition, Eq. 6.
    """
    present = np.flatnonzero(counts)
    values = present[np.argsort(counts[present], kind="stable")]
    starts = _bucket_starts(
        counts[values], caps.numerator[values], caps.denominator[values], caps.is_attained[values], counts.sum()
    )
    return [values[start:end] for start, end in zip(starts, [*starts[1:], len(values)], strict=True)]


@kernel
def can_share_bucket(total: int, n_rows: int, numerator: int, denominator: int, is_attained: bool) -> bool:
    """Whether values with `total` tuples together fit under the cap of the rarest of them. Paper: 4.3, Combinable.

    The comparison is strict, as in the paper. A fraction that stands for an irrational cap is itself below the cap.
    """
    if is_attained:
        return total * denominator < numerator * n_rows
    return total * denominator <= numerator * n_rows


@kernel
def _bucket_starts(counts: Ints, numerator: Ints, denominator: Ints, is_attained: Bools, n_rows: int) -> Ints:
    """Return where each bucket starts among values in ascending order of frequency, by dynamic programming."""
    n_values = len(counts)
    fewest = np.zeros(n_values + 1, dtype=np.int64)
    start = np.zeros(n_values + 1, dtype=np.int64)
    for end in range(1, n_values + 1):
        fewest[end] = fewest[end - 1] + 1
        start[end] = end - 1
        total = counts[end - 1]
        for first in range(end - 2, -1, -1):
            total += counts[first]
            if not can_share_bucket(total, n_rows, numerator[first], denominator[first], is_attained[first]):
                break
            if fewest[first] + 1 < fewest[end]:
                fewest[end] = fewest[first] + 1
                start[end] = first
    starts = np.empty(fewest[n_values], dtype=np.int64)
    end = n_values
    for bucket in range(len(starts) - 1, -1, -1):
        starts[bucket] = start[end]
        end = start[end]
    return starts
