"""Free tuples: a tree of sums (Fenwick), to draw one at random and take tuples out, and links to the next free one."""

from __future__ import annotations

import numpy as np

from betalike.runtime.arrays import Ids, Ints
from betalike.runtime.compilation import kernel


@kernel
def sum_tree(counts: Ints) -> Ints:
    """Return a Fenwick tree over the free tuples of each entry."""
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
    """Take `count` tuples of an entry out of the tree."""
    i = entry + 1
    while i < len(tree):
        tree[i] -= count
        i += i & -i


@kernel
def find_entry(tree: Ints, number: np.int64) -> int:
    """Return the entry that holds free tuple number `number`, counted from 0."""
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
def next_free(link: Ids, entry: int) -> int:
    """Follow links to a free entry, shortening the path on the way (union-find)."""
    while link[entry] != entry:
        link[entry] = link[link[entry]]
        entry = link[entry]
    return entry
