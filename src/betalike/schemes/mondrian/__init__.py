"""Mondrian: cut the table in two, and each part again, while every part keeps the promise. Paper: 6.2."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from betalike.errors import ParameterError
from betalike.models import Model
from betalike.progress import SILENT, Progress
from betalike.randomness import Randomness, SystemRandomness
from betalike.schemes.mondrian.splitting import split_points
from betalike.schemes.packing import pack_axes
from betalike.table import Cells, Plan


class AttributeRule(StrEnum):
    """Which attribute is cut first."""

    WIDEST = "widest"
    NARROWEST = "narrowest"


@dataclass(frozen=True)
class Mondrian:
    """Cuts one attribute after the other near its median; the promise is a parameter, so this is many schemes.

    With likeness it is the paper's LMondrian, with delta-disclosure DMondrian, with t-closeness tMondrian. With the
    second try, the next attribute is cut where the first may not be.
    """

    name: str = "mondrian"
    attribute: AttributeRule = AttributeRule.WIDEST
    second_try: bool = True
    randomness: Randomness = field(default_factory=SystemRandomness)

    def __post_init__(self) -> None:
        if self.attribute not in list(AttributeRule):
            raise ParameterError(
                f"attribute is '{self.attribute}'; it must be one of: {', '.join(AttributeRule)}."
            )
        if not isinstance(self.second_try, bool):
            raise ParameterError(f"second_try is {self.second_try!r}; it must be true or false.")

    def plan(self, cells: Cells, model: Model, progress: Progress = SILENT) -> Plan:
        """Form classes that keep the promise."""
        progress.start("splitting")
        point_start = np.searchsorted(cells.point, np.arange(len(cells.points) + 1))
        class_of_point, n_classes = split_points(
            pack_axes(cells.axes, cells.weights),
            cells.points,
            point_start,
            cells.value,
            cells.count,
            model.rule(cells.value_counts, cells.sensitive),
            cells.sensitive.size,
            self.attribute == AttributeRule.WIDEST,
            self.second_try,
        )
        every = np.arange(len(cells.count), dtype=np.int32)
        details = {"attribute": str(self.attribute), "second_try": self.second_try}
        return Plan(cells, every, cells.count, class_of_point[cells.point], n_classes, details)
