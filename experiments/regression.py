"""A regression of the sensitive column on the quasi-identifiers, fitted by statsmodels to counted rows.

The terms are chosen by the original table: a slope for each column of numbers, and a step for each frequent level of a
column of names against its most frequent one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import statsmodels.api as sm
from numpy.typing import NDArray

from betalike.measures.sample import ColumnGroups, Sample, numbers_of

MOST_LEVELS = 12  # of one column
FEWEST_ROWS = 10  # of a level that has a term of its own
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """Coefficients and their squared standard errors; `is_known` marks the terms that the rows determine."""

    coefficients: Floats
    variances: Floats
    is_known: NDArray[np.bool_]


@dataclass(frozen=True)
class RegressionModel:
    """Which regression is fitted: a term is a column of numbers, or a level of a column of names."""

    names: tuple[str, ...]
    terms: tuple[tuple[int, int | None], ...]
    groups: tuple[ColumnGroups | None, ...]
    numbers: Floats  # of each level of the sensitive column
    is_linear: bool

    @staticmethod
    def of(original: Sample) -> RegressionModel | None:
        """Choose a model; None if there is nothing to explain, or to explain it with.

        Numbers with more than two values are a linear target; else the chance of one value is explained: the rarer of
        two, or the most frequent of several.
        """
        rows, column = _whole_rows(original), original.sensitive
        levels, numbers = column.levels or (), numbers_of(column)
        counts = np.bincount(rows.values[:, -1].astype(np.int64), rows.count, len(levels))
        present = np.flatnonzero(counts)
        is_linear = numbers is not None and len(present) > 2
        if len(present) < 2:
            return None
        if numbers is None or not is_linear:
            chosen = present[np.argmin(counts[present])] if len(present) == 2 else np.argmax(counts)
            numbers = (np.arange(len(levels)) == chosen).astype(np.float64)
        groups = tuple(
            None if each.levels is None else ColumnGroups.of(rows, place, MOST_LEVELS)
            for place, each in enumerate(rows.columns[:-1])
        )
        named = [term for place in range(len(groups)) for term in _terms_of(rows, place, groups[place])]
        if not named:
            return None
        return RegressionModel(
            ("intercept", *(name for name, _, _ in named)),
            tuple((place, level) for _, place, level in named),
            groups,
            numbers,
            is_linear,
        )

    def fit(self, sample: Sample) -> Fit:
        """Fit the model to a table; rows with a missing number are left out."""
        needed = [*(place for place, level in self.terms if level is None), len(sample.columns) - 1]
        rows = sample.where(~np.isnan(sample.values[:, needed]).any(axis=1))
        design, target = self._design(rows), self.numbers[rows.values[:, -1].astype(np.int64)]
        family: Any = sm.families.Gaussian() if self.is_linear else sm.families.Binomial()
        is_known = _determined(design)
        found = sm.GLM(target, design[:, is_known], family=family, freq_weights=rows.count).fit(maxiter=100, tol=1e-12)
        coefficients, variances = np.zeros(len(self.names)), np.zeros(len(self.names))
        coefficients[is_known], variances[is_known] = found.params, found.bse**2
        return Fit(coefficients, variances, is_known)

    def _design(self, sample: Sample) -> Floats:
        """Return the columns of the design, the first of which is all ones."""
        columns = [np.ones(len(sample.count))]
        for place, level in self.terms:
            group, values = self.groups[place], sample.values[:, place]
            columns.append(values if group is None else (group.codes(values) == level).astype(np.float64))
        return np.column_stack(columns)


def _determined(design: Floats) -> NDArray[np.bool_]:
    """Return which columns of a design do not follow from those before them."""
    scale = np.sqrt((design**2).sum(axis=0))
    left = np.abs(np.diag(np.linalg.qr(design / np.where(scale > 0, scale, 1.0), mode="r")))
    return np.asarray(left > 1e-9)


def _whole_rows(original: Sample) -> Sample:
    """Return the rows that have a sensitive value and all numbers, of those columns that have any."""
    is_there = ~np.isnan(original.values)
    needed = np.array([*(column.levels is None for column in original.columns[:-1]), True]) & is_there.any(axis=0)
    return original.where(is_there[:, needed].all(axis=1))


def _terms_of(rows: Sample, place: int, group: ColumnGroups | None) -> list[tuple[str, int, int | None]]:
    """Return name, column and level of the terms of one column; none if all its rows have the same value."""
    name, values = rows.columns[place].name, rows.values[:, place]
    if group is None:
        return [(name, place, None)] if len(np.unique(values[~np.isnan(values)])) > 1 else []
    counts = np.bincount(group.codes(values), rows.count, group.size)
    frequent = np.flatnonzero((counts >= FEWEST_ROWS) & (np.arange(group.size) != np.argmax(counts)))
    return [(f"{name} = {group.labels[level]}", place, level) for level in frequent.tolist()]
