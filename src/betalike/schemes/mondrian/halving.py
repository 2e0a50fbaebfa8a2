"""Kernels that cut the narrowest attribute at the median tuple, over tuples in random order."""

from __future__ import annotations

import numpy as np

from betalike.promises.rule import Rule, is_allowed
from betalike.runtime.arrays import IdGrid, Ids, Ints
from betalike.runtime.compilation import kernel
from betalike.runtime.new_arrays import copy_ids
from betalike.runtime.sorting import stable_order


@kernel
def halve_tuples(
    tuples: Ids, points: IdGrid, cell_point: Ids, cell_value: Ids, rule: Rule, n_values: int, has_second_try: bool
) -> Ints:
    """Sort tuples (given as cells) into classes, in place; return where each class begins.

    The narrowest attribute has the fewest codes between its least and its greatest, perhaps only one. It is cut at the
    median tuple, even if tuples with the same code end up on both sides; these are divided by their current order.
    """
    n_axes = points.shape[1]
    spare = np.empty_like(tuples)
    starts = np.empty(len(tuples) + 1, dtype=np.int64)
    n_classes = 0
    stack = np.empty((130, 2), dtype=np.int64)  # a depth of 64 halvings leaves nothing to halve
    stack[0, 0], stack[0, 1] = 0, len(tuples)
    height = 1
    left = np.empty(n_values, dtype=np.int64)
    right = np.empty(n_values, dtype=np.int64)
    width = np.empty(n_axes, dtype=np.int64)
    tuples_of_code = np.empty(points.max() + 1, dtype=np.int64)
    while height > 0:
        height -= 1
        begin, end = stack[height, 0], stack[height, 1]
        members = tuples[begin:end]
        half = len(members) // 2
        is_cut = False
        if half >= 1 and half >= rule.k:
            for axis in range(n_axes):
                width[axis] = code_span(points, cell_point, members, axis)
            for axis in stable_order(width):
                move_lower_half(points, cell_point, axis, members, spare, tuples_of_code)
                count_values(members[:half], cell_value, left)
                count_values(members[half:], cell_value, right)
                is_cut = is_allowed(rule, left, half) and is_allowed(rule, right, len(members) - half)
                if is_cut or not has_second_try:
                    break
        if is_cut:
            stack[height, 0], stack[height, 1] = begin + half, end
            stack[height + 1, 0], stack[height + 1, 1] = begin, begin + half
            height += 2
        else:
            starts[n_classes] = begin
            n_classes += 1
    starts[n_classes] = len(tuples)
    return starts[: n_classes + 1].copy()


@kernel
def code_span(points: IdGrid, cell_point: Ids, members: Ids, axis: int) -> int:
    """Return the distance between the least and the greatest code of some tuples."""
    low, high = points[cell_point[members[0]], axis], points[cell_point[members[0]], axis]
    for cell in members:
        code = points[cell_point[cell], axis]
        low, high = min(low, code), max(high, code)
    return int(high - low)


@kernel
def move_lower_half(points: IdGrid, cell_point: Ids, axis: int, members: Ids, spare: Ids, tuples_of_code: Ints) -> None:
    """Put the half of the tuples with the lower codes first; otherwise the tuples keep their order."""
    half = len(members) // 2
    tuples_of_code[:] = 0
    for cell in members:
        tuples_of_code[points[cell_point[cell], axis]] += 1
    median, before = 0, 0
    while before + tuples_of_code[median] < half:
        before += tuples_of_code[median]
        median += 1
    at_median = half - before  # tuples with the median code that still belong to the lower half
    n_left = n_right = 0
    for cell in members:
        code = points[cell_point[cell], axis]
        is_left = code < median
        if code == median and at_median > 0:
            at_median -= 1
            is_left = True
        if is_left:
            members[n_left] = cell
            n_left += 1
        else:
            spare[n_right] = cell
            n_right += 1
    copy_ids(members[n_left:], spare[:n_right])


@kernel
def count_values(members: Ids, cell_value: Ids, counts: Ints) -> None:
    """Count the sensitive values of some tuples."""
    counts[:] = 0
    for cell in members:
        counts[cell_value[cell]] += 1
