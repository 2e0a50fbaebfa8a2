"""A continuous table, as many cells as rows: 4 real-valued QI, 10 sensitive values, Parquet to verified Parquet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

import betalike
from benchmarks.measurement import Measured, measure, yardstick_parquet
from benchmarks.tables import counted_cells
from betalike.loss import plan_loss
from betalike.models import Likeness
from betalike.schemes import Seam

ROWS, QUICK_ROWS = 1_000_000, 100_000
COLUMNS = ["income", "latitude", "longitude", "height"]
N_VALUES = 10
BETA = 4


def run(folder: Path, quick: bool = False) -> list[str]:
    rows = QUICK_ROWS if quick else ROWS
    path = folder / "table.parquet"
    continuous_table(rows).write_parquet(path)
    yardstick = measure(lambda: yardstick_parquet(path, folder / "sorted.parquet"))
    lines = [
        f"## {rows:,} rows, 4 real-valued QI, {N_VALUES} sensitive values, beta {BETA}, Parquet to verified Parquet",
        "",
        "| what | average loss | time | times the yardstick | peak memory |",
        "|---|---|---|---|---|",
        _row("yardstick: Polars reads, sorts by all columns, writes", None, yardstick, yardstick),
    ]
    cells = counted_cells(path, COLUMNS, "condition")
    losses: list[float] = []
    measured = measure(lambda: losses.append(plan_loss(Seam().plan(cells, Likeness(BETA))).average), repeats=1)
    lines.append(_row(f"`seam`, class forming alone, {len(cells.count):,} cells", losses[-1], measured, yardstick))
    for scheme in ("seam", "burel+split"):

        def publish(scheme: str = scheme) -> None:
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
            losses.append(release.verified.loss.average)

        measured = measure(publish, repeats=1)
        lines.append(_row(f"`{scheme}`", losses[-1], measured, yardstick))
    return lines


def continuous_table(rows: int, seed: int = 0) -> pl.DataFrame:
    """Invented people at two towns and in between, whose condition depends on income and place moderately."""
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


def _row(what: str, loss: float | None, measured: Measured, yardstick: Measured) -> str:
    shown = "" if loss is None else f"{loss:.4f}"
    ratio = measured.seconds / yardstick.seconds
    return f"| {what} | {shown} | {measured.seconds:.2f} s | {ratio:.2f} | {measured.peak_memory:,.0f} MB |"
