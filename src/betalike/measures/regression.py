"""A regression of the sensitive column on the quasi-identifiers, from counted rows: least squares, or logistic.

The terms are chosen by the original table: a slope for each column of numbers, and a step for each frequent level of
a column of names against its most frequent one. Rare levels are one group, or with the most frequent one. No figure
rests on fewer than 10 people: neither a level nor, for a chance, those of a level who have the value or do not have it.
Nor is a slope shown if the spread of its numbers is due to one or two people.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from betalike.measures.combining import combine
from betalike.measures.phrases import percent
from betalike.measures.sample import ColumnGroups, Sample, is_spread_over, numbers_of
from betalike.runtime.arrays import Bools, Floats

MOST_LEVELS = 12  # of one column
FEWEST_PEOPLE = 10  # behind a term, on each side of a chance
UNKNOWN = 100.0  # standard errors of a chance's coefficient; larger ones are of a coefficient that has no finite value
CHUNK = 1 << 16  # rows of the design that are held at once
MOST_HELD = 1 << 23  # numbers of the design
MOST_STEPS = 30
CLOSE = 1e-10  # relative change of the likelihood at which Newton's method stops
INTERCEPT = "intercept"


class RegressionKind(StrEnum):
    """Which regression."""

    LINEAR = "linear"
    LOGISTIC = "logistic"


@dataclass(frozen=True)
class Fit:
    """Coefficients with their covariance; `is_known` marks the terms that the rows determine."""

    coefficients: Floats
    covariance: Floats
    is_known: Bools
    has_converged: bool = True

    @property
    def variances(self) -> Floats:
        """The squared standard errors."""
        return np.maximum(np.diag(self.covariance), 0.0)


@dataclass(frozen=True)
class Term:
    """One column of the design: a centred and scaled number, or whether a row has some level of a column."""

    name: str
    place: int
    level: int | None = None
    centre: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True)
class RegressionModel:
    """Which regression is fitted: the terms, and the target as a number per level of the sensitive column."""

    kind: RegressionKind
    target: str
    terms: tuple[Term, ...]
    groups: tuple[ColumnGroups | None, ...]
    numbers: Floats

    @staticmethod
    def of(original: Sample) -> RegressionModel | None:
        """Choose a model by the original table; None if there is nothing to explain, or to explain it with.

        Numbers with more than two values are a linear target; else the chance of one value is explained: the rarer of
        two, or the most frequent of several.
        """
        column, rows = original.sensitive, _whole_rows(original)
        levels, numbers = column.levels or (), numbers_of(column)
        values = rows.values[:, -1].astype(np.int64)
        counts = np.bincount(values, rows.count, len(levels))
        present = np.flatnonzero(counts)
        if len(present) < 2 or rows.people_where(np.ones(len(values), dtype=bool)) < FEWEST_PEOPLE:
            return None
        kind, target = RegressionKind.LINEAR, column.name
        is_chosen: Bools | None = None
        if numbers is None or len(present) == 2:
            chosen = present[np.argmin(counts[present])] if len(present) == 2 else np.argmax(counts)
            is_chosen = values == chosen
            if min(rows.people_where(is_chosen), rows.people_where(~is_chosen)) < FEWEST_PEOPLE:
                return None
            kind, target = RegressionKind.LOGISTIC, f"{column.name} = {levels[chosen]}"
            numbers = (np.arange(len(levels)) == chosen).astype(np.float64)
        groups = tuple(_levels_of(rows, place) for place in range(len(rows.columns) - 1))
        terms = tuple(term for place, group in enumerate(groups) for term in _terms_of(rows, place, group, is_chosen))
        return RegressionModel(kind, target, terms, groups, numbers) if terms else None

    @property
    def names(self) -> list[str]:
        """The names of the coefficients."""
        return [INTERCEPT, *(term.name for term in self.terms)]

    def fit(self, sample: Sample) -> Fit:
        """Fit the model to a table; rows with a missing number are left out."""
        is_whole = ~np.isnan(sample.values[:, -1])
        for term in self.terms:
            if term.level is None:
                is_whole &= ~np.isnan(sample.values[:, term.place])
        rows = Sample(sample.columns, sample.values[is_whole], sample.count[is_whole])
        target = self.numbers[rows.values[:, -1].astype(np.int64)]
        fit = fit_line if self.kind is RegressionKind.LINEAR else fit_chance
        return self._unscaled(fit(_Rows(self, rows, target)))

    def design(self, sample: Sample) -> Floats:
        """Return the columns of the design, the first of which is all ones."""
        design = np.ones((len(sample.count), len(self.terms) + 1))
        codes = [
            None if group is None else group.codes(sample.values[:, place]) for place, group in enumerate(self.groups)
        ]
        for number, term in enumerate(self.terms, start=1):
            of_column = codes[term.place]
            if of_column is None or term.level is None:
                numbers = sample.values[:, term.place]
                design[:, number] = (numbers - term.centre) / term.scale
            else:
                design[:, number] = of_column == term.level
        return design

    def _unscaled(self, fit: Fit) -> Fit:
        """Return the fit for numbers as they are in the table."""
        back = np.eye(len(self.terms) + 1)
        for number, term in enumerate(self.terms, start=1):
            back[number, number] = 1 / term.scale
            back[0, number] = -term.centre / term.scale
        covariance, is_known = back @ fit.covariance @ back.T, fit.is_known.copy()
        is_known[0] &= all(is_known[number] for number in np.flatnonzero(back[0]))
        return Fit(back @ fit.coefficients, covariance, is_known, fit.has_converged)


@dataclass(frozen=True)
class _Rows:
    """Counted rows with their target, and their design in chunks."""

    model: RegressionModel
    sample: Sample
    target: Floats

    def chunks(self) -> Iterable[tuple[Floats, Floats, Floats]]:
        """Return the design, the target and the counts of some rows at a time; few rows are held."""
        is_small = len(self.sample.count) * (len(self.model.terms) + 1) <= MOST_HELD
        return self._held if is_small else self._made()

    @cached_property
    def _held(self) -> list[tuple[Floats, Floats, Floats]]:
        return list(self._made())

    def _made(self) -> Iterator[tuple[Floats, Floats, Floats]]:
        sample = self.sample
        for first in range(0, len(sample.count), CHUNK):
            part = slice(first, first + CHUNK)
            some = Sample(sample.columns, sample.values[part], sample.count[part])
            yield self.model.design(some), self.target[part], some.count


def fit_line(rows: _Rows) -> Fit:
    """Fit by least squares; the variance is that of equal errors."""
    n_terms = len(rows.model.terms) + 1
    square, product, total = np.zeros((n_terms, n_terms)), np.zeros(n_terms), 0.0
    for design, target, count in rows.chunks():
        weighed = design * count[:, None]
        square += weighed.T @ design
        product += weighed.T @ target
        total += float(count @ target**2)
    inverse, is_known = _inverted(square)
    coefficients = inverse @ product
    left = float(rows.sample.count.sum()) - int(is_known.sum())
    errors = max(total - float(coefficients @ product), 0.0)
    return Fit(coefficients, inverse * (errors / left if left > 0 else np.nan), is_known)


def fit_chance(rows: _Rows) -> Fit:
    """Fit a logistic regression by Newton's method, with half steps where a step does not help."""
    n_terms = len(rows.model.terms) + 1
    coefficients, likelihood = np.zeros(n_terms), -np.inf
    step, has_converged = np.zeros(n_terms), False
    for _ in range(MOST_STEPS):
        found, slope, curve = _likelihood(rows, coefficients + step)
        while found < likelihood - abs(likelihood) * 1e-12 and np.abs(step).max() > 1e-12:
            step = step / 2
            found, slope, curve = _likelihood(rows, coefficients + step)
        coefficients = coefficients + step
        has_converged = found - likelihood <= CLOSE * abs(found)
        likelihood = found
        inverse, is_known = _inverted(curve)
        if has_converged:
            break
        step = inverse @ slope
    return Fit(coefficients, inverse, is_known & (np.diag(inverse) < UNKNOWN**2), has_converged)


