"""Kernels that cut the widest attribute, over QI points; all tuples of a point stay together."""

from __future__ import annotations

import numpy as np

from betalike.promises.rule import Rule, is_allowed
from betalike.runtime.arrays import IdGrid, Ids, Ints
from betalike.runtime.compilation import kernel
from betalike.runtime.new_arrays import copy_ids
from betalike.schemes.packing import PackedAxes, median_code, widest_first


@kernel
def split_points(
    axes: PackedAxes,
    points: IdGrid,
    point_start: Ints,
    cell_value: Ids,
    cell_count: Ints,
    rule: Rule,
    n_values: int,
    has_second_try: bool,
) -> tuple[Ids, int]:
    """Return the class of each point, and the number of classes.

    `point_start` is where the cells of each point begin. The table itself is assumed to keep the promise.
    """
    n_points, n_axes = points.shape
    size_of_point = np.zeros(n_points, dtype=np.int64)
    for point in range(n_points):
        for cell in range(point_start[point], point_start[point + 1]):
            size_of_point[point] += cell_count[cell]
    class_of_point = np.empty(n_points, dtype=np.int32)
    order = np.arange(n_points).astype(np.int32)
    spare = np.empty_like(order)
    tuples_of_code = np.zeros(axes.size.max(), dtype=np.int64)
    stack = np.empty((n_points + 1, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = 0, n_points
    height, n_classes = 1, 0
    left = np.empty(n_values, dtype=np.int64)
    right = np.empty(n_values, dtype=np.int64)
    low = np.empty(n_axes, dtype=np.int64)
    high = np.empty(n_axes, dtype=np.int64)
    while height > 0:
        height -= 1
        begin, end = stack[height, 0], stack[height, 1]
        members = order[begin:end]
        find_box(points, members, low, high)
        middle = 0
        for axis in widest_first(axes, low, high):
            last = last_code_left(axis, low[axis], high[axis], points, members, size_of_point, tuples_of_code)
            middle = part_points(points, axis, last, members, spare)
            count_values(members[:middle], point_start, cell_value, cell_count, left)
            count_values(members[middle:], point_start, cell_value, cell_count, right)
            if is_allowed(rule, left, left.sum()) and is_allowed(rule, right, right.sum()):
                break
            middle = 0
            if not has_second_try:
                break
        if middle == 0:
            for point in members:
                class_of_point[point] = n_classes
            n_classes += 1
            continue
        stack[height, 0], stack[height, 1] = begin, begin + middle
        stack[height + 1, 0], stack[height + 1, 1] = begin + middle, end
        height += 2
    return class_of_point, n_classes


@kernel
def find_box(points: IdGrid, members: Ids, low: Ints, high: Ints) -> None:
    """Find the least and the greatest code of some points on each axis."""
    low[:] = np.iinfo(np.int64).max
    high[:] = -1
    for point in members:
        for axis in range(len(low)):
            low[axis] = min(low[axis], points[point, axis])
            high[axis] = max(high[axis], points[point, axis])


@kernel
def last_code_left(
    axis: int, low: int, high: int, points: IdGrid, members: Ids, size_of_point: Ints, tuples_of_code: Ints
) -> int:
    """Return the last code of the lower part in the cut that halves the tuples best; the first of equals."""
    tuples_of_code[low : high + 1] = 0
    total = 0
    for point in members:
        tuples_of_code[points[point, axis]] += size_of_point[point]
        total += size_of_point[point]
    return median_code(tuples_of_code, low, high, total)


@kernel
def part_points(points: IdGrid, axis: int, last: int, members: Ids, spare: Ids) -> int:
    """Put the points with codes up to `last` first, keep the order on both sides, and return how many there are."""
    n_left = n_right = 0
    for point in members:
        if points[point, axis] <= last:
            members[n_left] = point
            n_left += 1
        else:
            spare[n_right] = point
            n_right += 1
    copy_ids(members[n_left:], spare[:n_right])
    return n_left


@kernel
def count_values(members: Ids, point_start: Ints, cell_value: Ids, cell_count: Ints, counts: Ints) -> None:
    """Count the tuples of each sensitive value at some points."""
    counts[:] = 0
    for point in members:
        for cell in range(point_start[point], point_start[point + 1]):
            counts[cell_value[cell]] += cell_count[cell]
