"""Anneal classes: move pieces to the classes of near points, at first also where that loses more, later less and less.

A piece is what moves: all rows of a point, or some rows of a cell. While it is hot, classes need not be allowed; what a
class lacks counts as loss, more and more. Classes that are still not allowed in the end have to be merged with others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from betalike.runtime.arrays import FloatGrid, Floats, IdGrid, Ids, Ints, Words
from betalike.runtime.compilation import inner_kernel, kernel
from betalike.runtime.new_arrays import greatest_number, new_float_grid, new_floats, new_id_grid, new_ints
from betalike.runtime.noise import draw_below, draw_unit
from betalike.schemes.limits import Limits, judge_sum
from betalike.schemes.merging import Items
from betalike.schemes.spans import NO_CODE, Spans, box_loss, copy_box, empty_box, widen_box

STEP = 256  # moves between two changes of the temperature
FORBIDDEN = 1e200  # penalty with which no class ever becomes one that is not allowed
LEAST_LACK = 1e-9
LEAST_LOSS = 1e-100  # of a class; less comes from absurd weights, and temperatures in its units would vanish
FEWEST = 0.5  # rows; a class with fewer has none


class Pieces(NamedTuple):
    """What moves: items, the pieces of each point one after the other, and the points near each one (-1: none)."""

    items: Items
    point: Ints
    start: Ints
    near: IdGrid


class Heat(NamedTuple):
    """How long and how hot: the first and last temperature, and penalty per row that a class lacks.

    A move goes to a new class with the chance `alone`, and takes all pieces of a point that are in the same class with
    the chance `block`. Pieces of classes that lose nothing are left alone with the chance `calm`. With
    the chance `slab`, a move takes all pieces of a class on one side of a piece, on a random axis.
    """

    moves: int
    hot: float
    cold: float
    soft: float
    hard: float
    alone: float
    block: float
    calm: float
    slab: float


class Fluid(NamedTuple):
    """Classes whose pieces move, as lists with a head each; those without pieces wait in a stack.

    `at_low` and `at_high` count pieces at the sides of a box: a class only gets narrower when the last one leaves.
    """

    low: IdGrid
    high: IdGrid
    at_low: IdGrid
    at_high: IdGrid
    counts: FloatGrid
    size: Floats
    loss: Floats
    lack: Floats
    head: Ints
    following: Ints
    previous: Ints
    free: Ints
    n_free: Ints


class Move(NamedTuple):
    """A set of pieces of one class, its box, and the boxes and counts that a move needs."""

    pieces: Ints
    counts: Floats
    part_low: Ids
    part_high: Ids
    rest_low: Ids
    rest_high: Ids
    low: Ids
    high: Ids
    after: Floats  # loss and lack of the rest, then of the class that the pieces join


@kernel
def anneal(spans: Spans, limits: Limits, pieces: Pieces, heat: Heat, label: Ints, state: Words) -> None:
    """Move pieces between classes; labels (0, 1, ...) are changed in place, and need not stay without gaps."""
    fluid = _fill(spans, limits, pieces, label)
    n_axes, n_sets = pieces.items.low.shape[1], len(limits.cap)
    codes = new_id_grid(6, n_axes, 0)
    listed, counts = new_ints(len(label), 0), new_floats(n_sets, 0.0)
    move = Move(listed, counts, codes[0], codes[1], codes[2], codes[3], codes[4], codes[5], new_floats(4, 0.0))
    temperature, penalty = heat.hot, heat.soft
    for number in range(heat.moves):
        if number % STEP == 0:
            done = number / heat.moves
            temperature = heat.hot * (heat.cold / heat.hot) ** done
            penalty = heat.soft * (heat.hard / heat.soft) ** done
        piece = draw_below(state, len(label))
        source = label[piece]
        if fluid.loss[source] == 0.0 and fluid.lack[source] == 0.0 and draw_unit(state) < heat.calm:
            continue
        target = _choose_target(pieces, heat, fluid, label, piece, state)
        if target < 0 or target == source:
            continue
        is_slab = heat.slab > 0.0 and draw_unit(state) < heat.slab
        if is_slab:
            n_moved, rows = _gather_slab(pieces, fluid, source, piece, move, state)
        else:
            n_moved, rows = _gather(pieces, label, piece, draw_unit(state) < heat.block, move)
        most_cost = -temperature * np.log(draw_unit(state) + 1e-300)
        if _is_taken(spans, limits, pieces, fluid, move, n_moved, rows, target, label, penalty, most_cost, is_slab):
            _apply(pieces, fluid, move, n_moved, rows, target, label, is_slab)


@kernel
def _fill(spans: Spans, limits: Limits, pieces: Pieces, label: Ints) -> Fluid:
    """Return the classes of these labels, and as many free ones as there are points."""
    items, n = pieces.items, len(label)
    n_used = greatest_number(label) + 1
    most, n_axes, n_sets = n_used + len(pieces.start) - 1, items.low.shape[1], len(limits.cap)
    fluid = Fluid(
        new_id_grid(most, n_axes, NO_CODE),
        new_id_grid(most, n_axes, -1),
        new_id_grid(most, n_axes, 0),
        new_id_grid(most, n_axes, 0),
        new_float_grid(most, n_sets, 0.0),
        new_floats(most, 0.0),
        new_floats(most, 0.0),
        new_floats(most, 0.0),
        new_ints(most, -1),
        new_ints(n, -1),
        new_ints(n, -1),
        new_ints(most, 0),
        new_ints(1, most - n_used),
    )
    for ec in range(most):
        fluid.free[ec] = most - 1 - ec
    for piece in range(n):
        ec = label[piece]
        widen_box(fluid.low[ec], fluid.high[ec], items.low[piece], items.high[piece])
        fluid.size[ec] += items.size[piece]
        for i in range(items.start[piece], items.start[piece + 1]):
            fluid.counts[ec, items.number[i]] += items.rows[i]
        _link(fluid, ec, piece)
    none = new_floats(n_sets, 0.0)
    for ec in range(n_used):
        fluid.loss[ec] = box_loss(spans, fluid.low[ec], fluid.high[ec])
        fluid.lack[ec] = lack_of(limits, fluid.counts[ec], none, 1.0, fluid.size[ec])
        _count_sides(items, fluid, ec)
    return fluid


@inner_kernel
def _count_sides(items: Items, fluid: Fluid, ec: int) -> None:
    """Count the pieces at each side of a class's box."""
    for axis in range(items.low.shape[1]):
        fluid.at_low[ec, axis] = fluid.at_high[ec, axis] = 0
    piece = fluid.head[ec]
    while piece >= 0:
        for axis in range(items.low.shape[1]):
            fluid.at_low[ec, axis] += items.low[piece, axis] == fluid.low[ec, axis]
            fluid.at_high[ec, axis] += items.low[piece, axis] == fluid.high[ec, axis]
        piece = fluid.following[piece]


