"""What a release is worth to an analyst: figures of the original table and of the release, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from betalike.errors import ParameterError
from betalike.io.tables import Frame
from betalike.measures.utility import Correlation, Distribution, Mean, TwoWay, measure_utility
from betalike.queries.completion import Completion
from betalike.queries.estimator import Estimator
from betalike.queries.original import count_with_people, original_sample
from betalike.queries.workload import WorkloadResult, draw_queries, exact_index, run_workload
from betalike.runtime.display import Row, Shown
from betalike.runtime.randomness import Randomness
from betalike.table.cells import Cells

MOST_DRAWS = 1000
N_PREDICATES, SELECTIVITY = 3, 0.1


@dataclass(frozen=True, repr=False)
class UtilityReport(Shown):
    """Figures of the original table and of its release; each has a sentence that says what it means.

    The figures of the release are averages over `draws` completed tables.
    """

    distributions: tuple[Distribution, ...]
    two_ways: tuple[TwoWay, ...]
    means: tuple[Mean, ...]
    correlations: tuple[Correlation, ...]
    counts: WorkloadResult | None
    draws: int

    @property
    def sentences(self) -> list[str]:
        """What each figure means, one sentence for each."""
        sentences = [column.meaning for column in self.distributions] + [table.meaning for table in self.two_ways]
        sentences += [mean.meaning for mean in self.means] + [pair.meaning for pair in self.correlations]
        if self.counts is not None and (error := self.counts.median_relative_error) is not None:
            sentences.append(f"half of the random COUNT queries are answered with an error of at most {error:.1%}")
        return sentences

    def _summary(self) -> Row:
        counts = self.counts
        return {
            "largest distance of a column": max((figure.distance for figure in self.distributions), default=None),
            "largest distance of a two-way table": max((figure.distance for figure in self.two_ways), default=None),
            "median relative error of counts": None if counts is None else counts.median_relative_error,
            "draws": self.draws,
        }

    def _parts(self) -> list[Row]:
        return [{"figure": sentence} for sentence in self.sentences]

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values."""

        def plain(figures: Sequence[Any]) -> list[dict[str, Any]]:
            return [{**asdict(figure), "meaning": figure.meaning} for figure in figures]

        return {
            "distributions": plain(self.distributions),
            "two_ways": plain(self.two_ways),
            "means": plain(self.means),
            "correlations": plain(self.correlations),
            "counts": None if self.counts is None else self.counts.to_dict(),
            "draws": self.draws,
        }


def report_utility(
    release: Estimator,
    original: Frame,
    randomness: Randomness,
    *,
    draws: int = 3,
    queries: int = 1000,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
) -> UtilityReport:
    """Measure a release against its original table; with 0 queries, no counts are asked."""
    check_draws(draws)
    counted = count_with_people(release.certificate, original, missing, delimiter)
    cells, labels = counted.cells, counted.labels
    completion = Completion(release)
    completed = [completion.sample(randomness) for _ in range(draws)]
    found = measure_utility(original_sample(release, cells, labels, counted.holders), completed)
    counts = ask_counts(release, cells, labels, queries, randomness) if queries else None
    return UtilityReport(found.distributions, found.two_ways, found.means, found.correlations, counts, draws)


def check_draws(draws: int) -> None:
    """Refuse a number of completed tables that is not one."""
    if isinstance(draws, bool) or not isinstance(draws, int) or not 1 <= draws <= MOST_DRAWS:
        raise ParameterError(f"draws is {draws!r}; it must be a whole number from 1 to {MOST_DRAWS}, such as 5.")


def ask_counts(
    release: Estimator,
    cells: Cells,
    labels: Sequence[str],
    queries: int,
    randomness: Randomness,
    predicates: int | None = None,
    selectivity: float = SELECTIVITY,
    method: str | None = None,
) -> WorkloadResult:
    """Ask a release random COUNT queries, and compare its answers with the exact counts. Paper: 6.2."""
    columns, chosen = release.quasi_identifiers, release.choose_method(method)
    n_predicates = min(N_PREDICATES, len(columns)) if predicates is None else predicates
    drawn = draw_queries(columns, release.sensitive, queries, n_predicates, selectivity, randomness)
    index = exact_index(release, cells, labels)
    return run_workload(release, index, drawn, chosen, n_predicates, selectivity)
