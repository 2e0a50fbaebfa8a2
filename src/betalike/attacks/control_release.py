"""Control releases, in which there is nothing to find: the same people and values, shuffled, published the same way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from betalike.attacks.target import Generalized, Perturbed, Target
from betalike.runtime.arrays import Floats
from betalike.runtime.randomness import Randomness, uniform
from betalike.schemes import make_generalizing
from betalike.table.cells import Cells, ClassCounts, Plan, random_order


def shuffled(cells: Cells, randomness: Randomness) -> Cells:
    """Return the same people and sensitive values, with the values shuffled among the people."""
    value = np.repeat(cells.value, cells.count)[random_order(cells.n_rows, randomness)]
    counts = ClassCounts.of(
        np.repeat(cells.point, cells.count), value, np.ones(len(value), dtype=np.int64), cells.sensitive.size
    )
    point, values = counts.ec.astype(np.int32), counts.value.astype(np.int32)
    return Cells(cells.axes, cells.sensitive, cells.weights, cells.points, point, values, counts.count)


def replan(target: Target, cells: Cells, randomness: Randomness) -> Plan:
    """Return the classes that the target's scheme forms from some cells, under the same promise."""
    return make_generalizing(target.scheme, randomness, **dict(target.options)).plan(cells, target.model)


def control_of(target: Target, randomness: Randomness) -> Target:
    """Return a release of the shuffled table by the same scheme, under the same promise."""
    cells = shuffled(target.cells, randomness)
    if isinstance(target, Generalized):
        plan = replan(target, cells, randomness)
        return Generalized.of_plan(plan, target.values, target.model, target.scheme, target.options)
    if isinstance(target, Perturbed):
        published = perturb(cells, target.transition, randomness)
        return replace(target, cells=cells, published=published)
    return replace(target, cells=cells)


def perturb(cells: Cells, transition: Floats, randomness: Randomness) -> ClassCounts:
    """Draw how often each label is published at each point; for experiments, not for a release."""
    value, point = (np.repeat(codes, cells.count) for codes in (cells.value, cells.point))
    chance = uniform(len(value), randomness)
    drawn = np.empty_like(value)
    for code, cumulated in enumerate(np.cumsum(transition, axis=1)):
        rows = np.flatnonzero(value == code)
        drawn[rows] = np.minimum(np.searchsorted(cumulated, chance[rows], side="right"), transition.shape[1] - 1)
    return ClassCounts.of(point, drawn, np.ones(len(drawn), dtype=np.int64), transition.shape[1])
