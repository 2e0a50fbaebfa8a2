"""Kernels over rows and cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from betalike.runtime.arrays import IdGrid, Ids, Ints, Words
from betalike.runtime.compilation import kernel
from betalike.runtime.new_arrays import new_id_grid, new_ids, unset_ids, unset_ints

NO_CODE = np.iinfo(np.int32).max


@kernel
def append_digit(keys: Words, codes: Ids, size: int) -> None:
    """Append a column's code to each row's key, as a digit of base `size`."""
    for row in range(len(keys)):
        keys[row] = keys[row] * np.uint64(size) + np.uint64(codes[row])


@kernel
def number_keys_densely(keys: Words, span: int) -> tuple[Ids, Ints]:
    """Number distinct keys below `span` in ascending order; also return the first row of each."""
    first, number = new_ids(span, -1), unset_ids(len(keys))
    for row in range(len(keys) - 1, -1, -1):
        first[keys[row]] = row
    firsts = unset_ints(min(len(keys), span))
    n = 0
    for key in range(span):
        if first[key] >= 0:
            firsts[n] = first[key]
            first[key] = n
            n += 1
    for row in range(len(keys)):
        number[row] = first[keys[row]]
    return number, firsts[:n].copy()


@kernel
def number_keys_by_hash(keys: Words) -> tuple[Ids, Ints]:
    """Number distinct keys in the order of their first row; also return that row."""
    n_rows = len(keys)
    bits = 4
    while (1 << bits) < 2 * n_rows:
        bits += 1
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    slots, number, firsts = new_ids(1 << bits, -1), unset_ids(n_rows), unset_ints(n_rows)
    n = 0
    for row in range(n_rows):
        key = keys[row]
        slot = np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> shift)
        while slots[slot] >= 0 and keys[firsts[slots[slot]]] != key:
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = n
            firsts[n] = row
            n += 1
        number[row] = slots[slot]
    return number, firsts[:n].copy()


@kernel
def pack_numbers(keys: Words, numbers: Ids, shift: int) -> None:
    """Write a column's numbers into the keys of rows, starting at a bit."""
    for row in range(len(keys)):
        keys[row] |= np.uint64(numbers[row]) << np.uint64(shift)


@kernel
def add_to_counts(
    keys: Words,
    values: Ids,
    counts: Ints,
    begin: int,
    n_known: int,
    slots: Ids,
    known: Words,
    total: Ints,
    half: int,
) -> tuple[int, int, int]:
    """Add rows from `begin` on to the counts of their keys and values; return the next row, the keys and the new pairs.

    Keys go through a hash table to a row of `total`, which has a place for every value. Only the keys of one half are
    counted, by a bit of their hash; another table counts the others. It stops early only if `known` is full. The length
    of `slots` is a power of 2 and at least twice that of `known`.
    """
    mask, stride, n_new = len(slots) - 1, len(total) // len(known), 0
    for row in range(begin, len(keys)):
        key = keys[row]
        mixed = key * np.uint64(0x9E3779B97F4A7C15)
        if np.int64(mixed >> np.uint64(63)) != half:
            continue
        slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(mask))
        while slots[slot] >= 0 and known[slots[slot]] != key:
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            if n_known == len(known):
                return row, n_known, n_new
            slots[slot] = n_known
            known[n_known] = key
            total[n_known * stride : (n_known + 1) * stride] = 0
            n_known += 1
        place = np.int64(slots[slot]) * stride + values[row]
        n_new += total[place] == 0
        total[place] += counts[row] if len(counts) > 0 else 1
    return len(keys), n_known, n_new


@kernel
def find_keys(keys: Words, slots: Ids, known: Words, half: int, first: int, found: Ids) -> None:
    """Find the place of each key of one half among the known ones, counted from `first`; -1 where it is not known."""
    mask = len(slots) - 1
    for row in range(len(keys)):
        mixed = keys[row] * np.uint64(0x9E3779B97F4A7C15)
        if np.int64(mixed >> np.uint64(63)) != half:
            continue
        slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(mask))
        while slots[slot] >= 0 and known[slots[slot]] != keys[row]:
            slot = (slot + 1) & mask
        found[row] = first + slots[slot] if slots[slot] >= 0 else -1


@kernel
def number_dense(values: NDArray[np.integer], low: int, number_of: Ids, numbers: Ids) -> bool:
    """Look up values in a list that begins with `low`; return whether all have a number there other than 0."""
    are_known = True
    for row in range(len(values)):
        place = np.int64(values[row]) - low
        numbers[row] = number_of[place] if 0 <= place < len(number_of) else 0
        are_known &= numbers[row] > 0
    return are_known


@kernel
def find_rows(places: NDArray[np.integer], number_of: Ids, row_of: Ints) -> None:
    """Find a row with each place that has no number yet; places from the end of `row_of` on are not meant."""
    for row in range(len(places)):
        place = np.int64(places[row])
        if place < len(row_of) and number_of[place] == 0:
            row_of[place] = row


@kernel
def count_pairs(one: Ids, other: Ids, n_one: int, n_other: int) -> Ints:
    """Count the rows with each pair of codes; negative codes are not counted."""
    counts = np.zeros((n_one, n_other), dtype=np.int64)
    for row in range(len(one)):
        if one[row] >= 0 and other[row] >= 0:
            counts[one[row], other[row]] += 1
    return counts


@kernel
def class_boxes(points: IdGrid, point: Ids, cell: Ids, ec: Ids, n_classes: int) -> tuple[Ids, Ids]:
    """Return the least and greatest code of each class on each axis."""
    n_axes = points.shape[1]
    low, high = new_id_grid(n_classes, n_axes, NO_CODE), new_id_grid(n_classes, n_axes, -1)
    for fragment in range(len(cell)):
        p = point[cell[fragment]]
        c = ec[fragment]
        for axis in range(n_axes):
            code = points[p, axis]
            if code < low[c, axis]:
                low[c, axis] = code
            if code > high[c, axis]:
                high[c, axis] = code
    return low, high


@kernel
def scatter(items: Ids, bucket: NDArray[np.uint8]) -> tuple[Ids, Ints]:
    """Sort items by bucket, and return where each of the 256 buckets begins."""
    starts = np.zeros(257, dtype=np.int64)
    for i in range(len(items)):
        starts[bucket[i] + 1] += 1
    for number in range(256):
        starts[number + 1] += starts[number]
    place = starts.copy()
    out = np.empty_like(items)
    for i in range(len(items)):
        out[place[bucket[i]]] = items[i]
        place[bucket[i]] += 1
    return out, starts


@kernel
def shuffle_segments(items: Ids, starts: Ints, first: int, last: int, words: Words) -> None:
    """Put the items of each of the segments `first` .. `last - 1` in random order, one word per item."""
    origin = starts[first]
    for segment in range(first, last):
        begin, end = starts[segment], starts[segment + 1]
        for here in range(begin, end - 1):
            there = here + np.int64(words[here - origin] % np.uint64(end - here))
            items[here], items[there] = items[there], items[here]


@kernel
def assign_slots(cell_of_row: Ids, next_slot: Ints, slots: Ids) -> Ids:
    """Assign each row the next slot (class) of its cell; `next_slot` is advanced."""
    out = np.empty(len(cell_of_row), dtype=np.int32)
    for row in range(len(cell_of_row)):
        cell = cell_of_row[row]
        out[row] = slots[next_slot[cell]]
        next_slot[cell] += 1
    return out
