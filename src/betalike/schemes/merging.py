"""Merge items into classes until every class is allowed: the smallest that is not allowed joins a near one.

An item is anything with a box and counts that stays together: all people with the same quasi-identifiers, or a class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from betalike.runtime.arrays import FloatGrid, Floats, IdGrid, Ids, Ints, Words
from betalike.runtime.compilation import inner_kernel, kernel
from betalike.runtime.new_arrays import (
    greatest_number,
    new_float_grid,
    new_floats,
    new_id_grid,
    new_ints,
    numbers_below,
)
from betalike.runtime.noise import draw_unit
from betalike.schemes.limits import Limits, judge_sum
from betalike.schemes.spans import NO_CODE, Spans, box_loss, joint_loss_up_to, widen_box

SMALLEST, WORST, ANY = 0, 1, 2  # which class that is not allowed is merged first
FAR = np.inf
NO_GAIN = 1e100  # score of a partner that brings a class no nearer to being allowed
TINY = 1e-9


class Items(NamedTuple):
    """What is merged: a box each, rows, and counts of sets of values; those of item i begin at `start[i]`."""

    low: IdGrid
    high: IdGrid
    size: Floats
    start: Ints
    number: Ids
    rows: Floats


class Style(NamedTuple):
    """How partners are chosen: by loss per unit of what keeps a class from being allowed, among the cheapest.

    If `is_blind`, all that counts is how many classes are not allowed. Otherwise rows count that are too many or, with
    the weight `lack`, lacking. `patience` is added to what a merger improves. `order` says which class is merged next,
    and scores get `noise`.
    """

    is_blind: bool

    n_candidates: int
    patience: float
    lack: float
    order: int
    noise: float


class Growing(NamedTuple):
    """Classes that are being merged."""

    low: IdGrid
    high: IdGrid
    counts: FloatGrid
    size: Floats
    loss: Floats
    bad: Floats  # what keeps a class from being allowed; 0 if it is
    key: Floats


@kernel
def merge_items(
    spans: Spans, limits: Limits, items: Items, members: Ints, group: Ints, style: Style, state: Words
) -> tuple[Ints, float, bool]:
    """Merge some items until all classes are allowed, or one is left.

    Items with the same number in `group` (0, 1, ...) start together. Returns the class of each member, named by its
    first member's place; the loss of all rows; and whether all classes are allowed.
    """
    growing = gather_items(items, members, group, len(limits.cap))
    n = len(growing.size)
    none = new_floats(growing.counts.shape[1], 0.0)
    for c in range(n):
        _renew(spans, limits, growing, c, none, style, state)
    parent, active, place = numbers_below(n), numbers_below(n), numbers_below(n)
    n_active = n
    cost, candidate = new_floats(style.n_candidates, 0.0), new_ints(style.n_candidates, 0)
    while n_active > 1:
        c = _choose_class(growing, active[:n_active])
        if c < 0:
            break
        n_found = _find_candidates(spans, growing, active[:n_active], c, cost, candidate)
        other = _choose_partner(limits, growing, c, cost[:n_found], candidate[:n_found], style, state)
        _absorb(growing, other, c)
        _renew(spans, limits, growing, other, none, style, state)
        parent[c] = other
        n_active -= 1
        active[place[c]] = active[n_active]
        place[active[n_active]] = place[c]
    total, is_allowed = 0.0, True
    for i in range(n_active):
        total += growing.size[active[i]] * growing.loss[active[i]]
        is_allowed = is_allowed and growing.bad[active[i]] == 0.0
    return _name_classes(parent, group), total, is_allowed


@kernel
def gather_items(items: Items, members: Ints, group: Ints, n_sets: int) -> Growing:
    """Add up the items that start together."""
    n, n_axes = greatest_number(group) + 1, items.low.shape[1]
    low, high = new_id_grid(n, n_axes, NO_CODE), new_id_grid(n, n_axes, -1)
    counts, size = new_float_grid(n, n_sets, 0.0), new_floats(n, 0.0)
    for i in range(len(members)):
        item, c = members[i], group[i]
        widen_box(low[c], high[c], items.low[item], items.high[item])
        size[c] += items.size[item]
        for j in range(items.start[item], items.start[item + 1]):
            counts[c, items.number[j]] += items.rows[j]
    return Growing(low, high, counts, size, new_floats(n, 0.0), new_floats(n, 0.0), new_floats(n, 0.0))


@inner_kernel
def _absorb(growing: Growing, one: int, other: int) -> None:
    """Add another class to one."""
    widen_box(growing.low[one], growing.high[one], growing.low[other], growing.high[other])
    growing.size[one] += growing.size[other]
    for s in range(growing.counts.shape[1]):
        growing.counts[one, s] += growing.counts[other, s]


@inner_kernel
def _renew(spans: Spans, limits: Limits, growing: Growing, c: int, none: Floats, style: Style, state: Words) -> None:
    """Judge a class, and find its place in the order."""
    growing.loss[c] = box_loss(spans, growing.low[c], growing.high[c])
    growing.bad[c] = _badness(limits, growing.counts[c], none, growing.size[c], style)
    if style.order == SMALLEST:
        growing.key[c] = growing.size[c]
    elif style.order == WORST:
        growing.key[c] = -growing.bad[c]
    else:
        growing.key[c] = draw_unit(state)


@inner_kernel
def _badness(limits: Limits, one: Floats, other: Floats, size: float, style: Style) -> float:
    """Return what keeps two classes together from being allowed; 0 if they are."""
    excess, lacking, is_allowed = judge_sum(limits, one, other, 1.0, size)
    if is_allowed:
        return 0.0
    return 1.0 if style.is_blind else max(excess + style.lack * lacking, TINY)


@inner_kernel
def _choose_class(growing: Growing, active: Ints) -> int:
    """Return the class that is merged next; -1 if all are allowed."""
    chosen, least = -1, FAR
    for c in active:
        if growing.bad[c] != 0.0 and growing.key[c] < least:
            chosen, least = c, growing.key[c]
    return chosen


@inner_kernel
def _find_candidates(spans: Spans, growing: Growing, active: Ints, c: int, cost: Floats, candidate: Ints) -> int:
    """Fill in the partners that cost least, in ascending order, and return how many there are.

    The cost is by how much the loss of all rows grows if two classes are merged.
    """
    size, loss, n_found, most = growing.size, growing.loss, 0, FAR
    for other in active:
        if other == c:
            continue
        rows = size[c] + size[other]
        before = size[c] * loss[c] + size[other] * loss[other]
        joint = joint_loss_up_to(spans, growing.low, growing.high, c, other, (most + before) / rows)
        if rows * joint - before < most:
            n_found = add_candidate(cost, candidate, n_found, rows * joint - before, other)
            if n_found == len(cost):
                most = cost[n_found - 1]
    return n_found


@inner_kernel
def add_candidate(cost: Floats, candidate: Ints, n_found: int, new_cost: float, new: int) -> int:
    """Put a partner into a list in ascending order of cost; return how many there are. The dearest may drop out."""
    if n_found == len(cost) and new_cost >= cost[n_found - 1]:
        return n_found
    n_found = min(n_found + 1, len(cost))
    i = n_found - 1
    while i > 0 and cost[i - 1] > new_cost:
        cost[i], candidate[i] = cost[i - 1], candidate[i - 1]
        i -= 1
    cost[i], candidate[i] = new_cost, new
    return n_found


@inner_kernel
def _choose_partner(
    limits: Limits, growing: Growing, c: int, cost: Floats, candidate: Ints, style: Style, state: Words
) -> int:
    """Return the candidate with the least loss per unit of what keeps classes from being allowed."""
    chosen, least = -1, FAR
    for i in range(len(cost)):
        other = candidate[i]
        score = _score(limits, growing, c, other, cost[i], style)
        if style.noise > 0.0:
            score *= 1.0 + style.noise * draw_unit(state)
        if score < least:
            chosen, least = other, score
    return chosen


@inner_kernel
def _score(limits: Limits, growing: Growing, c: int, other: int, cost: float, style: Style) -> float:
    """Return the loss of a merger per unit of what keeps its classes from being allowed."""
    size = growing.size[c] + growing.size[other]
    bad = _badness(limits, growing.counts[c], growing.counts[other], size, style)
    gain = growing.bad[c] + growing.bad[other] - bad + style.patience
    return float((cost + TINY) / gain) if gain > 0.0 else NO_GAIN * (1.0 + cost)


@kernel
def _name_classes(parent: Ints, group: Ints) -> Ints:
    """Return the class of each member by the place of its first member."""
    first, named = new_ints(len(parent), -1), new_ints(len(group), 0)
    for i in range(len(group)):
        root = group[i]
        while parent[root] != root:
            root = parent[root]
        if first[root] < 0:
            first[root] = i
        named[i] = first[root]
    return named
