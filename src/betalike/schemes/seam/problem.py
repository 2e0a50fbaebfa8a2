"""What the kernels of SEAM share: the table's cells, the axes and the caps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from betalike.models import Likeness
from betalike.schemes.packing import PackedAxes, pack_axes
from betalike.table import Cells

Ints = NDArray[np.int64]
Ids = NDArray[np.int32]


class Problem(NamedTuple):
    """A table to be split under caps; a tuple, because that is what compiled code takes."""

    axes: PackedAxes
    points: Ids
    cell_point: Ids
    cell_value: Ids
    numerator: Ints
    denominator: Ints
    k: int


def pose(cells: Cells, model: Likeness) -> Problem:
    """The problem of splitting a table under a promise."""
    caps = model.caps(cells.prior_counts)
    return Problem(
        axes=pack_axes(cells.axes, cells.weights),
        points=cells.points,
        cell_point=cells.point,
        cell_value=cells.value,
        numerator=caps.numerator,
        denominator=caps.denominator,
        k=model.k,
    )
