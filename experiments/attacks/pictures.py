"""The pictures of docs/explanation/attacks.md, with one panel per table."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from betalike.report.charts import Quantity, line_chart, save, side_by_side
from experiments.settings import BETA_TITLE

Row = dict[str, Any]
PERCENT = "success (% of people)"


def write(out: Path, name: str, rows: Sequence[Row], x: Quantity, y: Quantity) -> None:
    """Write a figure's data and its picture."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    tables = dict.fromkeys(row["table"] for row in rows)
    panels = [
        line_chart([row for row in rows if row["table"] == table], x, y, f"({letter}) {table}")
        for letter, table in zip("abcd", tables, strict=False)
    ]
    save(side_by_side(*panels), out / name)


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def beta_axis(betas: Sequence[float]) -> Quantity:
    """Return an axis of beta from left to right."""
    return Quantity("beta", BETA_TITLE, ticks=tuple(betas))


def percent(name: str, title: str = PERCENT) -> Quantity:
    """Return an axis of percentages from bottom to top."""
    return Quantity(name, title, starts_at_zero=True)
