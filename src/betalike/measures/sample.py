"""A table as numbers to analyse: the original one, or one that was completed from a release.

Both have the same columns, so that every figure of utility is measured on both in the same way. Rows are folded: each
distinct row occurs once, with a count.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from betalike.measures.phrases import FEWEST
from betalike.runtime.arrays import Bools, Floats, Ints
from betalike.table.cells import fold

MOST_BINS = 20  # of a distribution
OTHER, MISSING = "other", "missing"


@dataclass(frozen=True)
class Column:
    """A column of a sample: numbers if it has no levels, else the code of one of its levels."""

    name: str
    levels: tuple[str, ...] | None = None
    is_whole: bool = False  # whole numbers
    is_date: bool = False  # days since 1970


@dataclass(frozen=True)
class Holders:
    """Which person has which distinct row, each pair once; for tables in which a person may have several rows."""

    row: Ints
    person: Ints

    @staticmethod
    def of(row: Ints, person: Ints) -> Holders:
        """Return the distinct pairs."""
        n_people = int(person.max(initial=-1)) + 1
        return Holders(*np.divmod(np.unique(row.astype(np.int64) * n_people + person), max(n_people, 1)))


@dataclass(frozen=True)
class Sample:
    """Distinct rows with their counts: an array of numbers or codes per column, NaN where a value is missing.

    The last column is the sensitive one. Without `holders`, every row is another person's.
    """

    columns: tuple[Column, ...]
    values: Floats
    count: Floats
    holders: Holders | None = None

    @staticmethod
    def of(
        columns: Sequence[Column],
        values: Sequence[Floats],
        count: Floats | None = None,
        holders: Holders | None = None,
    ) -> Sample:
        """Fold rows, given as one array per column; the holders are those of the given rows."""
        codes, sizes = [], []
        for of_column in values:
            distinct, code = np.unique(of_column, return_inverse=True)
            codes.append(code)
            sizes.append(max(len(distinct), 1))
        first, row = fold(codes, sizes)
        counts = np.bincount(row, count, len(first)).astype(np.float64)
        held = None if holders is None else Holders.of(row[holders.row].astype(np.int64), holders.person)
        return Sample(tuple(columns), np.column_stack([of_column[first] for of_column in values]), counts, held)

    def where(self, is_chosen: Bools) -> Sample:
        """Return some of the distinct rows."""
        held = self.holders
        if held is not None:
            number, mine = np.cumsum(is_chosen) - 1, is_chosen[held.row]
            held = Holders(number[held.row[mine]], held.person[mine])
        return Sample(self.columns, self.values[is_chosen], self.count[is_chosen], held)

    def people(self, group: Ints, size: int) -> Ints:
        """Count the people of each group of distinct rows; a row in the group -1 is in none."""
        if self.holders is None:
            return np.bincount(group[group >= 0], self.count[group >= 0], size).astype(np.int64)
        of_pair = group[self.holders.row]
        mine = Holders.of(of_pair[of_pair >= 0], self.holders.person[of_pair >= 0])
        return np.bincount(mine.row, minlength=size)

    def people_where(self, is_chosen: Bools) -> int:
        """Count the people who have one of some distinct rows."""
        return int(self.people(np.where(is_chosen, 0, -1), 1)[0])

    @property
    def n_rows(self) -> float:
        """Rows of the table."""
        return float(self.count.sum())

    def place(self, name: str) -> int:
        """Return the number of a column."""
        return [column.name for column in self.columns].index(name)

    @property
    def sensitive(self) -> Column:
        """The sensitive column."""
        return self.columns[-1]


@dataclass(frozen=True)
class ColumnGroups:
    """Groups of the values of a column: intervals of numbers, or levels; rare levels are together in one group.

    `edges` are the starts of the intervals after the first one; `group` has the group of each level.
    """

    labels: tuple[str, ...]
    edges: Floats
    group: Ints | None = None

    @staticmethod
    def of(sample: Sample, place: int, most: int = MOST_BINS) -> ColumnGroups:
        """Choose groups by the original table: each value if there are few, else intervals of the same width."""
        column, values = sample.columns[place], sample.values[:, place]
        is_missing = np.isnan(values)
        if column.levels is not None:
            level = np.where(is_missing, -1, values).astype(np.int64)
            counts = np.bincount(level[~is_missing], sample.count[~is_missing], len(column.levels))
            return _level_bins(column.levels, counts.astype(np.float64), most)
        present = np.unique(values[~is_missing])
        if len(present) <= most:
            edges = present[1:]
            labels = [_text(number, column) for number in present]
        else:
            is_whole = column.is_whole or column.is_date
            edges = round_edges(float(present[0]), float(present[-1]), most, is_whole)
            labels = _interval_labels(edges.tolist(), column, 1.0 if is_whole else 0.0)
        return ColumnGroups((*labels, MISSING), edges)

    def codes(self, values: Floats) -> Ints:
        """Return the group of each value; the last one is that of missing values."""
        is_missing = np.isnan(values)
        filled = np.where(is_missing, 0.0, values)
        if self.group is not None:
            found = self.group[filled.astype(np.int64)]
        else:
            found = np.searchsorted(self.edges, filled, side="right")
        return np.where(is_missing, len(self.labels) - 1, found).astype(np.int64)

    @cached_property
    def size(self) -> int:
        """Number of groups."""
        return len(self.labels)


def _level_bins(levels: Sequence[str], counts: Floats, most: int) -> ColumnGroups:
    order = np.argsort(-counts, kind="stable")
    kept = order[:most] if np.count_nonzero(counts) <= most else order[: most - 1]
    kept = np.sort(kept[counts[kept] > 0])
    labels = [levels[i] for i in kept.tolist()]
    group = np.full(max(len(levels), 1), len(labels), dtype=np.int64)
    group[kept] = np.arange(len(kept))
    return ColumnGroups((*labels, OTHER, MISSING), np.zeros(0), group)


def round_edges(low: float, high: float, most: int, is_whole: bool) -> Floats:
    """Return round numbers between two ends that make about `most` intervals; they do not show the ends.

    >>> round_edges(16, 93, 20, True)
    array([20., 25., 30., 35., 40., 45., 50., 55., 60., 65., 70., 75., 80.,
           85., 90.])
    """
    least = max(high / most - low / most, 1.0 if is_whole else 1e-300)
    power = 10.0 ** math.floor(math.log10(least))
    width = next(digit * power for digit in (1, 2, 5, 10, 20) if digit * power >= least * (1 - 1e-9))
    edges = np.unique(width * np.arange(float(math.ceil(low / width)), math.floor(high / width) + 1.0))
    return np.asarray(edges[(edges > low) & (edges <= high)])


def _interval_labels(edges: Sequence[float], column: Column, step: float) -> list[str]:
    """Return the names of intervals: the first and the last are open, because their ends are those of one person."""
    if not edges:
        return ["any"]
    between = [
        _text(a, column) if a == b - step else f"{_text(a, column)} to {_text(b - step, column)}"
        for a, b in itertools.pairwise(edges)
    ]
    return [f"below {_text(edges[0], column)}", *between, f"{_text(edges[-1], column)} or more"]


def _text(number: float, column: Column) -> str:
    if column.is_date:
        return str(np.datetime64(int(number), "D"))
    return f"{number:.0f}" if column.is_whole else f"{number:.4g}"


def numbers_of(column: Column) -> Floats | None:
    """Return the levels of a column as numbers; None if one is not a number."""
    if column.levels is None:
        return None
    try:
        numbers = np.array([float(level) for level in column.levels])
    except ValueError:
        return None
    return numbers if len(numbers) and np.isfinite(numbers).all() else None


def as_numbers(sample: Sample, place: int) -> Floats | None:
    """Return a column as numbers: NaN where one is missing; None for names."""
    column, values = sample.columns[place], sample.values[:, place]
    if column.levels is None:
        return values
    numbers = numbers_of(column) if place == len(sample.columns) - 1 else None
    if numbers is None:
        return None
    is_missing: Bools = np.isnan(values)
    return np.where(is_missing, np.nan, numbers[np.where(is_missing, 0, values).astype(np.int64)])


def is_spread_over(sample: Sample, numbers: Floats, centre: float, fewest: int) -> bool:
    """Return whether the spread of some numbers is due to enough people, so that a slope does not show those of a few.

    Two numbers are like two levels, with `fewest` people each. Of more, as many people as would make up the spread with
    equal shares must be at least 3.
    """
    distinct, code = np.unique(numbers, return_inverse=True)
    if len(distinct) <= 2:
        return int(sample.people(code, len(distinct)).min(initial=0 if len(distinct) < 2 else fewest)) >= fewest
    weight = (numbers - centre) ** 2
    if sample.holders is None:
        total, squares = float(sample.count @ weight), float(sample.count @ weight**2)
    else:
        of_person = np.bincount(sample.holders.person, weight[sample.holders.row])
        total, squares = float(of_person.sum()), float((of_person**2).sum())
    return squares > 0 and total**2 / squares >= FEWEST
