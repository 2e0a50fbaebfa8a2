"""Cores and seams from counts alone, against sizes and contents that are found by trying, in exact integers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from betalike.schemes.seam.cores import (
    can_part,
    core_sizes,
    falls_short,
    fill_core,
    fill_cores,
    fit_sizes,
    largest_core,
    most_sizes,
    short_of,
)
from betalike.schemes.seam.group import Group, rounding_down
from seam_tables import Cut, best_gain, can_part_into, group_of, is_allowed, most, problem_of, random_cut

SEEDS = st.integers(0, 10**6)
COUNTS = st.lists(st.integers(0, 25), min_size=1, max_size=12)
CAPS = st.one_of(
    st.sampled_from([(1, 20), (1, 10), (1, 5), (1, 3), (2, 5), (1, 2), (7, 10), (1, 1)]),
    st.tuples(st.integers(1, 30), st.integers(1, 30)).map(lambda pair: (min(pair), max(pair))),
)
GAINS = st.sampled_from([(1.0, 1.0), (0.9, 0.3), (0.2, 1.0), (0.0, 1.0)])

Fractions = list[tuple[int, int]]


# --- the largest core ---


def kept(counts: list[int], caps: Fractions, size: int) -> int:
    """What a core of this size can hold."""
    return sum(min(count, a * size // b) for count, (a, b) in zip(counts, caps, strict=True))


def greatest_core(counts: list[int], caps: Fractions) -> int:
    """The greatest size that can be filled, by trying them all."""
    return next(size for size in range(sum(counts), -1, -1) if kept(counts, caps, size) >= size)


def largest(counts: list[int], caps: Fractions) -> float:
    rounded = [rounding_down(a, b, float(sum(counts))) for a, b in caps]
    cap, margin = np.array(rounded).T.copy()
    return largest_core(np.array(counts, dtype=np.float64), float(sum(counts)), cap, margin)


@given(counts=COUNTS, data=st.data())
def test_the_largest_core_is_the_greatest_that_can_be_filled(counts: list[int], data: st.DataObject) -> None:
    caps = data.draw(st.lists(CAPS, min_size=len(counts), max_size=len(counts)))
    assert largest(counts, caps) == greatest_core(counts, caps)


@given(data=st.data(), denominator=st.integers(1, 60))
def test_the_largest_core_is_found_where_the_caps_of_all_values_add_up_to_1(
    data: st.DataObject, denominator: int
) -> None:
    """A sum of floats may be just less than 1, and a core would seem to be empty."""
    cuts = data.draw(st.lists(st.integers(0, denominator), max_size=11))
    caps = [(b - a, denominator) for a, b in itertools.pairwise(sorted({0, denominator, *cuts}))]
    counts = data.draw(st.lists(st.integers(1, 30), min_size=len(caps), max_size=len(caps)))
    assert largest(counts, caps) == greatest_core(counts, caps)


@pytest.mark.parametrize(
    ("counts", "caps"),
    [
        ([1000, 1000], [(1, 2), (49, 100)]),  # no core can be filled; each step takes but 1 % off
        ([5000, 5000, 40], [(1, 2), (49, 100), (3, 10)]),
        ([4000, 3000, 2000, 150], [(4, 10), (3, 10), (28, 100), (2, 10)]),
        ([700] * 12 + [30], [(8, 100)] * 12 + [(2, 10)]),
        ([1, 10, 9], [(1, 9), (6, 9), (2, 9)]),  # caps that add up to 1
        ([2, 1, 2, 2, 2, 2], [(1, 6)] * 6),
        ([11] * 9 + [10], [(1, 10)] * 10),
    ],
)
def test_the_largest_core_is_found_however_slowly_one_comes_near_it(counts: list[int], caps: Fractions) -> None:
    assert largest(counts, caps) == greatest_core(counts, caps)


# --- the sizes of both cores ---


def caps_of(cut: Cut) -> Fractions:
    problem = cut.problem
    return [(int(problem.numerator[v]), int(problem.denominator[v])) for v in cut.values]


def room_beside(other: list[int], caps: Fractions, size: int) -> int:
    """How large a core may be, so that the seam beside it has room for all that is on the other side."""
    return max(min(size - -(-count * b // a) for count, (a, b) in zip(other, caps, strict=True)), 0)


def formula_sizes(cut: Cut) -> tuple[int, int]:
    """l* and r* of the formula, from exact caps."""
    caps, (left, right) = caps_of(cut), ([side[v] for v in cut.values] for side in (cut.left, cut.right))
    return (
        min(greatest_core(left, caps), room_beside(right, caps, cut.size)),
        min(greatest_core(right, caps), room_beside(left, caps, cut.size)),
    )


def sizes_by_formula(group: Group, cut: Cut) -> tuple[float, float]:
    left = cut.numbered(cut.left)
    return core_sizes(group, left, group.total - left, float(sum(cut.left)))


@given(seed=SEEDS)
def test_core_sizes_are_those_of_the_formula(seed: int) -> None:
    cut = random_cut(seed)
    sizes = sizes_by_formula(group_of(cut.problem, cut.total), cut)
    assert sizes == formula_sizes(cut)


@given(cap=CAPS, times=st.integers(1, 1000), more=st.integers(0, 3))
def test_the_room_of_a_seam_that_is_a_whole_number_is_not_rounded_up(
    cap: tuple[int, int], times: int, more: int
) -> None:
    """21 / 0.7 is a bit more than 30 in floats."""
    left, right = [0, 0], [cap[0] * times + more, 1]
    size = 2 * cap[1] * times + more
    sizes = most_sizes(np.zeros(2), np.array(right, dtype=np.float64), np.array([cap[0] / cap[1], 1.0]), float(size))
    assert sizes == tuple(room_beside(other, [cap, (1, 1)], size) for other in (right, left))


@given(seed=SEEDS, reserve=st.floats(0, 1), loss=st.floats(0, 1))
def test_cores_of_tighter_caps_are_no_larger(seed: int, reserve: float, loss: float) -> None:
    cut = random_cut(seed)
    sizes = sizes_by_formula(group_of(cut.problem, cut.total, reserve, loss), cut)
    assert all(0 <= size <= most for size, most in zip(sizes, formula_sizes(cut), strict=True))


# --- whether a set can be parted ---


def can_be_made(cut: Cut, size_left: int, size_right: int) -> bool:
    """Whether cores of these sizes and the rest can all be allowed, by trying all contents."""
    problem, rest = cut.problem, cut.size - size_left - size_right
    reached = {(0, 0)}
    for v in cut.values:
        give = [
            (x, y)
            for x in range(min(cut.left[v], most(problem, v, size_left)) + 1)
            for y in range(min(cut.right[v], most(problem, v, size_right)) + 1)
            if cut.total[v] - x - y <= most(problem, v, rest)
        ]
        reached = {(x + a, y + b) for x, y in reached for a, b in give if x + a <= size_left and y + b <= size_right}
    return (size_left, size_right) in reached


@given(seed=SEEDS)
def test_a_set_can_be_parted_just_if_contents_are_found_by_trying_them_all(seed: int) -> None:
    cut = random_cut(seed, largest=20)
    group, left = group_of(cut.problem, cut.total), cut.numbered(cut.left)
    flow = can_part_into(cut.problem, cut.left, cut.right)
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, [sum(cut.left) + 1, sum(cut.right) + 1], (10, 2)).tolist()
    for in_left, in_right in [*pairs, *rng.permutation(np.argwhere(flow))[:5].tolist()]:
        expected = can_be_made(cut, in_left, in_right)
        sizes = (float(in_left), float(in_right), float(cut.size - in_left - in_right))
        assert can_part(left, group.total, sizes, group.cap, group.margin) == expected
        assert flow[in_left, in_right] == expected


@given(seed=SEEDS)
def test_parts_fall_short_of_a_value_if_they_cannot_hold_all_its_tuples(seed: int) -> None:
    cut = random_cut(seed, largest=40)
    group, left = group_of(cut.problem, cut.total), cut.numbered(cut.left)
    for a, b in np.random.default_rng(seed).integers(0, cut.size // 2 + 1, (10, 2)).tolist():
        sizes = (a, b, cut.size - a - b)
        rooms = [[most(cut.problem, v, n) for n in sizes] for v in cut.values]
        held = [(cut.left[v], cut.right[v]) for v in cut.values]
        short = [n for n, (x, y) in enumerate(held) if x + y > min(x, rooms[n][0]) + min(y, rooms[n][1]) + rooms[n][2]]
        parts = (group.total, tuple(map(float, sizes)), group.cap, group.margin)
        assert short_of(left, *parts) == (short[0] if short else -1)
        assert [n for n in range(len(left)) if falls_short(n, left, *parts)] == short


@pytest.mark.parametrize(
    ("left", "right", "numerator", "denominator", "sizes"),
    [
        ([1, 0, 3, 1], [1, 1, 2, 0], [3, 3, 6, 3], 7, (4, 3)),
        ([1, 3, 2, 1], [0, 2, 1, 1], [1, 2, 1, 1], 3, (6, 3)),
        ([1, 0, 1, 2], [0, 2, 2, 3], [1, 1, 1, 2], 3, (3, 6)),
    ],
)
def test_both_cores_can_be_made_and_yet_leave_a_seam_that_cannot(
    left: list[int], right: list[int], numerator: list[int], denominator: int, sizes: tuple[int, int]
) -> None:
    """Rare: the values that the seam may hold do not suffice to fill it, and nothing else is amiss."""
    caps = np.array(numerator), np.full(len(left), denominator)
    cut = Cut(problem_of([1] * len(left), 1)._replace(numerator=caps[0], denominator=caps[1]), left, right)
    group, (in_left, in_right) = group_of(cut.problem, cut.total), sizes
    assert is_allowed(cut.problem, cut.total)
    assert not can_be_made(cut, in_left, in_right)
    assert not can_part_into(cut.problem, left, right)[sizes]
    of_all = (float(in_left), float(in_right), float(cut.size - in_left - in_right))
    assert not can_part(cut.numbered(left), group.total, of_all, group.cap, group.margin)


@given(seed=SEEDS, reserve=st.sampled_from([0.1, 0.5, 1.0]))
def test_a_set_can_be_parted_just_if_a_flow_exists(seed: int, reserve: float) -> None:
    """In sets that are too large to try all contents; and who keeps the tight caps keeps the others too."""
    cut = random_cut(seed, largest=80)
    group, left = group_of(cut.problem, cut.total, reserve), cut.numbered(cut.left)
    flow = can_part_into(cut.problem, cut.left, cut.right)
    for (in_left, in_right), is_flow in np.ndenumerate(flow):
        sizes = (float(in_left), float(in_right), float(cut.size - in_left - in_right))
        assert can_part(left, group.total, sizes, group.cap, group.margin) == is_flow
        assert is_flow or not can_part(left, group.total, sizes, group.tight, group.margin)


# --- filling a core ---


def bounds_of(cut: Cut, size: int, room: list[int]) -> list[tuple[int, int]]:
    """The least and the most of each value in a left core."""
    left = cut.left
    return [(max(left[v] - room[v], 0), min(left[v], most(cut.problem, v, size))) for v in cut.values]


@given(seed=SEEDS, data=st.data())
def test_a_core_is_filled_just_if_it_can_be(seed: int, data: st.DataObject) -> None:
    cut = random_cut(seed, largest=24)
    group, left = group_of(cut.problem, cut.total), cut.numbered(cut.left)
    size = data.draw(st.integers(1, max(sum(cut.left), 1)))
    room = [data.draw(st.integers(0, count + 1)) for count in cut.left]
    core = np.zeros_like(left)
    is_filled = fill_core(group, left, float(size), cut.numbered(room), group.cap, core)
    bounds = bounds_of(cut, size, room)
    every_core = itertools.product(*(range(least, greatest + 1) for least, greatest in bounds))
    assert is_filled == any(sum(content) == size for content in every_core)
    if is_filled:
        assert core.sum() == size
        assert all(n == int(n) for n in core)
        assert all(least <= n <= greatest for n, (least, greatest) in zip(core, bounds, strict=True))


@given(seed=SEEDS, share=st.floats(0.1, 1))
def test_a_core_is_filled_evenly(seed: int, share: float) -> None:
    """No value could give a tuple to another that stays farther from its cap."""
    cut = random_cut(seed, largest=200)
    group, left = group_of(cut.problem, cut.total), cut.numbered(cut.left)
    cap = group.cap
    size = int(share * greatest_core(left.astype(int).tolist(), caps_of(cut)))
    core = np.zeros_like(left)
    is_filled = fill_core(group, left, float(size), left, cap, core)
    assert is_filled == (kept(left.astype(int).tolist(), caps_of(cut), size) >= size)
    if not is_filled:
        return
    for (giver, _), (taker, v) in itertools.permutations(enumerate(cut.values), 2):
        if core[giver] > 0 and core[taker] < min(cut.left[v], most(cut.problem, v, size)):
            assert core[giver] / cap[giver] <= (core[taker] + 1) / cap[taker] + 1e-6 * size


@given(seed=SEEDS, tighter=st.floats(0.5, 1))
def test_a_tighter_cap_binds_too(seed: int, tighter: float) -> None:
    cut = random_cut(seed, largest=200)
    group, left = group_of(cut.problem, cut.total), cut.numbered(cut.left)
    cap = group.cap * tighter
    size = largest_core(left, left.sum(), cap, group.margin)
    core = np.zeros_like(left)
    if size > 0 and fill_core(group, left, size, left, cap, core):
        assert core.sum() == size
        assert (core <= cap * size + group.margin).all()
        assert all(n <= most(cut.problem, v, int(size)) for n, v in zip(core, cut.values, strict=True))


# --- both cores and the seam ---


def fit(cut: Cut, reserve: float = 0.0, gains: tuple[float, float] = (1.0, 1.0)) -> np.ndarray | None:
    """What both cores hold, if the cut can be made: from the formula to sizes that rounding permits to contents."""
    group, left = group_of(cut.problem, cut.total, reserve), cut.numbered(cut.left)
    formula = core_sizes(group, left, group.total - left, float(sum(cut.left)))
    gain, size_left, size_right, has_reserve = fit_sizes(group, left, formula, gains, 0.0)
    held = np.zeros((2, len(left)))
    if gain == 0 or not fill_cores(
        group, left, (size_left, size_right), group.tight if has_reserve else group.cap, held
    ):
        return None
    assert held.sum(axis=1).tolist() == [size_left, size_right]
    cores = np.zeros((2, len(cut.left)), dtype=np.int64)
    cores[:, cut.values] = held
    return cores


@given(seed=SEEDS, largest_table=st.sampled_from([30, 200, 5000]), k=st.integers(1, 12), reserve=st.floats(0, 1))
def test_both_cores_and_the_seam_are_allowed(seed: int, largest_table: int, k: int, reserve: float) -> None:
    cut = random_cut(seed, largest_table, k)
    cores = fit(cut, reserve)
    if cores is None:
        return
    seam = np.array(cut.total) - cores.sum(axis=0)
    assert (cores >= 0).all()
    assert (cores[0] <= cut.left).all()
    assert (cores[1] <= cut.right).all()
    for part in (*cores, seam):
        assert is_allowed(cut.problem, part.tolist())
        assert part.sum() == 0 or part.sum() >= k
    assert cores.sum() > 0


@given(seed=SEEDS, k=st.integers(1, 9), reserve=st.sampled_from([0.0, 0.1, 1.0]), gains=GAINS, share=st.floats(0, 1))
def test_sizes_that_are_fitted_can_be_made_and_gain_what_is_said(
    seed: int, k: int, reserve: float, gains: tuple[float, float], share: float
) -> None:
    cut = random_cut(seed, largest=60, k=k)
    group, left = group_of(cut.problem, cut.total, reserve), cut.numbered(cut.left)
    formula = core_sizes(group, left, group.total - left, float(sum(cut.left)))
    best = best_gain(cut.problem, cut.left, cut.right, gains)
    for to_beat in (0.0, share * best, best):
        gain, size_left, size_right, has_reserve = fit_sizes(group, left, formula, gains, to_beat)
        if gain == 0:
            assert (size_left, size_right) == (0, 0)
            continue
        assert to_beat < gain <= best * (1 + 1e-12)
        assert gain == size_left * gains[0] + size_right * gains[1]
        assert size_left <= formula[0]
        assert size_right <= formula[1]
        assert can_part_into(cut.problem, cut.left, cut.right)[int(size_left), int(size_right)]
        if has_reserve:
            sizes = (size_left, size_right, group.size - size_left - size_right)
            assert can_part(left, group.total, sizes, group.tight, group.margin)


@given(
    seed=SEEDS,
    largest_table=st.sampled_from([30, 80, 120]),
    reserve=st.sampled_from([0.0, 0.1, 1.0]),
    gains=GAINS,
    share=st.floats(0, 0.999),
)
@example(seed=414, largest_table=80, reserve=0.1, gains=(1.0, 1.0), share=0.95)
@example(seed=4366, largest_table=80, reserve=1.0, gains=(1.0, 1.0), share=0.95)
@example(seed=1635, largest_table=120, reserve=0.0, gains=(1.0, 1.0), share=0.95)
def test_sizes_do_not_depend_on_what_is_to_be_beaten_if_they_beat_it(
    seed: int, largest_table: int, reserve: float, gains: tuple[float, float], share: float
) -> None:
    """Also where the seam grows at the cost of a core that has nothing left to give."""
    cut = random_cut(seed, largest_table)
    group, left = group_of(cut.problem, cut.total, reserve), cut.numbered(cut.left)
    formula = core_sizes(group, left, group.total - left, float(sum(cut.left)))
    fitted = fit_sizes(group, left, formula, gains, 0.0)
    assert fit_sizes(group, left, formula, gains, share * fitted[0]) == fitted


@given(seed=SEEDS)
def test_a_cut_whose_sides_are_allowed_needs_no_seam(seed: int) -> None:
    cut = random_cut(seed)
    if all(sum(side) and is_allowed(cut.problem, side) for side in (cut.left, cut.right)):
        cores = fit(cut)
        assert cores is not None
        assert cores.tolist() == [cut.left, cut.right]


def least_seam(cut: Cut) -> int:
    """The smallest seam that whole tuples allow, by trying every pair of sizes; all tuples where no cut can be made."""
    return cut.size - int(best_gain(cut.problem, cut.left, cut.right, (1.0, 1.0)))


@given(seed=SEEDS)
def test_no_seam_is_smaller_than_the_formulas(seed: int) -> None:
    cut = random_cut(seed, largest=30)
    least = least_seam(cut)
    assert least == cut.size or least >= cut.size - sum(formula_sizes(cut))
    cores = fit(cut)
    assert cores is None or cut.size - cores.sum() >= least


@pytest.mark.some(2)
@pytest.mark.parametrize(("largest_table", "k", "n_cuts"), [(30, 1, 300), (40, 1, 500), (40, 5, 300), (120, 1, 200)])
def test_nearly_every_seam_is_the_least_that_whole_tuples_allow(largest_table: int, k: int, n_cuts: int) -> None:
    """The honest form of the law: no bound holds for each cut, for not every pair of sizes is tried."""
    above = []
    for seed in range(n_cuts):
        cut = random_cut(seed, largest_table, k)
        least = least_seam(cut)
        if least < cut.size:
            cores = fit(cut)
            assert cores is not None  # a cut that can be made is found
            above.append(cut.size - int(cores.sum()) - least)
    assert len(above) > n_cuts / 2
    assert min(above) >= 0
    assert np.mean(np.array(above) == 0) >= 0.98
    assert np.mean(above) <= 0.1


@pytest.mark.parametrize("gains", [(0.9, 0.3), (0.2, 1.0), (0.0, 1.0)])
def test_nearly_every_gain_is_the_greatest_that_whole_tuples_allow(gains: tuple[float, float]) -> None:
    """Where the cores gain unlike, too."""
    shares = []
    for seed in range(300):
        cut = random_cut(seed, largest=40)
        best = best_gain(cut.problem, cut.left, cut.right, gains)
        if best > 0:
            cores = fit(cut, gains=gains)
            assert cores is not None
            shares.append(cores.sum(axis=1) @ gains / best)
    assert len(shares) > 150
    assert max(shares) <= 1 + 1e-12
    assert np.mean(np.array(shares) > 1 - 1e-12) >= 0.97
    assert np.mean(shares) >= 0.985


def test_nearly_all_seams_are_at_most_two_tuples_per_value_above_the_formulas() -> None:
    """In larger sets, where every size cannot be tried."""
    is_near = []
    for seed in range(200):
        cut = random_cut(seed, largest=3000)
        least = cut.size - sum(formula_sizes(cut))
        if least < cut.size:
            cores = fit(cut)
            seam = cut.size if cores is None else cut.size - int(cores.sum())
            is_near.append(seam - least <= 2 * len(cut.values))
    assert len(is_near) > 150
    assert np.mean(is_near) >= 0.95


def test_nearly_all_cores_of_a_set_that_can_be_parted_are_filled() -> None:
    """Whatever their sizes; the left core is filled without looking at all that the right one needs."""
    is_filled = []
    for seed in range(150):
        cut = random_cut(seed, largest=60)
        group, left = group_of(cut.problem, cut.total), cut.numbered(cut.left)
        pairs = np.argwhere(can_part_into(cut.problem, cut.left, cut.right))
        cores = np.zeros((2, len(left)))
        for sizes in np.random.default_rng(seed).permutation(pairs)[:40].tolist():
            is_filled.append(fill_cores(group, left, (float(sizes[0]), float(sizes[1])), group.cap, cores))
            if is_filled[-1]:
                parts = [*cores, group.total - cores.sum(axis=0)]
                assert [part.sum() for part in parts[:2]] == sizes
                for part in parts:
                    counts = np.zeros(len(cut.left), dtype=int)
                    counts[cut.values] = part
                    assert (counts >= 0).all()
                    assert is_allowed(cut.problem, counts.tolist())
                assert (cores[0] <= left).all()
                assert (cores[1] <= group.total - left).all()
    assert len(is_filled) > 3000
    assert np.mean(is_filled) >= 0.999
