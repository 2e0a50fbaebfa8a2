"""How SEAM's time grows with the number of quasi-identifiers and of sensitive values, at 100,000 rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

import betalike
from benchmarks.forming import measure_forming
from benchmarks.measurement import measure, yardstick_parquet
from benchmarks.tables import FIVE, counted_cells
from betalike.datasets import census_like, census_like_hierarchies

ROWS, QUICK_ROWS = 100_000, 10_000
EIGHT = [*FIVE, "race", "country", "district"]
N_VALUES = (2, 10, 50, 200, 1000)
BETA = 4
HEADER = (
    "| QI | values | cells | average loss | class forming | whole publish | times the yardstick | peak memory |",
    "|---|---|---|---|---|---|---|---|",
)


def run(folder: Path, quick: bool = False) -> list[str]:
    people = wide_table(QUICK_ROWS if quick else ROWS)
    repeats = 1
    lines = [f"## Growth of `seam` with QI, {people.height:,} rows, beta {BETA}", "", *HEADER]
    lines += [_row(people, EIGHT[:n], folder, repeats) for n in range(3, len(EIGHT) + 1)]
    lines += ["", f"## Growth of `seam` with sensitive values, {people.height:,} rows, beta {BETA}", "", *HEADER]
    lines += [_row(with_sensitive_values(people, n), FIVE, folder, repeats) for n in N_VALUES]
    return lines


def wide_table(rows: int) -> pl.DataFrame:
    """Return `census_like` with an eighth QI: one of 100 districts, which depends on the country."""
    people = census_like(rows)
    district = (people["country"].to_numpy() * 7 + np.random.default_rng(1).geometric(0.1, rows)) % 100
    return people.with_columns(pl.Series("district", district))


def with_sensitive_values(people: pl.DataFrame, n_values: int, seed: int = 2) -> pl.DataFrame:
    """Return the same people with `n_values` sensitive values, the k-th about 1/k times as frequent as the first.

    Salary classes, slightly blurred, are ranked and cut again, so that they depend on the QI much as before.
    """
    score = people["salary_class"].to_numpy() + np.random.default_rng(seed).normal(0, 3, people.height)
    shares = 1 / np.arange(1, n_values + 1)
    ends = np.quantile(score, np.cumsum(shares / shares.sum())[:-1])
    return people.with_columns(pl.Series("salary_class", np.searchsorted(ends, score)))


def _row(people: pl.DataFrame, columns: list[str], folder: Path, repeats: int) -> str:
    path = folder / "table.parquet"
    people.select(*columns, "salary_class").write_parquet(path)
    yardstick = measure(lambda: yardstick_parquet(path, folder / "sorted.parquet"), repeats)
    hierarchies = census_like_hierarchies()
    cells = counted_cells(path, columns, "salary_class", hierarchies)
    forming = measure_forming(cells, BETA, repeats)

    def publish() -> None:
        betalike.publish(
            path,
            quasi_identifiers=columns,
            sensitive="salary_class",
            beta=BETA,
            scheme="seam",
            hierarchies=hierarchies,
            out=folder / "release",
            format="parquet",
            force=True,
        )

    whole = measure(publish, repeats, warm=False)
    return (
        f"| {len(columns)} | {cells.sensitive.size} | {len(cells.count):,} | {forming.result:.4f} | "
        f"{forming.seconds:.2f} s | {whole.seconds:.2f} s | {whole.seconds / yardstick.seconds:.1f} | "
        f"{max(forming.peak_memory, whole.peak_memory):,.0f} MB |"
    )
