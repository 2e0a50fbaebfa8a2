"""Hilbert retrieval: fill each class with the tuples nearest to a random one along the Hilbert curve. Paper: 4.5.

Points near each other on the curve are near each other in QI space. An *entry* is one QI point of one bucket with its
number of tuples; entries are sorted by bucket, then along the curve. `exact_neighbours` replaces the curve by exact
distances.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from betalike.runtime.arrays import Floats, Ids, IntGrid, Ints, WordGrid, Words
from betalike.runtime.compilation import kernel
from betalike.runtime.progress import Progress
from betalike.runtime.randomness import Randomness
from betalike.schemes.exact_neighbours import build_trees, free_under_nodes, take_nearest_in_space
from betalike.schemes.fragments import gather_classes, spread_cells
from betalike.schemes.free_tuples import find_entry, forget_tuples, next_free, sum_tree
from betalike.table.cells import Cells, shuffle_within

CLASSES_PER_STEP = 5_000
KEY_BITS = 62


class Retrieval(StrEnum):
    """How a class finds the tuples near its seed."""

    HILBERT = "hilbert"
    EXACT = "exact"


def fill_classes(
    cells: Cells, buckets: list[Ints], draws: Ints, retrieval: Retrieval, randomness: Randomness, progress: Progress
) -> tuple[Ids, Ints]:
    """Return the tuples (as cells) of each class, by bucket and then along the curve, and where each class begins."""
    entries = Entries.of(cells, buckets)
    takes = retrieve(draws, entries, retrieval, randomness, progress)
    tuple_cells, tuple_start = spread_cells(entries.cell_start, entries.cells, cells.count)
    # which of an entry's tuples a class receives must not depend on their values
    shuffle_within(tuple_cells, tuple_start, randomness)
    return gather_classes(*takes, len(draws), tuple_cells, tuple_start)


@dataclass(frozen=True)
class Entries:
    """The QI points of each bucket, by bucket and then along the curve, with their cells."""

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
        rank, bucket_of_value = ranks_along(keys), number_buckets(buckets, cells.sensitive.size)
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


def number_buckets(buckets: list[Ints], n_values: int) -> Ints:
    """Return the number of each sensitive value's bucket."""
    bucket_of_value = np.zeros(n_values, dtype=np.int64)
    for number, bucket in enumerate(buckets):
        bucket_of_value[bucket] = number
    return bucket_of_value


def retrieve(
    draws: Ints,
    entries: Entries,
    retrieval: Retrieval,
    randomness: Randomness,
    progress: Progress,
    step: int = CLASSES_PER_STEP,
) -> tuple[Ints, Ints, Ints]:
    """Fill the classes, some thousands at a time; their order is irrelevant, because each starts at a random tuple."""
    free, tree = entries.count.copy(), sum_tree(entries.count)
    right = np.arange(len(free) + 1, dtype=np.int32)
    left = right.copy()
    trees = node_free = leaf_of_entry = None
    if retrieval is Retrieval.EXACT:
        trees = build_trees(entries.positions, entries.bucket_start)
        node_free, leaf_of_entry = free_under_nodes(free, trees)
    parts: list[tuple[Ints, Ints, Ints]] = []
    for start in progress.track(range(0, len(draws), step), "forming classes"):
        some = draws[start : start + step]
        words = randomness.words(len(some))
        if trees is not None and node_free is not None and leaf_of_entry is not None:
            taken = take_nearest_in_space(some, words, entries.positions, free, tree, trees, node_free, leaf_of_entry)
        else:
            taken = take_nearest_on_curve(some, words, entries.bucket_start, entries.key, free, tree, right, left)
        parts.append((taken[0] + start, taken[1], taken[2]))
    columns = zip(*parts, strict=True)
    ec, entry, count = (np.concatenate(column) for column in columns)
    return ec, entry, count


