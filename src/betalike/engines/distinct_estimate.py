"""Estimates of how many distinct values there are, in 16 KB of memory each, for more values than memory holds."""

from __future__ import annotations

import math

import numpy as np

from betalike.runtime.arrays import Words

INDEX_BITS = 14
N_REGISTERS = 1 << INDEX_BITS
SCALE = 0.7213 / (1 + 1.079 / N_REGISTERS) * N_REGISTERS**2
FEW = 2.5 * N_REGISTERS  # up to here, empty registers say more
HELD_BITS = 53  # of a floating-point number


class DistinctEstimate:
    """Estimates the number of distinct hashes that it was given, within about 1 % (HyperLogLog)."""

    def __init__(self) -> None:
        self._registers = np.zeros(N_REGISTERS, dtype=np.uint8)

    def add(self, hashes: Words) -> None:
        """Add hashes of 64 bits."""
        rest = (hashes << np.uint64(INDEX_BITS)) >> np.uint64(64 - HELD_BITS)
        leading_zeros = HELD_BITS - np.frexp(rest.astype(np.float64))[1]
        np.maximum.at(self._registers, hashes >> np.uint64(64 - INDEX_BITS), (leading_zeros + 1).astype(np.uint8))

    @property
    def number(self) -> int:
        """About how many distinct hashes there were."""
        estimate = float(SCALE / np.exp2(-self._registers.astype(np.float64)).sum())
        n_empty = int((self._registers == 0).sum())
        if estimate <= FEW and n_empty:
            estimate = N_REGISTERS * math.log(N_REGISTERS / n_empty)
        return round(estimate)