def _likelihood(rows: _Rows, coefficients: Floats) -> tuple[float, Floats, Floats]:
    """Return the log-likelihood, its slope, and its curvature with the opposite sign."""
    n_terms = len(coefficients)
    value, slope, curve = 0.0, np.zeros(n_terms), np.zeros((n_terms, n_terms))
    for design, target, count in rows.chunks():
        score = design @ coefficients
        chance = 0.5 * (1 + np.tanh(score / 2))
        value += float(count @ (target * score - np.logaddexp(0.0, score)))
        slope += design.T @ (count * (target - chance))
        curve += (design * (count * chance * (1 - chance))[:, None]).T @ design
    return value, slope, curve


def _inverted(square: Floats) -> tuple[Floats, Bools]:
    """Return the pseudo-inverse of a positive matrix, and which terms it determines."""
    scale = np.sqrt(np.maximum(np.diag(square), 1e-300))
    size, direction = np.linalg.eigh(square / np.outer(scale, scale))
    is_used = size > 1e-10 * size.max()
    inverse = (direction[:, is_used] / size[is_used]) @ direction[:, is_used].T / np.outer(scale, scale)
    is_known = (direction[:, ~is_used] ** 2).sum(axis=1) < 1e-6
    return inverse, is_known


def _whole_rows(original: Sample) -> Sample:
    """Return the rows that have a sensitive value and all numbers, of those columns that have any."""
    is_there = ~np.isnan(original.values)
    are_numbers = [column.levels is None for column in original.columns[:-1]]
    needed = np.array([*are_numbers, True]) & is_there.any(axis=0)
    is_whole: Bools = np.all(is_there[:, needed], axis=1)
    return original.where(is_whole)


