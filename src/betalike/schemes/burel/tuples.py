"""From takes to classes: which tuples of an entry a class receives, the further split, and the fragments."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from betalike.compilation import kernel

Ints = NDArray[np.int64]
Ids = NDArray[np.int32]


@kernel
def spread_cells(entry_start: Ints, entry_cells: Ids, cell_count: Ints) -> tuple[Ids, Ints]:
    """The cell of every tuple, entry by entry, and where each entry's tuples begin."""
    n_entries = len(entry_start) - 1
    tuple_start = np.zeros(n_entries + 1, dtype=np.int64)
    for entry in range(n_entries):
        total = 0
        for i in range(entry_start[entry], entry_start[entry + 1]):
            total += cell_count[entry_cells[i]]
        tuple_start[entry + 1] = tuple_start[entry] + total
    cells = np.empty(tuple_start[n_entries], dtype=np.int32)
    place = 0
    for entry in range(n_entries):
        for i in range(entry_start[entry], entry_start[entry + 1]):
            for _ in range(cell_count[entry_cells[i]]):
                cells[place] = entry_cells[i]
                place += 1
    return cells, tuple_start


@kernel
def gather_classes(
    take_class: Ints, take_entry: Ints, take_count: Ints, n_classes: int, cells: Ids, tuple_start: Ints
) -> tuple[Ids, Ints]:
    """The tuples of each class, by bucket and then along the curve, and where each class begins.

    Takes are sorted by class; each hands out the next tuples of its entry.
    """
    class_start = np.zeros(n_classes + 1, dtype=np.int64)
    for take in range(len(take_class)):
        class_start[take_class[take] + 1] += take_count[take]
    for ec in range(n_classes):
        class_start[ec + 1] += class_start[ec]
    out = np.empty(len(cells), dtype=np.int32)
    cursor = tuple_start[:-1].copy()
    place = 0
    begin = 0
    while begin < len(take_class):
        end = begin
        while end < len(take_class) and take_class[end] == take_class[begin]:
            end += 1
        for i in begin + np.argsort(take_entry[begin:end]):
            entry = take_entry[i]
            for _ in range(take_count[i]):
                out[place] = cells[cursor[entry]]
                cursor[entry] += 1
                place += 1
        begin = end
    return out, class_start


@kernel
def _is_allowed(counts: Ints, size: int, k: int, numerator: Ints, denominator: Ints) -> bool:
    if size < k:
        return False
    for value in range(len(counts)):
        if counts[value] * denominator[value] > numerator[value] * size:
            return False
    return True


@kernel
def split_further(
    cells: Ids,
    class_start: Ints,
    draws: Ints,
    cell_value: Ids,
    numerator: Ints,
    denominator: Ints,
    k: int,
) -> tuple[Ids, Ints]:
    """Halve each class again, each bucket's share in the curve's order, while the *actual* counts allow it.

    This looks at sensitive values, so the argument against minimality attacks of Section 7 does not cover it. It is
    not in the paper's text, but its figures were made with it. Same form of result as `gather_classes`.
    """
    n_classes, n_buckets = draws.shape
    n_values = len(numerator)
    out = np.empty_like(cells)
    starts = np.empty(len(cells) + 1, dtype=np.int64)
    n_starts = 0
    place = 0
    begins = np.empty((130, n_buckets), dtype=np.int64)
    ends = np.empty((130, n_buckets), dtype=np.int64)
    counts = np.empty((130, n_values), dtype=np.int64)
    left = np.empty(n_values, dtype=np.int64)
    for ec in range(n_classes):
        where = class_start[ec]
        counts[0] = 0
        for i in range(class_start[ec], class_start[ec + 1]):
            counts[0, cell_value[cells[i]]] += 1
        for bucket in range(n_buckets):
            begins[0, bucket] = where
            where += draws[ec, bucket]
            ends[0, bucket] = where
        height = 1
        while height > 0:
            top = height - 1
            left[:] = 0
            left_size = 0
            size = 0
            for bucket in range(n_buckets):
                half = (ends[top, bucket] - begins[top, bucket]) // 2
                size += ends[top, bucket] - begins[top, bucket]
                left_size += half
                for i in range(begins[top, bucket], begins[top, bucket] + half):
                    left[cell_value[cells[i]]] += 1
            if _is_allowed(left, left_size, k, numerator, denominator) and _is_allowed(
                counts[top] - left, size - left_size, k, numerator, denominator
            ):
                for bucket in range(n_buckets):
                    middle = begins[top, bucket] + (ends[top, bucket] - begins[top, bucket]) // 2
                    begins[height, bucket] = begins[top, bucket]
                    ends[height, bucket] = middle
                    begins[top, bucket] = middle
                counts[top] -= left
                counts[height] = left
                height += 1
                continue
            starts[n_starts] = place
            n_starts += 1
            for bucket in range(n_buckets):
                for i in range(begins[top, bucket], ends[top, bucket]):
                    out[place] = cells[i]
                    place += 1
            height -= 1
    starts[n_starts] = place
    return out, starts[: n_starts + 1].copy()


@kernel
def count_fragments(cells: Ids, class_start: Ints, n_cells: int) -> tuple[Ids, Ints, Ids]:
    """How many tuples of which cell each class holds: the cell, the count and the class of each fragment."""
    fragment_cell = np.empty(len(cells), dtype=np.int32)
    fragment_count = np.empty(len(cells), dtype=np.int64)
    fragment_class = np.empty(len(cells), dtype=np.int32)
    seen = np.full(n_cells, -1, dtype=np.int64)  # the latest fragment of each cell
    n = 0
    for ec in range(len(class_start) - 1):
        first = n
        for i in range(class_start[ec], class_start[ec + 1]):
            cell = cells[i]
            if seen[cell] < first:
                seen[cell] = n
                fragment_cell[n] = cell
                fragment_count[n] = 0
                fragment_class[n] = ec
                n += 1
            fragment_count[seen[cell]] += 1
    return fragment_cell[:n].copy(), fragment_count[:n].copy(), fragment_class[:n].copy()
