"""What the kernels of SEAM share: the table's cells, the axes and the caps."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from betalike.promises import Likeness
from betalike.promises.rule import ANYTHING, Rule
from betalike.promises.sets import Sets
from betalike.runtime.arrays import Floats, IdGrid, Ids, IntGrid, Ints
from betalike.schemes.packing import PackedAxes, pack_axes
from betalike.table.cells import Cells

NO_FLOOR: Floats = np.zeros(0)


class SplitProblem(NamedTuple):
    """A table to be split under caps; a tuple, because that is what compiled code takes.

    Every part of a cut also has to meet what a promise demands of sets of values, in the form that a rule has. If the
    problem `is_hasty`, fewer cuts are fitted, each with fewer attempts.
    """

    axes: PackedAxes
    points: IdGrid
    cell_point: Ids
    cell_value: Ids
    numerator: Ints
    denominator: Ints
    k: int
    order: Ints = ANYTHING.order
    demands: IntGrid = ANYTHING.demands
    floor: Floats = NO_FLOOR
    is_hasty: bool = False


def pose(cells: Cells, model: Likeness) -> SplitProblem:
    """Return the problem of splitting a table under a promise."""
    value, rule, floor = _demands(cells, model)
    return SplitProblem(
        axes=pack_axes(cells.axes, cells.weights),
        points=cells.points,
        cell_point=cells.point,
        cell_value=value,
        numerator=rule.cap_numerator,
        denominator=rule.cap_denominator,
        k=model.k,
        order=rule.order,
        demands=rule.demands,
        floor=floor,
    )


def _demands(cells: Cells, model: Likeness) -> tuple[Ids, Rule, Floats]:
    """Return the values of cells as kernels take them, the rule for these, and their floors if each has one.

    Where each value is promised as one of a set, and nothing else, the sets are the values.
    """
    counts = cells.value_counts
    if model.is_plain:
        return cells.value, model.rule(counts), NO_FLOOR
    demands = model.demands(counts, cells.sensitive)
    set_of_value = demands.sets.of_value(len(counts))
    if set_of_value is None:
        return cells.value, demands.rule(model.k, len(counts), cells.n_rows), NO_FLOOR
    every = np.arange(len(demands.caps))
    rule = replace(demands, sets=Sets(every, every, every)).rule(model.k, len(every), cells.n_rows)
    if not demands.floors:  # caps on values are all that SEAM looks after by itself
        rule = rule._replace(order=ANYTHING.order, demands=ANYTHING.demands)
    floor = demands.bottoms if demands.floors else NO_FLOOR
    return set_of_value[cells.value].astype(np.int32), rule, floor