def _levels_of(original: Sample, place: int) -> ColumnGroups | None:
    return (
        None if original.columns[place].levels is None else ColumnGroups.of(original, place, MOST_LEVELS, FEWEST_PEOPLE)
    )


def _terms_of(rows: Sample, place: int, group: ColumnGroups | None, is_chosen: Bools | None) -> list[Term]:
    """Return the terms of one column; none if all its rows have the same value."""
    column, values = rows.columns[place], rows.values[:, place]
    everybody: Bools = np.ones(len(values), dtype=bool)
    sides = [everybody] if is_chosen is None else [is_chosen, everybody & ~is_chosen]
    if group is None:
        if np.isnan(values).any():  # no row has a number
            return []
        centre = float(np.average(values, weights=rows.count))
        spread = float(np.sqrt(np.average((values - centre) ** 2, weights=rows.count)))
        is_shown = spread > 0 and all(
            is_spread_over(rows.where(side), values[side], centre, FEWEST_PEOPLE) for side in sides
        )
        return [Term(column.name, place, None, centre, spread)] if is_shown else []
    codes = group.codes(values)
    counts = np.bincount(codes, rows.count, group.size)
    fewest = np.min([rows.people(np.where(side, codes, -1), group.size) for side in sides], axis=0)
    reference = int(np.argmax(counts))
    named = np.flatnonzero(fewest >= FEWEST_PEOPLE).tolist()
    return [Term(f"{column.name} = {group.labels[i]}", place, i) for i in named if i != reference]


@dataclass(frozen=True)
class Coefficient:
    """One coefficient before and after: estimate and standard error in the original, and from the release.

    `low` and `high` are the ends of the release's 95 % interval.
    """

    name: str
    original: float
    original_error: float
    release: float
    release_error: float
    low: float
    high: float


@dataclass(frozen=True)
class Regression:
    """A regression before and after, with the coefficients side by side; those that no rows determine are left out."""

    kind: str
    target: str
    coefficients: tuple[Coefficient, ...]
    has_converged: bool

    @property
    def covered(self) -> float:
        """The share of the original's coefficients that lie within the interval of the release."""
        return float(np.mean([c.low <= c.original <= c.high for c in self.coefficients]))

    @property
    def distance(self) -> float:
        """The median distance of a coefficient from the original's, in standard errors of the original."""
        return float(np.median([abs(c.release - c.original) / c.original_error for c in self.coefficients]))

    @property
    def meaning(self) -> str:
        """What the figures mean."""
        return (
            f"{percent(self.covered)} of the original's coefficients in a {self.kind} regression of '{self.target}' "
            f"lie in the release's 95 % intervals; half of them differ by at most {self.distance:.2g} standard errors"
        )


def compare_fits(original: Sample, completed: Sequence[Sample]) -> Regression | None:
    """Fit the same regression to the original and to each completed table; None if there is none to fit.

    The coefficients of several completed tables are combined by Rubin's rules.
    """
    model = RegressionModel.of(original)
    if model is None:
        return None
    before, after = model.fit(original), [model.fit(sample) for sample in completed]
    variances = [fit.variances for fit in after]
    if len(after) == 1:  # no variance between tables is known
        after, variances = after * 2, variances * 2
    found = combine([fit.coefficients for fit in after], variances)
    errors = np.sqrt(before.variances)
    is_known = np.all([fit.is_known for fit in (before, *after)], axis=0) & (errors > 0)
    figures = (before.coefficients, errors, found.estimate, found.standard_error, found.low, found.high)
    coefficients = tuple(
        Coefficient(name, *(float(figure[i]) for figure in figures))
        for i, name in enumerate(model.names)
        if is_known[i]
    )
    if not coefficients:
        return None
    return Regression(str(model.kind), model.target, coefficients, all(fit.has_converged for fit in (before, *after)))
