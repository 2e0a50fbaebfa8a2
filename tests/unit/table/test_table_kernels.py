"""The loops over rows and cells against slow obvious twins; shuffling and handing out, against chance."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from betalike.table.kernels import (
    append_digit,
    assign_slots,
    class_boxes,
    count_pairs,
    find_rows,
    number_keys_by_hash,
    number_keys_densely,
    shuffle_segments,
)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60))
def test_keys_are_numbered_densely_in_ascending_order(keys: list[int]) -> None:
    distinct = sorted(set(keys))
    number, firsts = number_keys_densely(np.array(keys, dtype=np.uint64), 31)
    assert number.tolist() == [distinct.index(key) for key in keys]
    assert firsts.tolist() == [keys.index(key) for key in distinct]


@given(st.lists(st.integers(0, 12), max_size=40), st.lists(st.integers(0, 2), min_size=13, max_size=13))
def test_a_row_is_found_for_each_place_without_a_number(places: list[int], numbers: list[int]) -> None:
    row_of = np.full(10, -1, dtype=np.int64)  # places from 10 on are not meant
    find_rows(np.array(places, dtype=np.uint32), np.array(numbers, dtype=np.int32), row_of)
    for place, row in enumerate(row_of.tolist()):
        is_meant = place in places and numbers[place] == 0
        assert places[row] == place if is_meant else row == -1


@given(
    st.lists(
        st.one_of(st.integers(0, 30), st.integers(0, 2**64 - 1), st.integers(0, 99).map(lambda i: i << 57)),
        min_size=1,
        max_size=60,
    )
)
def test_keys_are_numbered_by_hash_in_the_order_of_their_first_row(keys: list[int]) -> None:
    distinct = list(dict.fromkeys(keys))
    number, firsts = number_keys_by_hash(np.array(keys, dtype=np.uint64))
    assert number.tolist() == [distinct.index(key) for key in keys]
    assert firsts.tolist() == [keys.index(key) for key in distinct]


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 4)), max_size=60))
def test_pairs_of_codes_are_counted_and_negative_ones_are_not(pairs: list[tuple[int, int]]) -> None:
    codes = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    counts = count_pairs(codes[:, 0].copy(), codes[:, 1].copy(), 5, 6)
    assert counts.shape == (5, 6)
    expected = Counter(pair for pair in pairs if min(pair) >= 0)
    assert {pair: counts[pair] for pair in itertools.product(range(5), repeat=2) if counts[pair]} == expected


def test_keys_that_fall_into_one_slot_are_told_apart() -> None:
    multiplier = 0x9E3779B97F4A7C15
    inverse = pow(multiplier, -1, 2**64)
    keys = [(i * inverse) % 2**64 for i in range(50)]  # their hashes are 0, 1, 2, ...: all in the first slot
    number, firsts = number_keys_by_hash(np.array(keys * 2, dtype=np.uint64))
    assert number.tolist() == [*range(50), *range(50)]
    assert firsts.tolist() == list(range(50))


@given(st.lists(st.tuples(st.integers(0, 2**32), st.integers(0, 999)), min_size=1, max_size=20))
def test_a_digit_is_appended_to_each_key(rows: list[tuple[int, int]]) -> None:
    keys = np.array([key for key, _ in rows], dtype=np.uint64)
    append_digit(keys, np.array([digit for _, digit in rows], dtype=np.int32), 1000)
    assert keys.tolist() == [1000 * key + digit for key, digit in rows]


@given(st.data())
def test_boxes_hold_the_least_and_greatest_code_of_each_class(data: st.DataObject) -> None:
    n_points, n_axes, n_classes = (data.draw(st.integers(1, 5)) for _ in range(3))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    points = rng.integers(0, 9, (n_points, n_axes)).astype(np.int32)
    point = rng.integers(0, n_points, 8).astype(np.int32)
    ec = np.append(np.arange(n_classes), rng.integers(0, n_classes, 10)).astype(np.int32)
    cell = rng.integers(0, len(point), len(ec)).astype(np.int32)
    low, high = class_boxes(points, point, cell, ec, n_classes)
    for c in range(n_classes):
        members = [points[point[cell[i]]].tolist() for i in range(len(ec)) if ec[i] == c]
        assert low[c].tolist() == [min(codes) for codes in zip(*members, strict=True)]
        assert high[c].tolist() == [max(codes) for codes in zip(*members, strict=True)]


def fisher_yates(n: int, words: list[int]) -> list[int]:
    order = list(range(n))
    for here, word in enumerate(words):
        there = here + word % (n - here)
        order[here], order[there] = order[there], order[here]
    return order


def shuffle(order: np.ndarray, words: np.ndarray) -> None:
    """Shuffle all items as one segment."""
    shuffle_segments(order, np.array([0, len(order)]), 0, 1, words)


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=40))
def test_a_segment_is_shuffled_by_fisher_yates(words: list[int]) -> None:
    order = np.arange(len(words), dtype=np.int32)
    shuffle(order, np.array(words, dtype=np.uint64))
    assert order.tolist() == fisher_yates(len(words), words)
    assert sorted(order.tolist()) == list(range(len(words)))


def test_every_order_is_equally_likely() -> None:
    rng = np.random.default_rng(1)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(4_800):
        order = np.arange(4, dtype=np.int32)
        shuffle(order, rng.integers(0, 2**64, 4, dtype=np.uint64))
        seen[tuple(order.tolist())] += 1
    assert stats.chisquare([seen[order] for order in itertools.permutations(range(4))]).pvalue > 1e-3


@given(st.randoms(use_true_random=False), st.lists(st.lists(st.integers(0, 4), max_size=4), min_size=1, max_size=5))
def test_each_cell_hands_out_just_what_was_planned(rng: random.Random, planned: list[list[int]]) -> None:
    fragments = [(cell, rng.randrange(9), count) for cell, counts in enumerate(planned) for count in counts]
    cells = [cell for cell, _, count in fragments for _ in range(count)]
    rng.shuffle(cells)
    slots = np.array([c for _, c, count in fragments for _ in range(count)], dtype=np.int32)
    first = np.append(0, np.cumsum([sum(counts) for counts in planned]))[:-1].astype(np.int64)
    out = assign_slots(np.array(cells, dtype=np.int32), first, slots)
    plan: Counter[tuple[int, int]] = Counter()
    for cell, c, count in fragments:
        plan[cell, c] += count
    assert Counter(zip(cells, out.tolist(), strict=True)) == +plan


@pytest.mark.parametrize("n", [1, 2, 1000])
def test_shuffling_moves_every_element_to_somewhere(n: int) -> None:
    order = np.arange(n, dtype=np.int32)
    shuffle(order, np.random.default_rng(n).integers(0, 2**64, n, dtype=np.uint64))
    assert sorted(order.tolist()) == list(range(n))
    assert n < 10 or order.tolist() != list(range(n))


@given(st.randoms(use_true_random=False), st.lists(st.integers(0, 6), min_size=1, max_size=8), st.integers(0, 8))
def test_shuffling_keeps_each_segment_s_items_together(rng: random.Random, sizes: list[int], cut: int) -> None:
    starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
    items = np.array([rng.randrange(9) for _ in range(sum(sizes))], dtype=np.int32)
    before = items.tolist()
    cut = min(cut, len(sizes))
    for first, last in ((0, cut), (cut, len(sizes))):
        n_words = int(starts[last] - starts[first])
        words = np.array([rng.getrandbits(64) for _ in range(n_words)], dtype=np.uint64)
        shuffle_segments(items, starts, first, last, words)
    for begin, end in itertools.pairwise(starts):
        assert sorted(items[begin:end].tolist()) == sorted(before[begin:end])


def test_every_order_within_a_segment_is_equally_likely() -> None:
    rng = np.random.default_rng(2)
    n = 4_800
    items = np.tile(np.arange(4, dtype=np.int32), n)
    shuffle_segments(items, np.arange(0, 4 * n + 1, 4), 0, n, rng.integers(0, 2**64, 4 * n, dtype=np.uint64))
    seen = Counter(map(tuple, items.reshape(n, 4).tolist()))
    assert stats.chisquare([seen[order] for order in itertools.permutations(range(4))]).pvalue > 1e-3
