"""SEAM's recursion: cut a set, repair the cut with the fewest tuples from beside it, go on with the three parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from betalike.runtime.arrays import FloatGrid, Floats, IdGrid, Ids, Ints
from betalike.runtime.compilation import inner_kernel, kernel
from betalike.runtime.draws import Draws
from betalike.schemes.packing import range_loss
from betalike.schemes.seam.band import send_to_seam
from betalike.schemes.seam.cores import core_sizes, fill_cores, fit_sizes, lift_cores
from betalike.schemes.seam.cuts import NO_CODE, Cuts, find_cuts, is_left, left_of
from betalike.schemes.seam.group import Group, can_be_cut, gather, least_size, meets_all
from betalike.schemes.seam.problem import SplitProblem

LEAST_GAIN = 1e-6  # of the set's loss; less is not worth a cut
MOST_FITS, HASTY_FITS = 16, 4  # cuts that are fitted before the best of them is taken
MOST_REFUSED = 32  # cuts that may be filled but do not meet every demand, before a set is left as it is


@kernel
def box_of(problem: SplitProblem, cells: Ids) -> tuple[Ints, Ints]:
    """Return the least and greatest code of a set on each axis."""
    low = np.empty(problem.points.shape[1], dtype=np.int64)
    high = np.empty_like(low)
    find_box(problem.points, problem.cell_point, cells, low, high)
    return low, high


@inner_kernel
def find_box(points: IdGrid, cell_point: Ids, cells: Ids, low: Ints, high: Ints) -> None:
    """Fill in the least and greatest code of a set on each axis."""
    low[:], high[:] = NO_CODE, -1
    for cell in cells:
        point = cell_point[cell]
        for axis in range(len(low)):
            code = points[point, axis]
            low[axis] = min(low[axis], code)
            high[axis] = max(high[axis], code)


@inner_kernel
def box_loss(problem: SplitProblem, low: Ints, high: Ints) -> float:
    """Return the information loss of a box. Paper: Eq. 4."""
    loss = 0.0
    for axis in range(len(low)):
        loss += problem.axes.weight[axis] * range_loss(problem.axes, axis, low[axis], high[axis])
    return loss


@kernel
def cut_set(
    problem: SplitProblem,
    cells: Ids,
    counts: Ints,
    reserve: float,
    looks_ahead: bool,
    number: Ids,
    draws: Draws,
    part: NDArray[np.int8],
    kept: Ints,
) -> bool:
    """Find the best possible cut; fill in the side of each fragment (0 left, 1 right) and what its core keeps."""
    low, high = np.empty(problem.points.shape[1], dtype=np.int64), np.empty(problem.points.shape[1], dtype=np.int64)
    find_box(problem.points, problem.cell_point, cells, low, high)
    loss = box_loss(problem, low, high)
    if loss <= 0.0:
        return False
    group = gather(problem, cells, counts, loss, reserve, number)
    if not can_be_cut(group):
        return False
    bins = np.empty((len(low), len(cells)), dtype=np.int32)
    cuts, n_cuts = find_cuts(problem, group, low, high, looks_ahead, bins)
    cores = np.empty((2, len(group.total)), dtype=np.float64)
    cut = best_cut(group, cuts, n_cuts, LEAST_GAIN * group.size * loss, cores)
    if cut < 0:
        return False
    axis = cuts.axis[cut]
    take_sides(cuts, cut, bins[axis], part)
    send_to_seam(problem, group, axis, low[axis], high[axis], part, cores, draws, kept)
    return True


@inner_kernel
def take_sides(cuts: Cuts, cut: int, bins: Ids, part: NDArray[np.int8]) -> None:
    """Fill in the side of a cut on which each fragment lies."""
    for i in range(len(bins)):
        part[i] = 0 if is_left(cuts, cut, bins[i]) else 1


@kernel
def best_cut(group: Group, cuts: Cuts, n_cuts: int, least_gain: float, cores: FloatGrid) -> int:
    """Return the cut that gains most once its cores are fitted, and fill in what they hold; -1 if none gains enough."""
    if n_cuts == 0:
        return -1
    bound, sizes = np.empty(n_cuts), np.full((n_cuts, 2), -1.0)
    sides = np.empty((3, len(group.total)))
    n_refused = 0
    while n_refused < MOST_REFUSED:
        best, size_left, size_right, has_reserve = best_fit(group, cuts, least_gain, bound, sizes, sides)
        if best < 0:
            break
        if fill_both(group, sides[2], (size_left, size_right), has_reserve, cores):
            if meets_all(group, cores):
                return best
            n_refused += 1
        cuts.bound[best] = -1.0
    return -1


@inner_kernel
def best_fit(
    group: Group, cuts: Cuts, least_gain: float, bound: Floats, sizes: FloatGrid, sides: FloatGrid
) -> tuple[int, float, float, bool]:
    """Return the cut that gains most, the sizes of its cores, and whether they keep a reserve; the cut is -1 if none.

    A cut is examined more closely only while it may gain more than the best one is known to: from the bound to the
    formula, and from there to the sizes that rounding permits. Arrays after `least_gain` are scratch space, but `sizes`
    stay from call to call, and the last row of `sides` becomes what lies left of the cut.
    """
    left, right, best_left = sides[0], sides[1], sides[2]
    least = least_size(group)
    bound_gains(group, cuts, least, bound)
    best, fit = -1, (least_gain, 0.0, 0.0, False)
    n_fits = 0
    while n_fits < (HASTY_FITS if group.is_hasty else MOST_FITS):
        cut = greatest(bound)
        if bound[cut] <= fit[0]:
            break
        left_of(cuts, cut, left)
        gains = (cuts.gains[cut, 0], cuts.gains[cut, 1])
        if sizes[cut, 0] < 0.0:
            for v in range(len(left)):
                right[v] = group.total[v] - left[v]
            size_left, size_right = core_sizes(group, left, right, cuts.n_left[cut])
            sizes[cut, 0] = size_left if size_left >= least else 0.0
            sizes[cut, 1] = size_right if size_right >= least else 0.0
            bound[cut] = sizes[cut, 0] * gains[0] + sizes[cut, 1] * gains[1]
            continue
        bound[cut] = 0.0
        n_fits += 1
        found = fit_sizes(group, left, (sizes[cut, 0], sizes[cut, 1]), gains, fit[0])
        if found[0] > fit[0]:
            best, fit = cut, found
            for v in range(len(left)):
                best_left[v] = left[v]
    return best, fit[1], fit[2], fit[3]


@inner_kernel
def bound_gains(group: Group, cuts: Cuts, least: int, bound: Floats) -> None:
    """Fill in what each cut may gain at most: a side that is smaller than every part has no core."""
    for cut in range(len(bound)):
        bound[cut] = cuts.bound[cut]
        n_left = cuts.n_left[cut]
        if n_left < least:
            bound[cut] -= n_left * cuts.gains[cut, 0]
        if group.size - n_left < least:
            bound[cut] -= (group.size - n_left) * cuts.gains[cut, 1]


@inner_kernel
def greatest(numbers: Floats) -> int:
    """Return the place of the first greatest number."""
    best = 0
    for i in range(1, len(numbers)):
        if numbers[i] > numbers[best]:
            best = i
    return best


@kernel
def fill_both(group: Group, left: Floats, sizes: tuple[float, float], has_reserve: bool, cores: FloatGrid) -> bool:
    """Fill both cores of a cut, perhaps with a reserve; False if it cannot be done evenly."""
    if len(group.floor) > 0:
        return lift_cores(group, left, sizes, has_reserve, cores)
    return fill_cores(group, left, sizes, group.tight if has_reserve else group.cap, cores)


@kernel
def with_room(fragments: tuple[Ids, Ints, Ids], needed: int) -> tuple[Ids, Ints, Ids]:
    """Return the same arrays, or longer copies where they have less room than needed."""
    cell, count, ec = fragments
    if needed <= len(cell):
        return fragments
    n = len(cell) + needed
    return (
        np.concatenate((cell, np.empty(n, dtype=np.int32))),
        np.concatenate((count, np.empty(n, dtype=np.int64))),
        np.concatenate((ec, np.empty(n, dtype=np.int32))),
    )


@kernel
def split_set(
    problem: SplitProblem, cells: Ids, counts: Ints, reserve: float, looks_ahead: bool, small: int, draws: Draws
) -> tuple[Ids, Ints, Ids, int]:
    """Split a set into classes; return fragments (cell, count, class) and the number of classes.

    Sets of fewer than `small` fragments are left as they are. Sets that wait lie behind each other in one stack.
    """
    stack_cell, stack_count = cells.copy(), counts.copy()
    starts = np.zeros(64, dtype=np.int64)
    n_sets, used = 1, len(cells)
    out_cell = np.empty(2 * len(cells) + 16, dtype=np.int32)
    out_count = np.empty(len(out_cell), dtype=np.int64)
    out_class = np.empty(len(out_cell), dtype=np.int32)
    n_out, n_classes = 0, 0
    number = np.full(len(problem.numerator), -1, dtype=np.int32)
    while n_sets > 0:
        n_sets -= 1
        begin = starts[n_sets]
        n = used - begin
        set_cell, set_count = stack_cell[begin:used].copy(), stack_count[begin:used].copy()
        used = begin
        part, kept = np.zeros(n, dtype=np.int8), np.zeros(n, dtype=np.int64)
        if n < small or not cut_set(problem, set_cell, set_count, reserve, looks_ahead, number, draws, part, kept):
            out_cell, out_count, out_class = with_room((out_cell, out_count, out_class), n_out + n)
            for i in range(n):  # slices would compile longer
                out_cell[n_out + i], out_count[n_out + i], out_class[n_out + i] = set_cell[i], set_count[i], n_classes
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
