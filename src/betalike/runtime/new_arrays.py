"""New arrays within kernels. NumPy's functions are compiled again for each process and type; these, only once."""

from __future__ import annotations

import numpy as np

from betalike.runtime.arrays import FloatGrid, Floats, IdGrid, Ids, IntGrid, Ints
from betalike.runtime.compilation import inner_kernel, kernel


@kernel
def unset_ints(n: int) -> Ints:
    """Return an array of whole numbers that are still to be set; memory is only taken for those that are."""
    return np.empty(n, dtype=np.int64)


@kernel
def new_ints(n: int, value: int) -> Ints:
    """Return an array of whole numbers, all of them equal."""
    made = unset_ints(n)
    for i in range(n):
        made[i] = value
    return made


@kernel
def numbers_below(n: int) -> Ints:
    """Return the whole numbers from 0 to below `n`.

    >>> numbers_below(3)
    array([0, 1, 2])
    """
    made = unset_ints(n)
    for i in range(n):
        made[i] = i
    return made


@kernel
def unset_ids(n: int) -> Ids:
    """Return an array of numbers of 32 bits that are still to be set."""
    return np.empty(n, dtype=np.int32)


@kernel
def new_ids(n: int, value: int) -> Ids:
    """Return an array of numbers of 32 bits, all of them equal."""
    made = unset_ids(n)
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
def new_int_grid(n: int, width: int, value: int) -> IntGrid:
    """Return a table of whole numbers, all of them equal."""
    made = np.empty((n, width), dtype=np.int64)
    for i in range(n):
        for j in range(width):
            made[i, j] = value
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


@inner_kernel
def copy_ints(target: Ints, source: Ints) -> None:
    """Copy whole numbers to the beginning of an array that is at least as long.

    The same as a slice that is assigned, for which Numba compiles all that it takes to write an error message.
    """
    for i in range(len(source)):
        target[i] = source[i]


@inner_kernel
def copy_ids(target: Ids, source: Ids) -> None:
    """Copy numbers of 32 bits to the beginning of an array that is at least as long."""
    for i in range(len(source)):
        target[i] = source[i]


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
