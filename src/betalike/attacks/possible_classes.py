"""Which classes a person may be in: those whose labels cover all of the person's quasi-identifiers."""

from __future__ import annotations

import numpy as np

from betalike.runtime.arrays import Floats, Ids, Ints
from betalike.runtime.compilation import kernel
from betalike.runtime.threads import split_work

LEAST_ITEMS = 64  # items that are worth a thread


def cover_counts(points: Ids, low: Ids, high: Ids) -> Ints:
    """Count the classes that cover each point."""
    counts = np.zeros(len(points), dtype=np.int64)
    columns = _by_axis(points), _by_axis(low), _by_axis(high)
    split_work(len(points), lambda first, last: count_covering(*columns, first, last, counts), LEAST_ITEMS)
    return counts


def covering_classes(points: Ids, low: Ids, high: Ids) -> tuple[Ints, Ids]:
    """Return the classes that cover each point, point by point, and where each point's classes start."""
    starts = np.append(0, np.cumsum(cover_counts(points, low, high))).astype(np.int64)
    classes = np.empty(starts[-1], dtype=np.int32)
    columns = _by_axis(points), _by_axis(low), _by_axis(high)
    split_work(len(points), lambda first, last: list_covering(*columns, first, last, starts, classes), LEAST_ITEMS)
    return starts, classes


def transposed(starts: Ints, classes: Ids, n_classes: int) -> tuple[Ints, Ids]:
    """Return the points that each class covers, class by class, and where each class's points start."""
    point = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    order = np.argsort(classes, kind="stable")
    return np.append(0, np.cumsum(np.bincount(classes, minlength=n_classes))).astype(np.int64), point[order]


def sum_over(starts: Ints, members: Ids, rows: Floats) -> Floats:
    """Return the sum of the members' rows for each list of members."""
    sums = np.zeros((len(starts) - 1, rows.shape[1]))
    split_work(len(sums), lambda first, last: add_rows(starts, members, rows, first, last, sums), LEAST_ITEMS)
    return sums


def _by_axis(codes: Ids) -> Ids:
    return np.ascontiguousarray(codes.T, dtype=np.int32)


@kernel
def is_covered(points: Ids, low: Ids, high: Ids, point: int, ec: int) -> bool:
    """Whether a class covers a point; arrays have a row per axis."""
    for axis in range(len(points)):
        code = points[axis, point]
        if code < low[axis, ec] or code > high[axis, ec]:
            return False
    return True


@kernel
def count_covering(points: Ids, low: Ids, high: Ids, first: int, last: int, counts: Ints) -> None:
    """Count the classes that cover each of some points."""
    for point in range(first, last):
        for ec in range(low.shape[1]):
            counts[point] += is_covered(points, low, high, point, ec)


@kernel
def list_covering(points: Ids, low: Ids, high: Ids, first: int, last: int, starts: Ints, classes: Ids) -> None:
    """List the classes that cover each of some points."""
    for point in range(first, last):
        place = starts[point]
        for ec in range(low.shape[1]):
            if is_covered(points, low, high, point, ec):
                classes[place] = ec
                place += 1


@kernel
def add_rows(starts: Ints, members: Ids, rows: Floats, first: int, last: int, sums: Floats) -> None:
    """Add up the rows of the members of some lists."""
    for number in range(first, last):
        for i in range(starts[number], starts[number + 1]):
            member = members[i]
            for column in range(rows.shape[1]):
                sums[number, column] += rows[member, column]