@inner_kernel
def lack_of(limits: Limits, one: Floats, other: Floats, sign: float, size: float) -> float:
    """Return how many rows a class with counts `one + sign * other` lacks; 0 if it is allowed."""
    found = judge_sum(limits, one, other, sign, size)
    return 0.0 if found[2] else max(found[1], LEAST_LACK)


@inner_kernel
def _link(fluid: Fluid, ec: int, piece: int) -> None:
    """Put a piece at the head of a class's list."""
    head = fluid.head[ec]
    fluid.previous[piece], fluid.following[piece] = -1, head
    if head >= 0:
        fluid.previous[head] = piece
    fluid.head[ec] = piece


@inner_kernel
def _unlink(fluid: Fluid, ec: int, piece: int) -> None:
    """Take a piece out of a class's list."""
    before, after = fluid.previous[piece], fluid.following[piece]
    if before >= 0:
        fluid.following[before] = after
    else:
        fluid.head[ec] = after
    if after >= 0:
        fluid.previous[after] = before


@inner_kernel
def _choose_target(pieces: Pieces, heat: Heat, fluid: Fluid, label: Ints, piece: int, state: Words) -> int:
    """Return the class of a random piece of a near point, or of the same one, or a new class; -1 if there is none."""
    if fluid.n_free[0] > 0 and draw_unit(state) < heat.alone:
        return int(fluid.free[fluid.n_free[0] - 1])
    point = pieces.point[piece]
    n_own = pieces.start[point + 1] - pieces.start[point]
    n_near = pieces.near.shape[1]
    place = draw_below(state, n_near + (4 if n_own > 1 else 0))
    other = pieces.near[point, place] if place < n_near else point
    if other < 0:
        return -1
    first, last = pieces.start[other], pieces.start[other + 1]
    return int(label[first + draw_below(state, last - first)])


