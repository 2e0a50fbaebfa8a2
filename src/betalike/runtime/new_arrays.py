"""New arrays within kernels. NumPy's functions are compiled again for each process and type; these, only once."""

from __future__ import annotations

import numpy as np

from betalike.runtime.arrays import FloatGrid, Floats, IdGrid, Ids, Ints
from betalike.runtime.compilation import kernel


@kernel
def new_ints(n: int, value: int) -> Ints:
    """Return an array of whole numbers, all of them equal."""
    made = np.empty(n, dtype=np.int64)
    for i in range(n):
        made[i] = value
    return made


@kernel
def count_up(n: int) -> Ints:
    """Return the whole numbers from 0 to `n` - 1.

    >>> count_up(3)
    array([0, 1, 2])
    """
    made = new_ints(n, 0)
    for i in range(n):
        made[i] = i
    return made


@kernel
def new_ids(n: int, value: int) -> Ids:
    """Return an array of numbers of 32 bits, all of them equal."""
    made = np.empty(n, dtype=np.int32)
    for i in range(n):
        made[i] = value
    return made


@kernel
def new_floats(n: int, value: float) -> Floats:
    """Return an array of real numbers, all of them equal."""
    made = np.empty(n, dtype=np.float64)
    for i in range(n):
        made[i] = value
    return made


@kernel
def new_id_grid(n: int, width: int, value: int) -> IdGrid:
    """Return a table of numbers of 32 bits, all of them equal."""
    made = np.empty((n, width), dtype=np.int32)
    for i in range(n):
        for j in range(width):
            made[i, j] = value
    return made


@kernel
def new_float_grid(n: int, width: int, value: float) -> FloatGrid:
    """Return a table of real numbers, all of them equal."""
    made = np.empty((n, width), dtype=np.float64)
    for i in range(n):
        for j in range(width):
            made[i, j] = value
    return made


@kernel
def greatest_number(values: Ints) -> int:
    """Return the greatest of numbers from 0 on; -1 if there are none.

    >>> greatest_number(np.array([1, 3, 2]))
    3
    """
    found = -1
    for i in range(len(values)):
        if values[i] > found:
            found = values[i]
    return found
