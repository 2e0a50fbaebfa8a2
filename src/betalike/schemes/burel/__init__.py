"""BUREL: BUcketize the sensitive values, then REallocate tuples to classes, for beta-Likeness. Paper: Section 4."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from betalike.hilbert import hilbert_keys
from betalike.models import Caps, Likeness
from betalike.progress import SILENT, Progress
from betalike.randomness import Randomness, SystemRandomness
from betalike.schemes.burel.buckets import fewest_buckets
from betalike.schemes.burel.ectree import class_draws
from betalike.schemes.burel.neighbours import build_trees, free_under_nodes, take_nearest_in_space
from betalike.schemes.burel.retrieval import sum_tree, take_nearest_on_curve
from betalike.schemes.burel.tuples import count_fragments, gather_classes, split_further, spread_cells
from betalike.table import Cells, Plan, shuffle_within

Ints = NDArray[np.int64]
CLASSES_PER_STEP = 5_000


class Retrieval(StrEnum):
    """How a class finds the tuples near its seed."""

    HILBERT = "hilbert"
    EXACT = "exact"


@dataclass(frozen=True)
class Burel:
    """The paper's generalization scheme; `split` adds the step that its figures were made with but its text omits."""

    split: bool = False
    retrieval: Retrieval = Retrieval.HILBERT
    randomness: Randomness = field(default_factory=SystemRandomness)

    @property
    def name(self) -> str:
        """The scheme's name in a certificate and on the command line."""
        return "burel+split" if self.split else "burel"

    def plan(self, cells: Cells, model: Likeness, progress: Progress = SILENT) -> Plan:
        """Form classes that keep the promise. Paper: 4.5, Algorithm BUREL."""
        caps = model.caps(cells.value_counts)
        buckets = fewest_buckets(cells.value_counts, caps)
        rarest = np.array([bucket[0] for bucket in buckets])
        bucket_sizes = np.array([cells.value_counts[bucket].sum() for bucket in buckets])
        draws = class_draws(bucket_sizes, caps.numerator[rarest], caps.denominator[rarest], model.k)
        entries = _Entries.of(cells, buckets)
        takes = _retrieve(draws, entries, self.retrieval, self.randomness, progress)
        tuple_cells, tuple_start = spread_cells(entries.cell_start, entries.cells, cells.count)
        # which of an entry's tuples a class receives must not depend on their values
        shuffle_within(tuple_cells, tuple_start, self.randomness)
        members, class_start = gather_classes(*takes, len(draws), tuple_cells, tuple_start)
        del tuple_cells
        if self.split:
            members, class_start = _split(members, class_start, draws, cells, caps, model.k)
        cell, count, ec = count_fragments(members, class_start, len(cells.count))
        return Plan(cells, cell, count, ec, len(class_start) - 1, {"buckets": len(buckets), "leaves": len(draws)})


@dataclass(frozen=True)
class _Entries:
    """The QI points of each bucket, by bucket and then along the curve, with the cells that make them up."""

    bucket_start: Ints
    key: NDArray[np.uint64]
    positions: NDArray[np.float64]
    count: Ints
    cell_start: Ints
    cells: NDArray[np.int32]

    @staticmethod
    def of(cells: Cells, buckets: list[Ints]) -> _Entries:
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
        return _Entries(
            bucket_start=np.searchsorted(bucket, np.arange(len(buckets) + 1)),
            key=keys[point],
            positions=cells.positions[point],
            count=np.add.reduceat(cells.count[order], first),
            cell_start=np.append(first, len(order)),
            cells=order,
        )


def _retrieve(
    draws: Ints, entries: _Entries, retrieval: Retrieval, randomness: Randomness, progress: Progress
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


def _split(
    members: NDArray[np.int32], class_start: Ints, draws: Ints, cells: Cells, caps: Caps, k: int
) -> tuple[NDArray[np.int32], Ints]:
    return split_further(members, class_start, draws, cells.value, caps.numerator, caps.denominator, k)
