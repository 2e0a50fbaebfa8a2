"""Draws of classes from buckets: the recursive halving of the paper, written down twice."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from betalike.schemes.burel.ectree import class_draws, is_eligible

Draws = tuple[int, ...]


def eligible(draws: Draws, caps: list[tuple[int, int]], k: int) -> bool:
    size = sum(draws)
    return size >= k and all(n * den <= num * size for n, (num, den) in zip(draws, caps, strict=True))


def halve(draws: Draws, caps: list[tuple[int, int]], k: int) -> list[Draws]:
    """biSplit: halve while both halves are eligible; the left one takes the smaller part of an odd number."""
    left = tuple(n // 2 for n in draws)
    right = tuple(n - half for n, half in zip(draws, left, strict=True))
    if eligible(left, caps, k) and eligible(right, caps, k):
        return halve(left, caps, k) + halve(right, caps, k)
    return [draws]


@st.composite
def tables(draw: st.DrawFn) -> tuple[Draws, list[tuple[int, int]], int]:
    """Bucket sizes, and caps that the whole table keeps with some slack."""
    sizes = tuple(draw(st.lists(st.integers(1, 3000), min_size=1, max_size=5)))
    slack = [draw(st.integers(0, 40)) for _ in sizes]
    total = sum(sizes)
    caps = [(min(100 * n + extra * total, 100 * total), 100 * total) for n, extra in zip(sizes, slack, strict=True)]
    return sizes, caps, draw(st.integers(1, 12))


@given(tables())
def test_draws_are_those_of_the_recursion(table: tuple[Draws, list[tuple[int, int]], int]) -> None:
    sizes, caps, k = table
    numerator, denominator = (np.array(column) for column in zip(*caps, strict=True))
    draws = class_draws(np.array(sizes), numerator, denominator, k)
    assert [tuple(row) for row in draws.tolist()] == halve(sizes, caps, k)


@given(tables())
def test_classes_share_the_buckets_out_and_are_eligible(table: tuple[Draws, list[tuple[int, int]], int]) -> None:
    sizes, caps, k = table
    numerator, denominator = (np.array(column) for column in zip(*caps, strict=True))
    draws = class_draws(np.array(sizes), numerator, denominator, k)
    assert draws.sum(axis=0).tolist() == list(sizes)
    if len(draws) > 1:
        assert all(is_eligible(row, numerator, denominator, k) for row in draws)
    for row in draws:
        assert is_eligible(row, numerator, denominator, k) == eligible(tuple(row.tolist()), caps, k)


def test_many_classes_outgrow_the_first_array() -> None:
    draws = class_draws(np.array([1000, 1000]), np.array([1, 1]), np.array([2, 2]), 1)
    assert draws.sum(axis=0).tolist() == [1000, 1000]
    assert len(draws) > 64
    assert (draws[:, 0] == draws[:, 1]).all()


def test_a_billion_tuples_are_halved_without_overflow() -> None:
    sizes = np.array([2**30, 2**30 + 1])
    draws = class_draws(sizes, np.array([1, 2]), np.array([1, 3]), 2**28)
    assert draws.sum(axis=0).tolist() == sizes.tolist()
    assert draws.sum(axis=1).min() >= 2**28


def test_k_stops_the_halving() -> None:
    one, two = np.array([1]), np.array([1])
    assert class_draws(np.array([10]), one, two, 5).tolist() == [[5], [5]]
    assert class_draws(np.array([10]), one, two, 6).tolist() == [[10]]
    assert class_draws(np.array([11]), one, two, 6).tolist() == [[11]]
