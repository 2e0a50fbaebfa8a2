"""CENSUS from CSV to verified CSV and certificate, against Polars reading, sorting and writing the same file."""

from __future__ import annotations

from pathlib import Path

import betalike
from benchmarks.forming import measure_forming
from benchmarks.measurement import COMPARISON_HEADER, comparison_row, measure, yardstick_csv
from benchmarks.tables import FIVE, THREE, census, counted_cells

BETA = 4


def run(folder: Path, quick: bool = False) -> list[str]:
    table = census(folder)
    repeats = 1 if quick else 3
    yardstick = measure(lambda: yardstick_csv(table.path, folder / "sorted.csv"), repeats)
    lines = [
        f"## {table.name}, CSV to verified CSV and certificate, beta {BETA}",
        "",
        *COMPARISON_HEADER,
        comparison_row("yardstick: Polars reads, sorts by all columns, writes", yardstick, yardstick),
    ]
    for columns in (THREE, FIVE):
        cells = counted_cells(table.path, columns, "salary_class", table.hierarchies)
        forming = measure_forming(cells, BETA, repeats)
        lines.append(comparison_row(f"`seam`, {len(columns)} QI, class forming alone", forming, yardstick))
    for scheme in ("seam", "burel", "burel+split"):
        for columns in (THREE, FIVE):

            def publish(scheme: str = scheme, columns: list[str] = columns) -> float:
                release = betalike.publish(
                    table.path,
                    quasi_identifiers=columns,
                    sensitive="salary_class",
                    beta=BETA,
                    scheme=scheme,
                    hierarchies=table.hierarchies,
                    out=folder / "release",
                    force=True,
                )
                return release.verified.loss.average

            lines.append(comparison_row(f"`{scheme}`, {len(columns)} QI", measure(publish, repeats), yardstick))
    return lines
