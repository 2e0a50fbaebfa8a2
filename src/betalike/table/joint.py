"""Several sensitive columns as one: its values are the combinations that occur."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from betalike.runtime.arrays import Ints
from betalike.table.axis import HierarchyAxis
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind

JOINED = " + "  # between the names of several sensitive columns


@dataclass(frozen=True, eq=False)
class JointAxis(HierarchyAxis):
    """Combinations of the values of several columns, and the code of each combination (row) in each column."""

    columns: tuple[str, ...] = ()
    codes: Ints = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))

    @staticmethod
    def of(name: str, columns: Sequence[str], codes: Ints) -> JointAxis:
        """Return the axis of these combinations, which have no order and no hierarchy."""
        flat = Hierarchy.flat(map(str, range(len(codes))))
        return JointAxis(name, flat, False, Kind.CATEGORICAL, False, tuple(columns), codes)

    def parts(self) -> list[tuple[HierarchyAxis, Ints]]:
        """Return the axis of each column, and the code of each combination on it."""
        axes = [Hierarchy.flat(map(str, range(int(codes.max()) + 1))) for codes in self.codes.T]
        pairs = zip(self.columns, axes, self.codes.T, strict=True)
        return [(HierarchyAxis(column, tree), np.ascontiguousarray(codes)) for column, tree, codes in pairs]
