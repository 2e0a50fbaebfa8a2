"""Laws of BUREL's kernels: the curve visits neighbours, retrieval takes the nearest, the split keeps every tuple."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.schemes.burel.further_split import split_further
from betalike.schemes.exact_neighbours import build_trees, free_under_nodes, take_nearest_in_space
from betalike.schemes.fragments import count_fragments, gather_classes, spread_cells
from betalike.schemes.free_tuples import sum_tree
from betalike.schemes.retrieval import hilbert_keys, keys_of_grid, take_nearest_on_curve
from examples import examples

# --- the Hilbert curve ---


@pytest.mark.parametrize(("n_axes", "bits"), [(1, 6), (2, 1), (2, 2), (2, 5), (3, 1), (3, 3), (4, 2), (5, 2), (7, 1)])
def test_the_curve_visits_every_point_once_and_moves_by_one_step(n_axes: int, bits: int) -> None:
    side = 1 << bits
    grid = np.stack(np.meshgrid(*[np.arange(side)] * n_axes, indexing="ij"), axis=-1).reshape(-1, n_axes)
    keys = keys_of_grid(grid.astype(np.uint64), bits)
    assert sorted(keys.tolist()) == list(range(side**n_axes))
    path = grid[np.argsort(keys)]
    assert (np.abs(np.diff(path, axis=0)).sum(axis=1) == 1).all()


@given(st.lists(st.tuples(*[st.floats(0, 1)] * 3), min_size=1, max_size=20), st.integers(1, 70))
def test_keys_tell_points_apart_whatever_the_number_of_axes(points: list[tuple[float, ...]], n_axes: int) -> None:
    corners = np.array([[float(i < n) for i in range(n_axes)] for n in range(min(n_axes, 62) + 1)])
    assert len(set(hilbert_keys(corners).tolist())) == len(corners)
    positions = np.array(points)
    alone = [hilbert_keys(positions[i : i + 1])[0] for i in range(len(points))]
    assert hilbert_keys(positions).tolist() == alone


# --- retrieval ---


@dataclass(frozen=True)
class Buckets:
    """Entries of some buckets with their tuples, and classes whose draws use up every bucket."""

    start: np.ndarray
    free: np.ndarray
    draws: np.ndarray
    words: np.ndarray

    @property
    def n_entries(self) -> int:
        return len(self.free)


@st.composite
def some_buckets(draw: st.DrawFn) -> Buckets:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_classes = draw(st.integers(1, 6))
    lengths = [draw(st.integers(1, 25)) for _ in range(draw(st.integers(1, 4)))]
    free = rng.integers(1, draw(st.sampled_from([2, 6])), sum(lengths))
    start = np.cumsum([0, *lengths])
    sizes = [free[a:b].sum() for a, b in itertools.pairwise(start)]
    draws = np.column_stack([rng.multinomial(size, np.ones(n_classes) / n_classes) for size in sizes])
    draws = draws[draws.sum(axis=1) > 0]  # a class of no tuples does not exist
    return Buckets(start, free, draws, rng.integers(0, 2**63, len(draws)).astype(np.uint64))


def assert_nearest(buckets: Buckets, takes: tuple[np.ndarray, ...], distance: np.ndarray) -> None:
    """Replay the takes: each class starts at the free tuple that its word names and takes none but the nearest."""
    free = buckets.free.astype(np.int64).copy()
    ec, entry, count = takes
    for number, draws in enumerate(buckets.draws):
        tuples = np.repeat(np.arange(buckets.n_entries), free)
        seed = tuples[int(buckets.words[number]) % len(tuples)]
        for bucket, n in enumerate(draws):
            inside = range(buckets.start[bucket], buckets.start[bucket + 1])
            mine = [i for i in np.flatnonzero(ec == number) if entry[i] in inside]
            assert sum(count[mine]) == n
            for i in mine:
                assert 0 < count[i] <= free[entry[i]]
                free[entry[i]] -= count[i]
            left = [distance[seed, e] for e in inside if free[e] > 0]
            taken = [distance[seed, entry[i]] for i in mine]
            assert not (left and taken) or max(taken) <= min(left)
    assert not free.any()


@given(buckets=some_buckets(), data=st.data())
def test_retrieval_on_the_curve_takes_the_nearest_keys(buckets: Buckets, data: st.DataObject) -> None:
    spread = data.draw(st.sampled_from([10, 1000, 2**62]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    parts = zip(buckets.start[:-1], buckets.start[1:], strict=True)
    key = np.concatenate([np.sort(rng.integers(0, spread, end - begin)) for begin, end in parts]).astype(np.uint64)
    right = np.arange(buckets.n_entries + 1, dtype=np.int32)
    free = buckets.free.copy()
    takes = take_nearest_on_curve(
        buckets.draws, buckets.words, buckets.start, key, free, sum_tree(free), right, right.copy()
    )
    exact = [[abs(int(a) - int(b)) for b in key] for a in key]
    assert_nearest(buckets, takes, np.array(exact, dtype=object))


@given(buckets=some_buckets(), data=st.data())
def test_retrieval_in_space_takes_the_nearest_points(buckets: Buckets, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n_axes = data.draw(st.integers(1, 4))
    positions = rng.integers(0, data.draw(st.sampled_from([2, 9, 1000])), (buckets.n_entries, n_axes)) / 1024
    trees = build_trees(positions, buckets.start)
    free = buckets.free.copy()
    takes = take_nearest_in_space(
        buckets.draws, buckets.words, positions, free, sum_tree(free), trees, *free_under_nodes(free, trees)
    )
    distance = ((positions[:, None, :] - positions[None, :, :]) ** 2).sum(axis=2)
    assert_nearest(buckets, takes, distance)


# --- from takes to classes ---


def is_allowed(values: list[int], k: int, caps: list[tuple[int, int]]) -> bool:
    return len(values) >= k and all(values.count(v) * b <= a * len(values) for v, (a, b) in enumerate(caps))


def halve(parts: list[list[int]], k: int, caps: list[tuple[int, int]], value: list[int]) -> list[list[int]]:
    """The further split, told plainly: halve each bucket's share while both halves are allowed; cells of each class."""
    halves = [[part[: len(part) // 2] for part in parts], [part[len(part) // 2 :] for part in parts]]
    if all(is_allowed([value[cell] for part in half for cell in part], k, caps) for half in halves):
        return [leaf for half in reversed(halves) for leaf in halve(half, k, caps, value)]
    return [[cell for part in parts for cell in part]]


@examples(80)
@given(
    sizes=st.lists(st.lists(st.integers(0, 12), min_size=3, max_size=3).filter(any), min_size=1, max_size=4),
    data=st.data(),
    k=st.integers(1, 6),
)
def test_the_further_split_halves_as_long_as_both_halves_are_allowed(
    sizes: list[list[int]], data: st.DataObject, k: int
) -> None:
    value = [0, 0, 1, 2, 2, 3]  # of each cell
    caps = [data.draw(st.sampled_from([(1, 1), (1, 2), (2, 3), (1, 3)])) for _ in range(4)]
    parts = [[data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)) for n in of_class] for of_class in sizes]
    cells = np.array([cell for of_class in parts for part in of_class for cell in part], dtype=np.int32)
    starts = np.cumsum([0, *map(sum, sizes)])
    numerator, denominator = (np.array(column) for column in zip(*caps, strict=True))
    out, out_starts = split_further(
        cells, starts, np.array(sizes), np.array(value, dtype=np.int32), numerator, denominator, k
    )
    found = [out[a:b].tolist() for a, b in itertools.pairwise(out_starts)]
    expected = [leaf for of_class in parts for leaf in halve(of_class, k, caps, value)]
    assert sorted(found) == sorted(expected)
    cell, count, ec = count_fragments(out, out_starts, len(value))
    for number, members in enumerate(found):
        mine = dict(zip(cell[ec == number].tolist(), count[ec == number].tolist(), strict=True))
        assert mine == {c: members.count(c) for c in set(members)}


@given(buckets=some_buckets(), data=st.data())
def test_every_tuple_of_an_entry_goes_to_a_class_that_took_from_it(buckets: Buckets, data: st.DataObject) -> None:
    """With one or two cells to an entry, each class receives as many tuples of an entry's cells as it took."""
    n_entries = buckets.n_entries
    is_double = [n > 1 and data.draw(st.booleans()) for n in buckets.free]
    counts, starts = [], [0]
    for n, double in zip(buckets.free.tolist(), is_double, strict=True):
        counts.extend([1, n - 1] if double else [n])
        starts.append(len(counts))
    entry_of_cell = np.repeat(np.arange(n_entries), np.diff(starts))
    cells, tuple_start = spread_cells(np.array(starts), np.arange(len(counts), dtype=np.int32), np.array(counts))
    assert np.bincount(cells, minlength=len(counts)).tolist() == counts
    right = np.arange(n_entries + 1, dtype=np.int32)
    key = np.concatenate([np.arange(b - a) for a, b in zip(buckets.start[:-1], buckets.start[1:], strict=True)])
    free = buckets.free.copy()
    ec, entry, count = take_nearest_on_curve(
        buckets.draws, buckets.words, buckets.start, key.astype(np.uint64), free, sum_tree(free), right, right.copy()
    )
    members, class_start = gather_classes(ec, entry, count, len(buckets.draws), cells, tuple_start)
    assert sorted(members.tolist()) == sorted(cells.tolist())
    for number in range(len(buckets.draws)):
        received = entry_of_cell[members[class_start[number] : class_start[number + 1]]]
        took = np.repeat(entry[ec == number], count[ec == number])
        assert sorted(received.tolist()) == sorted(took.tolist())
        assert received.tolist() == sorted(received.tolist())  # by bucket, then along the curve
