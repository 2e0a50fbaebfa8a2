"""Exact nearest neighbours in QI space, the alternative to Hilbert retrieval: one k-d tree per bucket. Paper: 4.5."""

from __future__ import annotations

import numpy as np

from betalike.runtime.arrays import Floats, Ints, Words
from betalike.runtime.compilation import kernel
from betalike.runtime.sorting import stable_order
from betalike.schemes.free_tuples import find_entry, forget_tuples

LEAF_SIZE = 8


@kernel
def build_trees(positions: Floats, bucket_start: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints, Floats, Floats]:
    """Build one tree per bucket over the positions of its entries.

    Node b is the root of bucket b. Returns the entries in the trees' order, each node's first and last place in it, its
    left child (the right one follows it; 0 for a leaf), its parent (-1 for a root), and its box.
    """
    n_entries, n_axes = positions.shape
    n_buckets = len(bucket_start) - 1
    order = np.arange(n_entries)
    most = n_buckets + 4 * (n_entries // LEAF_SIZE + 1) + 2
    first = np.zeros(most, dtype=np.int64)
    last = np.zeros(most, dtype=np.int64)
    child = np.zeros(most, dtype=np.int64)
    parent = np.full(most, -1, dtype=np.int64)
    low = np.full((most, n_axes), np.inf)
    high = np.full((most, n_axes), -np.inf)
    for bucket in range(n_buckets):
        first[bucket] = bucket_start[bucket]
        last[bucket] = bucket_start[bucket + 1]
    n_nodes = n_buckets
    node = 0
    while node < n_nodes:
        begin, end = first[node], last[node]
        for place in range(begin, end):
            for axis in range(n_axes):
                low[node, axis] = min(low[node, axis], positions[order[place], axis])
                high[node, axis] = max(high[node, axis], positions[order[place], axis])
        if end - begin > LEAF_SIZE:
            widest = np.argmax(high[node] - low[node])
            part = order[begin:end].copy()
            coordinates = np.empty(end - begin)
            for i in range(end - begin):
                coordinates[i] = positions[part[i], widest]
            ranks = stable_order(coordinates)
            for i in range(end - begin):
                order[begin + i] = part[ranks[i]]
            middle = (begin + end) // 2
            child[node] = n_nodes
            first[n_nodes], last[n_nodes], parent[n_nodes] = begin, middle, node
            first[n_nodes + 1], last[n_nodes + 1], parent[n_nodes + 1] = middle, end, node
            n_nodes += 2
        node += 1
    return (
        order,
        first[:n_nodes].copy(),
        last[:n_nodes].copy(),
        child[:n_nodes].copy(),
        parent[:n_nodes].copy(),
        low[:n_nodes].copy(),
        high[:n_nodes].copy(),
    )


@kernel
def _push(heap_key: Floats, heap_item: Ints, size: int, key: float, item: int) -> int:
    place = size
    while place > 0 and heap_key[(place - 1) // 2] > key:
        heap_key[place] = heap_key[(place - 1) // 2]
        heap_item[place] = heap_item[(place - 1) // 2]
        place = (place - 1) // 2
    heap_key[place] = key
    heap_item[place] = item
    return size + 1


@kernel
def _drop_first(heap_key: Floats, heap_item: Ints, size: int) -> int:
    size -= 1
    key, item = heap_key[size], heap_item[size]
    place = 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and heap_key[below + 1] < heap_key[below]:
            below += 1
        if heap_key[below] >= key:
            break
        heap_key[place] = heap_key[below]
        heap_item[place] = heap_item[below]
        place = below
    heap_key[place] = key
    heap_item[place] = item
    return size


@kernel
def take_nearest_in_space(
    draws: Ints,
    words: Words,
    positions: Floats,
    free: Ints,
    tree: Ints,
    trees: tuple[Ints, Ints, Ints, Ints, Ints, Floats, Floats],
    node_free: Ints,
    leaf_of_entry: Ints,
) -> tuple[Ints, Ints, Ints]:
    """Take for each class a random free tuple, then from each bucket the tuples nearest to it in QI space.

    Arguments and results are those of `take_nearest_on_curve`; `node_free` counts the free tuples under each tree node.
    """
    order, first, last, child, parent, low, high = trees
    n_classes, n_buckets = draws.shape
    n_axes = positions.shape[1]
    most = n_classes * n_buckets + len(free)
    take_class = np.empty(most, dtype=np.int64)
    take_entry = np.empty(most, dtype=np.int64)
    take_count = np.empty(most, dtype=np.int64)
    heap_key = np.empty(len(free) + len(first) + 1)
    heap_item = np.empty(len(free) + len(first) + 1, dtype=np.int64)
    n_takes = 0
    n_free = free.sum()
    for ec in range(n_classes):
        seed = positions[find_entry(tree, np.int64(words[ec] % np.uint64(n_free)))]
        for bucket in range(n_buckets):
            need = draws[ec, bucket]
            size = 0
            if need > 0:
                size = _push(heap_key, heap_item, size, 0.0, -1 - bucket)
            while need > 0:
                item = heap_item[0]
                size = _drop_first(heap_key, heap_item, size)
                if item >= 0:
                    count = min(need, free[item])
                    take_class[n_takes] = ec
                    take_entry[n_takes] = item
                    take_count[n_takes] = count
                    n_takes += 1
                    need -= count
                    free[item] -= count
                    forget_tuples(tree, item, count)
                    node = leaf_of_entry[item]
                    while node >= 0:
                        node_free[node] -= count
                        node = parent[node]
                    continue
                node = -1 - item
                if child[node] == 0:
                    for place in range(first[node], last[node]):
                        entry = order[place]
                        if free[entry] > 0:
                            distance = 0.0
                            for axis in range(n_axes):
                                distance += (positions[entry, axis] - seed[axis]) ** 2
                            size = _push(heap_key, heap_item, size, distance, entry)
                    continue
                for below in (child[node], child[node] + 1):
                    if node_free[below] > 0:
                        distance = 0.0
                        for axis in range(n_axes):
                            outside = max(low[below, axis] - seed[axis], seed[axis] - high[below, axis], 0.0)
                            distance += outside**2
                        size = _push(heap_key, heap_item, size, distance, -1 - below)
        n_free -= draws[ec].sum()
    return take_class[:n_takes].copy(), take_entry[:n_takes].copy(), take_count[:n_takes].copy()


@kernel
def free_under_nodes(free: Ints, trees: tuple[Ints, Ints, Ints, Ints, Ints, Floats, Floats]) -> tuple[Ints, Ints]:
    """Return the free tuples under each tree node, and the leaf that holds each entry."""
    order, first, last, child, _, _, _ = trees
    node_free = np.zeros(len(first), dtype=np.int64)
    leaf_of_entry = np.empty(len(free), dtype=np.int64)
    for node in range(len(first)):
        for place in range(first[node], last[node]):
            node_free[node] += free[order[place]]
            if child[node] == 0:
                leaf_of_entry[order[place]] = node
    return node_free, leaf_of_entry
