"""Classes that draw given numbers of tuples from buckets are filled with tuples near each other. Paper: 4.5."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from betalike.runtime.arrays import Floats, Ids, Ints, Words
from betalike.runtime.progress import Progress
from betalike.runtime.randomness import Randomness
from betalike.schemes.fragments import gather_classes, spread_cells
from betalike.schemes.hilbert import hilbert_keys
from betalike.schemes.nearest_in_space import build_trees, free_under_nodes, take_nearest_in_space
from betalike.schemes.nearest_on_curve import sum_tree, take_nearest_on_curve
from betalike.table.cells import Cells, shuffle_within

CLASSES_PER_STEP = 5_000


class Retrieval(StrEnum):
    """How a class finds the tuples near its seed."""

    HILBERT = "hilbert"
    EXACT = "exact"


def fill_classes(
    cells: Cells, buckets: list[Ints], draws: Ints, retrieval: Retrieval, randomness: Randomness, progress: Progress
) -> tuple[Ids, Ints]:
    """The tuples of each class as cells, by bucket and then along the curve, and where each class begins."""
    entries = Entries.of(cells, buckets)
    takes = retrieve(draws, entries, retrieval, randomness, progress)
    tuple_cells, tuple_start = spread_cells(entries.cell_start, entries.cells, cells.count)
    # which of an entry's tuples a class receives must not depend on their values
    shuffle_within(tuple_cells, tuple_start, randomness)
    return gather_classes(*takes, len(draws), tuple_cells, tuple_start)


@dataclass(frozen=True)
class Entries:
    """The QI points of each bucket, by bucket and then along the curve, with the cells that make them up."""

    bucket_start: Ints
    key: Words
    positions: Floats
    count: Ints
    cell_start: Ints
    cells: Ids

    @staticmethod
    def of(cells: Cells, buckets: list[Ints]) -> Entries:
        """Sort the cells of a table into buckets of sensitive values, along the curve."""
        keys = hilbert_keys(cells.positions)
        rank = np.empty(len(keys), dtype=np.int64)  # place along the curve; ties in the order of the points
        rank[np.argsort(keys, kind="stable")] = np.arange(len(keys))
        bucket_of_value = np.zeros(cells.sensitive.size, dtype=np.int64)
        for number, bucket in enumerate(buckets):
            bucket_of_value[bucket] = number
        entry_key = bucket_of_value[cells.value] * len(keys) + rank[cells.point]
        order = np.argsort(entry_key, kind="stable").astype(np.int32)
        is_first = np.ones(len(order), dtype=bool)
        is_first[1:] = entry_key[order[1:]] != entry_key[order[:-1]]
        first = np.flatnonzero(is_first)
        point = cells.point[order[first]]
        bucket = bucket_of_value[cells.value[order[first]]]
        return Entries(
            bucket_start=np.searchsorted(bucket, np.arange(len(buckets) + 1)),
            key=keys[point],
            positions=cells.positions[point],
            count=np.add.reduceat(cells.count[order], first),
            cell_start=np.append(first, len(order)),
            cells=order,
        )


def retrieve(
    draws: Ints, entries: Entries, retrieval: Retrieval, randomness: Randomness, progress: Progress
) -> tuple[Ints, Ints, Ints]:
    """Fill the classes, some thousands at a time; their order does not matter, for each starts at a random tuple."""
    free, tree = entries.count.copy(), sum_tree(entries.count)
    right = np.arange(len(free) + 1, dtype=np.int32)
    left = right.copy()
    trees = node_free = leaf_of_entry = None
    if retrieval is Retrieval.EXACT:
        trees = build_trees(entries.positions, entries.bucket_start)
        node_free, leaf_of_entry = free_under_nodes(free, trees)
    parts: list[tuple[Ints, Ints, Ints]] = []
    for start in progress.track(range(0, len(draws), CLASSES_PER_STEP), "forming classes"):
        some = draws[start : start + CLASSES_PER_STEP]
        words = randomness.words(len(some))
        if trees is not None and node_free is not None and leaf_of_entry is not None:
            taken = take_nearest_in_space(some, words, entries.positions, free, tree, trees, node_free, leaf_of_entry)
        else:
            taken = take_nearest_on_curve(some, words, entries.bucket_start, entries.key, free, tree, right, left)
        parts.append((taken[0] + start, taken[1], taken[2]))
    columns = zip(*parts, strict=True)
    ec, entry, count = (np.concatenate(column) for column in columns)
    return ec, entry, count
