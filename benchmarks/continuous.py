"""A continuous table, with as many cells as rows: 4 real QI, 10 sensitive values, Parquet to verified Parquet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

import betalike
from benchmarks.forming import measure_forming
from benchmarks.measurement import COMPARISON_HEADER, comparison_row, measure, yardstick_parquet
from benchmarks.tables import counted_cells

ROWS, QUICK_ROWS = 1_000_000, 100_000
COLUMNS = ["income", "latitude", "longitude", "height"]
N_VALUES = 10
BETA = 4


def run(folder: Path, quick: bool = False) -> list[str]:
    rows = QUICK_ROWS if quick else ROWS
    repeats = 3 if quick else 1
    path = folder / "table.parquet"
    continuous_table(rows).write_parquet(path)
    yardstick = measure(lambda: yardstick_parquet(path, folder / "sorted.parquet"), repeats)
    lines = [
        f"## {rows:,} rows, 4 real-valued QI, {N_VALUES} sensitive values, beta {BETA}, Parquet to verified Parquet",
        "",
        *COMPARISON_HEADER,
        comparison_row("yardstick: Polars reads, sorts by all columns, writes", yardstick, yardstick),
    ]
    cells = counted_cells(path, COLUMNS, "condition")
    forming = measure_forming(cells, BETA, repeats)
    lines.append(comparison_row(f"`seam`, class forming alone, {len(cells.count):,} cells", forming, yardstick))
    del cells  # it is not part of what publishing takes
    for scheme in ("whole", "seam", "burel+split"):

        def publish(scheme: str = scheme) -> float:
            release = betalike.publish(
                path,
                quasi_identifiers=COLUMNS,
                sensitive="condition",
                beta=BETA,
                scheme=scheme,
                out=folder / "release",
                format="parquet",
                force=True,
            )
            return release.verified.loss.average

        lines.append(comparison_row(f"`{scheme}`", measure(publish, repeats), yardstick))
    return lines


def continuous_table(rows: int, seed: int = 0) -> pl.DataFrame:
    """Draw invented people in and between two towns, whose condition depends moderately on income and place."""
    rng = np.random.default_rng(seed)
    town = rng.integers(0, 3, rows)
    latitude = np.where(town == 2, rng.uniform(0, 10, rows), rng.normal(3 + 4 * town, 0.7, rows))
    longitude = np.where(town == 2, rng.uniform(0, 10, rows), rng.normal(7 - 3 * town, 0.7, rows))
    income = rng.lognormal(10 + 0.2 * (town == 1), 0.5, rows)
    height = rng.normal(171, 9, rows)
    score = 0.6 * np.log(income) + 0.1 * latitude + rng.normal(0, 0.6, rows)
    shares = np.arange(N_VALUES, 0, -1) / np.arange(N_VALUES, 0, -1).sum()
    ends = np.quantile(score, np.cumsum(shares)[:-1])
    columns = dict(zip(COLUMNS, (income, latitude, longitude, height), strict=True))
    return pl.DataFrame({**columns, "condition": np.searchsorted(ends, score)})
