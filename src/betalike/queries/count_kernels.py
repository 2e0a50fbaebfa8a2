"""Kernels of the COUNT estimate: sum the classes that each box touches.

For each axis, a box has the place in `weights` where its row of label weights starts, or -1 if the axis is free. The
classes of each label are listed in `members`, so that a box reads only the classes of its most selective axis.
"""

from __future__ import annotations

import math

import numpy as np

from betalike.runtime.arrays import Floats, Ids, Ints
from betalike.runtime.compilation import kernel

ESTIMATE, INDEPENDENT, CLUMPED, DOUBT, RELATED, SURE, POSSIBLE = range(7)
N_SUMS = 7


@kernel
def entry_from(value: Ids, start: int, end: int, wanted: int) -> int:
    """Return the first entry of a sorted stretch whose value is at least `wanted`."""
    while start < end:
        middle = (start + end) // 2
        if value[middle] < wanted:
            start = middle + 1
        else:
            end = middle
    return start


@kernel
def rarest_axis(weights: Floats, rows: Ints, label_start: Ints, first_label: Ints) -> int:
    """Return the axis whose touched labels have the fewest classes, or -1 if every axis is free."""
    best, fewest = -1, 0
    for axis in range(len(rows)):
        if rows[axis] < 0:
            continue
        n_touched = 0
        for label in range(first_label[axis], first_label[axis + 1]):
            if weights[rows[axis] + label - first_label[axis]] > 0:
                n_touched += label_start[label + 1] - label_start[label]
        if best < 0 or n_touched < fewest:
            best, fewest = axis, n_touched
    return best


@kernel
def weigh_classes(
    weights: Floats,
    further: Floats,
    rows: Ints,
    at_ends: Floats,
    ids: Ids,
    members: Ids,
    label_start: Ints,
    first_label: Ints,
    touched: Ids,
    share: Floats,
    doubt: Floats,
) -> int:
    """List the classes that a box touches, each with its estimated share inside and the share's standard deviation.

    `weights` holds the share of each label; `further` the share of the two tuples at its ends and a standard deviation.
    """
    axis = rarest_axis(weights, rows, label_start, first_label)
    restricted = np.flatnonzero(rows >= 0)
    n_touched = 0
    n_labels = 1 if axis < 0 else first_label[axis + 1] - first_label[axis]
    for number in range(n_labels):
        if axis < 0:
            start, end = 0, len(ids)
        else:
            if weights[rows[axis] + number] == 0:
                continue
            label = first_label[axis] + number
            start, end = label_start[label], label_start[label + 1]
        for place in range(start, end):
            ec = place if axis < 0 else members[place]
            product, variance = 1.0, 0.0
            for other in restricted:
                row = rows[other] + ids[ec, other]
                part = weights[row]
                if part == 0.0:
                    product = 0.0
                    break
                if part < 1.0:
                    part = (1.0 - at_ends[ec]) * part + at_ends[ec] * further[row, 0]
                    variance = variance * part * part + (product * further[row, 1]) ** 2
                    product *= part
            if product > 0.0:
                touched[n_touched] = ec
                share[n_touched] = product
                doubt[n_touched] = math.sqrt(variance) if variance > 0.0 else 0.0
                n_touched += 1
    return n_touched


@kernel
def sum_boxes(
    weights: Floats,
    further: Floats,
    rows: Ints,
    at_ends: Floats,
    ids: Ids,
    members: Ids,
    label_start: Ints,
    first_label: Ints,
    starts: Ints,
    value: Ids,
    before: Ints,
    ahead: Ids,
    run_start: Ints,
    run_end: Ints,
    first_run: Ints,
    sums: Floats,
    first: int,
    last: int,
) -> None:
    """Sum per box the estimate, four parts of its error, and the tuples that are surely and possibly inside.

    A box's sensitive values are runs of value codes. `before` counts the tuples before each entry of the classes.
    `ahead`, unless it is empty, counts those of each class before each value.
    """
    touched = np.empty(len(ids), dtype=np.int32)
    share, doubt = np.empty(len(ids)), np.empty(len(ids))
    for box in range(first, last):
        n_touched = weigh_classes(
            weights, further, rows[box], at_ends, ids, members, label_start, first_label, touched, share, doubt
        )
        estimate, independent, clumped, doubts, related, sure, possible = 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0
        for i in range(n_touched):
            ec, w = touched[i], share[i]
            count = 0
            for run in range(first_run[box], first_run[box + 1]):
                if len(ahead):
                    count += ahead[ec, run_end[run]] - ahead[ec, run_start[run]]
                else:
                    low = entry_from(value, starts[ec], starts[ec + 1], run_start[run])
                    count += before[entry_from(value, low, starts[ec + 1], run_end[run])] - before[low]
            possible += count
            if w == 1.0:
                sure += count
                continue
            estimate += w * count
            variance = w * (1.0 - w) * count
            independent += variance
            clumped += variance * count
            related += variance * (1.0 - 0.5 * at_ends[ec] * count)
            doubts += doubt[i] * count
        sums[box, ESTIMATE] = estimate + sure
        sums[box, INDEPENDENT], sums[box, CLUMPED] = independent, clumped
        sums[box, DOUBT], sums[box, RELATED] = doubts, related
        sums[box, SURE], sums[box, POSSIBLE] = sure, possible


@kernel
def observe_boxes(
    weights: Floats,
    further: Floats,
    rows: Ints,
    at_ends: Floats,
    ids: Ids,
    members: Ids,
    label_start: Ints,
    first_label: Ints,
    starts: Ints,
    value: Ids,
    before: Ints,
    observed: Floats,
    first: int,
    last: int,
) -> None:
    """Count the tuples of each sensitive value in each box. Paper: Section 5, E'."""
    touched = np.empty(len(ids), dtype=np.int32)
    share, doubt = np.empty(len(ids)), np.empty(len(ids))
    for box in range(first, last):
        n_touched = weigh_classes(
            weights, further, rows[box], at_ends, ids, members, label_start, first_label, touched, share, doubt
        )
        row = observed[box]
        for i in range(n_touched):
            ec, w = touched[i], share[i]
            for entry in range(starts[ec], starts[ec + 1]):
                row[value[entry]] += w * (before[entry + 1] - before[entry])
