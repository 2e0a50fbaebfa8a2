"""The Hilbert curve: points near each other on it are near each other in QI space. Paper: 4.5."""

from __future__ import annotations

import numpy as np

from betalike.runtime.arrays import Floats, Words
from betalike.runtime.compilation import kernel

KEY_BITS = 62


def hilbert_keys(positions: Floats) -> Words:
    """Place of each point of the unit cube along the curve.

    Every axis is stretched to the curve's full range, so that an attribute of two values sits at the two extremes.
    Beyond 62 attributes the curve runs through the first 62.
    """
    n_axes = min(positions.shape[1], KEY_BITS)
    bits = min(20, KEY_BITS // n_axes)
    grid = np.rint(np.clip(positions[:, :n_axes], 0.0, 1.0) * ((1 << bits) - 1)).astype(np.uint64)
    return keys_of_grid(grid, bits)


@kernel
def keys_of_grid(grid: Words, bits: int) -> Words:
    """Walk from the coarsest cube to the finest, turning each point as the curve turns (Skilling's transform)."""
    n_points, n_axes = grid.shape
    keys = np.empty(n_points, dtype=np.uint64)
    x = np.empty(n_axes, dtype=np.uint64)
    one = np.uint64(1)
    for point in range(n_points):
        for axis in range(n_axes):
            x[axis] = grid[point, axis]
        for level in range(bits - 1, 0, -1):
            side = one << np.uint64(level)
            within = side - one
            for axis in range(n_axes):
                if x[axis] & side:
                    x[0] ^= within
                else:
                    swap = (x[0] ^ x[axis]) & within
                    x[0] ^= swap
                    x[axis] ^= swap
        for axis in range(1, n_axes):
            x[axis] ^= x[axis - 1]
        flip = np.uint64(0)
        for level in range(bits - 1, 0, -1):
            if x[n_axes - 1] & (one << np.uint64(level)):
                flip ^= (one << np.uint64(level)) - one
        key = np.uint64(0)
        for level in range(bits - 1, -1, -1):
            for axis in range(n_axes):
                key = (key << one) | (((x[axis] ^ flip) >> np.uint64(level)) & one)
        keys[point] = key
    return keys
