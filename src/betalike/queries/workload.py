"""The paper's random workload: how far a release's answers are from the exact counts. Paper: 6.2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from betalike.errors import ParameterError
from betalike.queries.answer import Answer, Estimates, to_answers
from betalike.queries.boxes import Box
from betalike.queries.columns import NamedColumn, OrderedColumn, QueryColumn
from betalike.queries.count_estimate import ClassIndex, sensitive_masks, without
from betalike.queries.count_kernels import SURE
from betalike.queries.estimator import Estimator
from betalike.queries.label_shares import Spread
from betalike.queries.original import codes_of_original
from betalike.queries.value_sets import ValueSet
from betalike.runtime.arrays import Floats
from betalike.runtime.display import Row, Shown
from betalike.runtime.randomness import Randomness
from betalike.table.cells import Cells, ClassCounts

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
EDGES = (0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
CONFIDENCE = 0.95


@dataclass(frozen=True, repr=False)
class WorkloadResult(Shown):
    """Estimates and exact counts of the queries whose exact count is not 0."""

    exact: Floats
    estimates: Estimates
    n_dropped: int
    method: str
    n_predicates: int
    selectivity: float

    @cached_property
    def relative_errors(self) -> Floats:
        """Distance of each estimate from the exact count, divided by the exact count."""
        return np.abs(self.estimates.count - self.exact) / self.exact

    @property
    def median_relative_error(self) -> float | None:
        """The paper's measure; None if every query was dropped."""
        return float(np.median(self.relative_errors)) if len(self.exact) else None

    @cached_property
    def answers(self) -> list[Answer]:
        """The estimates with their intervals."""
        return to_answers(self.estimates, CONFIDENCE, self.method)

    @property
    def covered(self) -> float | None:
        """The share of queries whose interval holds the exact count; None if every query was dropped."""
        held = [a.low <= exact <= a.high for a, exact in zip(self.answers, self.exact, strict=True)]
        return float(np.mean(held)) if held else None

    @property
    def histogram(self) -> list[tuple[float, float | None, int]]:
        """Number of queries with a relative error from one edge up to the next; None is no upper edge."""
        counts, _ = np.histogram(self.relative_errors, [*EDGES, np.inf])
        return list(zip(EDGES, [*EDGES[1:], None], counts.tolist(), strict=True))

    def _summary(self) -> Row:
        facts = self.to_dict()
        shown = ("queries", "dropped", "median_relative_error", "covered", "method")
        return {name.replace("_", " "): facts[name] for name in shown}

    def to_dict(self) -> dict[str, Any]:
        """Return the content of `workload --json`."""
        has_any = len(self.exact) > 0
        quantiles = np.quantile(self.relative_errors, QUANTILES).tolist() if has_any else [None] * len(QUANTILES)
        return {
            "queries": len(self.exact) + self.n_dropped,
            "dropped": self.n_dropped,
            "predicates": self.n_predicates,
            "selectivity": self.selectivity,
            "method": self.method,
            "median_relative_error": self.median_relative_error,
            "mean_relative_error": float(self.relative_errors.mean()) if has_any else None,
            "quantiles": {f"{q:g}": error for q, error in zip(QUANTILES, quantiles, strict=True)},
            "histogram": [{"from": low, "to": high, "queries": count} for low, high, count in self.histogram],
            "confidence": CONFIDENCE,
            "covered": self.covered,
        }


