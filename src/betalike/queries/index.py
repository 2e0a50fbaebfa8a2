"""The classes of a release, indexed once, so that a query looks at classes (or distinct points) and never at rows."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from betalike.queries.boxes import Box
from betalike.queries.columns import LabelSpans, QueryColumn
from betalike.queries.kernels import N_SUMS, observe_boxes, sum_boxes
from betalike.queries.shares import Shares, Spread, label_weights, make_shares
from betalike.queries.values import ValueSet
from betalike.runtime.arrays import Bools, Floats, Ids, Ints
from betalike.table.cells import ClassCounts

MOST_WEIGHTS = 8_000_000  # weights of labels that are held at once


@dataclass(frozen=True)
class ClassIndex:
    """Classes as numbers of labels, with their counts, and lists of the classes that carry each label."""

    columns: tuple[QueryColumn, ...]
    spans: tuple[LabelSpans, ...]
    ids: Ids
    counts: ClassCounts

    @staticmethod
    def of(columns: Sequence[QueryColumn], labels: Sequence[Sequence[str | None]], counts: ClassCounts) -> ClassIndex:
        """Number the labels of the classes, one list of labels for each column.

        Classes are put in the order of their labels, so that sums are the same however they were counted.
        """
        spans, ids = [], np.zeros((len(counts.sizes), len(columns)), dtype=np.int32)
        for axis, (column, of_class) in enumerate(zip(columns, labels, strict=True)):
            distinct = sorted(set(of_class), key=lambda label: (label is not None, label or ""))
            number = {label: i for i, label in enumerate(distinct)}
            ids[:, axis] = [number[label] for label in of_class]
            spans.append(column.spans(distinct))
        order = np.lexsort(ids.T[::-1])
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        placed = ClassCounts.of(place[counts.ec], counts.value, counts.count, counts.n_values)
        return ClassIndex(tuple(columns), tuple(spans), ids[order], placed)

    @cached_property
    def n_labels(self) -> list[int]:
        """How many labels each column has."""
        return [len(spans.low) for spans in self.spans]

    @cached_property
    def first_label(self) -> Ints:
        """Where each column's labels start, if all labels are numbered through."""
        return np.append(0, np.cumsum(self.n_labels)).astype(np.int64)

    @cached_property
    def members(self) -> tuple[Ids, Ints]:
        """The classes that carry each label, label after label, and where each label's classes start."""
        order = [np.argsort(self.ids[:, axis], kind="stable") for axis in range(len(self.columns))]
        sizes = [np.bincount(self.ids[:, axis], minlength=n) for axis, n in enumerate(self.n_labels)]
        return np.concatenate(order).astype(np.int32), np.append(0, np.cumsum(np.concatenate(sizes))).astype(np.int64)

    @cached_property
    def label_counts(self) -> list[Floats]:
        """How many tuples carry each label of each column."""
        sizes = self.counts.sizes.astype(np.float64)
        return [np.bincount(self.ids[:, axis], sizes, n).astype(np.float64) for axis, n in enumerate(self.n_labels)]

    @cached_property
    def _at_ends(self) -> Floats:
        """Which part of each class two tuples are."""
        return np.asarray(2.0 / np.maximum(self.counts.sizes, 2))

    @cached_property
    def _entries(self) -> tuple[Ints, Ids, Ints]:
        before = np.append(0, np.cumsum(self.counts.count)).astype(np.int64)
        return self.counts.starts.astype(np.int64), self.counts.value.astype(np.int32), before

    @cached_property
    def _ahead(self) -> Ids:
        """Tuples of each class before each sensitive value; empty where that would take too much room."""
        n_classes, n_values = len(self.counts.sizes), self.counts.n_values
        if n_classes * (n_values + 1) > MOST_WEIGHTS or self.counts.count.sum() > np.iinfo(np.int32).max:
            return np.zeros((0, n_values + 1), dtype=np.int32)
        dense = np.zeros((n_classes, n_values + 1), dtype=np.int32)
        dense[self.counts.ec, self.counts.value + 1] = self.counts.count
        return np.cumsum(dense, axis=1, dtype=np.int32)

    def shares(self, spread: Spread) -> list[Shares]:
        """The shares of all labels, column by column."""
        n_classes = [
            np.bincount(self.ids[:, axis], minlength=n).astype(np.float64) for axis, n in enumerate(self.n_labels)
        ]
        columns = zip(self.columns, self.spans, self.label_counts, n_classes, strict=True)
        return [make_shares(column, spans, counts, n, spread) for column, spans, counts, n in columns]

    def sum_boxes(self, boxes: Sequence[Box], masks: Sequence[Bools], shares: Sequence[Shares]) -> Floats:
        """Of each box, with the mask of its sensitive values: the sums that `kernels.sum_boxes` tells of."""
        sums = np.zeros((len(boxes), N_SUMS))
        distinct = {id(mask): mask for mask in masks}  # many boxes share a mask
        known = {number: _runs(mask) for number, mask in distinct.items()}
        runs = [known[id(mask)] for mask in masks]
        for first, weights, rows in self._batches(boxes, shares):
            batch = runs[first : first + len(rows)]
            flat = np.array([run for of_box in batch for run in of_box], dtype=np.int64).reshape(-1, 2)
            first_run = np.append(0, np.cumsum([len(of_box) for of_box in batch])).astype(np.int64)
            part = sums[first : first + len(rows)]
            arguments = (*weights, rows, self._at_ends, self.ids, *self.members, self.first_label, *self._entries)
            starts, ends = np.ascontiguousarray(flat[:, 0]), np.ascontiguousarray(flat[:, 1])
            _share_out(len(rows), lambda a, b: sum_boxes(*arguments, self._ahead, starts, ends, first_run, part, a, b))  # noqa: B023 - run at once
        return sums

    def observe_boxes(self, boxes: Sequence[Box], shares: Sequence[Shares]) -> Floats:
        """How many tuples of each sensitive value lie in each box. Paper: Section 5, E'."""
        observed = np.zeros((len(boxes), self.counts.n_values))
        for first, weights, rows in self._batches(boxes, shares):
            part = observed[first : first + len(rows)]
            arguments = (*weights, rows, self._at_ends, self.ids, *self.members, self.first_label, *self._entries)
            _share_out(len(rows), lambda a, b: observe_boxes(*arguments, part, a, b))  # noqa: B023 - run at once
        return observed

    def _batches(
        self, boxes: Sequence[Box], shares: Sequence[Shares]
    ) -> Iterator[tuple[int, tuple[Floats, Floats], Ints]]:
        """Boxes as rows of label weights; equal sets share a row, and rows are made for some boxes at a time."""
        first = 0
        while first < len(boxes):
            known: dict[tuple[int, ValueSet], int] = {}
            tables: list[Floats] = []
            rows: list[list[int]] = []
            n_weights = 0
            while first + len(rows) < len(boxes) and n_weights < MOST_WEIGHTS:
                box = boxes[first + len(rows)]
                row = [-1] * len(self.columns)
                for axis, column in enumerate(self.columns):
                    values = box.get(column.name)
                    if values is None or values.is_everything:
                        continue
                    if (axis, values) not in known:
                        known[axis, values] = n_weights
                        tables.append(label_weights(shares[axis], values))
                        n_weights += tables[-1].shape[1]
                    row[axis] = known[axis, values]
                rows.append(row)
            weights = np.concatenate(tables, axis=1) if tables else np.zeros((3, 1))
            yield (
                first,
                (weights[0], weights[1:].T.copy()),
                np.array(rows, dtype=np.int64).reshape(len(rows), len(self.columns)),
            )
            first += len(rows)