@inner_kernel
def _gather(pieces: Pieces, label: Ints, piece: int, is_block: bool, move: Move) -> tuple[int, float]:
    """List the pieces that move; return their number and their rows."""
    point, source, items = pieces.point[piece], label[piece], pieces.items
    n_moved, rows = 0, 0.0
    copy_box(move.part_low, move.part_high, items.low[piece], items.high[piece])
    for other in range(pieces.start[point], pieces.start[point + 1]):
        if label[other] == source and (is_block or other == piece):
            move.pieces[n_moved] = other
            n_moved += 1
            rows += items.size[other]
    return n_moved, rows


@inner_kernel
def _gather_slab(pieces: Pieces, fluid: Fluid, source: int, piece: int, move: Move, state: Words) -> tuple[int, float]:
    """List a piece and those of its class on one side of it; return their number and rows. Also fills in both boxes."""
    items, n_moved, rows = pieces.items, 0, 0.0
    axis, sign = draw_below(state, items.low.shape[1]), 1 if draw_unit(state) < 0.5 else -1
    code = items.low[piece, axis]
    empty_box(move.part_low, move.part_high)
    empty_box(move.rest_low, move.rest_high)
    other = fluid.head[source]
    while other >= 0:
        if sign * items.low[other, axis] <= sign * code:
            widen_box(move.part_low, move.part_high, items.low[other], items.high[other])
            move.pieces[n_moved] = other
            n_moved += 1
            rows += items.size[other]
        else:
            widen_box(move.rest_low, move.rest_high, items.low[other], items.high[other])
        other = fluid.following[other]
    return n_moved, rows


@inner_kernel
def _is_taken(
    spans: Spans,
    limits: Limits,
    pieces: Pieces,
    fluid: Fluid,
    move: Move,
    n_moved: int,
    rows: float,
    target: int,
    label: Ints,
    penalty: float,
    most_cost: float,
    is_slab: bool,
) -> bool:
    """Whether a move costs little enough; loss is compared first, because counts take longer to judge."""
    piece = move.pieces[0]
    source, items = label[piece], pieces.items
    size, rest = fluid.size[source], fluid.size[source] - rows
    if rest < FEWEST and fluid.size[target] < FEWEST:
        return False  # a class would only change its name
    copy_box(move.low, move.high, fluid.low[target], fluid.high[target])
    widen_box(move.low, move.high, move.part_low, move.part_high)
    move.after[2] = box_loss(spans, move.low, move.high)
    cost = (fluid.size[target] + rows) * move.after[2] - fluid.size[target] * fluid.loss[target]
    cost -= penalty * (fluid.lack[source] + fluid.lack[target]) + size * fluid.loss[source]
    if cost > most_cost:  # even if nothing were lost in the rest
        return False
    move.after[0] = move.after[1] = 0.0
    if rest > FEWEST:
        if not is_slab:
            _find_rest(pieces, fluid, move, source, piece, n_moved)
        move.after[0] = box_loss(spans, move.rest_low, move.rest_high)
        cost += rest * move.after[0]
        if cost > most_cost:
            return False
    _count_moved(items, move, n_moved, 1.0)
    move.after[3] = lack_of(limits, fluid.counts[target], move.counts, 1.0, fluid.size[target] + rows)
    cost += penalty * move.after[3]
    if cost <= most_cost and rest > FEWEST:
        move.after[1] = lack_of(limits, fluid.counts[source], move.counts, -1.0, rest)
        cost += penalty * move.after[1]
    _count_moved(items, move, n_moved, 0.0)
    return bool(cost <= most_cost)


