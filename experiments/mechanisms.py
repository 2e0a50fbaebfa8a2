"""Compare the mechanisms of perturbation on real tables: `python -m experiments.mechanisms --help` lists the options.

CENSUS and Adult are found through BETALIKE_DATA. For each table and beta, every mechanism publishes several times, and
the same random COUNT queries are asked of every release. Paper: 6.2, with 3 predicates and selectivity 0.1.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import betalike
from betalike.api import make_schema
from betalike.engines.local import LocalEngine
from betalike.promises import Likeness
from betalike.queries.reconstruction import unbiased_error
from betalike.queries.workload import count_exactly, draw_queries, exact_index
from betalike.runtime.randomness import SeededRandomness
from experiments.interval_coverage import Source, sources

MECHANISMS = ("matrix", "sets")
METHODS = ("shrinkage", "inversion")
BETAS = (1.0, 2.0, 4.0)
N_PREDICATES, SELECTIVITY = 3, 0.1
PROJECT = Path(__file__).resolve().parent.parent
OUT = PROJECT / "docs" / "explanation" / "perturbation" / "mechanisms.csv"
FIELDS = ("table", "values", "beta", "mechanism", "least_noise", "noise", "right", *METHODS)


def tables() -> Iterator[Source]:
    """Read CENSUS and Adult; Adult also with its salary class, of which there are two, as the sensitive column."""
    for source in sources(None, ("census", "adult")):
        yield replace(source, name=f"{source.name} {source.sensitive}")
        if source.name == "adult":
            yield replace(source, name="adult salary-class", sensitive="salary-class")


def compare(source: Source, beta: float, n_queries: int, n_releases: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each mechanism: the noise of a row, how often a row gives its value away, and query errors."""
    schema = make_schema(source.quasi_identifiers, source.sensitive, source.hierarchies, None, None, None, (), False)
    engine = LocalEngine(source.frame.select(schema.names), schema)
    for mechanism in MECHANISMS:
        errors: dict[str, list[float]] = {method: [] for method in METHODS}
        for seed in range(n_releases):
            release = betalike.publish(
                source.frame.select(schema.names),
                quasi_identifiers=source.quasi_identifiers,
                sensitive=source.sensitive,
                beta=beta,
                scheme="perturb",
                options={"mechanism": mechanism},
                hierarchies=source.hierarchies,
                seed=seed,
            ).estimator
            columns, chance = release.quasi_identifiers, SeededRandomness(7)
            queries = draw_queries(columns, release.sensitive, n_queries, N_PREDICATES, SELECTIVITY, chance)
            index = exact_index(release, engine.count_cells(), engine.sensitive_labels)
            exact = count_exactly(index, release, queries)
            kept = np.flatnonzero(exact)
            for method, found in errors.items():
                count = release.estimate([[queries[query]] for query in kept], method).count
                found.append(float(np.median(np.abs(count / exact[kept] - 1))))
        table = release.perturbation
        few = np.full(len(table.prior), 1e-6)  # of which the table's known noise says nothing
        noise = unbiased_error(table, few, np.eye(len(few))) / np.sqrt(few)
        joint = table.prior[:, None] * table.transition
        yield {
            "table": source.name,
            "values": len(few),
            "beta": beta,
            "mechanism": mechanism,
            "least_noise": float(np.median(least_noise(table.counts, beta))),
            "noise": float(np.median(noise)),
            "right": 100 * float(joint.max(axis=0).sum()),
            **{method: 100 * float(np.mean(found)) for method, found in errors.items()},
        }


def least_noise(counts: np.ndarray, beta: float) -> np.ndarray:
    """Return the standard error per row that no mechanism goes below; proved in docs/explanation/perturbation.md."""
    prior = counts / counts.sum()
    gain = Likeness(beta).ceilings(counts.astype(np.int64)) / prior - 1
    return np.sqrt(np.maximum((1 - prior) ** 2 / gain + prior**2 - prior, 0.0))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every table and beta, write the rows to a file, and print them as the table of the page."""
    parser = argparse.ArgumentParser(prog="experiments.mechanisms", description="Compare mechanisms of perturbation.")
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--releases", type=int, default=3)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args(arguments)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with given.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for source in tables():
            for beta in BETAS:
                for row in compare(source, beta, given.queries, given.releases):
                    shown = {name: f"{value:.4g}" if isinstance(value, float) else value for name, value in row.items()}
                    writer.writerow(shown)
                    print("| " + " | ".join(str(shown[name]) for name in FIELDS) + " |", flush=True)


if __name__ == "__main__":
    main()
