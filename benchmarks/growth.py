"""How time grows with rows: `census_like` from Parquet to verified Parquet, 5 QI."""

from __future__ import annotations

from pathlib import Path

import betalike
from benchmarks.measurement import measure, yardstick_parquet
from benchmarks.tables import FIVE
from betalike.datasets import census_like, census_like_hierarchies

ROWS = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
SCHEMES = ("seam", "burel+split")


def run(folder: Path, quick: bool = False) -> list[str]:
    rows_of: dict[str, list[str]] = {scheme: [] for scheme in SCHEMES}
    for rows in ROWS[: 2 if quick else None]:
        path = folder / "table.parquet"
        census_like(rows).write_parquet(path)
        repeats = 3 if rows < 3_000_000 else 1
        yardstick = measure(
            lambda path=path: yardstick_parquet(path, folder / "sorted.parquet"), repeats, warm=rows < 3_000_000
        )
        for scheme in SCHEMES:

            def publish(path: Path = path, scheme: str = scheme) -> float:
                release = betalike.publish(
                    path,
                    quasi_identifiers=FIVE,
                    sensitive="salary_class",
                    beta=4,
                    scheme=scheme,
                    hierarchies=census_like_hierarchies(),
                    out=folder / "release",
                    format="parquet",
                    force=True,
                )
                return release.verified.loss.average

            measured = measure(publish, repeats, warm=rows < 3_000_000)
            rows_of[scheme].append(
                f"| {rows:,} | {measured.result:.4f} | {measured.seconds:.2f} s | "
                f"{1e6 * measured.seconds / rows:.2f} | {measured.seconds / yardstick.seconds:.2f} | "
                f"{measured.peak_memory:,.0f} MB |"
            )
    lines: list[str] = []
    for scheme in SCHEMES:
        lines += [
            f"## `census_like`, Parquet to verified Parquet and certificate, 5 QI, beta 4, `{scheme}`",
            "",
            "| rows | average loss | time | microseconds a row | times the yardstick | peak memory |",
            "|---|---|---|---|---|---|",
            *rows_of[scheme],
            "",
        ]
    return lines[:-1]
