"""What a release is worth: the same figures of the original table and of tables that were completed from a release.

Every result has the figure before and after, and one sentence that says what it means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from betalike.errors import ParameterError
from betalike.measures.phrases import FEWEST
from betalike.measures.sample import MOST_BINS, ColumnGroups, Sample, as_numbers, is_spread_over
from betalike.runtime.arrays import Floats, Ints

MOST_GROUPS = 10  # of each side of a two-way table


@dataclass(frozen=True)
class Distribution:
    """How the rows are distributed over the groups of one column, before and after, as shares.

    `distance` is half the sum of the differences: the share of rows that would have to change their group. `people` is
    how many people of the original are in each group.
    """

    column: str
    groups: tuple[str, ...]
    original: tuple[float, ...]
    release: tuple[float, ...]
    distance: float
    people: tuple[int, ...] = ()

    @property
    def meaning(self) -> str:
        """What the distance means."""
        return (
            f"{self.distance:.1%} of the rows would have to move to another group of '{self.column}' to make the "
            "release's distribution that of the original"
        )


@dataclass(frozen=True)
class TwoWay:
    """A quasi-identifier (rows) against the sensitive column (columns), before and after, as shares of all rows.

    `original_strength` and `release_strength` are Cramer's V: 0 if the two have nothing to do with each other.
    `fewest` is the least number of people in a cell of the original that has any.
    """

    column: str
    sensitive: str
    groups: tuple[str, ...]
    values: tuple[str, ...]
    original: tuple[tuple[float, ...], ...]
    release: tuple[tuple[float, ...], ...]
    distance: float
    original_strength: float
    release_strength: float
    fewest: int = 0

    @property
    def meaning(self) -> str:
        """What the figures mean."""
        return (
            f"{self.distance:.1%} of the rows are in another cell of '{self.column}' against '{self.sensitive}'; the "
            f"strength of their relation (Cramer's V) is {self.original_strength:.3f} in the original and "
            f"{self.release_strength:.3f} in the release"
        )


@dataclass(frozen=True)
class Mean:
    """The mean and the standard deviation of a column of numbers, before and after."""

    column: str
    original: float
    release: float
    original_deviation: float
    release_deviation: float

    @property
    def meaning(self) -> str:
        """What the figures mean."""
        apart = abs(self.release - self.original)
        part = apart / self.original_deviation if self.original_deviation > 0 else 0.0
        return f"the mean of '{self.column}' moves by {apart:.4g}, which is {part:.1%} of its standard deviation"


@dataclass(frozen=True)
class Correlation:
    """The correlation of two columns of numbers, before and after."""

    first: str
    second: str
    original: float
    release: float

    @property
    def meaning(self) -> str:
        """What the figures mean."""
        return (
            f"the correlation of '{self.first}' and '{self.second}' is {self.original:.3f} in the original and "
            f"{self.release:.3f} in the release"
        )


@dataclass(frozen=True)
class Utility:
    """What a release is worth to an analyst, compared with the original table."""

    distributions: tuple[Distribution, ...]
    two_ways: tuple[TwoWay, ...]
    means: tuple[Mean, ...]
    correlations: tuple[Correlation, ...]


def measure_utility(original: Sample, completed: Sequence[Sample]) -> Utility:
    """Measure the original table and tables that were completed from its release; figures of these are averaged."""
    if not completed:
        raise ParameterError("there is no completed table; draw at least one.")
    last = len(original.columns) - 1
    names = range(last)
    numbers = [place for place in range(last + 1) if _has_numbers(original, place)]
    pairs = [
        pair
        for pair in combinations(numbers, 2)
        if _has_numbers(original, *pair) and not _correlation_shows(original, *pair)
    ]
    means = [place for place in numbers if not original.columns[place].is_date and not _mean_shows(original, place)]
    return Utility(
        distributions=tuple(_distribution(original, completed, place) for place in range(last + 1)),
        two_ways=tuple(_two_way(original, completed, place) for place in names),
        means=tuple(_mean(original, completed, place) for place in means),
        correlations=tuple(_correlation(original, completed, first, second) for first, second in pairs),
    )


def _has_numbers(sample: Sample, *places: int) -> bool:
    """Return whether at least 3 people have a number in each of some columns; a mean of fewer shows theirs."""
    columns = [as_numbers(sample, place) for place in places]
    there = [~np.isnan(numbers) for numbers in columns if numbers is not None]
    return len(there) == len(places) and sample.people_where(np.all(there, axis=0)) >= FEWEST


def _people_by_number(sample: Sample, *places: int) -> tuple[Ints, list[Floats]]:
    """Count the people with each combination of the numbers of some columns; also return the numbers of each column."""
    columns = [as_numbers(sample, place) for place in places]
    known = [np.unique(numbers, return_inverse=True) for numbers in columns if numbers is not None]
    group = np.zeros(len(sample.count), dtype=np.int64)
    for distinct, code in known:
        group = np.where((group < 0) | np.isnan(distinct[code]), -1, group * len(distinct) + code)
    people = sample.people(group, int(np.prod([len(distinct) for distinct, _ in known])))
    return people[people > 0], [distinct[~np.isnan(distinct)] for distinct, _ in known]


def _mean_shows(sample: Sample, place: int) -> bool:
    """Return whether a mean, with 4 digits, shows how many people have a number that fewer than 3 have.

    With few numbers the others are in the distribution, so that the rest follows by subtraction.
    """
    people, (numbers,) = _people_by_number(sample, place)
    if len(numbers) > MOST_BINS or int(people.min()) >= FEWEST:
        return False
    mean = abs(_moments(sample, place, place)[0])
    digits = 10.0 ** (np.floor(np.log10(mean)) - 3) if mean > 0 else 0.0
    return bool(sample.n_rows * digits / 2 < FEWEST * (numbers[-1] - numbers[0]))


def _correlation_shows(sample: Sample, first: int, second: int) -> bool:
    """Return whether a correlation shows fewer than 3 people.

    If both columns have few numbers, it shows a cell of their table. If one or two people make up the spread of a
    column, it shows their numbers in the other one.
    """
    people, numbers = _people_by_number(sample, first, second)
    if is_determined(*map(len, numbers)) and int(people.min()) < FEWEST:
        return True
    x, y = as_numbers(sample, first), as_numbers(sample, second)
    assert x is not None
    assert y is not None
    there = ~(np.isnan(x) | np.isnan(y))
    some = sample.where(there)
    columns = [(each[there], float(np.average(each[there], weights=some.count))) for each in (x, y)]
    return not all(is_spread_over(some, each, centre, FEWEST) for each, centre in columns)


def is_determined(rows: int, columns: int) -> bool:
    """Return whether one or two figures and the sums of rows and columns determine the cells of a table."""
    return (rows - 1) * (columns - 1) <= 2


def _shares(sample: Sample, place: int, bins: ColumnGroups) -> Floats:
    counts = np.bincount(bins.codes(sample.values[:, place]), sample.count, bins.size)
    return np.asarray(counts / sample.n_rows)


def _distribution(original: Sample, completed: Sequence[Sample], place: int) -> Distribution:
    bins = ColumnGroups.of(original, place)
    before = _shares(original, place, bins)
    after = np.mean([_shares(sample, place, bins) for sample in completed], axis=0)
    used = (before > 0) | (after > 0)
    return Distribution(
        original.columns[place].name,
        tuple(label for label, is_used in zip(bins.labels, used, strict=True) if is_used),
        tuple(before[used].tolist()),
        tuple(after[used].tolist()),
        float(np.abs(before - after).sum() / 2),
        tuple(original.people(bins.codes(original.values[:, place]), bins.size)[used].tolist()),
    )


def _two_way(original: Sample, completed: Sequence[Sample], place: int) -> TwoWay:
    last = len(original.columns) - 1
    rows, columns = ColumnGroups.of(original, place, MOST_GROUPS), ColumnGroups.of(original, last, MOST_GROUPS)

    def keys(sample: Sample) -> Ints:
        return rows.codes(sample.values[:, place]) * columns.size + columns.codes(sample.values[:, last])

    def table(sample: Sample) -> Floats:
        counts = np.bincount(keys(sample), sample.count, rows.size * columns.size) / sample.n_rows
        return np.asarray(counts.reshape(rows.size, columns.size))

    before, after = table(original), np.mean([table(sample) for sample in completed], axis=0)
    both = before + after
    people = original.people(keys(original), rows.size * columns.size)
    used_rows, used_columns = both.any(axis=1), both.any(axis=0)

    def plain(shares: Floats) -> tuple[tuple[float, ...], ...]:
        return tuple(tuple(row) for row in shares[used_rows][:, used_columns].tolist())

    return TwoWay(
        original.columns[place].name,
        original.sensitive.name,
        tuple(np.array(rows.labels)[used_rows].tolist()),
        tuple(np.array(columns.labels)[used_columns].tolist()),
        plain(before),
        plain(after),
        float(np.abs(before - after).sum() / 2),
        association(before),
        association(after),
        int(people[people > 0].min()),
    )


def association(shares: Floats) -> float:
    """Return Cramer's V of a two-way table of shares: 0 for independent sides, 1 if one follows from the other."""
    table = shares[shares.any(axis=1)][:, shares.any(axis=0)]
    smaller = min(table.shape) - 1
    if smaller < 1:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(np.sqrt(((table - expected) ** 2 / expected).sum() / table.sum() / smaller))


