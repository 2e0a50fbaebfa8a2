"""COUNT queries over releases of CENSUS: queries per second, and the median relative error of the paper's workload."""

from __future__ import annotations

import time
from pathlib import Path

import polars as pl

import betalike
from benchmarks.tables import FIVE, census
from betalike.queries.workload import draw_queries
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes import SCHEMES

BETA = 4
SENSITIVE = "salary_class"
N_QUERIES, N_PREDICATES, SELECTIVITY = 10_000, 3, 0.1
MEASURED = ("seam", "burel+split", "perturb", "baseline")


def run(folder: Path, quick: bool = False) -> list[str]:
    table = census(folder)
    n_queries = N_QUERIES // 10 if quick else N_QUERIES
    frame = pl.read_csv(table.path)
    lines = [
        f"## COUNT queries over {table.name}, 5 QI, beta {BETA}, {n_queries:,} queries, lambda 3, theta 0.1",
        "",
        "| release | method | classes or points | opened in | queries a second | median error | intervals hold |",
        "|---|---|---|---|---|---|---|",
    ]
    for scheme in MEASURED:
        if scheme in SCHEMES:
            betalike.publish(
                frame,
                quasi_identifiers=FIVE,
                sensitive=SENSITIVE,
                beta=BETA,
                scheme=scheme,
                hierarchies=table.hierarchies,
                out=folder / scheme,
            )
            lines += measure_release(scheme, folder / scheme, frame, n_queries)
    return lines


def measure_release(name: str, folder: Path, original: pl.DataFrame, n_queries: int) -> list[str]:
    """Return a row for each method of a release."""
    rows = []
    warm = betalike.open_release(folder)
    for method in warm.methods:
        warm.count_all(["TRUE"] * 50, method=method)  # compiles
        start = time.perf_counter()
        release = betalike.open_release(folder)
        release.count("TRUE", method=method)  # what is computed once is computed here
        opened = time.perf_counter()
        drawn = draw_queries(
            release.quasi_identifiers, release.sensitive, n_queries, N_PREDICATES, SELECTIVITY, SeededRandomness(1)
        )
        queries = [[query] for query in drawn]
        middle = time.perf_counter()
        release.estimate(queries, method)
        per_second = n_queries / (time.perf_counter() - middle)
        result = betalike.workload(folder, original=original, queries=n_queries, method=method, seed=1)
        figures = result.to_dict()
        rows.append(
            f"| `{name}` | {method} | {len(release.index.ids):,} | {opened - start:.2f} s | {per_second:,.0f} | "
            f"{figures['median_relative_error']:.2%} | {figures['covered']:.1%} |"
        )
    return rows