def sensitive_masks(boxes: Sequence[Box], column: QueryColumn, values: Sequence[str]) -> list[Bools]:
    """Which sensitive values belong to each box, equal masks once; the empty text stands for a missing value."""
    spans = column.spans([value or None for value in values])
    known: dict[ValueSet | None, Bools] = {None: np.ones(len(values), dtype=bool)}
    masks = []
    for box in boxes:
        wanted = box.get(column.name)
        if wanted not in known:
            assert wanted is not None
            known[wanted] = spans.touching(wanted)
        masks.append(known[wanted])
    return masks


def without(box: Box, name: str) -> Mapping[str, ValueSet]:
    """A box without one of its columns."""
    return {column: values for column, values in box.items() if column != name}


def _runs(mask: Bools) -> list[tuple[int, int]]:
    """Stretches of true entries: where each starts and ends."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def _share_out(n_boxes: int, work: Callable[[int, int], None]) -> None:
    """Have the processors do some boxes each."""
    n_threads = max(min(os.cpu_count() or 1, 8, n_boxes // 16), 1)
    ends = [n_boxes * i // n_threads for i in range(n_threads + 1)]
    if n_threads == 1:
        work(0, n_boxes)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        for job in [pool.submit(work, start, end) for start, end in itertools.pairwise(ends)]:
            job.result()
