"""Groups, and the rounding of their caps, against exact integers."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.promises import Form, Likeness
from betalike.promises.caps import LARGEST_DENOMINATOR
from betalike.schemes.seam.group import (
    EXACT_BELOW,
    LARGEST_LISTED,
    can_be_cut,
    gather,
    is_size,
    least_size,
    list_sizes,
    most_kept,
    rounding_down,
)
from betalike.schemes.seam.problem import SplitProblem, pose
from examples import examples
from seam_tables import group_of, is_allowed, most, problem_of, random_cells, scratch

SEEDS = st.integers(0, 10**6)
RESERVES = st.sampled_from([0.0, 0.1, 0.3, 1.0])
LARGE = st.integers(1, 12).flatmap(lambda digits: st.integers(1, 10**digits))


# --- rounding down ---


@st.composite
def caps_and_sizes(draw: st.DrawFn) -> tuple[int, int, int, list[int]]:
    """A cap as a fraction, a largest size, and sizes up to it, most of them with a share that is nearly whole."""
    denominator = draw(
        st.one_of(LARGE, st.integers(10**8, LARGEST_DENOMINATOR)).filter(lambda n: n <= LARGEST_DENOMINATOR)
    )
    numerator = draw(st.integers(1, denominator))
    divisor = math.gcd(numerator, denominator)
    numerator, denominator = numerator // divisor, denominator // divisor
    largest = draw(st.one_of(LARGE, st.integers(denominator, 10**12)))
    rng = random.Random(draw(SEEDS))
    sizes = [rng.randint(0, largest)]
    for remainder in (0, -1, 1):  # of numerator * size
        start = remainder * pow(numerator, -1, denominator) % denominator
        if start <= largest:
            sizes += [start + rng.randint(0, (largest - start) // denominator) * denominator for _ in range(20)]
    return numerator, denominator, largest, sizes


@examples(200)
@given(caps_and_sizes())
def test_rounding_down_never_breaks_the_exact_cap_and_costs_nothing_below_2_to_the_50(
    case: tuple[int, int, int, list[int]],
) -> None:
    numerator, denominator, largest, sizes = case
    cap, margin = rounding_down(numerator, denominator, float(largest))
    for size in sizes:
        exact = numerator * size // denominator
        by_kernel = most_kept(np.array([1e18]), np.array([cap]), np.array([margin]), float(size))
        for rounded in (math.floor(cap * size + margin), by_kernel):  # a kernel may round once less
            assert exact - 1 <= rounded <= exact
            if numerator * largest < EXACT_BELOW:
                assert rounded == exact


def test_both_kinds_of_rounding_meet_at_2_to_the_50() -> None:
    numerator, denominator = 3, 7
    below, above = (rounding_down(numerator, denominator, size) for size in (2.0**50 / 3 - 1, 2.0**50 / 3 + 1))
    assert below == (3 / 7, 0.5 / 7)
    assert above[0] < 3 / 7
    assert above[1] == 0.0


# --- sizes that a part may have ---


def brute_force_sizes(problem: SplitProblem, counts: list[int], largest: int) -> list[bool]:
    """Whether a set of each size can be made of these tuples, or holds none."""

    def can_have(size: int) -> bool:
        allowed = [min(count, most(problem, v, size)) for v, count in enumerate(counts)]
        return size == 0 or (size >= problem.k and sum(allowed) >= size)

    return [can_have(size) for size in range(largest + 1)]


@st.composite
def problems_and_counts(draw: st.DrawFn, largest: int = 120) -> tuple[SplitProblem, list[int]]:
    """A table's values and an allowed part of them."""
    counts = draw(st.lists(st.integers(1, largest), min_size=2, max_size=6))
    problem = problem_of(
        counts, draw(st.sampled_from([0.1, 0.5, 1, 2, 4])), draw(st.sampled_from(list(Form))), draw(st.integers(1, 12))
    )
    part = [draw(st.integers(0, count)) for count in counts]
    return problem, part if any(part) and is_allowed(problem, part) else counts


@given(problems_and_counts())
def test_listed_sizes_are_those_that_can_be_filled(case: tuple[SplitProblem, list[int]]) -> None:
    problem, counts = case
    group = group_of(problem, counts)
    largest = min(sum(counts), LARGEST_LISTED)
    expected = brute_force_sizes(problem, counts, largest)
    assert group.can_have.tolist() == expected
    assert list_sizes(group.total, group.cap, group.margin, largest, problem.k).tolist() == expected
    for size in range(sum(counts) + 1):
        assert is_size(group, float(size)) == (expected[size] if size <= LARGEST_LISTED else size >= problem.k)


@given(problems_and_counts())
def test_the_least_size_is_the_first_that_can_be_filled(case: tuple[SplitProblem, list[int]]) -> None:
    problem, counts = case
    sizes = brute_force_sizes(problem, counts, min(sum(counts), LARGEST_LISTED))
    expected = next((size for size, can_have in enumerate(sizes) if size and can_have), len(sizes))
    assert least_size(group_of(problem, counts)) == expected


