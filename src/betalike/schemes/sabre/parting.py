"""SABRE's second phase in space: cut classes at a value where that is allowed, else bucket by bucket."""

from __future__ import annotations

import numpy as np

from betalike.promises.rule import Rule, is_allowed
from betalike.runtime.arrays import IdGrid, Ids, Ints
from betalike.runtime.compilation import kernel
from betalike.runtime.new_arrays import copy_ids
from betalike.schemes.packing import PackedAxes, median_code, widest_first


@kernel
def part_classes(
    tuples: Ids,
    bucket_start: Ints,
    axes: PackedAxes,
    points: IdGrid,
    cell_point: Ids,
    cell_value: Ids,
    rule: Rule,
    n_values: int,
) -> tuple[Ids, Ints]:
    """Return the tuples (as cells) of each class, and where each class begins.

    `tuples` are sorted by bucket, then along the curve; `bucket_start` is where each bucket begins. A class is cut like
    tMondrian cuts it if one of these cuts is allowed. Otherwise each bucket is halved along the curve. If that is not
    allowed either, the class stays. So SABRE never loses more than tMondrian.
    """
    n_buckets, n_axes = len(bucket_start) - 1, points.shape[1]
    out, spare = np.empty_like(tuples), np.empty_like(tuples)
    starts = np.empty(len(tuples) + 1, dtype=np.int64)
    n_classes, place = 0, 0
    begins = np.empty((130, n_buckets), dtype=np.int64)  # the smaller part comes first, so 64 levels are enough
    ends = np.empty((130, n_buckets), dtype=np.int64)
    begins[0], ends[0] = bucket_start[:-1], bucket_start[1:]
    height = 1
    counts = np.empty(n_values, dtype=np.int64)
    left = np.empty(n_values, dtype=np.int64)
    low, high = np.empty(n_axes, dtype=np.int64), np.empty(n_axes, dtype=np.int64)
    tuples_of_code = np.empty(axes.size.max(), dtype=np.int64)
    while height > 0:
        height -= 1
        begin, end = begins[height].copy(), ends[height].copy()
        size = (end - begin).sum()
        _look(tuples, begin, end, points, cell_point, cell_value, low, high, counts)
        middle = begin
        for axis in widest_first(axes, low, high):
            last = _last_code_left(tuples, begin, end, points, cell_point, axis, low[axis], high[axis], tuples_of_code)
            _count_up_to(tuples, begin, end, points, cell_point, cell_value, axis, last, left)
            if is_allowed(rule, left, left.sum()) and is_allowed(rule, counts - left, size - left.sum()):
                middle = _part(tuples, begin, end, points, cell_point, axis, last, spare)
                break
        if (middle == begin).all() and (low < high).any():
            half = halves(end - begin)
            n_left = half.sum()
            _count_first(tuples, begin, half, cell_value, left)
            if n_left > 0 and is_allowed(rule, left, n_left) and is_allowed(rule, counts - left, size - n_left):
                middle = begin + half
        if (middle == begin).all():
            starts[n_classes] = place
            n_classes += 1
            for bucket in range(n_buckets):
                for i in range(begin[bucket], end[bucket]):
                    out[place] = tuples[i]
                    place += 1
            continue
        is_left_larger = 2 * (middle - begin).sum() > size
        large, small = (height, height + 1) if is_left_larger else (height + 1, height)
        begins[large], ends[large] = begin, middle
        begins[small], ends[small] = middle, end
        height += 2
    starts[n_classes] = place
    return out, starts[: n_classes + 1].copy()


@kernel
def halves(sizes: Ints) -> Ints:
    """Return half of each number; odd ones are rounded down and up in turn, so that neighbours' sums stay balanced."""
    half = sizes // 2
    is_up = False
    for i in range(len(sizes)):
        if sizes[i] % 2:
            half[i] += is_up
            is_up = not is_up
    return half


@kernel
def _look(
    tuples: Ids,
    begin: Ints,
    end: Ints,
    points: IdGrid,
    cell_point: Ids,
    cell_value: Ids,
    low: Ints,
    high: Ints,
    counts: Ints,
) -> None:
    """Find the box of a class, and count its tuples of each value."""
    low[:] = np.iinfo(np.int64).max
    high[:] = -1
    counts[:] = 0
    for bucket in range(len(begin)):
        for i in range(begin[bucket], end[bucket]):
            point = cell_point[tuples[i]]
            counts[cell_value[tuples[i]]] += 1
            for axis in range(len(low)):
                low[axis] = min(low[axis], points[point, axis])
                high[axis] = max(high[axis], points[point, axis])


@kernel
def _last_code_left(
    tuples: Ids,
    begin: Ints,
    end: Ints,
    points: IdGrid,
    cell_point: Ids,
    axis: int,
    low: int,
    high: int,
    tuples_of_code: Ints,
) -> int:
    """Return the last code of the lower part in the cut that halves a class best; the first of equals."""
    tuples_of_code[low : high + 1] = 0
    for bucket in range(len(begin)):
        for i in range(begin[bucket], end[bucket]):
            tuples_of_code[points[cell_point[tuples[i]], axis]] += 1
    total = (end - begin).sum()
    return median_code(tuples_of_code, low, high, total)


@kernel
def _count_up_to(
    tuples: Ids,
    begin: Ints,
    end: Ints,
    points: IdGrid,
    cell_point: Ids,
    cell_value: Ids,
    axis: int,
    last: int,
    counts: Ints,
) -> None:
    """Count the tuples of each value with codes up to `last`."""
    counts[:] = 0
    for bucket in range(len(begin)):
        for i in range(begin[bucket], end[bucket]):
            if points[cell_point[tuples[i]], axis] <= last:
                counts[cell_value[tuples[i]]] += 1


@kernel
def _count_first(tuples: Ids, begin: Ints, number: Ints, cell_value: Ids, counts: Ints) -> None:
    """Count the tuples of each value among the first ones of each bucket."""
    counts[:] = 0
    for bucket in range(len(begin)):
        for i in range(begin[bucket], begin[bucket] + number[bucket]):
            counts[cell_value[tuples[i]]] += 1


@kernel
def _part(
    tuples: Ids, begin: Ints, end: Ints, points: IdGrid, cell_point: Ids, axis: int, last: int, spare: Ids
) -> Ints:
    """Put the tuples with codes up to `last` first in each bucket, in order, and return where the others begin."""
    middle = begin.copy()
    for bucket in range(len(begin)):
        n_right = 0
        for i in range(begin[bucket], end[bucket]):
            cell = tuples[i]
            if points[cell_point[cell], axis] <= last:
                tuples[middle[bucket]] = cell
                middle[bucket] += 1
            else:
                spare[n_right] = cell
                n_right += 1
        copy_ids(tuples[middle[bucket] : end[bucket]], spare[:n_right])
    return middle
