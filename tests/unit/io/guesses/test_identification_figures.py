"""Distinct values, unique rows and pairs that differ, held against slow and obvious counting."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.io.guesses.identification import find_worst, hash_column, measure, mix_hashes
from examples import examples

CELLS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["a", "b", None])), min_size=2, max_size=40)


def slowly(rows: list[tuple[object, ...]]) -> tuple[int, float, float]:
    """Count with Python's own dictionary, pair by pair."""
    counts = Counter(rows)
    pairs = list(itertools.combinations(rows, 2))
    return (
        len(counts),
        sum(count == 1 for count in counts.values()) / len(rows),
        sum(a != b for a, b in pairs) / len(pairs),
    )


@examples(60)
@given(CELLS)
def test_figures_are_those_of_counting_every_pair(rows: list[tuple[object, ...]]) -> None:
    frame = pl.DataFrame(rows, schema=["number", "text"], orient="row")
    found = measure(frame.columns, mix_hashes([hash_column(column) for column in frame]))
    assert (found.distinct, found.unique, pytest.approx(found.separation)) == slowly(rows)


@examples(60)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=40))
def test_people_are_singled_out_by_what_nobody_else_has(rows: list[tuple[int, int]]) -> None:
    """Each row is of a person and has a value: a person with several rows is one person all the same."""
    persons, values = (hash_column(pl.Series([row[place] for row in rows])) for place in (0, 1))
    owners: dict[int, set[int]] = {}
    for person, value in rows:
        owners.setdefault(value, set()).add(person)
    alone = {next(iter(known)) for known in owners.values() if len(known) == 1}
    share = len(alone) / len({person for person, _ in rows})
    assert measure(["value"], values, persons).unique_people == pytest.approx(share)
    assert measure(["value"], values).unique_people is None


def test_large_tables_are_estimated() -> None:
    rng = np.random.default_rng(1)
    many, few = rng.integers(0, 150_000, 200_000), rng.integers(0, 5, 200_000)
    for numbers in (many, few):
        hashes = hash_column(pl.Series(numbers))
        counts = Counter(numbers.tolist())
        found = measure(["x"], hashes, exact_rows=20_000)
        assert found.distinct == pytest.approx(len(counts), rel=0.05)
        assert found.unique == pytest.approx(sum(c == 1 for c in counts.values()) / 200_000, abs=0.01)
        chance = sum(c * (c - 1) for c in counts.values()) / (200_000 * 199_999)
        assert found.separation == pytest.approx(1 - chance, abs=0.01)


def test_the_worst_combinations_are_found() -> None:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {name: rng.integers(0, size, 3000) for name, size in zip("abcde", (2, 40, 50, 3, 60), strict=True)}
    )
    separations = {column.name: measure([column.name], hash_column(column)).separation for column in frame}
    found = find_worst(frame, separations)
    for size in (2, 3):
        shares = {group: slow_unique(frame, group) for group in itertools.combinations(frame.columns, size)}
        best = next(one for one in found if len(one.columns) == size)
        assert best.unique == pytest.approx(max(shares.values()))
    assert set(found[-1].columns) == set(frame.columns)


def slow_unique(frame: pl.DataFrame, group: tuple[str, ...]) -> float:
    counts = Counter(frame.select(group).rows())
    return sum(count == 1 for count in counts.values()) / frame.height


def test_one_column_has_no_combinations() -> None:
    assert find_worst(pl.DataFrame({"a": [1, 2]}), {"a": 1.0}) == []
