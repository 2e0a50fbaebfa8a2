"""The cuts of a group: every boundary of every attribute, scored by what its cores gain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from betalike.runtime.arrays import FloatGrid, Floats, IdGrid, Ids, IntGrid, Ints
from betalike.runtime.compilation import inner_kernel, kernel
from betalike.runtime.sorting import FEW, rank_few, stable_order
from betalike.schemes.packing import PackedAxes, child_above, lowest_ancestor, range_loss
from betalike.schemes.seam.group import Group
from betalike.schemes.seam.problem import SplitProblem

MOST_BINS = 64
SAMPLES_PER_BIN = 16
NO_CODE = 2**31  # above every code
WIDE = FEW  # more codes than this are gathered into ranges


class Cuts(NamedTuple):
    """Cuts of a group: how much each may gain at most, what a tuple of its left and of its right core gains, and where.

    `up_to` are the counts of each value in the bins of all axes, added up along each axis; `place` is a cut's row.
    """

    bound: Floats
    gains: FloatGrid
    axis: Ids
    bin: Ids
    place: Ids
    is_single: NDArray[np.bool_]
    n_left: Floats
    up_to: FloatGrid


@inner_kernel
def codes_on(points: IdGrid, cell_point: Ids, cells: Ids, axis: int, codes: Ints) -> None:
    """Fill in the code of each cell on an axis."""
    for i in range(len(cells)):
        codes[i] = points[cell_point[cells[i]], axis]


@kernel
def bin_codes(axes: PackedAxes, axis: int, codes: Ints, counts: Ints, low: int, high: int, bins: Ids) -> int:
    """Part the codes of a set into bins between which it may be cut; fill in the bin of each, and return their number.

    For a hierarchy, bins are the children of the lowest common ancestor. For an ordered attribute, they are single
    codes, or ranges with about as many tuples each where there are many codes, so that no table grows with the number
    of distinct values. No bin is empty.
    """
    n = len(codes)
    if axes.is_tree[axis]:
        ancestor = lowest_ancestor(axes, axis, low, high)
        n_bins = children_above(axes, axis, codes, ancestor, bins)
        if n_bins > WIDE:
            n_bins = keep_largest(bins, counts, n_bins)
    elif high - low < WIDE:
        for i in range(n):
            bins[i] = codes[i] - low
        n_bins = high - low + 1
    elif n <= FEW:
        return rank_few(codes, np.empty(n, dtype=np.int64), bins)
    else:
        edges = quantile_edges(codes, axes.missing[axis])
        for i in range(n):
            bins[i] = np.searchsorted(edges, codes[i], side="right")
        n_bins = len(edges) + 1
    return leave_out_empty(bins, n_bins)


@inner_kernel
def children_above(axes: PackedAxes, axis: int, codes: Ints, ancestor: int, bins: Ids) -> int:
    """Fill in the child of an ancestor that each code is under; return the number of the last child plus 1."""
    n_bins = 0
    for i in range(len(codes)):
        bins[i] = child_above(axes, axis, codes[i], ancestor)
        n_bins = max(n_bins, bins[i] + 1)
    return n_bins


@kernel
def leave_out_empty(bins: Ids, n_bins: int) -> int:
    """Number the bins again without the empty ones; return how many are left."""
    number = np.full(n_bins, -1, dtype=np.int64)
    for b in bins:
        number[b] = 0
    n_filled = 0
    for b in range(n_bins):
        if number[b] == 0:
            number[b] = n_filled
            n_filled += 1
    if n_filled < n_bins:
        for i in range(len(bins)):
            bins[i] = number[bins[i]]
    return n_filled


@kernel
def keep_largest(bins: Ids, counts: Ints, n_bins: int) -> int:
    """Leave only the largest bins to be cut off; all others are one."""
    below_zero = np.zeros(n_bins, dtype=np.int64)  # so that the largest come first
    for i in range(len(bins)):
        below_zero[bins[i]] -= counts[i]
    number = np.full(n_bins, MOST_BINS - 1, dtype=np.int64)
    largest = stable_order(below_zero)
    for i in range(MOST_BINS - 1):
        number[largest[i]] = 0
    place = 0
    for b in range(n_bins):
        if number[b] == 0:
            number[b] = place
            place += 1
    for i in range(len(bins)):
        bins[i] = number[bins[i]]
    return MOST_BINS


@kernel
def quantile_edges(codes: Ints, missing: int) -> Ints:
    """Return the codes at which the bins of a wide set begin: quantiles of a sample, and a bin for missing values."""
    step = max(len(codes) // (SAMPLES_PER_BIN * MOST_BINS), 1)
    drawn = np.empty((len(codes) + step - 1) // step, dtype=np.int64)
    for i in range(len(drawn)):
        drawn[i] = codes[i * step]
    sample = np.empty_like(drawn)
    for place, i in enumerate(stable_order(drawn)):
        sample[place] = drawn[i]
    edges = np.empty(MOST_BINS + 1, dtype=np.int64)
    n = 0
    for b in range(1, MOST_BINS):
        code = sample[b * len(sample) // MOST_BINS]
        if code > (edges[n - 1] if n > 0 else sample[0]) and code != missing:
            edges[n] = code
            n += 1
    if missing >= 0:
        edges[n] = missing
        n += 1
    return edges[:n]


@kernel
def count_bins(value: Ids, tuples: Ints, codes: Ints, bins: Ids, table: FloatGrid) -> tuple[Floats, Ints, Ints]:
    """Add up the tuples of each value in each bin; return all tuples of each bin, and its least and greatest code."""
    n_bins = len(table)
    sizes = np.zeros(n_bins, dtype=np.float64)
    low = np.full(n_bins, NO_CODE, dtype=np.int64)
    high = np.full(n_bins, -1, dtype=np.int64)
    for i in range(len(codes)):
        b = bins[i]
        table[b, value[i]] += tuples[i]
        sizes[b] += tuples[i]
        low[b] = min(low[b], codes[i])
        high[b] = max(high[b], codes[i])
    return sizes, low, high


@inner_kernel
def find_bounds(lows: Ints, highs: Ints, bounds: IntGrid) -> None:
    """Fill in the least and greatest code of the bins up to each one (rows 0, 1), and from each one on (2, 3)."""
    n = len(lows)
    bounds[0, 0], bounds[1, 0], bounds[2, n], bounds[3, n] = lows[0], highs[0], NO_CODE, -1
    for b in range(1, n):
        bounds[0, b], bounds[1, b] = min(bounds[0, b - 1], lows[b]), max(bounds[1, b - 1], highs[b])
    for b in range(n - 1, -1, -1):
        bounds[2, b], bounds[3, b] = min(bounds[2, b + 1], lows[b]), max(bounds[3, b + 1], highs[b])


@inner_kernel
def cuts_of_axis(
    problem: SplitProblem,
    axis: int,
    sizes: Floats,
    lows: Ints,
    highs: Ints,
    bounds: IntGrid,
    first_place: int,
    looks_ahead: bool,
    cuts: Cuts,
    n_cuts: int,
) -> int:
    """Add the cuts of one attribute to those found before; return their number.

    They are prefixes of the bins, and for a hierarchy also each child against the rest. That pays where a flat
    attribute loses all or nothing. Parting its children into two groups gains nothing yet. With a look ahead it counts
    as if the loss fell in proportion to the children that are left, as it will once all are parted.
    """
    axes = problem.axes
    final = len(sizes) - 1
    find_bounds(lows, highs, bounds)
    whole = range_loss(axes, axis, bounds[0, final], bounds[1, final])
    size = 0.0
    for b in range(final + 1):
        size += sizes[b]
    for is_single in (False, True):
        if is_single and (not axes.is_tree[axis] or final < 2):
            break
        n_left = 0.0
        for b in range(final + 1 if is_single else final):
            low, high = bounds[2, b + 1], bounds[3, b + 1]  # of what is right of the cut
            if is_single:
                n_left = sizes[b]
                loss_left = range_loss(axes, axis, lows[b], highs[b])
                if b > 0:
                    low, high = min(low, bounds[0, b - 1]), max(high, bounds[1, b - 1])
            else:
                n_left += sizes[b]
                loss_left = range_loss(axes, axis, bounds[0, b], bounds[1, b])
            loss_right = range_loss(axes, axis, low, high)
            if looks_ahead and axes.is_tree[axis]:
                n_children = 1 if is_single else b + 1
                if n_children > 1:
                    loss_left = min(loss_left, whole * (n_children - 1) / final)
                if n_children < final:
                    loss_right = min(loss_right, whole * (final - n_children) / final)
            gain_left = axes.weight[axis] * (whole - loss_left)
            gain_right = axes.weight[axis] * (whole - loss_right)
            cuts.bound[n_cuts] = n_left * gain_left + (size - n_left) * gain_right
            cuts.gains[n_cuts, 0], cuts.gains[n_cuts, 1] = gain_left, gain_right
            cuts.axis[n_cuts], cuts.bin[n_cuts], cuts.is_single[n_cuts] = axis, b, is_single
            cuts.place[n_cuts], cuts.n_left[n_cuts] = first_place + b, n_left
            n_cuts += 1
    return n_cuts


@inner_kernel
def add_up(table: FloatGrid) -> None:
    """Add to each row of a table all rows before it."""
    for b in range(1, table.shape[0]):
        for v in range(table.shape[1]):
            table[b, v] += table[b - 1, v]


@kernel
def find_cuts(
    problem: SplitProblem, group: Group, low: Ints, high: Ints, looks_ahead: bool, bins: IdGrid
) -> tuple[Cuts, int]:
    """Return all cuts of a group and their number; fill in each fragment's bin on each axis."""
    n, n_axes = len(group.cell), len(low)
    codes = np.empty((n_axes, n), dtype=np.int64)
    n_bins = np.zeros(n_axes, dtype=np.int64)
    for axis in range(n_axes):
        if low[axis] == high[axis] or problem.axes.weight[axis] == 0.0:
            continue
        codes_on(problem.points, problem.cell_point, group.cell, axis, codes[axis])
        n_bins[axis] = bin_codes(problem.axes, axis, codes[axis], group.tuples, low[axis], high[axis], bins[axis])
    room = 2 * n_bins.sum()
    cuts = Cuts(
        np.empty(room, dtype=np.float64),
        np.empty((room, 2), dtype=np.float64),
        np.empty(room, dtype=np.int32),
        np.empty(room, dtype=np.int32),
        np.empty(room, dtype=np.int32),
        np.empty(room, dtype=np.bool_),
        np.empty(room, dtype=np.float64),
        np.zeros((n_bins.sum(), len(group.total)), dtype=np.float64),
    )
    n_cuts, place = 0, 0
    bounds = np.empty((4, n_bins.max() + 1), dtype=np.int64)
    for axis in range(n_axes):
        if n_bins[axis] > 0:
            table = cuts.up_to[place : place + n_bins[axis]]
            sizes, lows, highs = count_bins(group.value, group.tuples, codes[axis], bins[axis], table)
            n_cuts = cuts_of_axis(problem, axis, sizes, lows, highs, bounds, place, looks_ahead, cuts, n_cuts)
            add_up(table)
            place += n_bins[axis]
    return cuts, n_cuts


@inner_kernel
def left_of(cuts: Cuts, cut: int, left: Floats) -> None:
    """Fill in how many tuples of each value are left of a cut."""
    place = cuts.place[cut]
    is_between = cuts.is_single[cut] and cuts.bin[cut] > 0
    for v in range(len(left)):
        left[v] = cuts.up_to[place, v] - (cuts.up_to[place - 1, v] if is_between else 0.0)


@inner_kernel
def is_left(cuts: Cuts, cut: int, b: int) -> bool:
    """Whether a bin is left of a cut."""
    return bool(b == cuts.bin[cut]) if cuts.is_single[cut] else bool(b <= cuts.bin[cut])
