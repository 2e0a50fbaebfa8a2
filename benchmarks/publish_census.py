"""CENSUS from CSV to verified CSV and certificate, against Polars reading, sorting and writing the same file."""

from __future__ import annotations

from pathlib import Path

import betalike
from benchmarks.measurement import Measured, measure, yardstick_csv
from benchmarks.tables import FIVE, THREE, Census, census, counted_cells
from betalike.loss import plan_loss
from betalike.models import Likeness
from betalike.schemes import Seam

BETA = 4


def run(folder: Path, quick: bool = False) -> list[str]:
    table = census(folder)
    repeats = 1 if quick else 3
    yardstick = measure(lambda: yardstick_csv(table.path, folder / "sorted.csv"), repeats)
    lines = [
        f"## {table.name}, CSV to verified CSV and certificate, beta {BETA}",
        "",
        "| what | average loss | time | times the yardstick | peak memory |",
        "|---|---|---|---|---|",
        _row("yardstick: Polars reads, sorts by all columns, writes", None, yardstick, yardstick),
    ]
    for columns in (THREE, FIVE):
        loss, measured = form_classes(table, columns, repeats)
        lines.append(_row(f"`seam`, {len(columns)} QI, class forming alone", loss, measured, yardstick))
    for scheme in ("seam", "burel", "burel+split"):
        for columns in (THREE, FIVE):
            loss, measured = publish(table, columns, scheme, folder / "release", repeats)
            lines.append(_row(f"`{scheme}`, {len(columns)} QI", loss, measured, yardstick))
    return lines


def form_classes(table: Census, columns: list[str], repeats: int) -> tuple[float, Measured]:
    """Average loss and time of SEAM on cells that are counted already."""
    cells = counted_cells(table.path, columns, "salary_class", table.hierarchies)
    losses: list[float] = []  # measured outside the clock would be one more plan; this is a thousandth of its time
    measured = measure(lambda: losses.append(plan_loss(Seam().plan(cells, Likeness(BETA))).average), repeats)
    return losses[-1], measured


def publish(table: Census, columns: list[str], scheme: str, out: Path, repeats: int) -> tuple[float, Measured]:
    """Average loss and time of a whole publish."""
    losses: list[float] = []

    def work() -> None:
        release = betalike.publish(
            table.path,
            quasi_identifiers=columns,
            sensitive="salary_class",
            beta=BETA,
            scheme=scheme,
            hierarchies=table.hierarchies,
            out=out,
            force=True,
        )
        losses.append(release.verified.loss.average)

    measured = measure(work, repeats)
    return losses[-1], measured


def _row(what: str, loss: float | None, measured: Measured, yardstick: Measured) -> str:
    shown = "" if loss is None else f"{loss:.4f}"
    ratio = measured.seconds / yardstick.seconds
    return f"| {what} | {shown} | {measured.seconds:.2f} s | {ratio:.2f} | {measured.peak_memory:,.0f} MB |"
