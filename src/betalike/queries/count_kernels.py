"""Kernels of the COUNT estimate: sum the classes that each box touches.

For each axis, a box has the place in `weights` where its row of label weights starts, or -1 if the axis is free. A
box reads only the classes of its most selective axis.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from betalike.runtime.arrays import Floats, Ids, Ints
from betalike.runtime.compilation import kernel

ESTIMATE, INDEPENDENT, CLUMPED, DOUBT, RELATED, SURE, POSSIBLE = range(7)
N_SUMS = 7


class Index(NamedTuple):
    """The classes of a release as arrays.

    - `at_ends`: two tuples as a share of each class; `ids`: the label of each class (rows) on each axis (columns).
    - `members`: the classes of each label, from `label_start` of the label on; labels of all axes are numbered in one
      sequence, those of an axis from its `first_label` on.
    - `starts`, `value`, `before`: where the entries of each class start, the sensitive value of each entry, and the
      tuples before it.
    """

    at_ends: Floats
    ids: Ids
    members: Ids
    label_start: Ints
    first_label: Ints
    starts: Ints
    value: Ids
    before: Ints


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
    weights: Floats, further: Floats, rows: Ints, index: Index, touched: Ids, share: Floats, doubt: Floats
) -> int:
    """List the classes that a box touches, each with its estimated share inside and the share's standard deviation.

    `weights` holds the share of each label; `further` the share of the two tuples at its ends and a standard deviation.
    """
    ids, at_ends, first_label = index.ids, index.at_ends, index.first_label
    axis = rarest_axis(weights, rows, index.label_start, first_label)
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
            start, end = index.label_start[label], index.label_start[label + 1]
        for place in range(start, end):
            ec = place if axis < 0 else index.members[place]
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
    index: Index,
    ahead: Ids,
    run_start: Ints,
    run_end: Ints,
    first_run: Ints,
    sums: Floats,
    first: int,
    last: int,
) -> None:
    """Sum per box the estimate, four parts of its error, and the tuples that are surely and possibly inside.

    A box's sensitive values are runs of value codes. `ahead`, unless it is empty, counts the tuples of each class
    before each value.
    """
    starts, value, before = index.starts, index.value, index.before
    touched = np.empty(len(index.ids), dtype=np.int32)
    share, doubt = np.empty(len(touched)), np.empty(len(touched))
    for box in range(first, last):
        n_touched = weigh_classes(weights, further, rows[box], index, touched, share, doubt)
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
            related += variance * (1.0 - 0.5 * index.at_ends[ec] * count)
            doubts += doubt[i] * count
        sums[box, ESTIMATE] = estimate + sure
        sums[box, INDEPENDENT], sums[box, CLUMPED] = independent, clumped
        sums[box, DOUBT], sums[box, RELATED] = doubts, related
        sums[box, SURE], sums[box, POSSIBLE] = sure, possible


@kernel
def observe_boxes(
    weights: Floats, further: Floats, rows: Ints, index: Index, observed: Floats, first: int, last: int
) -> None:
    """Count the tuples of each sensitive value in each box. Paper: Section 5, E'."""
    starts, value, before = index.starts, index.value, index.before
    touched = np.empty(len(index.ids), dtype=np.int32)
    share, doubt = np.empty(len(touched)), np.empty(len(touched))
    for box in range(first, last):
        n_touched = weigh_classes(weights, further, rows[box], index, touched, share, doubt)
        row = observed[box]
        for i in range(n_touched):
            ec, w = touched[i], share[i]
            for entry in range(starts[ec], starts[ec + 1]):
                row[value[entry]] += w * (before[entry + 1] - before[entry])
