"""The workbench of a run: the table is read once; cells, plans, releases and times are made once each."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import betalike
from benchmarks.measurement import yardstick_csv
from benchmarks.tables import Census, census
from betalike.api import make_schema
from betalike.datasets import census_like, census_like_hierarchies
from betalike.engines.local import LocalEngine
from betalike.errors import GuaranteeError, InternalError
from betalike.measures.audit import Audit, measure
from betalike.measures.loss import plan_loss
from betalike.queries.boxes import Box
from betalike.queries.estimator import Estimator
from betalike.queries.workload import count_exactly, draw_queries, exact_index
from betalike.runtime.randomness import SeededRandomness
from betalike.table.cells import Cells, Plan
from experiments.entrants import ENTRANTS, Entrant
from experiments.settings import ATTRIBUTES, BETA, FULL, N_ATTRIBUTES, QUICK_ROWS, SEED, SENSITIVE, Settings

SEED_OF_QUERIES = 7


@dataclass(frozen=True)
class Outcome:
    """What a plan reaches: its loss, and its levels under every promise."""

    parameter: float
    loss: float
    audit: Audit

    @property
    def beta(self) -> float:
        """The greatest gain of a value in a class. Paper: Definition 2."""
        assert self.audit.basic_beta is not None
        return self.audit.basic_beta


@dataclass(frozen=True)
class Workload:
    """COUNT queries, and their exact counts in the original table."""

    queries: list[Box]
    exact: NDArray[np.float64]


class Bench:
    """A table and the settings of a run."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings, self.folder = settings, folder
        self.table = census(folder) if settings is FULL else _small_table(folder)
        self.frame = pl.read_csv(self.table.path)
        self.engine = cache(self._engine)
        self.sample = cache(self._sample)
        self.cells = cache(self._cells)
        self.outcome = cache(self._outcome)
        self.yardstick = cache(self._yardstick)
        self.opened = lru_cache(maxsize=16)(self._open)
        self.asked = cache(self._asked)
        self.error = cache(self._error)

    def entrant(self, name: str) -> Entrant:
        """Return a scheme with the options of this run."""
        entrant = ENTRANTS[name]
        return replace(entrant, options={**entrant.options, **self.settings.options.get(name, {})})

    def rows(self, share: float) -> int:
        """Return a share of the table's rows."""
        return round(share * self.frame.height)

    def _engine(self, n_attributes: int, n_rows: int | None = None) -> LocalEngine:
        """Return the table, or a random part of its rows, with the first quasi-identifiers."""
        schema = make_schema(ATTRIBUTES[:n_attributes], SENSITIVE, self.table.hierarchies, None, None, None, (), False)
        return LocalEngine(self.sample(n_rows).select(schema.names), schema)

    def _sample(self, n_rows: int | None) -> pl.DataFrame:
        return self.frame if n_rows is None else self.frame.sample(n_rows, seed=SEED)

    def _cells(self, n_attributes: int = N_ATTRIBUTES, n_rows: int | None = None) -> Cells:
        return self.engine(n_attributes, n_rows).count_cells()

    def plan(self, name: str, parameter: float, n_attributes: int = N_ATTRIBUTES, n_rows: int | None = None) -> Plan:
        """Return the classes that a scheme forms; raise an error if they break its promise."""
        entrant, cells = self.entrant(name), self.cells(n_attributes, n_rows)
        model = entrant.promise(parameter, cells)
        plan = entrant.make().plan(cells, model)
        if not model.judge(plan.class_counts, cells.value_counts, cells.sensitive).holds:
            raise GuaranteeError(f"'{name}' breaks its promise with {entrant.takes} {parameter}.")
        return plan

    def _outcome(
        self, name: str, parameter: float, n_attributes: int = N_ATTRIBUTES, n_rows: int | None = None
    ) -> Outcome:
        plan = self.plan(name, parameter, n_attributes, n_rows)
        cells = plan.cells
        audit = measure(plan.class_counts, cells.value_counts, cells.sensitive)
        return Outcome(parameter, plan_loss(plan).average, audit)

    def time(self, name: str, parameter: float, n_attributes: int = N_ATTRIBUTES, n_rows: int | None = None) -> float:
        """Return how long a scheme takes to form classes from counted cells, in multiples of the yardstick."""
        entrant, cells = self.entrant(name), self.cells(n_attributes, n_rows)
        model = entrant.promise(parameter, cells)
        return self._ratio(lambda: entrant.make().plan(cells, model))

    def time_of_counting(self, n_attributes: int = N_ATTRIBUTES, n_rows: int | None = None) -> float:
        """Return how long it takes to count the table into cells, in multiples of the yardstick."""
        return self._ratio(lambda: self._engine(n_attributes, n_rows).count_cells())  # a new engine, which counts again

    def _ratio(self, work: Callable[[], object]) -> float:
        return self._seconds(work) / self.yardstick()

    def _seconds(self, work: Callable[[], object]) -> float:
        """Return the quickest of several runs, after one that does not count: other processes only make it slower."""
        seconds = []
        for _ in range(1 + self.settings.repeats):
            start = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - start)
        return min(seconds[1:])

    def _yardstick(self) -> float:
        """Return the seconds that Polars takes to read the table, sort it by all columns and write it."""
        out = self.folder / "sorted.csv"
        return self._seconds(lambda: yardstick_csv(self.table.path, out))

    def _open(self, name: str, beta: float, n_attributes: int) -> Estimator:
        """Return a verified release in memory, opened for queries."""
        entrant = self.entrant(name)
        release = betalike.publish(
            self.frame,
            quasi_identifiers=ATTRIBUTES[:n_attributes],
            sensitive=SENSITIVE,
            beta=beta,
            scheme=entrant.scheme,
            options=entrant.options,
            hierarchies=self.table.hierarchies,
            seed=SEED,
        )
        return release.estimator

    def _asked(self, n_attributes: int, n_predicates: int, selectivity: float) -> Workload:
        """Return a workload of random queries with their exact counts, for all releases of these attributes."""
        release = self.opened("baseline", BETA, n_attributes)
        queries = self._draw(release, n_predicates, selectivity)
        index = exact_index(release, self.cells(n_attributes), self.engine(n_attributes).sensitive_labels)
        return Workload(queries, count_exactly(index, release, queries))

    def _draw(self, release: Estimator, n_predicates: int, selectivity: float) -> list[Box]:
        columns, randomness = release.quasi_identifiers, SeededRandomness(SEED_OF_QUERIES)
        n_queries = self.settings.n_queries
        return draw_queries(columns, release.sensitive, n_queries, n_predicates, selectivity, randomness)

    def _error(
        self, name: str, method: str, beta: float, n_attributes: int, n_predicates: int, selectivity: float
    ) -> float:
        """Return the median relative error of a workload, without queries that select nothing. Paper: 6.2."""
        release = self.opened(name, beta, n_attributes)
        asked = self.asked(n_attributes, n_predicates, selectivity)
        if self._draw(release, n_predicates, selectivity) != asked.queries:
            raise InternalError(f"'{name}' would be asked other queries than the other schemes.")
        kept = np.flatnonzero(asked.exact)
        estimates = release.estimate([[asked.queries[query]] for query in kept], method)
        return float(np.median(np.abs(estimates.count / asked.exact[kept] - 1)))


def _small_table(folder: Path) -> Census:
    path = folder / "small.csv"
    census_like(QUICK_ROWS).write_csv(path)
    return Census(path, census_like_hierarchies(), "census_like (a quick run)")
