"""Class forming alone: the time SEAM takes on cells that are already counted."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.measurement import Measured, measure
from betalike.measures.loss import plan_loss
from betalike.promises import Likeness
from betalike.schemes import Seam
from betalike.table.cells import Cells


def measure_forming(cells: Cells, beta: float, repeats: int = 3) -> Measured:
    """Measure time and memory of `Seam.plan`; the result is the average loss."""
    measured = measure(lambda: Seam().plan(cells, Likeness(beta)), repeats)
    return replace(measured, result=plan_loss(measured.result).average)
