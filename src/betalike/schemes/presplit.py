"""Divide a table that is too large to be split at once into sets of cells that keep the promise with room to spare.

Each set is split on its own, and its classes have to keep the promise with what it holds. So a set is cut where both
sides stay similar to the table; among such cuts, along the axis on which it is widest.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from betalike.promises import Model
from betalike.promises.verdict import one_class
from betalike.runtime.arrays import Ints
from betalike.table.cells import Cells, ClassCounts, Plan

ROOM = 0.25  # a cut uses no more than this share of what the promise leaves free


def part(cells: Cells, model: Model, most_rows: int) -> Plan:
    """Return sets of cells with at most `most_rows` rows; larger ones where no cut would leave them room to spare."""
    used_by_table = model.judge(one_class(cells.value_counts), cells.value_counts, cells.sensitive).worst_ratio
    spare = used_by_table + ROOM * (1.0 - used_by_table)
    set_of_cell = np.zeros(len(cells.count), dtype=np.int32)
    waiting, n_sets = [np.arange(len(cells.count))], 0
    while waiting:
        members = waiting.pop()
        halves = None
        if cells.count[members].sum() > most_rows:
            halves = _cut(cells, model, members, spare)
        if halves is None:
            set_of_cell[members] = n_sets
            n_sets += 1
        else:
            waiting += halves
    return Plan(cells, np.arange(len(cells.count), dtype=np.int32), cells.count, set_of_cell, n_sets)


def _cut(cells: Cells, model: Model, members: Ints, spare: float) -> list[Ints] | None:
    """Return the two sides of the first cut near a median that leaves them room to spare; None if no cut does."""
    for left in _cuts_by_width(cells, members):
        counts = ClassCounts.of(left.astype(np.int64), cells.value[members], cells.count[members], cells.sensitive.size)
        verdict = model.judge(counts, cells.value_counts, cells.sensitive)
        if verdict.holds and verdict.worst_ratio <= spare:
            return [members[left], members[~left]]
    return None


def _cuts_by_width(cells: Cells, members: Ints) -> Iterator[NDArray[np.bool_]]:
    """Yield which members lie on one side of the middle of each axis, the axis first on which they lose most."""
    points, count = cells.points[cells.point[members]], cells.count[members]
    low, high = points.min(axis=0).astype(np.int64), points.max(axis=0).astype(np.int64)
    losses = [axis.losses(low[i : i + 1], high[i : i + 1])[0] for i, axis in enumerate(cells.axes)]
    for axis in np.argsort(-np.array(losses) * np.array(cells.weights), kind="stable").tolist():
        if low[axis] == high[axis]:
            continue
        rows = np.cumsum(np.bincount(points[:, axis] - low[axis], count))
        middle = int(np.searchsorted(rows, rows[-1] / 2))
        before = rows[middle - 1] if middle else 0
        is_sooner = middle == high[axis] - low[axis] or (before and rows[-1] / 2 - before < rows[middle] - rows[-1] / 2)
        yield points[:, axis] <= low[axis] + middle - is_sooner