@inner_kernel
def _find_rest(pieces: Pieces, fluid: Fluid, move: Move, source: int, piece: int, n_moved: int) -> None:
    """Fill in the box of what stays behind; it is the same unless all pieces at a side of the box leave."""
    items = pieces.items
    copy_box(move.rest_low, move.rest_high, fluid.low[source], fluid.high[source])
    is_narrower = False
    for axis in range(len(move.low)):
        low, high, code = fluid.low[source, axis], fluid.high[source, axis], items.low[piece, axis]
        if low != high:
            n_there = fluid.at_low[source, axis] if code == low else fluid.at_high[source, axis] if code == high else -1
            is_narrower = is_narrower or n_there == n_moved
    if not is_narrower:
        return
    empty_box(move.rest_low, move.rest_high)
    point, other = pieces.point[piece], fluid.head[source]
    while other >= 0:
        if pieces.point[other] != point:
            widen_box(move.rest_low, move.rest_high, items.low[other], items.high[other])
        other = fluid.following[other]


@inner_kernel
def _count_moved(items: Items, move: Move, n_moved: int, times: float) -> None:
    """Add up the counts of the pieces that move, or clear them with 0 times."""
    for m in range(n_moved):
        piece = move.pieces[m]
        for i in range(items.start[piece], items.start[piece + 1]):
            number = items.number[i]
            move.counts[number] = times * (move.counts[number] + items.rows[i])


@inner_kernel
def _apply(
    pieces: Pieces, fluid: Fluid, move: Move, n_moved: int, rows: float, target: int, label: Ints, is_slab: bool
) -> None:
    """Move the pieces, and bring both classes up to date."""
    items, source = pieces.items, label[move.pieces[0]]
    if fluid.n_free[0] > 0 and fluid.free[fluid.n_free[0] - 1] == target:
        fluid.n_free[0] -= 1
    for m in range(n_moved):
        piece = move.pieces[m]
        _unlink(fluid, source, piece)
        _link(fluid, target, piece)
        label[piece] = target
        for i in range(items.start[piece], items.start[piece + 1]):
            fluid.counts[source, items.number[i]] -= items.rows[i]
            fluid.counts[target, items.number[i]] += items.rows[i]
    fluid.size[source] -= rows
    fluid.size[target] += rows
    if not is_slab:
        _update_sides(items, fluid, move, n_moved, source, target)
    copy_box(fluid.low[target], fluid.high[target], move.low, move.high)
    fluid.loss[source], fluid.lack[source] = move.after[0], move.after[1]
    fluid.loss[target], fluid.lack[target] = move.after[2], move.after[3]
    if fluid.size[source] < FEWEST:
        fluid.size[source] = 0.0
        empty_box(fluid.low[source], fluid.high[source])
        fluid.free[fluid.n_free[0]] = source
        fluid.n_free[0] += 1
    elif is_slab or _is_narrower(move, fluid, source):
        copy_box(fluid.low[source], fluid.high[source], move.rest_low, move.rest_high)
        _count_sides(items, fluid, source)
    if is_slab:
        _count_sides(items, fluid, target)


@inner_kernel
def _is_narrower(move: Move, fluid: Fluid, source: int) -> bool:
    """Whether what stays behind has a smaller box."""
    changed = False
    for axis in range(len(move.low)):
        changed = changed or fluid.low[source, axis] != move.rest_low[axis]
        changed = changed or fluid.high[source, axis] != move.rest_high[axis]
    return changed


@inner_kernel
def _update_sides(items: Items, fluid: Fluid, move: Move, n_moved: int, source: int, target: int) -> None:
    """Count what leaves the sides of one box and arrives at those of another, before the other is widened."""
    piece = move.pieces[0]
    for axis in range(len(move.low)):
        code = items.low[piece, axis]
        fluid.at_low[source, axis] -= n_moved * (code == fluid.low[source, axis])
        fluid.at_high[source, axis] -= n_moved * (code == fluid.high[source, axis])
        if move.low[axis] < fluid.low[target, axis]:
            fluid.at_low[target, axis] = 0
        if move.high[axis] > fluid.high[target, axis]:
            fluid.at_high[target, axis] = 0
        fluid.at_low[target, axis] += n_moved * (code == move.low[axis])
        fluid.at_high[target, axis] += n_moved * (code == move.high[axis])
