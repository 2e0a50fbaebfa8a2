"""Look again at classes: dissolve those of a neighbourhood, merge their items again, keep what loses less."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from betalike.runtime.arrays import FloatGrid, Floats, IdGrid, Ints, Words
from betalike.runtime.compilation import kernel
from betalike.runtime.new_arrays import new_float_grid, new_floats, new_id_grid, new_ints
from betalike.runtime.noise import draw_below, draw_unit
from betalike.schemes.limits import Limits, judge_sum
from betalike.schemes.merging import Items, Style, merge_items
from betalike.schemes.spans import NO_CODE, Spans, box_loss, widen_box

BETTER = 1.0 - 1e-9  # a new grouping replaces the old one only if its loss is below this share of the old one's
MOST_ITEMS = 2048  # of classes that are dissolved together; the time to merge them grows with the square
MOST_COUNTS = 2**24  # items times sets of values that a search holds at once


class Classes(NamedTuple):
    """Classes of items: the items of each, class by class, their box, rows and loss."""

    start: Ints
    items: Ints
    low: IdGrid
    high: IdGrid
    size: Floats
    loss: Floats


class Styles(NamedTuple):
    """Ways to merge that a search draws from; `kept` is the share of classes that stay together, every other time."""

    is_blind: bool
    n_candidates: Ints
    patience: Floats
    lack: Floats
    order: Ints
    noise: float
    kept: float


def outline_classes(spans: Spans, items: Items, label: Ints) -> Classes:
    """Return the classes of items with these labels, which are below the number of items."""
    start, members = list_members(label)
    return Classes(start, members, *outline_boxes(spans, items, start, members))


@kernel
def list_members(label: Ints) -> tuple[Ints, Ints]:
    """Return where each class begins, in ascending order of labels, and the items class by class."""
    place, start, members = new_ints(len(label) + 1, 0), new_ints(len(label) + 1, 0), new_ints(len(label), 0)
    for name in label:
        place[name] += 1
    n_classes, total = 0, 0
    for name in range(len(label)):
        count = place[name]
        place[name] = total
        if count > 0:
            start[n_classes] = total
            n_classes += 1
            total += count
    start[n_classes] = total
    for item in range(len(label)):
        members[place[label[item]]] = item
        place[label[item]] += 1
    return start[: n_classes + 1].copy(), members


@kernel
def outline_boxes(spans: Spans, items: Items, start: Ints, members: Ints) -> tuple[IdGrid, IdGrid, Floats, Floats]:
    """Return the box, rows and loss of each class."""
    n, n_axes = len(start) - 1, items.low.shape[1]
    low, high = new_id_grid(n, n_axes, NO_CODE), new_id_grid(n, n_axes, -1)
    size, loss = new_floats(n, 0.0), new_floats(n, 0.0)
    for c in range(n):
        for i in range(start[c], start[c + 1]):
            item = members[i]
            widen_box(low[c], high[c], items.low[item], items.high[item])
            size[c] += items.size[item]
        loss[c] = box_loss(spans, low[c], high[c])
    return low, high, size, loss


@kernel
def draw_places(classes: Classes, positions: FloatGrid, spread: float, state: Words) -> FloatGrid:
    """Return a place in the box of each class: its middle, or a random one near it."""
    n_axes = positions.shape[1]
    places = new_float_grid(len(classes.size), n_axes, 0.0)
    for c in range(len(places)):
        for axis in range(n_axes):
            low, high = np.inf, -np.inf
            for i in range(classes.start[c], classes.start[c + 1]):
                position = positions[classes.items[i], axis]
                low, high = min(low, position), max(high, position)
            places[c, axis] = low + (high - low) * (0.5 + spread * (draw_unit(state) - 0.5))
    return places


@kernel
def merge_groups(
    spans: Spans,
    limits: Limits,
    items: Items,
    classes: Classes,
    order: Ints,
    starts: Ints,
    style: Style,
    state: Words,
    label: Ints,
) -> bool:
    """Merge the classes of each group until all of them are allowed; return whether every group could be merged.

    `order` are classes group by group. A group that is not allowed as a whole is left as it is. The labels are written
    in place: a class is named by one of its items.
    """
    is_done = True
    for g in range(len(starts) - 1):
        members, group = members_of(classes, order[starts[g] : starts[g + 1]])
        if not _is_allowed(limits, items, members):
            is_done = False
            continue
        named, _, _ = merge_items(spans, limits, items, members, group, style, state)
        for i in range(len(members)):
            label[members[i]] = members[named[i]]
    return is_done


@kernel
def join_groups(limits: Limits, items: Items, classes: Classes, order: Ints, starts: Ints, label: Ints) -> None:
    """Join the classes of each group that are not allowed, without asking whether they are allowed together.

    For groups that are much smaller than any class that could be allowed. The labels are written in place.
    """
    least = limits.k
    if len(limits.inverse_cap) > 0:
        least = max(least, limits.inverse_cap.min())  # a smaller class has too much of every value
    for g in range(len(starts) - 1):
        first = -1
        for c in order[starts[g] : starts[g + 1]]:
            members = classes.items[classes.start[c] : classes.start[c + 1]]
            if classes.size[c] >= least and _is_allowed(limits, items, members):
                continue
            for item in members:
                if first < 0:
                    first = item
                label[item] = first


@kernel
def regroup(
    spans: Spans,
    limits: Limits,
    items: Items,
    classes: Classes,
    order: Ints,
    starts: Ints,
    styles: Styles,
    state: Words,
    label: Ints,
) -> None:
    """Dissolve the classes of each group and merge their items again, in a random style; keep what loses less.

    All classes are allowed, so that every group is. The labels are written in place.
    """
    for g in range(len(starts) - 1):
        near = order[starts[g] : starts[g + 1]]
        before = 0.0
        for c in near:
            before += classes.size[c] * classes.loss[c]
        if before <= 0.0:
            continue
        members, group = members_of(classes, near)
        if len(members) > MOST_ITEMS or len(members) * len(limits.cap) > MOST_COUNTS:
            continue
        if draw_unit(state) < 0.5:
            _dissolve(group, styles.kept, state)
        else:
            for i in range(len(group)):
                group[i] = i
        style = Style(
            styles.is_blind,
            styles.n_candidates[draw_below(state, len(styles.n_candidates))],
            styles.patience[draw_below(state, len(styles.patience))],
            styles.lack[draw_below(state, len(styles.lack))],
            styles.order[draw_below(state, len(styles.order))],
            styles.noise,
        )
        named, after, is_allowed = merge_items(spans, limits, items, members, group, style, state)
        if is_allowed and after < before * BETTER:
            for i in range(len(members)):
                label[members[i]] = members[named[i]]


@kernel
def members_of(classes: Classes, near: Ints) -> tuple[Ints, Ints]:
    """Return the items of some classes, and the class of each, numbered from 0."""
    n = 0
    for c in near:
        n += classes.start[c + 1] - classes.start[c]
    members, group = new_ints(n, 0), new_ints(n, 0)
    n = 0
    for number in range(len(near)):
        for i in range(classes.start[near[number]], classes.start[near[number] + 1]):
            members[n], group[n] = classes.items[i], number
            n += 1
    return members, group


@kernel
def _dissolve(group: Ints, kept: float, state: Words) -> None:
    """Let items start on their own, except those of some classes; items of a class are next to each other."""
    n, before, is_kept = -1, -1, False
    for i in range(len(group)):
        is_first = group[i] != before
        before = group[i]
        if is_first:
            is_kept = draw_unit(state) < kept
        if is_first or not is_kept:
            n += 1
        group[i] = n


@kernel
def _is_allowed(limits: Limits, items: Items, members: Ints) -> bool:
    counts, size = new_floats(len(limits.cap), 0.0), 0.0
    for item in members:
        size += items.size[item]
        for i in range(items.start[item], items.start[item + 1]):
            counts[items.number[i]] += items.rows[i]
    return bool(judge_sum(limits, counts, new_floats(len(counts), 0.0), 1.0, size)[2])
