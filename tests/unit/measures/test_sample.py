"""Samples: rows folded with their counts, and groups of values."""

from __future__ import annotations

import numpy as np

from betalike.measures.sample import MISSING, OTHER, Bins, Column, Sample, as_numbers

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
    bins = Bins.of(sample([30, 31, 35, NAN], [0] * 4, [0] * 4), 0)
    assert bins.labels == ("30", "31", "35", MISSING)
    assert bins.codes(np.array([30, 31, 32, 34, 35, 36, 29, NAN])).tolist() == [0, 1, 1, 1, 2, 2, 0, 3]


def test_many_whole_numbers_are_intervals_of_one_width_that_cover_all() -> None:
    ages = np.arange(16, 94)
    bins = Bins.of(sample([*map(float, ages)], [0.0] * 78, [0.0] * 78), 0, most=10)
    assert bins.labels[:2] == ("16 to 23", "24 to 31")
    assert bins.labels[-2:] == ("88 to 93", MISSING)
    counts = np.bincount(bins.codes(ages.astype(float)), minlength=bins.size)
    assert counts.tolist() == [8] * 9 + [6, 0]


def test_dates_are_written_as_dates() -> None:
    days = Sample.of([Column("day", is_date=True), COLUMNS[2]], [np.array([0.0, 31.0]), np.zeros(2)])
    assert Bins.of(days, 0).labels == ("1970-01-01", "1970-02-01", MISSING)


def test_rare_levels_are_together() -> None:
    cities = [0.0] * 5 + [1.0] * 3 + [2.0]
    rows = sample([1.0] * 9, cities, [0.0] * 9)
    assert Bins.of(rows, 1).labels == ("Ulm", "Rom", "Bari", OTHER, MISSING)
    assert Bins.of(rows, 1, fewest_rows=2).labels == ("Ulm", "Rom", OTHER, MISSING)
    assert Bins.of(rows, 1, most=2).labels == ("Ulm", OTHER, MISSING)
    assert Bins.of(rows, 1, most=2).codes(np.array([0, 1, 2, NAN])).tolist() == [0, 1, 1, 2]


def test_names_are_numbers_only_in_the_sensitive_column() -> None:
    rows = sample([1, 2], [0, 1], [2, NAN])
    assert as_numbers(rows, 1) is None
    numbers = as_numbers(rows, 2)
    assert numbers is not None
    assert sorted(map(str, numbers.tolist())) == ["30.0", "nan"]
