"""Tables as counts: cells (what a scheme reads), plans (what it returns) and the counts of each class.

A table is coded once and folded into cells, the distinct pairs of a QI point and a sensitive value. Schemes work on
cells, so fifty million rows cost only the time to count them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from betalike.errors import InputError
from betalike.runtime.arrays import Floats, Ids, Ints, Words
from betalike.runtime.randomness import Randomness
from betalike.table.axis import Axis
from betalike.table.kernels import (
    append_digit,
    class_boxes,
    number_keys_by_hash,
    number_keys_densely,
    scatter,
    shuffle_segments,
)

WORDS_PER_STEP = 4_000_000
SHUFFLED_AT_ONCE = 1 << 20
COUNTED_PER_KEY, FEW_KEYS = 8, 1 << 16  # as many pairs of class and value are counted in a table; more are sorted


@dataclass(frozen=True)
class Cells:
    """Distinct (QI point, sensitive value) pairs with their counts; sorted by point, then by value."""

    axes: tuple[Axis, ...]
    sensitive: Axis
    weights: tuple[float, ...]
    points: Ids
    point: Ids
    value: Ids
    count: Ints

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return int(self.count.sum())

    @cached_property
    def value_counts(self) -> Ints:
        """How often each sensitive value occurs. Paper: N_i."""
        counts = np.bincount(self.value, weights=self.count, minlength=self.sensitive.size)
        return np.asarray(counts.astype(np.int64))

    @cached_property
    def positions(self) -> Floats:
        """The points in the unit cube, each axis stretched to its full range."""
        return np.column_stack([axis.positions[self.points[:, i]] for i, axis in enumerate(self.axes)])


@dataclass(frozen=True)
class ValueCounts:
    """Axes and sensitive counts of a table that is not folded into cells, because its rows stay exact."""

    axes: tuple[Axis, ...]
    sensitive: Axis
    weights: tuple[float, ...]
    value_counts: Ints

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return int(self.value_counts.sum())


# What a certificate describes: axes, weights, and how often each sensitive value occurs.
TableSummary = Cells | ValueCounts


@dataclass(frozen=True)
class Plan:
    """A scheme's decision: how many tuples of each cell go to which class, and each class's box of codes."""

    cells: Cells
    cell: Ids
    count: Ints
    ec: Ids
    n_classes: int
    details: Mapping[str, object] = field(default_factory=dict)
    row_classes: Ids | None = None  # the class of each row of the table, if that is decided already

    @cached_property
    def boxes(self) -> tuple[Ids, Ids]:
        """Least and greatest code of each class on each axis."""
        return class_boxes(self.cells.points, self.cells.point, self.cell, self.ec, self.n_classes)

    def box_sides(self, place: int) -> tuple[Ints, Ints]:
        """Return the least and greatest code of each class on one axis."""
        low, high = (side[:, place].astype(np.int64) for side in self.boxes)
        return low, high

    def labels(self, place: int) -> list[str | None]:
        """Return the published labels of each class on one axis, from its box; they are made once."""
        if place not in self._labels:
            self._labels[place] = self.cells.axes[place].labels(*self.box_sides(place))
        return self._labels[place]

    @cached_property
    def _labels(self) -> dict[int, list[str | None]]:
        return {}

    def join(self, number: Ints) -> Plan:
        """Return the plan with classes put together: `number` has the new number of each class."""
        classes = None if self.row_classes is None else number[self.row_classes].astype(np.int32)
        n_classes = int(number.max()) + 1
        return replace(self, ec=number[self.ec].astype(np.int32), n_classes=n_classes, row_classes=classes)

    @cached_property
    def class_counts(self) -> ClassCounts:
        """Number of tuples of each sensitive value in each class."""
        return ClassCounts.of(self.ec, self.cells.value[self.cell], self.count, self.cells.sensitive.size)


@dataclass(frozen=True)
class ClassCounts:
    """Tuples of each sensitive value in each class, without the zeros; sorted by class, then by value."""

    ec: Ints
    value: Ints
    count: Ints
    n_values: int

    @staticmethod
    def of(ec: NDArray[np.integer], value: NDArray[np.integer], count: Ints, n_values: int) -> ClassCounts:
        """Add up the counts of each class and value. Classes are numbered 0, 1, ... without gaps."""
        keys = np.asarray(ec, dtype=np.int64) * n_values + value
        if len(keys) and keys.max() < COUNTED_PER_KEY * len(keys) + FEW_KEYS:
            unique = np.flatnonzero(np.bincount(keys))
            total = np.bincount(keys, weights=count)[unique]
        else:
            unique, inverse = np.unique(keys, return_inverse=True)
            total = np.bincount(inverse, weights=count, minlength=len(unique))
        return ClassCounts(unique // n_values, unique % n_values, total.astype(np.int64), n_values)

    @cached_property
    def sizes(self) -> Ints:
        """Tuples in each class."""
        return np.asarray(np.bincount(self.ec, weights=self.count).astype(np.int64))

    @cached_property
    def starts(self) -> Ints:
        """Where each class begins in the arrays, and their end."""
        return np.searchsorted(self.ec, np.arange(len(self.sizes) + 1))

    @cached_property
    def value_counts(self) -> Ints:
        """How often each sensitive value occurs in all classes together."""
        return np.asarray(np.bincount(self.value, weights=self.count, minlength=self.n_values).astype(np.int64))


def shuffle_within(items: Ids, starts: Ints, randomness: Randomness, step: int = WORDS_PER_STEP) -> None:
    """Put the items of each segment in random order; the segments themselves stay in place."""
    segment, n_segments = 0, len(starts) - 1
    while segment < n_segments:
        last = int(np.searchsorted(starts, starts[segment] + step, side="right")) - 1
        last = min(max(last, segment + 1), n_segments)
        shuffle_segments(items, starts, segment, last, randomness.words(int(starts[last] - starts[segment])))
        segment = last


def shuffled_slots(plan: Plan, randomness: Randomness) -> tuple[Ints, Ids]:
    """Return the classes that the rows of each cell go to, in random order, and where those of each cell begin.

    Assigning them in this order gives every row of a cell the same chance of each class.
    """
    by_cell = np.argsort(plan.cell, kind="stable")
    slots = np.repeat(plan.ec[by_cell], plan.count[by_cell])
    starts = np.append(0, np.cumsum(plan.cells.count))
    shuffle_within(slots, starts, randomness)
    return starts[:-1].copy(), slots


def random_order(n_rows: int, randomness: Randomness) -> Ids:
    """Return a random permutation of the rows."""
    return shuffled(np.arange(n_rows, dtype=np.int32), randomness)


def shuffled(items: Ids, randomness: Randomness) -> Ids:
    """Return items in random order, every order equally likely; many items go to random buckets first, for speed."""
    if len(items) > SHUFFLED_AT_ONCE:
        words = randomness.words(-(-len(items) // 8))
        items, starts = scatter(items, words.view(np.uint8))
    else:
        items, starts = items.copy(), np.array([0, len(items)])
    shuffle_within(items, starts, randomness)
    return items


def fold(codes: Sequence[NDArray[np.integer]], sizes: Sequence[int]) -> tuple[Ints, Ids]:
    """Number the distinct combinations of codes: return a row with each combination, and each row's combination.

    Combinations are numbered in the order of their codes, whatever the order of the rows.
    """
    n_rows = len(codes[0])
    if n_rows > np.iinfo(np.int32).max:
        raise InputError(f"the table has {n_rows} rows; in memory betalike takes at most {np.iinfo(np.int32).max}.")
    keys, span = np.zeros(n_rows, dtype=np.uint64), 1
    for column, size in zip(codes, sizes, strict=True):
        if span * size >= 2**63:  # number the keys so far, to make room
            number, firsts = _number(keys, span)
            keys, span = number.astype(np.uint64), len(firsts)
        append_digit(keys, np.ascontiguousarray(column, dtype=np.int32), size)
        span *= size
    number, firsts = _number(keys, span)
    return firsts, number


def _number(keys: Words, span: int) -> tuple[Ids, Ints]:
    """Number distinct keys in ascending order; also return a row in which each occurs."""
    if span <= max(4 * len(keys), 1 << 22):
        return number_keys_densely(keys, span)
    number, firsts = number_keys_by_hash(keys)
    order = np.argsort(keys[firsts])  # which are distinct
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank[number], firsts[order]
