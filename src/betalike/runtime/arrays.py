"""The kinds of arrays that modules and kernels pass to each other, named once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Ids = NDArray[np.int32]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]

IntGrid = np.ndarray[tuple[int, int], np.dtype[np.int64]]
IdGrid = np.ndarray[tuple[int, int], np.dtype[np.int32]]
FloatGrid = np.ndarray[tuple[int, int], np.dtype[np.float64]]
WordGrid = np.ndarray[tuple[int, int], np.dtype[np.uint64]]
