"""Groups of near items, cut at medians like a k-d tree, and the nearest items of each within such groups."""

from __future__ import annotations

import numpy as np

from betalike.runtime.arrays import FloatGrid, Floats, IdGrid, Ids, Ints, Words
from betalike.runtime.compilation import inner_kernel, kernel
from betalike.runtime.new_arrays import new_floats, new_id_grid, new_ints, numbers_below
from betalike.runtime.noise import draw_below, draw_unit
from betalike.schemes.merging import add_candidate
from betalike.schemes.spans import Spans, span_loss

SAMPLE = 15  # items whose median is taken for that of all


@kernel
def make_groups(positions: FloatGrid, weight: Floats, most: float, jitter: float, state: Words) -> tuple[Ints, Ints]:
    """Divide items into groups of at most `most` weight; return them group by group, and where each group begins.

    A set is cut near the median of the axis on which it is widest. With jitter, a narrower axis may be cut, and farther
    from the median, so that other items come together each time.
    """
    order, starts = numbers_below(len(positions)), new_ints(len(positions) + 1, 0)
    begins, ends = new_ints(len(positions) + 1, 0), new_ints(len(positions) + 1, 0)  # a stack of sets
    ends[0] = len(positions)
    height, n_groups = 1, 0
    sample = new_floats(SAMPLE, 0.0)
    while height > 0:
        height -= 1
        begin, end = begins[height], ends[height]
        total = 0.0
        for i in range(begin, end):
            total += weight[order[i]]
        if total <= most or end - begin < 2:
            starts[n_groups] = begin
            n_groups += 1
            continue
        axis = _widest_axis(positions, order[begin:end], jitter, state)
        middle = begin + (end - begin) // 2
        if axis >= 0:
            middle = begin + _part(positions, axis, order[begin:end], jitter, sample, state)
        begins[height], ends[height] = middle, end
        begins[height + 1], ends[height + 1] = begin, middle
        height += 2
    starts[n_groups] = len(positions)
    return order, starts[: n_groups + 1].copy()


@inner_kernel
def _widest_axis(positions: FloatGrid, members: Ints, jitter: float, state: Words) -> int:
    """Return the axis on which items lie farthest apart; -1 if they all lie in one place."""
    widest, width = -1, 0.0
    for axis in range(positions.shape[1]):
        low, high = np.inf, -np.inf
        for i in members:
            low, high = min(low, positions[i, axis]), max(high, positions[i, axis])
        if high > low:
            span = (high - low) * (1.0 + jitter * draw_unit(state))
            if span > width:
                widest, width = axis, span
    return widest


@inner_kernel
def _part(positions: FloatGrid, axis: int, members: Ints, jitter: float, sample: Floats, state: Words) -> int:
    """Put items below a place near the median first, and return how many there are; neither side is empty."""
    pivot = draw_median(positions, axis, members, jitter, sample, state)
    n_below = move_below(positions, axis, members, pivot, False)
    if n_below == 0:
        n_below = move_below(positions, axis, members, pivot, True)
    return n_below


@inner_kernel
def draw_median(positions: FloatGrid, axis: int, members: Ints, jitter: float, sample: Floats, state: Words) -> float:
    """Return the median of a sample of positions; with jitter, a position near it."""
    for i in range(len(sample)):
        key, j = positions[members[draw_below(state, len(members))], axis], i
        while j > 0 and sample[j - 1] > key:
            sample[j] = sample[j - 1]
            j -= 1
        sample[j] = key
    half = len(sample) // 2
    return float(sample[half + int(jitter * 5.0 * (draw_unit(state) - 0.5))])


@inner_kernel
def move_below(positions: FloatGrid, axis: int, members: Ints, pivot: float, with_pivot: bool) -> int:
    """Put items below a place first, or at it as well, and return how many there are."""
    n_below = 0
    for i in range(len(members)):
        position = positions[members[i], axis]
        if position < pivot or (with_pivot and position == pivot):
            members[i], members[n_below] = members[n_below], members[i]
            n_below += 1
    return n_below


@kernel
def find_neighbours(spans: Spans, points: IdGrid, order: Ints, starts: Ints, n_nearest: int, state: Words) -> IdGrid:
    """Return the nearest other points of each, by the loss of the pair, within their groups; -1 where there are none.

    Ties are broken by noise of up to a tenth.
    """
    nearest = new_id_grid(len(points), n_nearest, -1)
    cost, found = new_floats(n_nearest, 0.0), new_ints(n_nearest, 0)
    for group in range(len(starts) - 1):
        for place in range(starts[group], starts[group + 1]):
            one = order[place]
            n_found = 0
            for other_place in range(starts[group], starts[group + 1]):
                other = order[other_place]
                if other != one:
                    loss = _pair_loss(spans, points[one], points[other]) * (1.0 + 0.1 * draw_unit(state))
                    n_found = add_candidate(cost, found, n_found, loss, other)
            for i in range(n_found):
                nearest[one, i] = found[i]
    return nearest


@inner_kernel
def _pair_loss(spans: Spans, one: Ids, other: Ids) -> float:
    loss = 0.0
    for axis in range(len(one)):
        loss += span_loss(spans, axis, min(one[axis], other[axis]), max(one[axis], other[axis]))
    return loss
