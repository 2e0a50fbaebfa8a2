"""Tuples as cells, and classes as fragments of cells: what BUREL, SABRE and Mondrian build plans from."""

from __future__ import annotations

import numpy as np

from betalike.runtime.arrays import Ids, Ints
from betalike.runtime.compilation import kernel
from betalike.runtime.sorting import stable_order


@kernel
def spread_cells(entry_start: Ints, entry_cells: Ids, cell_count: Ints) -> tuple[Ids, Ints]:
    """Return the cell of every tuple, entry by entry, and where each entry's tuples begin."""
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
    """Return the tuples of each class, by bucket and then along the curve, and where each class begins.

    Takes are sorted by class; each takes the next tuples of its entry.
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
        for take in stable_order(take_entry[begin:end]):
            entry = take_entry[begin + take]
            for _ in range(take_count[begin + take]):
                out[place] = cells[cursor[entry]]
                cursor[entry] += 1
                place += 1
        begin = end
    return out, class_start


@kernel
def count_fragments(cells: Ids, class_start: Ints, n_cells: int) -> tuple[Ids, Ints, Ids]:
    """Count the tuples of each cell in each class: return the cell, the count and the class of each fragment."""
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
