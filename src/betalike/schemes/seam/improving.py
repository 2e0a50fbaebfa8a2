"""Improve finished classes: merge a few neighbours, split them again, keep what loses less."""

from __future__ import annotations

import numpy as np

from betalike.measures.loss import plan_loss
from betalike.runtime.arrays import Ids, Ints
from betalike.runtime.compilation import kernel
from betalike.runtime.draws import Draws, draws_from
from betalike.runtime.randomness import Randomness
from betalike.runtime.sorting import stable_order
from betalike.runtime.threads import share_work
from betalike.schemes.retrieval import hilbert_keys
from betalike.schemes.seam.problem import SplitProblem
from betalike.schemes.seam.splitting import box_loss, box_of, split_set, with_room
from betalike.table.cells import Cells, Plan

SHARES = 16  # of the work, for the cores
FEW_FRAGMENTS = 1000  # with fewer, starting threads would take longer than the work itself
WORTHWHILE = 0.5  # of the average loss; windows that lose less are left alone


@kernel
def total_loss(problem: SplitProblem, cells: Ids, counts: Ints, starts: Ints) -> float:
    """Add up the loss of all tuples of some classes whose fragments lie behind each other."""
    loss = 0.0
    for ec in range(len(starts) - 1):
        begin, end = starts[ec], starts[ec + 1]
        low, high = box_of(problem, cells[begin:end])
        loss += counts[begin:end].sum() * box_loss(problem, low, high)
    return loss


@kernel
def merge_fragments(cells: Ids, counts: Ints) -> tuple[Ids, Ints]:
    """Merge fragments of the same cell."""
    order = stable_order(cells.astype(np.int64))  # the type for which it is compiled already
    merged_cell, merged_count = np.empty_like(cells), np.empty_like(counts)
    n = 0
    for i in order:
        if n > 0 and merged_cell[n - 1] == cells[i]:
            merged_count[n - 1] += counts[i]
        else:
            merged_cell[n], merged_count[n] = cells[i], counts[i]
            n += 1
    return merged_cell[:n].copy(), merged_count[:n].copy()


@kernel
def starts_of(ec: Ids, n_classes: int) -> Ints:
    """Return where each class begins among fragments sorted by class, and where they end."""
    starts = np.zeros(n_classes + 1, dtype=np.int64)
    for c in ec:
        starts[c + 1] += 1
    for c in range(n_classes):
        starts[c + 1] += starts[c]
    return starts


@kernel
def resplit_windows(
    problem: SplitProblem,
    cells: Ids,
    counts: Ints,
    starts: Ints,
    window: int,
    offset: int,
    reserve: float,
    looks_ahead: bool,
    least_loss: float,
    draws: Draws,
) -> tuple[Ids, Ints, Ids, int]:
    """Split each window of neighbouring classes again and keep the better result, in the form that `split_set` returns.

    Windows whose tuples lose no more than the least loss are left alone.
    """
    n_classes = len(starts) - 1
    out_cell = np.empty(2 * len(cells) + 16, dtype=np.int32)
    out_count = np.empty(len(out_cell), dtype=np.int64)
    out_class = np.empty(len(out_cell), dtype=np.int32)
    n_out, n_out_classes = 0, 0
    first = 0
    while first < n_classes:
        last = min(first + (offset if first == 0 and offset > 0 else window), n_classes)
        begin, end = starts[first], starts[last]
        part_cell, part_count = cells[begin:end], counts[begin:end]
        bounds = starts[first : last + 1] - begin
        before = total_loss(problem, part_cell, part_count, bounds)
        if before > least_loss * part_count.sum():
            merged_cell, merged_count = merge_fragments(part_cell, part_count)
            new_cell, new_count, new_class, n_new = split_set(
                problem, merged_cell, merged_count, reserve, looks_ahead, 0, draws
            )
            new_bounds = starts_of(new_class, n_new)
            if total_loss(problem, new_cell, new_count, new_bounds) < before * (1 - 1e-9):
                part_cell, part_count, bounds = new_cell, new_count, new_bounds
        n = len(part_cell)
        out_cell, out_count, out_class = with_room((out_cell, out_count, out_class), n_out + n)
        for i in range(n):  # slices would compile longer
            out_cell[n_out + i], out_count[n_out + i] = part_cell[i], part_count[i]
        for ec in range(len(bounds) - 1):
            out_class[n_out + bounds[ec] : n_out + bounds[ec + 1]] = n_out_classes
            n_out_classes += 1
        n_out += n
        first = last
    return out_cell[:n_out].copy(), out_count[:n_out].copy(), out_class[:n_out].copy(), n_out_classes


def improve(
    problem: SplitProblem,
    plan: Plan,
    window: int,
    offset: int,
    reserve: float,
    looks_ahead: bool,
    randomness: Randomness,
    turn: int = 0,
) -> Plan:
    """Pass once over all classes in the order of the Hilbert curve, on all cores.

    With a window of 1, each class is split again by itself.
    """
    cells = plan.cells
    rank = _places_along_curve(cells, plan, turn)
    order = np.argsort(rank[plan.ec], kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(rank[plan.ec], minlength=plan.n_classes)))
    least_loss = WORTHWHILE * plan_loss(plan).average if window > 1 else 0.0
    share = max(plan.n_classes // SHARES // window, 1) * window

    def work(first: int, draws: Draws) -> tuple[Ids, Ints, Ids, int]:
        last = min(first + share, plan.n_classes)
        part = order[starts[first] : starts[last]]
        bounds = starts[first : last + 1] - starts[first]
        return resplit_windows(
            problem, plan.cell[part], plan.count[part], bounds, window, offset, reserve, looks_ahead, least_loss, draws
        )

    shares = range(0, plan.n_classes, share)
    draws = [draws_from(randomness) for _ in shares]  # drawn here, because threads ask in any order
    in_turn = len(plan.cell) < FEW_FRAGMENTS
    results = list(map(work, shares, draws)) if in_turn else share_work(work, shares, draws)
    shifts = np.append(0, np.cumsum([result[3] for result in results]))
    return Plan(
        cells,
        np.concatenate([result[0] for result in results]),
        np.concatenate([result[1] for result in results]),
        np.concatenate([result[2] + shift for result, shift in zip(results, shifts, strict=False)]).astype(np.int32),
        int(shifts[-1]),
    )


def _places_along_curve(cells: Cells, plan: Plan, turn: int) -> Ints:
    """Return the place of each class along the curve, by the middle of its box; a turn changes the axes' order."""
    low, high = plan.boxes
    axes = [axis.positions for axis in cells.axes]
    middles = np.column_stack([(at[low[:, i]] + at[high[:, i]]) / 2 for i, at in enumerate(axes)])
    rank = np.empty(plan.n_classes, dtype=np.int64)
    rank[np.argsort(hilbert_keys(np.roll(middles, turn, axis=1)), kind="stable")] = np.arange(plan.n_classes)
    return rank
