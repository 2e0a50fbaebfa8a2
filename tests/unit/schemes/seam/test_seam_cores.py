"""Cores and seams from counts alone, against sizes and contents that are found by trying."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.schemes.seam.cores import core_sizes, fill_core, fit_cores, largest_core, most_of
from seam_tables import Cut, is_allowed, most, problem_of, random_cut

SEEDS = st.integers(0, 10**6)
COUNTS = st.lists(st.integers(0, 25), min_size=1, max_size=5)
CAPS = st.sampled_from([0.05, 0.1, 0.2, 1 / 3, 0.4, 0.5, 0.7, 1.0])


# --- the largest core ---


def kept(counts: list[int], cap: list[float], size: int) -> int:
    """What a core of this size can hold."""
    return sum(min(count, math.floor(limit * size)) for count, limit in zip(counts, cap, strict=True))


def greatest_core(counts: list[int], cap: list[float]) -> int:
    """The greatest size that can be filled, by trying them all."""
    return next(size for size in range(sum(counts), -1, -1) if kept(counts, cap, size) >= size)


def largest(counts: list[int], cap: list[float]) -> float:
    every = np.arange(len(counts))
    return largest_core(np.array(counts), sum(counts), np.array(cap), every)


@given(counts=COUNTS, data=st.data())
def test_the_largest_core_is_the_greatest_that_can_be_filled(counts: list[int], data: st.DataObject) -> None:
    cap = data.draw(st.lists(CAPS, min_size=len(counts), max_size=len(counts)))
    assert largest(counts, cap) == greatest_core(counts, cap)


@pytest.mark.parametrize(
    ("counts", "cap"),
    [
        ([1000, 1000], [0.5, 0.49]),  # no core can be filled; each step takes but 1 % off
        ([5000, 5000, 40], [0.5, 0.49, 0.3]),
        ([4000, 3000, 2000, 150], [0.4, 0.3, 0.28, 0.2]),
        ([700] * 12 + [30], [0.08] * 12 + [0.2]),
    ],
)
def test_the_largest_core_is_found_however_slowly_one_comes_near_it(counts: list[int], cap: list[float]) -> None:
    assert largest(counts, cap) == greatest_core(counts, cap)


def test_values_that_are_not_named_are_not_looked_at() -> None:
    counts, cap = np.array([9, 0, 9]), np.array([0.5, 0.0, 0.5])
    assert largest_core(counts, 18, cap, np.array([0, 2])) == 18


# --- the sizes of both cores ---


def formula_sizes(cut: Cut) -> tuple[int, int]:
    """l* and r* of the formula, from exact caps."""
    problem, values, n = cut.problem, cut.values, cut.size
    cap = problem.cap.tolist()

    def one(side: list[int], other: list[int]) -> int:
        room = math.floor(min(n - other[v] / cap[v] for v in values))
        return max(min(greatest_core([side[v] for v in values], [cap[v] for v in values]), room), 0)

    return one(cut.left, cut.right), one(cut.right, cut.left)


def arrays(cut: Cut) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.array(cut.left), np.array(cut.right), np.array(cut.values)


def sizes_of(cut: Cut) -> tuple[int, int]:
    left, right, values = arrays(cut)
    sizes = core_sizes(left, sum(cut.left), right, sum(cut.right), cut.problem.cap, values)
    return int(sizes[0]), int(sizes[1])


@given(seed=SEEDS)
def test_core_sizes_are_those_of_the_formula(seed: int) -> None:
    cut = random_cut(seed)
    assert sizes_of(cut) == formula_sizes(cut)


# --- filling a core ---


def bounds_of(cut: Cut, size: int, room: list[int]) -> list[tuple[int, int]]:
    """The least and the most of each value in a left core."""
    left = cut.left
    return [(max(left[v] - room[v], 0), min(left[v], most(cut.problem, v, size))) for v in range(len(left))]


@given(seed=SEEDS, data=st.data())
def test_a_core_is_filled_just_if_it_can_be(seed: int, data: st.DataObject) -> None:
    cut = random_cut(seed, largest=24)
    left, _, values = arrays(cut)
    size = data.draw(st.integers(1, max(sum(cut.left), 1)))
    room = [data.draw(st.integers(0, count + 1)) for count in cut.left]
    core = np.zeros_like(left)
    is_filled = fill_core(cut.problem, left, size, np.array(room), cut.problem.cap, values, core)
    bounds = bounds_of(cut, size, room)
    every_core = itertools.product(*(range(least, greatest + 1) for least, greatest in bounds))
    assert is_filled == any(sum(content) == size for content in every_core)
    if is_filled:
        assert core.sum() == size
        assert is_allowed(cut.problem, core.tolist())
        assert all(least <= n <= greatest for n, (least, greatest) in zip(core.tolist(), bounds, strict=True))


@given(seed=SEEDS, share=st.floats(0.1, 1))
def test_a_core_is_filled_evenly(seed: int, share: float) -> None:
    """No value could give a tuple to another that stays farther from its cap."""
    cut = random_cut(seed, largest=200)
    left, _, values = arrays(cut)
    cap, room = cut.problem.cap, cut.left
    size = int(share * largest_core(left, sum(cut.left), cap, values))
    core = np.zeros_like(left)
    if size == 0 or not fill_core(cut.problem, left, size, np.array(room), cap, values, core):
        return
    for giver, taker in itertools.permutations(cut.values, 2):
        if core[giver] > 0 and core[taker] < min(cut.left[taker], most(cut.problem, taker, size)):
            assert core[giver] / cap[giver] <= (core[taker] + 1) / cap[taker] + 1e-6 * size


@given(seed=SEEDS, tighter=st.floats(0.5, 1))
def test_a_tighter_cap_binds_too(seed: int, tighter: float) -> None:
    cut = random_cut(seed, largest=200)
    left, _, values = arrays(cut)
    cap = cut.problem.cap * tighter
    size = int(largest_core(left, sum(cut.left), cap, values))
    core = np.zeros_like(left)
    if size > 0 and fill_core(cut.problem, left, size, left, cap, values, core):
        assert core.sum() == size
        assert is_allowed(cut.problem, core.tolist())
        assert all(core[v] <= cap[v] * size + 1e-6 for v in cut.values)


def test_the_exact_cap_has_the_last_word() -> None:
    problem = problem_of([1, 2], 0.5)
    a_bit_wider = problem.cap * (1 + 1e-7)
    for size in range(1, 200):
        assert all(most_of(problem, v, a_bit_wider, size) == most(problem, v, size) for v in range(2))


# --- both cores and the seam ---


def fit(cut: Cut, cap: np.ndarray) -> np.ndarray | None:
    left, right, values = arrays(cut)
    cores = np.zeros((2, len(left)), dtype=np.int64)
    sizes = core_sizes(left, sum(cut.left), right, sum(cut.right), cap, values)
    is_fit = fit_cores(cut.problem, left, right, (int(sizes[0]), int(sizes[1])), cap, values, cores)
    return cores if is_fit else None


@given(seed=SEEDS, largest_table=st.sampled_from([30, 200, 5000]), k=st.integers(1, 12), tighter=st.floats(0.7, 1))
def test_both_cores_and_the_seam_are_allowed(seed: int, largest_table: int, k: int, tighter: float) -> None:
    cut = random_cut(seed, largest_table, k)
    cores = fit(cut, cut.problem.cap * tighter)
    if cores is None:
        return
    seam = np.array(cut.left) + cut.right - cores.sum(axis=0)
    assert (cores >= 0).all()
    assert (cores[0] <= cut.left).all()
    assert (cores[1] <= cut.right).all()
    for part in (*cores, seam):
        assert is_allowed(cut.problem, part.tolist())
        assert part.sum() == 0 or part.sum() >= k
    assert cores.sum() > 0


@given(seed=SEEDS)
def test_a_cut_whose_sides_are_allowed_needs_no_seam(seed: int) -> None:
    cut = random_cut(seed)
    if all(sum(side) and is_allowed(cut.problem, side) for side in (cut.left, cut.right)):
        cores = fit(cut, cut.problem.cap)
        assert cores is not None
        assert cores.tolist() == [cut.left, cut.right]


def can_be_cut(cut: Cut, left_size: int, right_size: int) -> bool:
    """Whether cores of these sizes and the rest can all be allowed: a flow from values to sets, by its cuts."""
    problem, values, rest = cut.problem, cut.values, cut.size - left_size - right_size
    most_left = [min(cut.left[v], most(problem, v, left_size)) for v in values]
    most_right = [min(cut.right[v], most(problem, v, right_size)) for v in values]
    needed = [cut.left[v] + cut.right[v] - most(problem, v, rest) for v in values]
    triples = list(zip(needed, most_left, most_right, strict=True))
    return (
        sum(most_left) >= left_size
        and sum(most_right) >= right_size
        and all(need <= a + b for need, a, b in triples)
        and sum(max(need - b, 0) for need, _, b in triples) <= left_size
        and sum(max(need - a, 0) for need, a, _ in triples) <= right_size
    )


def least_seam(cut: Cut) -> int:
    """The smallest seam that whole tuples allow, by trying every pair of sizes; all tuples where no cut can be made."""
    n = cut.size
    for rest in range(n):
        for left_size in range(n - rest + 1):
            if can_be_cut(cut, left_size, n - rest - left_size):
                return rest
    return n


@given(seed=SEEDS)
def test_no_seam_is_smaller_than_the_formulas(seed: int) -> None:
    cut = random_cut(seed, largest=30)
    least = least_seam(cut)
    assert least == cut.size or least >= cut.size - sum(formula_sizes(cut))
    cores = fit(cut, cut.problem.cap)
    assert cores is None or cut.size - cores.sum() >= least


def seams_above_the_least(n_cuts: int, largest_table: int) -> list[int]:
    """How much larger the seams of many cuts are than whole tuples demand; a cut not made counts as all seam."""
    above = []
    for seed in range(n_cuts):
        cut = random_cut(seed, largest_table)
        if sum(formula_sizes(cut)):
            cores = fit(cut, cut.problem.cap)
            seam = cut.size if cores is None else cut.size - int(cores.sum())
            above.append(seam - least_seam(cut))
    return above


def test_nearly_every_seam_is_the_least_that_whole_tuples_allow() -> None:
    """The honest form of the law: no bound holds for each cut, for both cores shrink together where one would do."""
    above = np.array(seams_above_the_least(300, largest_table=40))
    assert len(above) > 200
    assert above.min() >= 0
    assert (above == 0).mean() >= 0.97
    assert above.mean() <= 0.2


def test_nine_in_ten_seams_are_at_most_two_tuples_per_value_above_the_formulas() -> None:
    """In larger sets, where every size cannot be tried."""
    is_near = []
    for seed in range(200):
        cut = random_cut(seed, largest=3000)
        least = cut.size - sum(formula_sizes(cut))
        if least < cut.size:
            cores = fit(cut, cut.problem.cap)
            seam = cut.size if cores is None else cut.size - int(cores.sum())
            is_near.append(seam - least <= 2 * len(cut.values))
    assert len(is_near) > 150
    assert np.mean(is_near) >= 0.9
