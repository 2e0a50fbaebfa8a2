"""Tuples nearest on the curve: each take is replayed against a sorted list of everything that is free."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.schemes.free_tuples import find_entry, forget_tuples, sum_tree
from betalike.schemes.retrieval import take_nearest_on_curve


def entry_of_tuple(free: list[int], number: int) -> int:
    return [entry for entry, count in enumerate(free) for _ in range(count)][number]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40).filter(any), st.randoms(use_true_random=False))
def test_the_sum_tree_finds_and_forgets_tuples(counts: list[int], rng: random.Random) -> None:
    free = list(counts)
    tree = sum_tree(np.array(counts))
    while any(free):
        for number in range(sum(free)):
            assert find_entry(tree, number) == entry_of_tuple(free, number)
        entry = rng.choice([entry for entry, count in enumerate(free) if count])
        count = rng.randint(1, free[entry])
        forget_tuples(tree, entry, count)
        free[entry] -= count
    assert not tree.any()


def random_draws(rng: random.Random, bucket_sizes: list[int], n_classes: int) -> np.ndarray:
    """Give every tuple of every bucket to some class; classes that are left without any are dropped."""
    draws = np.zeros((n_classes, len(bucket_sizes)), dtype=np.int64)
    for bucket, size in enumerate(bucket_sizes):
        for _ in range(size):
            draws[rng.randrange(n_classes), bucket] += 1
    return draws[draws.sum(axis=1) > 0]


def check_takes(
    draws: np.ndarray, words: np.ndarray, bucket_start: list[int], key: list[int], counts: list[int], n_steps: int
) -> None:
    """Replay what was taken: from each bucket just the nearest tuples to the seed of the class."""
    free_left, tree = np.array(counts), sum_tree(np.array(counts))
    right = np.arange(len(counts) + 1, dtype=np.int32)
    left = right.copy()
    takes: list[tuple[int, int, int]] = []
    step = -(-len(draws) // n_steps)
    for start in range(0, len(draws), step):
        part = slice(start, start + step)
        starts, keys = np.array(bucket_start), np.array(key, dtype=np.uint64)
        taken = take_nearest_on_curve(draws[part], words[part], starts, keys, free_left, tree, right, left)
        takes.extend((ec + start, entry, count) for ec, entry, count in zip(*(t.tolist() for t in taken), strict=True))
    assert takes == sorted(takes, key=lambda take: take[0])
    free = list(counts)
    for ec, row in enumerate(draws.tolist()):
        seed = key[entry_of_tuple(free, int(words[ec]) % sum(free))]
        mine = [(entry, count) for c, entry, count in takes if c == ec]
        for bucket, need in enumerate(row):
            inside = range(bucket_start[bucket], bucket_start[bucket + 1])
            distances = sorted(abs(key[entry] - seed) for entry in inside for _ in range(free[entry]))
            taken_here = [abs(key[entry] - seed) for entry, count in mine if entry in inside for _ in range(count)]
            assert sorted(taken_here) == distances[:need]
        for entry, count in mine:
            free[entry] -= count
            assert free[entry] >= 0
            assert count > 0
    assert not any(free)
    assert not free_left.any()


@given(st.randoms(use_true_random=False), st.integers(1, 4), st.integers(1, 8), st.integers(1, 3))
def test_each_class_takes_the_nearest_tuples_of_each_bucket(
    rng: random.Random, n_buckets: int, n_classes: int, n_steps: int
) -> None:
    bucket_start, key = [0], []
    for _ in range(n_buckets):
        key += sorted(rng.choice([rng.randrange(30), rng.randrange(2**62)]) for _ in range(rng.randint(1, 12)))
        bucket_start.append(len(key))
    counts = [rng.randint(1, 4) for _ in key]
    sizes = [sum(counts[a:b]) for a, b in itertools.pairwise(bucket_start)]
    draws = random_draws(rng, sizes, n_classes)
    words = np.array([rng.getrandbits(64) for _ in draws], dtype=np.uint64)
    check_takes(draws, words, bucket_start, key, counts, n_steps)


def test_many_classes_along_a_long_curve() -> None:
    rng = random.Random(5)
    key = sorted(rng.randrange(5_000) for _ in range(400)) + sorted(rng.randrange(5_000) for _ in range(300))
    counts = [rng.randint(1, 3) for _ in key]
    draws = random_draws(rng, [sum(counts[:400]), sum(counts[400:])], 120)
    words = np.array([rng.getrandbits(64) for _ in draws], dtype=np.uint64)
    check_takes(draws, words, [0, 400, 700], key, counts, n_steps=4)


def test_the_seed_is_any_free_tuple_with_equal_chance() -> None:
    """Every word below the number of free tuples starts at another of them."""
    counts = np.array([2, 1, 3])
    starts = []
    for word in range(6):
        right = np.arange(4, dtype=np.int32)
        taken = take_nearest_on_curve(
            np.array([[1]]),
            np.array([word], dtype=np.uint64),
            np.array([0, 3]),
            np.array([10, 20, 30], dtype=np.uint64),
            counts.copy(),
            sum_tree(counts),
            right,
            right.copy(),
        )
        starts.append(int(taken[1][0]))
    assert starts == [0, 0, 1, 2, 2, 2]


@pytest.mark.parametrize("seed_key", [0, 5, 9])
def test_a_bucket_far_from_the_seed_is_reached_from_either_side(seed_key: int) -> None:
    """The seed's own bucket comes last; the first bucket lies wholly on one side of it or around it."""
    key, bucket_start, counts = [3, 4, 6, 7, seed_key], [0, 4, 5], [1, 1, 1, 1, 1]
    draws = np.array([[2, 1], [2, 0]])
    words = np.array([4, 0], dtype=np.uint64)  # the first seed is the last entry
    check_takes(draws, words, bucket_start, key, counts, n_steps=1)
