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
from betalike.schemes.spans import NO_CODE, Spans, span_loss

SMALLEST, WORST, ANY = 0, 1, 2  # which class that is not allowed is merged first
FAR = np.inf
NO_GAIN = 1e100  # score of a partner that brings a class no nearer to being allowed
TINY = 1e-9
SAMPLED = 8  # a sample has every eighth class


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
    """Classes that are being merged; one that has joined another gives its place to the last.

    Codes are listed by axis, because all classes are compared on one axis after the other.
    """

    low: IdGrid
    high: IdGrid
    counts: FloatGrid
    size: Floats
    loss: Floats
    bad: Floats  # what keeps a class from being allowed; 0 if it is
    key: Floats
    name: Ints  # the number that a class began with


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
    parent, costs = numbers_below(n), new_floats(n, 0.0)
    cost, candidate = new_floats(style.n_candidates, 0.0), new_ints(style.n_candidates, 0)
    while n > 1:
        c = _choose_class(growing, n)
        if c < 0:
            break
        _find_costs(spans, growing, c, costs[:n])
        n_found = find_candidates(costs[:n], cost, candidate)
        other = _choose_partner(limits, growing, c, cost[:n_found], candidate[:n_found], style, state)
        _absorb(growing, other, c)
        _renew(spans, limits, growing, other, none, style, state)
        parent[growing.name[c]] = growing.name[other]
        n -= 1
        _move(growing, n, c)
    total, is_allowed = 0.0, True
    for c in range(n):
        total += growing.size[c] * growing.loss[c]
        is_allowed = is_allowed and growing.bad[c] == 0.0
    return _name_classes(parent, group), total, is_allowed


@kernel
def gather_items(items: Items, members: Ints, group: Ints, n_sets: int) -> Growing:
    """Add up the items that start together."""
    n, n_axes = greatest_number(group) + 1, items.low.shape[1]
    low, high = new_id_grid(n_axes, n, NO_CODE), new_id_grid(n_axes, n, -1)
    counts, size = new_float_grid(n, n_sets, 0.0), new_floats(n, 0.0)
    for i in range(len(members)):
        item, c = members[i], group[i]
        for axis in range(n_axes):
            low[axis, c] = min(low[axis, c], items.low[item, axis])
            high[axis, c] = max(high[axis, c], items.high[item, axis])
        size[c] += items.size[item]
        for j in range(items.start[item], items.start[item + 1]):
            counts[c, items.number[j]] += items.rows[j]
    zeros = new_floats(n, 0.0), new_floats(n, 0.0), new_floats(n, 0.0)
    return Growing(low, high, counts, size, *zeros, numbers_below(n))


@inner_kernel
def _absorb(growing: Growing, one: int, other: int) -> None:
    """Add another class to one."""
    low, high = growing.low, growing.high
    for axis in range(len(low)):
        low[axis, one] = min(low[axis, one], low[axis, other])
        high[axis, one] = max(high[axis, one], high[axis, other])
    growing.size[one] += growing.size[other]
    for s in range(growing.counts.shape[1]):
        growing.counts[one, s] += growing.counts[other, s]


@inner_kernel
def _move(growing: Growing, old: int, new: int) -> None:
    """Move a class to another place."""
    for axis in range(len(growing.low)):
        growing.low[axis, new], growing.high[axis, new] = growing.low[axis, old], growing.high[axis, old]
    for s in range(growing.counts.shape[1]):
        growing.counts[new, s] = growing.counts[old, s]
    growing.size[new], growing.loss[new] = growing.size[old], growing.loss[old]
    growing.bad[new], growing.key[new] = growing.bad[old], growing.key[old]
    growing.name[new] = growing.name[old]


@inner_kernel
def _renew(spans: Spans, limits: Limits, growing: Growing, c: int, none: Floats, style: Style, state: Words) -> None:
    """Judge a class, and find its place in the order."""
    loss = 0.0
    for axis in range(len(growing.low)):
        loss += span_loss(spans, axis, growing.low[axis, c], growing.high[axis, c])
    growing.loss[c] = loss
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
def _choose_class(growing: Growing, n: int) -> int:
    """Return the class that is merged next; -1 if all are allowed."""
    chosen, least = -1, FAR
    for c in range(n):
        if growing.bad[c] != 0.0 and growing.key[c] < least:
            chosen, least = c, growing.key[c]
    return chosen


@inner_kernel
def _find_costs(spans: Spans, growing: Growing, c: int, costs: Floats) -> None:
    """Fill in by how much the loss of all rows grows if a class is merged with each of the others."""
    n, rows, loss = len(costs), growing.size, growing.loss
    for i in range(n):
        costs[i] = 0.0
    for axis in range(len(growing.low)):
        low, high = growing.low[axis], growing.high[axis]
        least, greatest, offset, size = low[c], high[c], spans.offset[axis], np.int32(spans.axes.size[axis])
        if offset >= 0:
            listed = spans.listed[offset : offset + size * size]
            for i in range(n):  # an index that cannot be negative takes half the time
                costs[i] += listed[np.intp(np.uint32(min(least, low[i]) * size + max(greatest, high[i])))]
        else:
            for i in range(n):
                costs[i] += span_loss(spans, axis, min(least, low[i]), max(greatest, high[i]))
    own, own_loss = rows[c], rows[c] * loss[c]
    for i in range(n):
        costs[i] = (own + rows[i]) * costs[i] - (own_loss + rows[i] * loss[i])
    costs[c] = FAR


@inner_kernel
def find_candidates(costs: Floats, cost: Floats, candidate: Ints) -> int:
    """Fill in the partners that cost least, in ascending order, and return how many there are.

    A sample says first up to which cost there are about twice as many as are wanted.
    """
    n_found, n_few = 0, 2 * len(cost) // SAMPLED
    if 0 < n_few * SAMPLED * SAMPLED < len(costs):
        few = cost[:n_few]
        for i in range(0, len(costs), SAMPLED):
            n_found = add_candidate(few, candidate, n_found, costs[i], i)
        n_found = _take_up_to(few[n_few - 1], costs, cost, candidate)
    if n_found < len(cost):
        n_found = _take_up_to(FAR, costs, cost, candidate)
    return n_found


@inner_kernel
def _take_up_to(bound: float, costs: Floats, cost: Floats, candidate: Ints) -> int:
    """Fill in the partners that cost least, of those that cost no more than `bound`."""
    n_found = 0
    for other in range(len(costs)):
        if costs[other] <= bound and costs[other] < FAR:
            n_found = add_candidate(cost, candidate, n_found, costs[other], other)
            if n_found == len(cost):
                bound = min(bound, cost[n_found - 1])
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
