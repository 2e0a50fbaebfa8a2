"""Anneal the classes of each of several groups of points, and keep what loses less."""

from __future__ import annotations

from betalike.runtime.arrays import IdGrid, Ids, Ints, Words
from betalike.runtime.compilation import kernel
from betalike.runtime.new_arrays import greatest_number, new_floats, new_id_grid, new_ids, new_ints, numbers_below
from betalike.runtime.noise import draw_unit
from betalike.schemes.annealing import LEAST_LOSS, Heat, Pieces, anneal, lack_of
from betalike.schemes.limits import Limits
from betalike.schemes.merging import Items, Style, merge_items
from betalike.schemes.regrouping import MOST_COUNTS, Classes, members_of
from betalike.schemes.spans import Spans, copy_box

LEAST_WARMTH = 0.1  # groups with temperatures of their own begin at a random one, down to this share of the highest
COOLING = 0.02  # the last temperature of such a group, as a share of its first


@kernel
def anneal_groups(
    spans: Spans,
    limits: Limits,
    items: Items,
    classes: Classes,
    order: Ints,
    starts: Ints,
    near: IdGrid,
    heat: Heat,
    style: Style,
    state: Words,
    worth: float,
    warmth: float,
    label: Ints,
) -> None:
    """Anneal each group, merge what is not allowed afterwards, and keep it if it loses less than `worth` times as much.

    The number of moves in `heat` is for each point. With a `warmth` above 0, each group has temperatures of its own.
    The labels are written in place.
    """
    place = new_ids(len(items.size), -1)
    for g in range(len(starts) - 1):
        group_classes = order[starts[g] : starts[g + 1]]
        before = 0.0
        for c in group_classes:
            before += classes.size[c] * classes.loss[c]
        members, group = members_of(classes, group_classes)
        if before <= 0.0 or len(members) < 2 or len(members) * len(limits.cap) > MOST_COUNTS:
            continue
        pieces = _cut_out(items, members, near, place)
        moves, hot, cold = heat.moves * len(members), heat.hot, heat.cold
        if warmth > 0.0:
            hot = warmth * LEAST_WARMTH ** draw_unit(state) * weigh_loss(classes, group_classes)
            cold = hot * COOLING
        own = Heat(moves, hot, cold, heat.soft, heat.hard, heat.alone, heat.block, heat.calm, heat.slab)
        anneal(spans, limits, pieces, own, group, state)
        _close_gaps(group)
        named, after, is_allowed = merge_items(spans, limits, items, members, group, style, state)
        if is_allowed and after < before * worth:
            for i in range(len(members)):
                label[members[i]] = members[named[i]]


@kernel
def weigh_loss(classes: Classes, chosen: Ints) -> float:
    """Return what a class loses, on average over all that some classes lose: those that lose much count most."""
    total, squares = 0.0, 0.0
    for c in chosen:
        lost = classes.size[c] * classes.loss[c]
        total += lost
        squares += lost * lost
    return squares / total if total > LEAST_LOSS else LEAST_LOSS


@kernel
def count_lacking(limits: Limits, items: Items) -> float:
    """Return how many rows all items lack to be allowed on their own."""
    counts, none, lacking = new_floats(len(limits.cap), 0.0), new_floats(len(limits.cap), 0.0), 0.0
    for item in range(len(items.size)):
        first, last = items.start[item], items.start[item + 1]
        for i in range(first, last):
            counts[items.number[i]] += items.rows[i]
        lacking += lack_of(limits, counts, none, 1.0, items.size[item])
        for i in range(first, last):
            counts[items.number[i]] = 0.0
    return lacking


@kernel
def _cut_out(items: Items, members: Ints, near: IdGrid, place: Ids) -> Pieces:
    """Return the points of a group as pieces, numbered from 0; `place` is scratch space, -1 before and after."""
    n, n_near, n_axes = len(members), near.shape[1], items.low.shape[1]
    starts = new_ints(n + 1, 0)
    for i in range(n):
        place[members[i]] = i
        starts[i + 1] = starts[i] + items.start[members[i] + 1] - items.start[members[i]]
    low, high, local = new_id_grid(n, n_axes, 0), new_id_grid(n, n_axes, 0), new_id_grid(n, n_near, -1)
    number, rows, size = new_ids(starts[n], 0), new_floats(starts[n], 0.0), new_floats(n, 0.0)
    for i in range(n):
        item = members[i]
        copy_box(low[i], high[i], items.low[item], items.high[item])
        size[i], first = items.size[item], items.start[item]
        for j in range(items.start[item + 1] - first):
            number[starts[i] + j], rows[starts[i] + j] = items.number[first + j], items.rows[first + j]
        for j in range(n_near):
            if near[item, j] >= 0:
                local[i, j] = place[near[item, j]]
    for item in members:
        place[item] = -1
    return Pieces(Items(low, high, size, starts, number, rows), numbers_below(n), numbers_below(n + 1), local)


@kernel
def _close_gaps(group: Ints) -> None:
    """Number the classes without gaps, in place."""
    new = new_ints(greatest_number(group) + 1, -1)
    n = 0
    for i in range(len(group)):
        if new[group[i]] < 0:
            new[group[i]] = n
            n += 1
        group[i] = new[group[i]]
