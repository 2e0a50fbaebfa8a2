"""Retrieval within reach: a class draws from every bucket at random, as far as it must go for the scarcest one.

Taking the nearest tuples of each bucket shows which bucket was scarce: its tuples come from farther away. Here all
buckets share one reach, so a tuple's distance from the others of its class says less about its value.
"""

from __future__ import annotations

import numpy as np

from betalike.runtime.arrays import Ids, Ints, Words
from betalike.runtime.compilation import kernel
from betalike.schemes.free_tuples import count_before, find_entry, forget_tuples, next_free


@kernel
def reach_of(
    need: int, seed: np.uint64, begin: int, end: int, key: Words, free: Ints, right: Ids, left: Ids
) -> np.uint64:
    """Return how far from the seed a bucket's nearest free tuples lie, as many as are needed."""
    near = int(begin + np.searchsorted(key[begin:end], seed))
    up = next_free(right, near) if near < end else end
    down = next_free(left, near) - 1
    reach = np.uint64(0)
    while need > 0:
        is_up = up < end and (down < begin or key[up] - seed <= seed - key[down])
        entry = up if is_up else down
        need -= free[entry]
        reach = key[entry] - seed if is_up else seed - key[entry]
        if is_up:
            up = next_free(right, entry + 1)
        else:
            down = next_free(left, entry) - 1
    return np.uint64(reach)


@kernel
def draw_within_reach(
    draws: Ints,
    words: Words,
    bucket_start: Ints,
    key: Words,
    free: Ints,
    tree: Ints,
    right: Ids,
    left: Ids,
) -> tuple[Ints, Ints, Ints]:
    """Draw for each class a random free tuple as its seed, then from each bucket random tuples within one reach.

    Arguments are those of `take_nearest_on_curve`; `words` has for each class a random word, then one for each
    of its tuples. Returns takes of one tuple each.
    """
    n_classes, n_buckets = draws.shape
    total = draws.sum()
    take_class, take_entry = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
    n_takes = 0
    n_free = free.sum()
    for ec in range(n_classes):
        seed = key[find_entry(tree, np.int64(words[ec + n_takes] % np.uint64(n_free)))]
        reach = np.uint64(0)
        for bucket in range(n_buckets):
            begin, end = bucket_start[bucket], bucket_start[bucket + 1]
            own = reach_of(draws[ec, bucket], seed, begin, end, key, free, right, left)
            reach = own if own > reach else reach  # `max` would make floats of these
        low = seed - reach if reach <= seed else np.uint64(0)
        high = seed + reach
        for bucket in range(n_buckets):
            begin, end = bucket_start[bucket], bucket_start[bucket + 1]
            first = begin + np.searchsorted(key[begin:end], low)
            last = begin + np.searchsorted(key[begin:end], high, side="right")
            before = count_before(tree, first)
            within = count_before(tree, last) - before
            for _ in range(draws[ec, bucket]):
                number = np.int64(words[ec + 1 + n_takes] % np.uint64(within))
                entry = find_entry(tree, before + number)
                take_class[n_takes], take_entry[n_takes] = ec, entry
                n_takes += 1
                within -= 1
                free[entry] -= 1
                forget_tuples(tree, entry, 1)
                if free[entry] == 0:
                    right[entry] = entry + 1
                    left[entry + 1] = entry
        n_free -= draws[ec].sum()
    return take_class, take_entry, np.ones_like(take_entry)
