"""SABRE's buckets and draws: what any class that draws so can be away from the table, found by trying everything."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from betalike.promises import Closeness, Rule
from betalike.promises.distances import Ground
from betalike.promises.rule import most_work, work_of
from betalike.schemes.sabre.buckets import INNER_SHARE, bucket_sizes, is_between_children, near_buckets
from betalike.schemes.sabre.draws import class_draws, worst_work
from betalike.schemes.sabre.parting import halves
from betalike.table.axis import HierarchyAxis
from betalike.table.hierarchy import Hierarchy
from examples import examples
from promise_cases import Case, axes
from random_tables import hierarchies

TS = st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 1])


@st.composite
def rules(draw: st.DrawFn) -> tuple[Rule, bool]:
    """The demands of t-closeness on a random table, and whether its values lie on a line."""
    counts = draw(st.lists(st.integers(0, 30), min_size=2, max_size=6).filter(lambda c: sum(map(bool, c)) > 1))
    case = Case([counts], counts, draw(axes(len(counts))))
    ground = draw(st.sampled_from(case.grounds))
    model = Closeness(draw(TS), ground, draw(st.integers(1, 4)))
    return model.rule(case.table, case.axis), ground is Ground.ORDERED


@st.composite
def bucketed(draw: st.DrawFn) -> tuple[Rule, np.ndarray]:
    """The same with buckets, split at random wherever they may be."""
    rule, is_line = draw(rules())
    starts = [0, len(rule.prior)]
    for value in draw(st.permutations(range(1, len(rule.prior)))):
        begin = max(start for start in starts if start < value)
        end = min(start for start in starts if start > value)
        if (is_line or is_between_children(rule, begin, end, value)) and draw(st.booleans()):
            starts = sorted([*starts, value])
    return rule, np.array(starts)


def farthest(rule: Rule, starts: np.ndarray, draws: list[int]) -> int:
    """How far a class with these draws can be from the table, over every choice of one value for each bucket.

    A distance is convex, so no mixture of values is farther than its farthest value.
    """
    choices = [
        [v for v in range(begin, end) if rule.prior[v]] if n else [begin]
        for (begin, end), n in zip(itertools.pairwise(starts.tolist()), draws, strict=True)
    ]
    greatest = 0
    for values in itertools.product(*choices):
        counts = np.zeros(len(rule.prior), dtype=np.int64)
        for value, n in zip(values, draws, strict=True):
            counts[value] += n
        greatest = max(greatest, int(work_of(rule, counts, sum(draws))))
    return greatest


@examples(200)
@given(of=bucketed(), data=st.data())
def test_the_worst_of_all_values_is_found_bucket_by_bucket(of: tuple[Rule, np.ndarray], data: st.DataObject) -> None:
    rule, starts = of
    sizes = bucket_sizes(rule.prior, starts)
    draws = [data.draw(st.integers(0, int(size))) for size in sizes]
    assume(any(draws))
    assert worst_work(rule, starts, np.array(draws), sum(draws)) == farthest(rule, starts, draws)


@given(rows=hierarchies("abcdefg"), data=st.data())
def test_a_bucket_of_a_tree_is_split_between_children_of_its_lowest_node(
    rows: list[list[str]], data: st.DataObject
) -> None:
    tree = Hierarchy.from_rows(rows)
    rule = Closeness(1, Ground.HIERARCHICAL).rule(np.ones(7, dtype=np.int64), HierarchyAxis("s", tree))
    begin = data.draw(st.integers(0, 5))
    end = data.draw(st.integers(begin + 2, 7))
    height = len(rows[0]) - 1

    def lowest(first: int, last: int) -> int:
        return next(level for level in range(height + 1) if tree.paths[first][level:] == tree.paths[last][level:])

    for value in range(begin + 1, end):
        expected = lowest(value - 1, value) >= lowest(begin, end - 1)
        assert is_between_children(rule, begin, end, value) == expected


@examples(100)
@given(of=rules())
def test_buckets_leave_room_for_uneven_draws(of: tuple[Rule, bool]) -> None:
    rule, is_line = of
    starts = near_buckets(rule, is_line)
    assert starts[0] == 0
    assert starts[-1] == len(rule.prior)
    assert (np.diff(starts) > 0).all()
    n_rows = int(rule.prior.sum())
    sizes = bucket_sizes(rule.prior, starts)
    assert sizes.tolist() == [int(rule.prior[a:b].sum()) for a, b in itertools.pairwise(starts)]
    assert farthest(rule, starts, sizes.tolist()) <= INNER_SHARE * most_work(rule, n_rows)


def test_values_that_are_near_share_a_bucket() -> None:
    """Ten even values on a line: with a large t one bucket, with a small one neighbours, with none everybody alone."""
    axis = Case([[1] * 10], [10] * 10, HierarchyAxis("s", Hierarchy.flat("abcdefghij"))).axis
    counts = np.full(10, 10)
    n_buckets = [
        len(near_buckets(Closeness(t, Ground.ORDERED).rule(counts, axis), is_line=True)) - 1
        for t in (1, 0.5, 0.2, 0.1, 0.001)
    ]
    assert n_buckets[0] == 1
    assert n_buckets[-1] == 10
    assert n_buckets == sorted(n_buckets)
    rows = [[f"{leaf}", f"pair {leaf // 2}", f"{'low' if leaf < 4 else 'high'}", "*"] for leaf in range(8)]
    tree = HierarchyAxis("s", Hierarchy.from_rows(rows))
    for t, starts in ((0.84, [0, 4, 8]), (0.35, [0, 2, 4, 6, 8]), (0.05, [*range(9)])):
        rule = Closeness(t, Ground.HIERARCHICAL).rule(np.full(8, 10), tree)
        assert near_buckets(rule, is_line=False).tolist() == starts


@examples(100)
@given(of=bucketed())
def test_classes_that_draw_so_keep_t_whatever_they_draw(of: tuple[Rule, np.ndarray]) -> None:
    rule, starts = of
    sizes = bucket_sizes(rule.prior, starts)
    draws = class_draws(rule, starts, sizes)
    assert draws.sum(axis=0).tolist() == sizes.tolist()
    if len(draws) > 1:
        for row in draws.tolist():
            assert sum(row) >= rule.k
            assert farthest(rule, starts, row) <= most_work(rule, sum(row))


@pytest.mark.parametrize("n_rows", [64, 1000])
def test_buckets_of_one_value_are_drawn_from_in_proportion(n_rows: int) -> None:
    """Even values in buckets of their own: classes are halved until one more halving would be uneven."""
    counts = np.full(4, n_rows)
    axis = HierarchyAxis("s", Hierarchy.flat("abcd"))
    rule = Closeness(0.001, Ground.EQUAL).rule(counts, axis)
    draws = class_draws(rule, np.arange(5), counts)
    power = n_rows & -n_rows
    assert draws.tolist() == [[n_rows // power] * 4] * power


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8), st.data())
def test_halves_are_balanced_over_any_neighbours(sizes: list[int], data: st.DataObject) -> None:
    half = halves(np.array(sizes)).tolist()
    assert all(0 <= n - 2 * h + 1 <= 2 for n, h in zip(sizes, half, strict=True))
    first = data.draw(st.integers(0, len(sizes) - 1))
    last = data.draw(st.integers(first, len(sizes) - 1)) + 1
    assert abs(2 * sum(half[first:last]) - sum(sizes[first:last])) <= 1
