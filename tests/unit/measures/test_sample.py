"""Samples: rows folded with their counts, and groups of values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from betalike.measures.sample import MISSING, OTHER, Column, ColumnGroups, Holders, Sample, as_numbers, round_edges

NAN = np.nan
COLUMNS = [Column("age", is_whole=True), Column("city", ("Ulm", "Rom", "Bari")), Column("ill", ("1", "2", "30"))]


def sample(*columns: list[float]) -> Sample:
    return Sample.of(COLUMNS, [np.array(column, dtype=np.float64) for column in columns])


def test_equal_rows_are_folded_and_counted_even_if_values_are_missing() -> None:
    folded = sample([30, 30, NAN, NAN, 31], [0, 0, 1, 1, 1], [0, 0, 2, 2, 1])
    rows = {tuple(map(str, row)): count for row, count in zip(folded.values.tolist(), folded.count, strict=True)}
    assert rows == {("30.0", "0.0", "0.0"): 2, ("nan", "1.0", "2.0"): 2, ("31.0", "1.0", "1.0"): 1}
    assert folded.n_rows == 5


def test_few_numbers_are_groups_of_their_own_and_missing_values_come_last() -> None:
    bins = ColumnGroups.of(sample([30, 31, 35, NAN], [0] * 4, [0] * 4), 0)
    assert bins.labels == ("30", "31", "35", MISSING)
    assert bins.codes(np.array([30, 31, 32, 34, 35, 36, 29, NAN])).tolist() == [0, 1, 1, 1, 2, 2, 0, 3]


def test_many_whole_numbers_are_round_intervals_that_cover_all_and_do_not_show_the_ends() -> None:
    ages = np.arange(16, 94)
    bins = ColumnGroups.of(sample([*map(float, ages)], [0.0] * 78, [0.0] * 78), 0, most=10)
    assert bins.labels[:2] == ("below 20", "20 to 29")
    assert bins.labels[-2:] == ("90 or more", MISSING)
    counts = np.bincount(bins.codes(ages.astype(float)), minlength=bins.size)
    assert counts.tolist() == [4, *[10] * 7, 4, 0]


@given(st.lists(st.integers(-(10**9), 10**9).map(float), min_size=21, max_size=60, unique=True))
def test_round_intervals_are_few_and_do_not_depend_on_the_least_number(numbers: list[float]) -> None:
    bins = ColumnGroups.of(sample(numbers, [0.0] * len(numbers), [0.0] * len(numbers)), 0)
    assert 1 <= len(bins.edges) <= 21
    codes = bins.codes(np.array(numbers))
    for number, code in zip(numbers, codes.tolist(), strict=True):
        assert code == sum(edge <= number for edge in bins.edges.tolist())
    width = np.diff(bins.edges)
    if len(width):
        assert bins.edges / width.mean() == pytest.approx(np.round(bins.edges / width.mean()), rel=1e-6, abs=1e-3)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
@example(-1.7e308, 1.7e308)
@example(5e-324, 1e-323)
@example(1e300, 1.0000000000000002e300)
def test_round_numbers_lie_between_any_two_ends(one: float, other: float) -> None:
    low, high = sorted((one, other))
    if low < high:
        edges = round_edges(low, high, 20, False)
        assert len(edges) <= 21
        assert ((edges > low) & (edges <= high)).all()
        assert (np.diff(edges) > 0).all()


def test_dates_are_written_as_dates() -> None:
    days = Sample.of([Column("day", is_date=True), COLUMNS[2]], [np.array([0.0, 31.0]), np.zeros(2)])
    assert ColumnGroups.of(days, 0).labels == ("1970-01-01", "1970-02-01", MISSING)


def test_rare_levels_are_together() -> None:
    cities = [0.0] * 5 + [1.0] * 3 + [2.0]
    rows = sample([1.0] * 9, cities, [0.0] * 9)
    assert ColumnGroups.of(rows, 1).labels == ("Ulm", "Rom", "Bari", OTHER, MISSING)
    assert ColumnGroups.of(rows, 1, most=2).labels == ("Ulm", OTHER, MISSING)
    assert ColumnGroups.of(rows, 1, most=2).codes(np.array([0, 1, 2, NAN])).tolist() == [0, 1, 1, 2]


def test_names_are_numbers_only_in_the_sensitive_column() -> None:
    rows = sample([1, 2], [0, 1], [2, NAN])
    assert as_numbers(rows, 1) is None
    numbers = as_numbers(rows, 2)
    assert numbers is not None
    assert sorted(map(str, numbers.tolist())) == ["30.0", "nan"]


def test_people_are_counted_once_in_each_group() -> None:
    rng = np.random.default_rng(3)
    who, city, ill = (rng.integers(0, n, 200) for n in (40, 3, 2))
    columns = [Column("city", ("Ulm", "Rom", "Bari")), Column("ill", ("no", "yes"))]
    values = [city.astype(float), ill.astype(float)]
    folded = Sample.of(columns, values, None, Holders.of(np.arange(200), who))
    expected = [len(set(who[city == code])) for code in range(3)]
    assert folded.people(folded.values[:, 0].astype(np.int64), 3).tolist() == expected
    is_ill = folded.values[:, 1] == 1
    assert folded.people_where(is_ill) == len(set(who[ill == 1]))
    some = folded.where(is_ill)
    assert some.people(some.values[:, 0].astype(np.int64), 3).tolist() == [
        len(set(who[(city == code) & (ill == 1)])) for code in range(3)
    ]
    rows = Sample.of(columns, values)
    assert rows.people(rows.values[:, 0].astype(np.int64), 3).tolist() == np.bincount(city).tolist()
