"""Mondrian: cut the table in two, and each part again, while every part keeps the promise. Paper: 6.2."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from betalike.errors import ParameterError
from betalike.promises import Model, Rule
from betalike.runtime.arrays import Ids, Ints
from betalike.runtime.progress import SILENT, Progress
from betalike.runtime.randomness import Randomness, SystemRandomness
from betalike.schemes.fragments import count_fragments
from betalike.schemes.mondrian.halving import halve_tuples
from betalike.schemes.mondrian.splitting import split_points
from betalike.schemes.packing import pack_axes
from betalike.table.cells import Cells, Plan, random_order


class AttributeRule(StrEnum):
    """Which attribute is cut first."""

    WIDEST = "widest"
    NARROWEST = "narrowest"


@dataclass(frozen=True)
class Mondrian:
    """Cuts one attribute after the other near its median; the promise is a parameter, so this is many schemes.

    With likeness it is the paper's LMondrian, with delta-disclosure DMondrian, with t-closeness tMondrian. With
    `second_try`, the next attribute is tried if the first may not be cut. The widest attribute is the one that loses
    most; it is cut between two of its values. The narrowest has the fewest values; it is cut at the median row, even if
    equal rows end up on both sides. With the narrowest attribute and no second try, LMondrian loses what the paper
    reports.
    """

    name: str = "mondrian"
    attribute: AttributeRule = AttributeRule.WIDEST
    second_try: bool = True
    randomness: Randomness = field(default_factory=SystemRandomness)

    def __post_init__(self) -> None:
        if self.attribute not in list(AttributeRule):
            raise ParameterError(f"attribute is '{self.attribute}'; it must be one of: {', '.join(AttributeRule)}.")
        if not isinstance(self.second_try, bool):
            raise ParameterError(f"second_try is {self.second_try!r}; it must be true or false.")

    @property
    def kernels(self) -> tuple[object, ...]:
        """Those that take long to compile."""
        return (split_points,) if self.attribute == AttributeRule.WIDEST else (halve_tuples, count_fragments)

    def plan(self, cells: Cells, model: Model, progress: Progress = SILENT) -> Plan:
        """Form classes that keep the promise."""
        progress.start("splitting")
        rule = model.rule(cells.value_counts, cells.sensitive)
        details = {"attribute": str(self.attribute), "second_try": self.second_try}
        if self.attribute == AttributeRule.WIDEST:
            return Plan(cells, *self._split(cells, rule), details)
        return Plan(cells, *self._halve(cells, rule), details)

    def _split(self, cells: Cells, rule: Rule) -> tuple[Ids, Ints, Ids, int]:
        """Cut between two codes of the widest attribute: cells stay whole."""
        class_of_point, n_classes = split_points(
            pack_axes(cells.axes, cells.weights),
            cells.points,
            np.searchsorted(cells.point, np.arange(len(cells.points) + 1)),
            cells.value,
            cells.count,
            rule,
            cells.sensitive.size,
            self.second_try,
        )
        return np.arange(len(cells.count), dtype=np.int32), cells.count, class_of_point[cells.point], n_classes

    def _halve(self, cells: Cells, rule: Rule) -> tuple[Ids, Ints, Ids, int]:
        """Cut the narrowest attribute at the median tuple: several classes may share a cell."""
        tuples = np.repeat(np.arange(len(cells.count), dtype=np.int32), cells.count)
        tuples = tuples[random_order(len(tuples), self.randomness)]
        starts = halve_tuples(
            tuples, cells.points, cells.point, cells.value, rule, cells.sensitive.size, self.second_try
        )
        cell, count, ec = count_fragments(tuples, starts, len(cells.count))
        return cell, count, ec, len(starts) - 1
