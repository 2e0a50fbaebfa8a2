"""Information loss of generalization. Paper: 4.1, Eq. 2 to 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from betalike.runtime.arrays import Floats
from betalike.table.axis import Axis
from betalike.table.cells import Plan


@dataclass(frozen=True)
class Loss:
    """The average loss of a release: per attribute, and in total with the attributes' weights."""

    per_attribute: dict[str, float]
    average: float


def class_losses(axes: Sequence[Axis], low: NDArray[np.integer], high: NDArray[np.integer]) -> Floats:
    """Return the loss of each class (rows) on each attribute (columns). Paper: Eq. 2 and 3."""
    lows, highs = low.astype(np.int64), high.astype(np.int64)
    return np.column_stack([axis.losses(lows[:, i], highs[:, i]) for i, axis in enumerate(axes)])


def average_loss(names: Sequence[str], losses: Floats, sizes: NDArray[Any], weights: Sequence[float]) -> Loss:
    """Return the loss of an average tuple, given the loss of each class on each attribute. Paper: Eq. 4 and 5, AIL."""
    per_attribute = sizes @ losses / sizes.sum()
    shares = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    return Loss(dict(zip(names, map(float, per_attribute), strict=True)), float(per_attribute @ shares))


def plan_loss(plan: Plan) -> Loss:
    """Return the loss of planned classes, from their boxes. Paper: Eq. 5."""
    cells = plan.cells
    sizes = np.bincount(plan.ec, weights=plan.count, minlength=plan.n_classes)
    losses = class_losses(cells.axes, *plan.boxes)
    return average_loss([axis.name for axis in cells.axes], losses, sizes, cells.weights)
