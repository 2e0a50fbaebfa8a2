"""The COUNT estimate: each class adds the share of its tuples that is thought to lie in the query. Paper: 6.2.

The classes of a release are indexed once, so that a query reads classes (or distinct points) and never rows. The share
of a class is the product of its labels' shares, from `label_shares`.

The standard error has three parts. Members of a class lie together more often than chance alone would place them. The
shares may be wrong in the same direction for all classes, by as much as `label_weights` allows. And within a class,
sensitive values may depend on quasi-identifiers: a small beta makes classes resemble the table, which hides this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from betalike.queries.answer import RELATION, Estimates
from betalike.queries.boxes import Box
from betalike.queries.columns import LabelSpans, QueryColumn
from betalike.queries.count_kernels import (
    CLUMPED,
    DOUBT,
    ESTIMATE,
    INDEPENDENT,
    N_SUMS,
    POSSIBLE,
    RELATED,
    SURE,
    Index,
    observe_boxes,
    sum_boxes,
)
from betalike.queries.label_shares import Shares, Spread, label_weights, make_shares
from betalike.queries.value_sets import ValueSet
from betalike.runtime.arrays import Bools, Floats, Ids, Ints
from betalike.runtime.threads import split_work
from betalike.table.cells import ClassCounts

MOST_WEIGHTS = 8_000_000  # label weights held at once
LEAST_BOXES = 16  # boxes that are worth a thread
CLUMPING = 0.25  # correlation of two members of a class in lying inside; chosen on real tables, checked on others


def estimate_counts(
    index: ClassIndex, shares: Sequence[Shares], boxes: Sequence[Box], masks: Sequence[Bools]
) -> Estimates:
    """Estimate how many tuples lie in each box and have one of its sensitive values. Paper: 6.2."""
    sums = index.sum_boxes(boxes, masks, shares)
    by_chance = (1.0 - CLUMPING) * sums[:, INDEPENDENT] + CLUMPING * sums[:, CLUMPED]
    error = np.sqrt(by_chance + sums[:, DOUBT] ** 2 + (RELATION * sums[:, RELATED]) ** 2)
    return Estimates(sums[:, ESTIMATE], error, sums[:, SURE], sums[:, POSSIBLE]).clipped()


@dataclass(frozen=True)
class ClassIndex:
    """The classes of a release: the number of each one's label on each column, their counts, and the labels."""

    columns: tuple[QueryColumn, ...]
    spans: tuple[LabelSpans, ...]
    ids: Ids
    counts: ClassCounts
    labels: tuple[tuple[str | None, ...], ...]
    most_weights: int = MOST_WEIGHTS

    @staticmethod
    def of(columns: Sequence[QueryColumn], labels: Sequence[Sequence[str | None]], counts: ClassCounts) -> ClassIndex:
        """Number the labels of the classes, given one list of labels per column.

        Classes are sorted by their labels, so that sums do not depend on the order in which they were counted.
        """
        spans, shown, ids = [], [], np.zeros((len(counts.sizes), len(columns)), dtype=np.int32)
        for axis, (column, of_class) in enumerate(zip(columns, labels, strict=True)):
            distinct = sorted(set(of_class), key=lambda label: (label is not None, label or ""))
            number = {label: i for i, label in enumerate(distinct)}
            ids[:, axis] = [number[label] for label in of_class]
            spans.append(column.spans(distinct))
            shown.append(tuple(distinct))
        order = np.lexsort(ids.T[::-1])
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        placed = ClassCounts.of(place[counts.ec], counts.value, counts.count, counts.n_values)
        return ClassIndex(tuple(columns), tuple(spans), ids[order], placed, tuple(shown))

    @cached_property
    def n_labels(self) -> list[int]:
        """Number of labels per column."""
        return [len(spans.low) for spans in self.spans]

    @cached_property
    def members(self) -> tuple[Ids, Ints]:
        """The classes of each label, label by label, and where each label's classes start."""
        order = [np.argsort(self.ids[:, axis], kind="stable") for axis in range(len(self.columns))]
        sizes = [np.bincount(self.ids[:, axis], minlength=n) for axis, n in enumerate(self.n_labels)]
        return np.concatenate(order).astype(np.int32), np.append(0, np.cumsum(np.concatenate(sizes))).astype(np.int64)

    @cached_property
    def label_counts(self) -> list[Floats]:
        """Number of tuples with each label, per column."""
        sizes = self.counts.sizes.astype(np.float64)
        return [np.bincount(self.ids[:, axis], sizes, n).astype(np.float64) for axis, n in enumerate(self.n_labels)]

    @cached_property
    def _arrays(self) -> Index:
        at_ends = np.asarray(2.0 / np.maximum(self.counts.sizes, 2))
        first_label = np.append(0, np.cumsum(self.n_labels)).astype(np.int64)
        before = np.append(0, np.cumsum(self.counts.count)).astype(np.int64)
        starts, value = self.counts.starts.astype(np.int64), self.counts.value.astype(np.int32)
        return Index(at_ends, self.ids, *self.members, first_label, starts, value, before)

    @cached_property
    def _ahead(self) -> Ids:
        """Tuples of each class before each sensitive value; empty if that would take too much memory."""
        n_classes, n_values = len(self.counts.sizes), self.counts.n_values
        if n_classes * (n_values + 1) > self.most_weights or self.counts.count.sum() > np.iinfo(np.int32).max:
            return np.zeros((0, n_values + 1), dtype=np.int32)
        dense = np.zeros((n_classes, n_values + 1), dtype=np.int32)
        dense[self.counts.ec, self.counts.value + 1] = self.counts.count
        return np.cumsum(dense, axis=1, dtype=np.int32)

    def shares(self, spread: Spread) -> list[Shares]:
        """Return the shares of all labels, per column."""
        n_classes = [
            np.bincount(self.ids[:, axis], minlength=n).astype(np.float64) for axis, n in enumerate(self.n_labels)
        ]
        columns = zip(self.columns, self.spans, self.label_counts, n_classes, strict=True)
        return [make_shares(column, spans, counts, n, spread) for column, spans, counts, n in columns]

    def sum_boxes(self, boxes: Sequence[Box], masks: Sequence[Bools], shares: Sequence[Shares]) -> Floats:
        """Return the sums of `count_kernels.sum_boxes` per box; `masks` mark the sensitive values of each box."""
        sums = np.zeros((len(boxes), N_SUMS))
        distinct = {id(mask): mask for mask in masks}  # many boxes share a mask
        known = {number: _runs(mask) for number, mask in distinct.items()}
        runs = [known[id(mask)] for mask in masks]
        for first, weights, rows in self._batches(boxes, shares):
            batch = runs[first : first + len(rows)]
            flat = np.array([run for of_box in batch for run in of_box], dtype=np.int64).reshape(-1, 2)
            first_run = np.append(0, np.cumsum([len(of_box) for of_box in batch])).astype(np.int64)
            runs_of_batch = (np.ascontiguousarray(flat[:, 0]), np.ascontiguousarray(flat[:, 1]), first_run)
            arguments = (*weights, rows, self._arrays, self._ahead, *runs_of_batch, sums[first : first + len(rows)])
            split_work(len(rows), partial(sum_boxes, *arguments), LEAST_BOXES)
        return sums

    def observe_boxes(self, boxes: Sequence[Box], shares: Sequence[Shares]) -> Floats:
        """Count the tuples of each sensitive value in each box. Paper: Section 5, E'."""
        observed = np.zeros((len(boxes), self.counts.n_values))
        for first, weights, rows in self._batches(boxes, shares):
            arguments = (*weights, rows, self._arrays, observed[first : first + len(rows)])
            split_work(len(rows), partial(observe_boxes, *arguments), LEAST_BOXES)
        return observed

    def _batches(
        self, boxes: Sequence[Box], shares: Sequence[Shares]
    ) -> Iterator[tuple[int, tuple[Floats, Floats], Ints]]:
        """Yield boxes as rows of label weights, in batches; boxes with the same set share its weights."""
        first = 0
        while first < len(boxes):
            known: dict[tuple[int, ValueSet], int] = {}
            tables: list[Floats] = []
            rows: list[list[int]] = []
            n_weights = 0
            while first + len(rows) < len(boxes) and n_weights < self.most_weights:
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
    """Mark the sensitive values of each box; equal masks are one array, and the empty text is a missing value."""
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
    """Return a box without one of its columns."""
    return {column: values for column, values in box.items() if column != name}


def _runs(mask: Bools) -> list[tuple[int, int]]:
    """Return where each run of true entries starts and ends."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]
