"""CENSUS from CSV to verified CSV and certificate, against Polars reading, sorting and writing the same file."""

from __future__ import annotations

from pathlib import Path

import betalike
from benchmarks.measurement import measure, yardstick_csv
from benchmarks.tables import FIVE, THREE, census


def run(folder: Path, quick: bool = False) -> list[str]:
    table = census(folder)
    yardstick = measure(lambda: yardstick_csv(table.path, folder / "sorted.csv"))
    lines = [
        f"## {table.name}, CSV to verified CSV and certificate, beta 4",
        "",
        "| what | time | times the yardstick | peak memory |",
        "|---|---|---|---|",
        f"| yardstick: Polars reads, sorts by all columns, writes | {yardstick.seconds:.2f} s | 1 | "
        f"{yardstick.peak_memory:,.0f} MB |",
    ]
    for scheme in ("burel", "burel+split"):
        for columns in (THREE, FIVE):

            def publish(scheme: str = scheme, columns: list[str] = columns) -> None:
                betalike.publish(
                    table.path,
                    quasi_identifiers=columns,
                    sensitive="salary_class",
                    beta=4,
                    scheme=scheme,
                    hierarchies=table.hierarchies,
                    out=folder / "release",
                    force=True,
                )

            measured = measure(publish)
            ratio = measured.seconds / yardstick.seconds
            lines.append(
                f"| `{scheme}`, {len(columns)} QI | {measured.seconds:.2f} s | {ratio:.2f} | "
                f"{measured.peak_memory:,.0f} MB |"
            )
    return lines
