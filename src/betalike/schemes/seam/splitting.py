"""SEAM's recursion: cut a set, repair the cut with the fewest tuples from beside it, go on with the three parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from betalike.compilation import kernel
from betalike.schemes.seam.cores import fit_cores
from betalike.schemes.seam.cuts import best_cut_of_axis, bin_codes, count_bins
from betalike.schemes.seam.packing import range_loss
from betalike.schemes.seam.problem import Problem

Ints = NDArray[np.int64]
Ids = NDArray[np.int32]
Floats = NDArray[np.float64]

LEAST_GAIN = 1e-6  # of the set's loss; less is not worth a cut


@kernel
def codes_on(problem: Problem, axis: int, cells: Ids) -> Ints:
    """The code of each cell on an axis."""
    codes = np.empty(len(cells), dtype=np.int64)
    for i in range(len(cells)):
        codes[i] = problem.points[problem.cell_point[cells[i]], axis]
    return codes


@kernel
def box_of(problem: Problem, cells: Ids) -> tuple[Ints, Ints]:
    """Least and greatest code of a set on each axis."""
    n_axes = problem.points.shape[1]
    low = np.full(n_axes, 2**31, dtype=np.int64)
    high = np.full(n_axes, -1, dtype=np.int64)
    for cell in cells:
        for axis in range(n_axes):
            code = problem.points[problem.cell_point[cell], axis]
            low[axis] = min(low[axis], code)
            high[axis] = max(high[axis], code)
    return low, high


@kernel
def box_loss(problem: Problem, low: Ints, high: Ints) -> float:
    """Information loss of a box. Paper: Eq. 4."""
    loss = 0.0
    for axis in range(len(low)):
        loss += problem.axes.weight[axis] * range_loss(problem.axes, axis, low[axis], high[axis])
    return loss


@kernel
def reserved_cap(problem: Problem, total: Ints, size: int, loss: float, reserve: float, values: Ints) -> Floats:
    """A tighter cap, so that the parts keep slack for cuts to come: the more, the wider the set still is."""
    cap = problem.cap.copy()
    for v in values:
        cap[v] = max(cap[v] * (1.0 - reserve * np.sqrt(loss)), 0.5 * (total[v] / size + cap[v]))
    return cap


@kernel
def cut_set(
    problem: Problem,
    cells: Ids,
    counts: Ints,
    reserve: float,
    looks_ahead: bool,
    part: NDArray[np.int8],
    kept: Ints,
) -> bool:
    """Find the best cut that can be made; fills the side of each fragment (0 left, 1 right) and what its core keeps."""
    n_axes = problem.points.shape[1]
    total = np.zeros(len(problem.cap), dtype=np.int64)
    for i in range(len(cells)):
        total[problem.cell_value[cells[i]]] += counts[i]
    size = total.sum()
    low, high = box_of(problem, cells)
    loss = box_loss(problem, low, high)
    if loss <= 0.0 or size < 2 * problem.k:
        return False
    values = np.flatnonzero(total)
    cap = reserved_cap(problem, total, size, loss, reserve, values)
    is_tried = np.zeros(n_axes, dtype=np.bool_)
    for _ in range(n_axes):
        best = (LEAST_GAIN * size * loss, -1, -1, False, 0, 0)
        best_bins = np.empty(0, dtype=np.int64)
        for axis in range(n_axes):
            if is_tried[axis] or low[axis] == high[axis] or problem.axes.weight[axis] == 0.0:
                continue
            codes = codes_on(problem, axis, cells)
            bins, n_bins = bin_codes(problem, axis, codes, counts, low[axis], high[axis])
            binned = count_bins(problem, cells, counts, codes, bins, n_bins)
            found = best_cut_of_axis(problem, axis, binned, total, cap, values, best[0], looks_ahead)
            if found[1] >= 0:
                best = found
                best_bins = bins
        if best[1] < 0:
            return False
        if make_cut(problem, cells, counts, best, best_bins, total, cap, values, part, kept):
            return True
        is_tried[best[1]] = True
    return False


@kernel
def make_cut(
    problem: Problem,
    cells: Ids,
    counts: Ints,
    cut: tuple[float, int, int, bool, int, int],
    bins: Ints,
    total: Ints,
    cap: Floats,
    values: Ints,
    part: NDArray[np.int8],
    kept: Ints,
) -> bool:
    """Carry a cut out: of each value, the tuples farthest from the cut go to the cores, the nearest to the seam."""
    _, axis, last_left, is_single, size_left, size_right = cut
    left = np.zeros_like(total)
    for i in range(len(cells)):
        is_left = bins[i] == last_left if is_single else bins[i] <= last_left
        part[i] = 0 if is_left else 1
        if is_left:
            left[problem.cell_value[cells[i]]] += counts[i]
    cores = np.zeros((2, len(total)), dtype=np.int64)
    if not fit_cores(problem, left, total - left, (size_left, size_right), cap, values, cores):
        return False
    order = np.argsort(codes_on(problem, axis, cells))
    for side in range(2):
        for i in order if side == 0 else order[::-1]:
            if part[i] == side:
                v = problem.cell_value[cells[i]]
                kept[i] = min(counts[i], cores[side, v])
                cores[side, v] -= kept[i]
    return True


@kernel
def split_set(
    problem: Problem, cells: Ids, counts: Ints, reserve: float, looks_ahead: bool
) -> tuple[Ids, Ints, Ids, int]:
    """Split a set into classes; returns fragments (cell, count, class) and the number of classes.

    Sets that wait lie behind each other in one stack of fragments.
    """
    stack_cell, stack_count = cells.copy(), counts.copy()
    starts = np.zeros(64, dtype=np.int64)
    n_sets, used = 1, len(cells)
    out_cell = np.empty(2 * len(cells) + 16, dtype=np.int32)
    out_count = np.empty(len(out_cell), dtype=np.int64)
    out_class = np.empty(len(out_cell), dtype=np.int32)
    n_out, n_classes = 0, 0
    while n_sets > 0:
        n_sets -= 1
        begin = starts[n_sets]
        n = used - begin
        set_cell, set_count = stack_cell[begin:used].copy(), stack_count[begin:used].copy()
        used = begin
        part, kept = np.zeros(n, dtype=np.int8), np.zeros(n, dtype=np.int64)
        if not cut_set(problem, set_cell, set_count, reserve, looks_ahead, part, kept):
            if n_out + n > len(out_cell):
                out_cell = np.concatenate((out_cell, np.empty(len(out_cell) + n, dtype=np.int32)))
                out_count = np.concatenate((out_count, np.empty(len(out_count) + n, dtype=np.int64)))
                out_class = np.concatenate((out_class, np.empty(len(out_class) + n, dtype=np.int32)))
            out_cell[n_out : n_out + n] = set_cell
            out_count[n_out : n_out + n] = set_count
            out_class[n_out : n_out + n] = n_classes
            n_out += n
            n_classes += 1
            continue
        if used + 2 * n > len(stack_cell):  # a fragment lies in a core and in the seam at the most
            stack_cell = np.concatenate((stack_cell, np.empty(len(stack_cell) + 2 * n, dtype=np.int32)))
            stack_count = np.concatenate((stack_count, np.empty(len(stack_count) + 2 * n, dtype=np.int64)))
        if n_sets + 3 > len(starts):
            starts = np.concatenate((starts, np.zeros(len(starts), dtype=np.int64)))
        for side in range(3):  # left core, right core, seam
            starts[n_sets] = used
            for i in range(n):
                give = set_count[i] - kept[i] if side == 2 else (kept[i] if part[i] == side else 0)
                if give > 0:
                    stack_cell[used], stack_count[used] = set_cell[i], give
                    used += 1
            if used > starts[n_sets]:
                n_sets += 1
    return out_cell[:n_out].copy(), out_count[:n_out].copy(), out_class[:n_out].copy(), n_classes
