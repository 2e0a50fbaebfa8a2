"""Cut a table into groups of near items that are all allowed, so that each can be searched on its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from betalike.runtime.arrays import FloatGrid, Floats, Ints, Words
from betalike.runtime.compilation import inner_kernel, kernel
from betalike.runtime.new_arrays import new_float_grid, new_floats, new_ints
from betalike.schemes.grouping import SAMPLE, draw_median, move_below
from betalike.schemes.limits import Limits, judge_sum
from betalike.schemes.merging import Items

REFUSED = np.inf  # use of the promise by a set that is not allowed
MEASURED = 512  # items of a set whose positions are measured, at least
LEAST_ROOM = 1e-3  # by which a gain is multiplied, so that a set without room may still be cut


class Cutting(NamedTuple):
    """Groups get at most `most` items. Both sides of a cut use at most the share `room` of what the promise allows.

    Sets of more than `most_roomy` items are also cut where that leaves less room. With a room of 1, all that counts is
    whether both sides are allowed.
    """

    most: int
    most_roomy: int
    room: float


@kernel
def cut_groups(
    positions: FloatGrid, limits: Limits, items: Items, members: Ints, cutting: Cutting, state: Words
) -> tuple[Ints, Ints]:
    """Cut some items near medians; return them group by group, and where each group begins.

    Of the axes, the one is cut that makes the set narrowest and leaves most room. A set that cannot be cut stays as it
    is, so groups may be larger than they should be.
    """
    n = len(members)
    order, starts = members.copy(), new_ints(n + 1, 0)
    begins, ends = new_ints(n + 1, 0), new_ints(n + 1, 0)  # a stack of sets
    ends[0] = n
    height, n_groups = 1, 0
    sample, sides = new_floats(SAMPLE, 0.0), new_float_grid(2, len(limits.cap), 0.0)
    while height > 0:
        height -= 1
        begin, end = begins[height], ends[height]
        middle = begin
        if end - begin > cutting.most:
            near = order[begin:end]
            axis, pivot = _choose_cut(positions, limits, items, near, cutting, sample, sides, state)
            if axis >= 0:
                middle = begin + move_below(positions, axis, near, pivot, False)
        if middle == begin:
            starts[n_groups] = begin
            n_groups += 1
        else:
            begins[height], ends[height] = middle, end
            begins[height + 1], ends[height + 1] = begin, middle
            height += 2
    starts[n_groups] = n
    return order, starts[: n_groups + 1].copy()


@inner_kernel
def _choose_cut(
    positions: FloatGrid,
    limits: Limits,
    items: Items,
    members: Ints,
    cutting: Cutting,
    sample: Floats,
    sides: FloatGrid,
    state: Words,
) -> tuple[int, float]:
    """Return the axis and the place of a cut; items below it are on one side. The axis is -1 if there is no cut."""
    chosen, place, best, least = -1, 0.0, 0.0, REFUSED
    for axis in range(positions.shape[1]):
        pivot = draw_median(positions, axis, members, 0.0, sample, state)
        gain = _measure_gain(positions, members, axis, pivot)
        if gain <= best:  # judging takes longer
            continue
        used = _use_of_sides(positions, limits, items, members, axis, pivot, sides)
        if cutting.room < 1.0:
            gain *= max(1.0 - used, LEAST_ROOM)
        if used < REFUSED and gain > best:
            chosen, place, best, least = axis, pivot, gain, used
    if cutting.room < min(least, 1.0) and len(members) <= cutting.most_roomy:
        chosen = -1
    return chosen, place


@inner_kernel
def _measure_gain(positions: FloatGrid, members: Ints, axis: int, pivot: float) -> float:
    """Return by how much a cut makes a set narrower on its axis, on average over its items, or over some of many."""
    low, last, first, high, n_below = np.inf, -np.inf, np.inf, -np.inf, 0
    step = max(len(members) // MEASURED, 1)
    for place in range(0, len(members), step):
        position = positions[members[place], axis]
        if position < pivot:
            n_below += 1
            low, last = min(low, position), max(last, position)
        else:
            first, high = min(first, position), max(high, position)
    n_above = (len(members) - 1) // step + 1 - n_below
    if n_below == 0 or n_above == 0:
        return 0.0
    return float((high - low) - (n_below * (last - low) + n_above * (high - first)) / (n_below + n_above))


@inner_kernel
def _use_of_sides(
    positions: FloatGrid, limits: Limits, items: Items, members: Ints, axis: int, pivot: float, sides: FloatGrid
) -> float:
    """Return what share of the promise the two sides of a cut use, the greater one; infinity if one is not allowed."""
    below, above = 0.0, 0.0
    for s in range(sides.shape[1]):
        sides[0, s] = sides[1, s] = 0.0
    for item in members:
        side = 0
        if positions[item, axis] < pivot:
            below += items.size[item]
        else:
            above += items.size[item]
            side = 1
        for i in range(items.start[item], items.start[item + 1]):
            sides[side, items.number[i]] += items.rows[i]
    return max(_use_of(limits, sides[0], below), _use_of(limits, sides[1], above))


@inner_kernel
def _use_of(limits: Limits, counts: Floats, size: float) -> float:
    """Return what share of the promise a class uses; infinity if it is not allowed."""
    if not judge_sum(limits, counts, counts, 0.0, size)[2]:
        return REFUSED
    used = limits.k / size
    for s in range(len(limits.cap)):
        used = max(used, counts[s] * limits.inverse_cap[s] / size)
    for s in range(len(limits.floor)):
        if limits.floor[s] < 1.0:
            used = max(used, (size - counts[s]) / (size * (1.0 - limits.floor[s])))
    return used
