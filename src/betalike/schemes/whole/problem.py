"""A table as items that stay together: one for all people with the same quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from betalike.promises import Likeness
from betalike.runtime.arrays import FloatGrid, Floats
from betalike.schemes.limits import Limits, count_sets, make_limits
from betalike.schemes.merging import Items
from betalike.schemes.spans import Spans, list_spans
from betalike.table.cells import Cells


@dataclass(frozen=True)
class GroupingProblem:
    """Losses of ranges, limits of the promise, and the points of a table with their positions, stretched by weights."""

    spans: Spans
    limits: Limits
    items: Items
    positions: FloatGrid


def pose(cells: Cells, model: Likeness) -> GroupingProblem:
    """Return the problem of grouping the points of a table under a promise."""
    rule = model.rule(cells.value_counts, cells.sensitive)
    spans = list_spans(cells)
    size: Floats = np.bincount(cells.point, cells.count, len(cells.points)).astype(np.float64)
    items = Items(cells.points, cells.points, size, *count_sets(rule, cells))
    return GroupingProblem(spans, make_limits(rule, cells.n_rows), items, cells.positions * spans.axes.weight)
