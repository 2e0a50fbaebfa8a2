"""Perturbing `census_like`, Parquet to verified Parquet, against Polars reading and writing the same columns."""

from __future__ import annotations

from pathlib import Path

import betalike
from benchmarks.measurement import Measured, copy_parquet, measure
from benchmarks.tables import FIVE
from betalike.datasets import census_like

ROWS = (1_000_000, 10_000_000)
SENSITIVE = "salary_class"


def run(folder: Path, quick: bool = False) -> list[str]:
    lines = [
        "## `census_like`, Parquet to verified Parquet and certificate, exact rows, 5 QI, beta 4",
        "",
        "| what | rows | time | times reading and writing | peak memory |",
        "|---|---|---|---|---|",
    ]
    for rows in ROWS[: 1 if quick else None]:
        path = folder / "table.parquet"
        census_like(rows).select(*FIVE, SENSITIVE).write_parquet(path)
        yardstick = measure(lambda path=path: copy_parquet(path, folder / "copy.parquet"))
        lines.append(_row("yardstick: Polars reads and writes", rows, yardstick, yardstick))
        for scheme in ("perturb", "baseline"):

            def publish(path: Path = path, scheme: str = scheme) -> None:
                betalike.publish(
                    path,
                    quasi_identifiers=FIVE,
                    sensitive=SENSITIVE,
                    beta=4,
                    scheme=scheme,
                    out=folder / "release",
                    format="parquet",
                    force=True,
                )

            lines.append(_row(f"`{scheme}`", rows, measure(publish), yardstick))
    return lines


def _row(what: str, rows: int, measured: Measured, yardstick: Measured) -> str:
    ratio = measured.seconds / yardstick.seconds
    return f"| {what} | {rows:,} | {measured.seconds:.2f} s | {ratio:.2f} | {measured.peak_memory:,.0f} MB |"
