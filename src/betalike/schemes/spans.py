"""Loss of boxes of codes, looked up where an axis is small: what searches over whole classes compute most often."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from betalike.runtime.arrays import Floats, IdGrid, Ids, Ints
from betalike.runtime.compilation import inner_kernel, kernel
from betalike.schemes.packing import PackedAxes, pack_axes, range_loss
from betalike.table.cells import Cells

MOST_LISTED = 512  # codes of an axis whose losses are listed
NO_CODE = np.iinfo(np.int32).max


class Spans(NamedTuple):
    """The axes of a table, and the weighted loss of every range of codes on those that are small.

    `offset` is where the list of an axis begins; -1 if it has none.
    """

    axes: PackedAxes
    offset: Ints
    listed: Floats


def list_spans(cells: Cells, most_listed: int = MOST_LISTED) -> Spans:
    """Return the losses of ranges on the axes of a table."""
    axes = pack_axes(cells.axes, cells.weights)
    is_listed = axes.size <= most_listed
    ends = np.cumsum(np.where(is_listed, axes.size**2, 0))
    offset = np.where(is_listed, np.append(0, ends[:-1]), -1)
    listed = np.zeros(ends[-1])
    list_losses(axes, offset, listed)
    return Spans(axes, offset, listed)


@kernel
def list_losses(axes: PackedAxes, offset: Ints, listed: Floats) -> None:
    """Fill in the weighted loss of every range of codes on the axes that are small."""
    for axis in range(len(offset)):
        if offset[axis] >= 0:
            size = axes.size[axis]
            for low in range(size):
                for high in range(low + 1, size):
                    loss = axes.weight[axis] * range_loss(axes, axis, low, high)
                    listed[offset[axis] + low * size + high] = loss


@inner_kernel
def span_loss(spans: Spans, axis: int, low: int, high: int) -> float:
    """Return the weighted loss of a range of codes."""
    offset = spans.offset[axis]
    if offset >= 0:
        return float(spans.listed[offset + low * spans.axes.size[axis] + high])
    return float(spans.axes.weight[axis] * range_loss(spans.axes, axis, low, high))


@inner_kernel
def box_loss(spans: Spans, low: Ids, high: Ids) -> float:
    """Return the loss of a box. Paper: Eq. 4."""
    loss = 0.0
    for axis in range(len(low)):
        loss += span_loss(spans, axis, low[axis], high[axis])
    return loss


@inner_kernel
def joint_loss_up_to(spans: Spans, low: IdGrid, high: IdGrid, one: int, other: int, most: float) -> float:
    """Return the loss of the box around two boxes of a list; a lower number above `most` if it exceeds that."""
    loss = 0.0
    for axis in range(low.shape[1]):
        least, greatest = min(low[one, axis], low[other, axis]), max(high[one, axis], high[other, axis])
        loss += span_loss(spans, axis, least, greatest)
        if loss > most:
            break
    return loss


@inner_kernel
def copy_box(low: Ids, high: Ids, other_low: Ids, other_high: Ids) -> None:
    """Make a box equal to another one."""
    for axis in range(len(low)):
        low[axis], high[axis] = other_low[axis], other_high[axis]


@inner_kernel
def empty_box(low: Ids, high: Ids) -> None:
    """Make a box hold nothing."""
    for axis in range(len(low)):
        low[axis], high[axis] = NO_CODE, -1


@inner_kernel
def widen_box(low: Ids, high: Ids, other_low: Ids, other_high: Ids) -> None:
    """Make a box large enough to hold another one."""
    for axis in range(len(low)):
        low[axis] = min(low[axis], other_low[axis])
        high[axis] = max(high[axis], other_high[axis])
