"""How time grows with rows: `census_like` from Parquet to verified Parquet, 5 QI."""

from __future__ import annotations

from pathlib import Path

import betalike
from benchmarks.measurement import measure, yardstick_parquet
from benchmarks.tables import FIVE
from betalike.datasets import census_like, census_like_hierarchies

ROWS = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)


def run(folder: Path, quick: bool = False) -> list[str]:
    lines = [
        "## `census_like`, Parquet to verified Parquet and certificate, 5 QI, beta 4, `burel+split`",
        "",
        "| rows | time | microseconds a row | times the yardstick | peak memory |",
        "|---|---|---|---|---|",
    ]
    for rows in ROWS[: 3 if quick else None]:
        path = folder / "table.parquet"
        census_like(rows).write_parquet(path)

        def publish(path: Path = path) -> None:
            betalike.publish(
                path,
                quasi_identifiers=FIVE,
                sensitive="salary_class",
                beta=4,
                scheme="burel+split",
                hierarchies=census_like_hierarchies(),
                out=folder / "release",
                format="parquet",
                force=True,
            )

        repeats = 3 if rows < 3_000_000 else 1
        measured = measure(publish, repeats, warm=rows < 3_000_000)
        yardstick = measure(lambda path=path: yardstick_parquet(path, folder / "sorted.parquet"), repeats, warm=False)
        lines.append(
            f"| {rows:,} | {measured.seconds:.2f} s | {1e6 * measured.seconds / rows:.2f} | "
            f"{measured.seconds / yardstick.seconds:.2f} | {measured.peak_memory:,.0f} MB |"
        )
    return lines
