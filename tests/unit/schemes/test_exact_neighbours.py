"""Tuples nearest in QI space: the trees, and each take replayed against a sorted list of everything that is free."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from betalike.schemes.exact_neighbours import LEAF_SIZE, build_trees, free_under_nodes, take_nearest_in_space
from betalike.schemes.free_tuples import sum_tree


def random_entries(rng: random.Random, n_buckets: int, most: int, n_axes: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions on a coarse grid, so that many distances are equal; and where each bucket starts."""
    bucket_start = [0]
    for _ in range(n_buckets):
        bucket_start.append(bucket_start[-1] + rng.randint(1, most))
    positions = [[rng.randrange(5) / 4 for _ in range(n_axes)] for _ in range(bucket_start[-1])]
    return np.array(positions), np.array(bucket_start)


entries = {"n_buckets": st.integers(1, 3), "most": st.sampled_from([1, 8, 9, 40]), "n_axes": st.integers(1, 3)}


@given(rng=st.randoms(use_true_random=False), **entries)
def test_trees_hold_every_entry_of_their_bucket_in_boxes(
    rng: random.Random, n_buckets: int, most: int, n_axes: int
) -> None:
    positions, bucket_start = random_entries(rng, n_buckets, most, n_axes)
    order, first, last, child, parent, low, high = build_trees(positions, bucket_start)
    assert sorted(order.tolist()) == list(range(len(positions)))
    for node in range(len(first)):
        inside = order[first[node] : last[node]]
        assert low[node].tolist() == positions[inside].min(axis=0).tolist()
        assert high[node].tolist() == positions[inside].max(axis=0).tolist()
        if child[node]:
            left, right = child[node], child[node] + 1
            assert (parent[left], parent[right]) == (node, node)
            assert (first[left], last[left], last[right]) == (first[node], first[right], last[node])
        else:
            assert len(inside) <= LEAF_SIZE
    for bucket in range(n_buckets):
        assert parent[bucket] == -1
        inside = sorted(order[first[bucket] : last[bucket]].tolist())
        assert inside == list(range(bucket_start[bucket], bucket_start[bucket + 1]))


@given(rng=st.randoms(use_true_random=False), **entries)
def test_free_tuples_are_counted_under_every_node(rng: random.Random, n_buckets: int, most: int, n_axes: int) -> None:
    positions, bucket_start = random_entries(rng, n_buckets, most, n_axes)
    trees = build_trees(positions, bucket_start)
    order, first, last, child = trees[:4]
    free = np.array([rng.randint(0, 3) for _ in positions])
    node_free, leaf_of_entry = free_under_nodes(free, trees)
    for node in range(len(first)):
        assert node_free[node] == free[order[first[node] : last[node]]].sum()
    for entry, leaf in enumerate(leaf_of_entry):
        assert child[leaf] == 0
        assert entry in order[first[leaf] : last[leaf]]


def squares(positions: np.ndarray, entry: int, seed: int) -> float:
    return sum((a - b) ** 2 for a, b in zip(positions[entry].tolist(), positions[seed].tolist(), strict=True))


@given(rng=st.randoms(use_true_random=False), n_classes=st.integers(1, 8), **entries)
def test_each_class_takes_the_nearest_tuples_of_each_bucket(
    rng: random.Random, n_classes: int, n_buckets: int, most: int, n_axes: int
) -> None:
    positions, bucket_start = random_entries(rng, n_buckets, most, n_axes)
    counts = [rng.randint(1, 4) for _ in positions]
    draws = np.zeros((n_classes, n_buckets), dtype=np.int64)
    for bucket in range(n_buckets):
        for _ in range(sum(counts[bucket_start[bucket] : bucket_start[bucket + 1]])):
            draws[rng.randrange(n_classes), bucket] += 1
    draws = draws[draws.sum(axis=1) > 0]
    words = np.array([rng.getrandbits(64) for _ in draws], dtype=np.uint64)
    free_left, trees = np.array(counts), build_trees(positions, bucket_start)
    node_free, leaf_of_entry = free_under_nodes(free_left, trees)
    taken = take_nearest_in_space(
        draws, words, positions, free_left, sum_tree(free_left), trees, node_free, leaf_of_entry
    )
    takes = list(zip(*(part.tolist() for part in taken), strict=True))
    free = list(counts)
    for ec, row in enumerate(draws.tolist()):
        tuples = [entry for entry, count in enumerate(free) for _ in range(count)]
        seed = tuples[int(words[ec]) % len(tuples)]
        mine = [(entry, count) for c, entry, count in takes if c == ec]
        for bucket, need in enumerate(row):
            inside = range(bucket_start[bucket], bucket_start[bucket + 1])
            distances = sorted(squares(positions, entry, seed) for entry in tuples if entry in inside)
            here = [squares(positions, entry, seed) for entry, count in mine if entry in inside for _ in range(count)]
            assert sorted(here) == distances[:need]
        for entry, count in mine:
            free[entry] -= count
            assert free[entry] >= 0
    assert not any(free)
    assert not free_left.any()
    assert not node_free.any()