def _moments(sample: Sample, first: int, second: int) -> tuple[float, float, float]:
    """Return the mean of a column, and its covariance and correlation with another, of the rows that have both."""
    x, y = as_numbers(sample, first), as_numbers(sample, second)
    assert x is not None
    assert y is not None
    there = ~(np.isnan(x) | np.isnan(y))
    if not there.any():
        return 0.0, 0.0, 0.0
    count, x, y = sample.count[there], x[there], y[there]
    mean = float(np.average(x, weights=count))
    x, y = x - mean, y - np.average(y, weights=count)
    covariance = float(np.average(x * y, weights=count))
    scale = float(np.sqrt(np.average(x * x, weights=count) * np.average(y * y, weights=count)))
    return mean, covariance, covariance / scale if scale > 0 else 0.0


def _mean(original: Sample, completed: Sequence[Sample], place: int) -> Mean:
    mean, square, _ = _moments(original, place, place)
    after = np.mean([_moments(sample, place, place)[:2] for sample in completed], axis=0)
    deviations = (float(np.sqrt(square)), float(np.sqrt(after[1])))
    return Mean(original.columns[place].name, mean, float(after[0]), *deviations)


def _correlation(original: Sample, completed: Sequence[Sample], first: int, second: int) -> Correlation:
    after = float(np.mean([_moments(sample, first, second)[2] for sample in completed]))
    names = (original.columns[first].name, original.columns[second].name)
    return Correlation(*names, _moments(original, first, second)[2], after)
