"""From takes to classes: spreading, shuffling, gathering, splitting and counting tuples, against plain lists."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from betalike.schemes.burel.further_split import split_further
from betalike.schemes.fragments import count_fragments, gather_classes, spread_cells

Share = tuple[int, ...]


def starts_of(lengths: list[int]) -> np.ndarray:
    return np.array([0, *itertools.accumulate(lengths)], dtype=np.int64)


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4), min_size=1, max_size=6))
def test_every_tuple_of_an_entry_has_its_cell(counts_of_entries: list[list[int]]) -> None:
    counts = [count for counts in counts_of_entries for count in counts]
    cells = np.arange(len(counts), dtype=np.int32)[::-1].copy()  # cells in any order
    entry_start = starts_of([len(counts) for counts in counts_of_entries])
    tuple_cells, tuple_start = spread_cells(entry_start, cells, np.array(counts)[::-1].copy())
    assert tuple_start.tolist() == starts_of([sum(counts) for counts in counts_of_entries]).tolist()
    assert tuple_cells.tolist() == [cell for cell, count in zip(cells, counts, strict=True) for _ in range(count)]


@given(st.randoms(use_true_random=False), st.lists(st.integers(1, 6), min_size=1, max_size=8), st.integers(1, 6))
def test_classes_gather_the_next_tuples_of_their_entries_in_order(
    rng: random.Random, sizes: list[int], n_classes: int
) -> None:
    left = list(sizes)
    takes: list[tuple[int, int, int]] = []
    for ec in range(n_classes):
        for entry in rng.sample(range(len(sizes)), len(sizes)):
            count = left[entry] if ec == n_classes - 1 else rng.randint(0, left[entry])
            left[entry] -= count
            if count:
                takes.append((ec, entry, count))
    cells = np.array([rng.randrange(50) for _ in range(sum(sizes))], dtype=np.int32)
    tuple_start = starts_of(sizes)
    columns = (np.array(column, dtype=np.int64) for column in zip(*takes, strict=True))
    out, class_start = gather_classes(*columns, n_classes, cells, tuple_start)
    stock = [cells[begin:end].tolist() for begin, end in itertools.pairwise(tuple_start)]
    for ec in range(n_classes):
        expected = []
        for _, entry, count in sorted(take for take in takes if take[0] == ec):
            expected += [stock[entry].pop(0) for _ in range(count)]
        assert out[class_start[ec] : class_start[ec + 1]].tolist() == expected


def halve_further(
    shares: list[Share], value: list[int], caps: list[tuple[int, int]], k: int, n_values: int
) -> list[list[Share]]:
    """Halve each bucket's share while the actual counts of both halves are allowed."""

    def is_allowed(half: list[Share]) -> bool:
        counts = Counter(value[cell] for share in half for cell in share)
        size = sum(counts.values())
        return size >= k and all(counts[v] * caps[v][1] <= caps[v][0] * size for v in range(n_values))

    left = [share[: len(share) // 2] for share in shares]
    right = [share[len(share) // 2 :] for share in shares]
    if is_allowed(left) and is_allowed(right):
        return halve_further(left, value, caps, k, n_values) + halve_further(right, value, caps, k, n_values)
    return [shares]


@given(
    rng=st.randoms(use_true_random=False),
    n_classes=st.integers(1, 4),
    n_buckets=st.integers(1, 3),
    k=st.integers(1, 5),
    percent=st.integers(20, 100),
)
def test_the_further_split_is_that_of_the_recursion(
    rng: random.Random, n_classes: int, n_buckets: int, k: int, percent: int
) -> None:
    n_values = rng.randint(n_buckets, 6)
    value = [rng.randrange(n_values) for _ in range(12)]
    caps = [(rng.randint(percent, 100), 100) for _ in range(n_values)]
    classes = [
        [tuple(rng.randrange(12) for _ in range(rng.randint(bucket == 0, 20))) for bucket in range(n_buckets)]
        for _ in range(n_classes)
    ]
    cells = np.array([cell for shares in classes for share in shares for cell in share], dtype=np.int32)
    draws = np.array([[len(share) for share in shares] for shares in classes], dtype=np.int64)
    numerator, denominator = (np.array(column) for column in zip(*caps, strict=True))
    out, starts = split_further(
        cells, starts_of(draws.sum(axis=1).tolist()), draws, np.array(value, dtype=np.int32), numerator, denominator, k
    )
    leaves = [leaf for shares in classes for leaf in halve_further(shares, value, caps, k, n_values)]
    assert [out[a:b].tolist() for a, b in itertools.pairwise(starts)] == [
        [cell for share in leaf for cell in share] for leaf in leaves
    ]


def test_a_large_class_is_split_down_to_single_pairs() -> None:
    n = 2_048
    cells = np.repeat(np.array([0, 1], dtype=np.int32), n)
    value, half = np.array([0, 1], dtype=np.int32), (np.array([1, 1]), np.array([2, 2]))
    out, starts = split_further(cells, np.array([0, 2 * n]), np.array([[n, n]]), value, *half, 1)
    assert np.diff(starts).tolist() == [2] * n
    assert out.tolist() == [0, 1] * n


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=12), min_size=1, max_size=6))
def test_fragments_count_the_cells_of_each_class(classes: list[list[int]]) -> None:
    cells = np.array([cell for members in classes for cell in members], dtype=np.int32)
    cell, count, ec = count_fragments(cells, starts_of([len(members) for members in classes]), 6)
    fragments = list(zip(ec.tolist(), cell.tolist(), count.tolist(), strict=True))
    expected = [(c, key, n) for c, members in enumerate(classes) for key, n in Counter(members).items()]
    assert fragments == expected