def can_be_cut_in_two(problem: SplitProblem, counts: list[int]) -> bool:
    for part in itertools.product(*(range(count + 1) for count in counts)):
        rest = [count - kept for count, kept in zip(counts, part, strict=True)]
        if min(sum(part), sum(rest)) >= max(problem.k, 1) and is_allowed(problem, part) and is_allowed(problem, rest):
            return True
    return False


@given(problems_and_counts(largest=4))
def test_a_set_that_can_be_cut_is_not_given_up(case: tuple[SplitProblem, list[int]]) -> None:
    problem, counts = case
    if can_be_cut_in_two(problem, counts):
        assert can_be_cut(group_of(problem, counts))


@given(problems_and_counts())
def test_a_set_is_given_up_if_no_two_sizes_add_up_to_its_own(case: tuple[SplitProblem, list[int]]) -> None:
    problem, counts = case
    size = sum(counts)
    if size <= LARGEST_LISTED:
        sizes = brute_force_sizes(problem, counts, size)
        expected = any(sizes[part] and sizes[size - part] for part in range(1, size))
        assert can_be_cut(group_of(problem, counts)) == expected


@given(problems_and_counts(), st.data())
def test_what_a_part_may_take_is_what_the_exact_caps_tell(
    case: tuple[SplitProblem, list[int]], data: st.DataObject
) -> None:
    problem, counts = case
    group, size = group_of(problem, counts), data.draw(st.integers(0, sum(counts)))
    expected = sum(min(count, most(problem, v, size)) for v, count in enumerate(counts))
    assert most_kept(group.total, group.cap, group.margin, float(size)) == expected


# --- gathering ---


@given(seed=SEEDS, reserve=RESERVES, loss=st.floats(0, 1), k=st.integers(1, 9))
def test_a_group_numbers_the_values_that_it_holds_and_counts_them(
    seed: int, reserve: float, loss: float, k: int
) -> None:
    cells = random_cells(seed)
    problem = pose(cells, Likeness(1, k=k))
    rng = np.random.default_rng(seed)
    number = scratch(problem)
    for share in (0.05, 0.5, 1.0):  # on the same scratch space
        chosen = rng.permutation(len(cells.count)).astype(np.int32)
        chosen = chosen[: max(int(share * len(chosen)), 1)]
        counts = rng.integers(1, cells.count[chosen] + 1)
        group = gather(problem, chosen, counts, loss, reserve, number)
        assert set(number.tolist()) == {-1}
        held = list(dict.fromkeys(cells.value[chosen].tolist()))  # in the order in which they first occur
        assert group.cell.tolist() == chosen.tolist()
        assert group.tuples.tolist() == counts.tolist()
        assert [held[v] for v in group.value] == cells.value[chosen].tolist()
        assert group.total.tolist() == [counts[cells.value[chosen] == v].sum() for v in held]
        assert group.size == counts.sum()
        assert group.cap.tolist() == [problem.numerator[v] / problem.denominator[v] for v in held]
        assert group.margin.tolist() == [0.5 / problem.denominator[v] for v in held]
        assert group.k == k


@given(seed=SEEDS, reserve=RESERVES, loss=st.floats(0, 1), beta=st.sampled_from([0.3, 1, 4]))
def test_the_tight_cap_lies_between_what_the_set_holds_and_the_cap(
    seed: int, reserve: float, loss: float, beta: float
) -> None:
    counts = random_cells(seed).value_counts.tolist()
    problem = problem_of(counts, beta)
    group = group_of(problem, counts, reserve, loss)
    for tight, cap, total in zip(group.tight, group.cap, group.total, strict=True):
        held = total / group.size
        assert tight == pytest.approx(max(cap * (1 - reserve * loss**0.5), (held + cap) / 2))
        assert held <= tight <= cap


@given(
    data=st.data(),
    counts=st.lists(LARGE.map(lambda n: min(n, 10**9)), min_size=2, max_size=5),
    reserve=RESERVES,
    beta=st.sampled_from([0.001, 0.1, 1, 4]),
)
def test_neither_cap_of_a_large_group_is_ever_above_the_exact_one(
    data: st.DataObject, counts: list[int], reserve: float, beta: float
) -> None:
    """Also where numbers are too large for the margin, and the tight cap is a midpoint above the lowered cap."""
    problem = problem_of(counts, beta)
    group = group_of(problem, counts, reserve, data.draw(st.floats(0, 1)))
    size = data.draw(st.integers(1, sum(counts)))
    for v in range(len(counts)):
        for near in (size, size - size % int(problem.denominator[v])):
            for cap in (group.cap, group.tight):
                assert math.floor(cap[v] * near + group.margin[v]) <= most(problem, v, near)
