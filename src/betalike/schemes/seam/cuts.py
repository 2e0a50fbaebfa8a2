"""Choosing a cut: every boundary of every attribute, scored by what its cores gain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from betalike.compilation import kernel
from betalike.schemes.seam.cores import core_sizes
from betalike.schemes.seam.packing import child_above, lowest_ancestor, range_loss
from betalike.schemes.seam.problem import Problem

Ints = NDArray[np.int64]
Ids = NDArray[np.int32]
Floats = NDArray[np.float64]

MOST_BINS = 64
SAMPLES_PER_BIN = 16


@kernel
def bin_codes(problem: Problem, axis: int, codes: Ints, counts: Ints, low: int, high: int) -> tuple[Ints, int]:
    """Part the codes of a set into bins between which it may be cut, and their number.

    Children of the lowest common ancestor for a hierarchy; single codes for an ordered attribute, or about equally
    filled ranges of them where there are many, so that no table grows with the number of distinct values.
    """
    axes = problem.axes
    n = len(codes)
    bins = np.empty(n, dtype=np.int64)
    if axes.is_tree[axis]:
        ancestor = lowest_ancestor(axes, axis, low, high)
        n_bins = 0
        for i in range(n):
            bins[i] = child_above(axes, axis, codes[i], ancestor)
            n_bins = max(n_bins, bins[i] + 1)
        return (bins, n_bins) if n_bins <= 4 * MOST_BINS else keep_largest(bins, counts, n_bins)
    if high - low < 4 * MOST_BINS:
        for i in range(n):
            bins[i] = codes[i] - low
        return bins, high - low + 1
    edges = quantile_edges(codes, axes.missing[axis])
    for i in range(n):
        bins[i] = np.searchsorted(edges, codes[i], side="right")
    return bins, len(edges) + 1


@kernel
def keep_largest(bins: Ints, counts: Ints, n_bins: int) -> tuple[Ints, int]:
    """Leave only the largest bins to be cut off; all others are one."""
    sizes = np.zeros(n_bins, dtype=np.int64)
    for i in range(len(bins)):
        sizes[bins[i]] += counts[i]
    number = np.full(n_bins, MOST_BINS - 1, dtype=np.int64)
    for place, b in enumerate(np.sort(np.argsort(-sizes, kind="mergesort")[: MOST_BINS - 1])):
        number[b] = place
    return number[bins], MOST_BINS


@kernel
def quantile_edges(codes: Ints, missing: int) -> Ints:
    """Codes at which the bins of a wide set begin: quantiles of a sample, and missing values for themselves."""
    sample = np.sort(codes[:: max(len(codes) // (SAMPLES_PER_BIN * MOST_BINS), 1)])
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
def count_bins(
    problem: Problem, cells: Ids, counts: Ints, codes: Ints, bins: Ints, n_bins: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """Tuples of each value in each bin, all tuples of each bin, and its least and greatest code."""
    table = np.zeros((n_bins, len(problem.cap)), dtype=np.int64)
    sizes = np.zeros(n_bins, dtype=np.int64)
    low = np.full(n_bins, 2**31, dtype=np.int64)
    high = np.full(n_bins, -1, dtype=np.int64)
    for i in range(len(cells)):
        b = bins[i]
        table[b, problem.cell_value[cells[i]]] += counts[i]
        sizes[b] += counts[i]
        low[b] = min(low[b], codes[i])
        high[b] = max(high[b], codes[i])
    return table, sizes, low, high


@kernel
def running_bounds(lows: Ints, highs: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Least and greatest code of the bins up to each one, and from each one on."""
    n = len(lows)
    low_to, high_to = lows.copy(), highs.copy()
    low_from, high_from = np.full(n + 1, 2**31, dtype=np.int64), np.full(n + 1, -1, dtype=np.int64)
    for b in range(1, n):
        low_to[b], high_to[b] = min(low_to[b - 1], lows[b]), max(high_to[b - 1], highs[b])
    for b in range(n - 1, -1, -1):
        low_from[b], high_from[b] = min(low_from[b + 1], lows[b]), max(high_from[b + 1], highs[b])
    return low_to, high_to, low_from, high_from


@kernel
def best_cut_of_axis(
    problem: Problem,
    axis: int,
    binned: tuple[Ints, Ints, Ints, Ints],
    total: Ints,
    cap: Floats,
    values: Ints,
    to_beat: float,
    looks_ahead: bool,
) -> tuple[float, int, int, bool, int, int]:
    """The cut of one attribute that gains most: gain, axis, bin, whether that bin alone is left, both core sizes.

    Prefixes of the bins, and for a hierarchy each child against the rest, which is what pays where a flat attribute
    loses all or nothing. Parting its children into two groups gains nothing yet; who looks ahead counts it as if the
    loss fell in proportion to the children that are left, as it will once they are all parted.
    """
    table, sizes, lows, highs = binned
    axes = problem.axes
    best = (to_beat, -1, -1, False, 0, 0)
    filled = np.flatnonzero(sizes)
    final = len(filled) - 1
    size = sizes.sum()
    low_to, high_to, low_from, high_from = running_bounds(lows[filled], highs[filled])
    whole = range_loss(axes, axis, low_to[final], high_to[final])
    left, right = np.zeros_like(total), np.zeros_like(total)
    for is_single in (False, True):
        if is_single and (not axes.is_tree[axis] or final < 2):
            break
        n_left = 0
        left[:] = 0
        for place in range(final + 1 if is_single else final):
            b = filled[place]
            low, high = low_from[place + 1], high_from[place + 1]  # of what is right of the cut
            if is_single:
                n_left = sizes[b]
                left[:] = table[b]
                loss_left = range_loss(axes, axis, lows[b], highs[b])
                if place > 0:
                    low, high = min(low, low_to[place - 1]), max(high, high_to[place - 1])
            else:
                n_left += sizes[b]
                left += table[b]
                loss_left = range_loss(axes, axis, low_to[place], high_to[place])
            loss_right = range_loss(axes, axis, low, high)
            if looks_ahead and axes.is_tree[axis]:
                n_children = 1 if is_single else place + 1
                if n_children > 1:
                    loss_left = min(loss_left, whole * (n_children - 1) / final)
                if n_children < final:
                    loss_right = min(loss_right, whole * (final - n_children) / final)
            gain_left = axes.weight[axis] * (whole - loss_left)
            gain_right = axes.weight[axis] * (whole - loss_right)
            if n_left * gain_left + (size - n_left) * gain_right <= best[0]:
                continue
            for v in values:
                right[v] = total[v] - left[v]
            core_left, core_right = core_sizes(left, n_left, right, size - n_left, cap, values)
            gain = core_left * gain_left + core_right * gain_right
            if gain > best[0]:
                best = (gain, axis, b, is_single, int(core_left), int(core_right))
    return best