def draw_queries(
    columns: Sequence[QueryColumn],
    sensitive: NamedColumn,
    n_queries: int,
    n_predicates: int,
    selectivity: float,
    randomness: Randomness,
) -> list[Box]:
    """Draw random queries: an interval on some random quasi-identifiers, and one on the sensitive attribute.

    Each interval covers the same share of its attribute's domain, and the product of the shares is the selectivity.
    Paper: 6.2, theta and lambda.
    """
    _check(n_queries, n_predicates, selectivity, len(columns))
    part = selectivity ** (1.0 / (n_predicates + 1))
    words = randomness.words(n_queries * (2 * len(columns) + 1)).reshape(n_queries, -1)
    chosen = np.argsort(words[:, : len(columns)], axis=1, kind="stable")[:, :n_predicates]
    chance = (words[:, len(columns) :] >> np.uint64(11)).astype(np.float64) * 2.0**-53
    queries: list[Box] = []
    for axes, chances in zip(np.sort(chosen, axis=1).tolist(), chance.tolist(), strict=True):
        box = {columns[axis].name: _interval(columns[axis], part, chances[axis]) for axis in axes}
        box[sensitive.name] = _interval(sensitive, part, chances[-1])
        queries.append(box)
    return queries


def _check(n_queries: int, n_predicates: int, selectivity: float, n_columns: int) -> None:
    if not 1 <= n_queries <= 10_000_000:
        raise ParameterError(f"queries is {n_queries}; it must be from 1 to 10000000.")
    if not 0 <= n_predicates <= n_columns:
        raise ParameterError(
            f"predicates is {n_predicates}; it must be from 0 to the number of quasi-identifiers, {n_columns}."
        )
    if not 0 < selectivity <= 1:
        raise ParameterError(f"selectivity is {selectivity}; it must be above 0 and at most 1, such as 0.1.")


def _interval(column: QueryColumn, part: float, chance: float) -> ValueSet:
    """Return an interval that covers `part` of a column's domain and starts at random inside it."""
    low, high = column.domain if isinstance(column, OrderedColumn) else (0.0, len(column.leaves) - 1.0)
    if column.is_discrete and high < low:  # no value has a name
        return ValueSet.of([], is_discrete=True).complement()
    if column.is_discrete:
        size = high - low + 1
        length = min(max(round(size * part), 1), size)
        start = low + min(int(chance * (size - length + 1)), size - length)
        return ValueSet.of([(start, start + length - 1)], is_discrete=True)
    start = low + chance * (high - low) * (1 - part)
    return ValueSet.of([(start, min(start + (high - low) * part, high))], is_discrete=False)


def exact_index(release: Estimator, cells: Cells, sensitive_labels: Sequence[str]) -> ClassIndex:
    """Index the original table's points in the columns of its release, to count exactly."""
    code = codes_of_original(release, cells, sensitive_labels)
    columns, labels = [], []
    for i, (column, axis) in enumerate(zip(release.quasi_identifiers, cells.axes, strict=True)):
        codes = np.arange(axis.size)
        of_code = axis.labels(codes, codes)
        if isinstance(column, NamedColumn):
            further = dict.fromkeys(label for label in of_code if label is not None and label not in column.codes)
            column = replace(column, leaves=(*column.leaves, *further), n_unnamed=0)
        else:
            column = replace(column, rounding=None)  # the original's values are neither rounded nor coded
        columns.append(column)
        labels.append([of_code[c] for c in cells.points[:, i].tolist()])
    return ClassIndex.of(columns, labels, ClassCounts.of(cells.point, code, cells.count, len(release.values)))


def count_exactly(index: ClassIndex, release: Estimator, queries: Sequence[Box]) -> Floats:
    """Count queries exactly, from the original table's points."""
    masks = sensitive_masks(queries, release.sensitive, release.values)
    selections = [without(box, release.sensitive.name) for box in queries]
    return index.sum_boxes(selections, masks, index.shares(Spread.UNIFORM))[:, SURE]


def run_workload(
    release: Estimator, index: ClassIndex, queries: Sequence[Box], method: str, n_predicates: int, selectivity: float
) -> WorkloadResult:
    """Answer queries from a release and compare with the exact counts; queries that select nothing are dropped."""
    exact = count_exactly(index, release, queries)
    kept = [[query] for query, count in zip(queries, exact, strict=True) if count > 0]
    estimates = release.estimate(kept, method)
    return WorkloadResult(exact[exact > 0], estimates, len(queries) - len(kept), method, n_predicates, selectivity)
