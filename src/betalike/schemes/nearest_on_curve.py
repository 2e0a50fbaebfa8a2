"""BUREL's third phase: fill each class with tuples near a random one. Paper: 4.5, Retrieve."""

from __future__ import annotations

import numpy as np

from betalike.runtime.arrays import Ids, Ints, Words
from betalike.runtime.compilation import kernel

# An *entry* is one QI point of one bucket with its number of tuples; sorted by bucket, then along the curve.


@kernel
def sum_tree(counts: Ints) -> Ints:
    """A Fenwick tree over counts, which finds a random tuple and forgets taken ones in logarithmic time."""
    n = len(counts)
    tree = np.zeros(n + 1, dtype=np.int64)
    for i in range(1, n + 1):
        tree[i] += counts[i - 1]
        above = i + (i & -i)
        if above <= n:
            tree[above] += tree[i]
    return tree


@kernel
def forget_tuples(tree: Ints, entry: int, count: int) -> None:
    """Take free tuples of an entry out of the sum tree."""
    i = entry + 1
    while i < len(tree):
        tree[i] -= count
        i += i & -i


@kernel
def find_entry(tree: Ints, number: np.int64) -> int:
    """The entry that holds the free tuple of this number (from 0)."""
    position = 0
    step = 1
    while 2 * step < len(tree):
        step *= 2
    while step > 0:
        if position + step < len(tree) and tree[position + step] <= number:
            position += step
            number -= tree[position]
        step //= 2
    return position


@kernel
def _next_free(link: Ids, entry: int) -> int:
    """Follow links to a free entry, shortening the path on the way (union-find)."""
    while link[entry] != entry:
        link[entry] = link[link[entry]]
        entry = link[entry]
    return entry


@kernel
def take_nearest_on_curve(
    draws: Ints,
    words: Words,
    bucket_start: Ints,
    key: Words,
    free: Ints,
    tree: Ints,
    right: Ids,
    left: Ids,
) -> tuple[Ints, Ints, Ints]:
    """For each class a random free tuple, then of each bucket the tuples nearest to it along the Hilbert curve.

    `draws` has a row for each class, `words` a random word. `free` counts what each entry still has. `right` and `left`
    lead from an entry to the next free one on that side; they have one place more than there are entries, `left` is
    shifted by one. Returns takes: the class (row of `draws`), the entry, how many.
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
            up = _next_free(right, near) if near < end else end
            down = _next_free(left, near) - 1
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
                        up = _next_free(right, entry)
                    else:
                        down = _next_free(left, entry) - 1
        n_free -= draws[ec].sum()
    return take_class[:n_takes].copy(), take_entry[:n_takes].copy(), take_count[:n_takes].copy()