def hilbert_keys(positions: Floats) -> Words:
    """Return the place of each point of the unit cube along the curve.

    Every axis is stretched to the curve's full range, so that an attribute of two values has them at the two ends.
    Beyond 62 attributes, the curve uses the first 62.
    """
    n_axes = min(positions.shape[1], KEY_BITS)
    bits = min(20, KEY_BITS // n_axes)
    grid = np.rint(np.clip(positions[:, :n_axes], 0.0, 1.0) * ((1 << bits) - 1)).astype(np.uint64)
    return keys_of_grid(grid, bits)


def ranks_along(keys: Words) -> Ints:
    """Return the place of each point among all points on the curve; ties keep the order of the points."""
    rank = np.empty(len(keys), dtype=np.int64)
    rank[np.argsort(keys, kind="stable")] = np.arange(len(keys))
    return rank


@kernel
def keys_of_grid(grid: WordGrid, bits: int) -> Words:
    """Walk from the coarsest cube to the finest, turning each point as the curve turns (Skilling's transform)."""
    n_points, n_axes = grid.shape
    keys = np.empty(n_points, dtype=np.uint64)
    x = np.empty(n_axes, dtype=np.uint64)
    one = np.uint64(1)
    for point in range(n_points):
        for axis in range(n_axes):
            x[axis] = grid[point, axis]
        for level in range(bits - 1, 0, -1):
            side = one << np.uint64(level)
            within = side - one
            for axis in range(n_axes):
                if x[axis] & side:
                    x[0] ^= within
                else:
                    swap = (x[0] ^ x[axis]) & within
                    x[0] ^= swap
                    x[axis] ^= swap
        for axis in range(1, n_axes):
            x[axis] ^= x[axis - 1]
        flip = np.uint64(0)
        for level in range(bits - 1, 0, -1):
            if x[n_axes - 1] & (one << np.uint64(level)):
                flip ^= (one << np.uint64(level)) - one
        key = np.uint64(0)
        for level in range(bits - 1, -1, -1):
            for axis in range(n_axes):
                key = (key << one) | (((x[axis] ^ flip) >> np.uint64(level)) & one)
        keys[point] = key
    return keys


@kernel
def take_nearest_on_curve(
    draws: IntGrid,
    words: Words,
    bucket_start: Ints,
    key: Words,
    free: Ints,
    tree: Ints,
    right: Ids,
    left: Ids,
) -> tuple[Ints, Ints, Ints]:
    """Take for each class a random free tuple, then from each bucket the tuples nearest to it. Paper: 4.5, Retrieve.

    `draws` has a row per class, `words` a random word per class. `free` counts what each entry still has. `right` and
    `left` lead from an entry to the next free one on that side; they have one place more than there are entries, and
    `left` is shifted by one. Returns takes: the class (row of `draws`), the entry, the number of tuples.
    """
    n_classes, n_buckets = draws.shape
    most = n_classes * n_buckets + len(free)
    take_class = np.empty(most, dtype=np.int64)
    take_entry = np.empty(most, dtype=np.int64)
    take_count = np.empty(most, dtype=np.int64)
    n_takes = 0
    n_free = free.sum()
    for ec in range(n_classes):
        seed = key[find_entry(tree, np.int64(words[ec] % np.uint64(n_free)))]
        for bucket in range(n_buckets):
            need = draws[ec, bucket]
            if need == 0:
                continue
            begin, end = bucket_start[bucket], bucket_start[bucket + 1]
            near = begin + np.searchsorted(key[begin:end], seed)
            up = next_free(right, near) if near < end else end
            down = next_free(left, near) - 1
            while need > 0:
                is_up = up < end and (down < begin or key[up] - seed <= seed - key[down])
                entry = up if is_up else down
                count = min(need, free[entry])
                take_class[n_takes] = ec
                take_entry[n_takes] = entry
                take_count[n_takes] = count
                n_takes += 1
                need -= count
                free[entry] -= count
                forget_tuples(tree, entry, count)
                if free[entry] == 0:
                    right[entry] = entry + 1
                    left[entry + 1] = entry
                    if is_up:
                        up = next_free(right, entry)
                    else:
                        down = next_free(left, entry) - 1
        n_free -= draws[ec].sum()
    return take_class[:n_takes].copy(), take_entry[:n_takes].copy(), take_count[:n_takes].copy()
