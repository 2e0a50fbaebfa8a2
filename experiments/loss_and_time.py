"""Loss and time side by side, for any varied setting. Paper: 6.2, figures 5 to 7."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from betalike.report.charts import Picture, Quantity, line_chart, side_by_side
from experiments.bench import Bench
from experiments.entrants import KEEP_LIKENESS
from experiments.figure import Claim, Row, burel_beats, series
from experiments.settings import BETA, N_ATTRIBUTES

COUNTING = "counting the table"
LOSS = Quantity("loss", "average loss (share of each attribute's range)", starts_at_zero=True)
TIME = Quantity("time", "time to form classes (yardsticks, log scale)", is_logarithmic=True)
SETTINGS = (
    "Times are for forming classes from a counted table, in multiples of the yardstick. Counting the table takes the "
    "same time for every scheme, and has a line of its own."
)


def measured(bench: Bench, x: str, at: float, **setting: Any) -> list[dict[str, Any]]:
    """Return a row for each scheme, with its loss and time, and one for counting the table."""
    where = {"beta": BETA, "n_attributes": N_ATTRIBUTES, "n_rows": None, **setting}
    beta, place = where["beta"], {"n_attributes": where["n_attributes"], "n_rows": where["n_rows"]}
    rows = [
        {
            x: at,
            "scheme": name,
            "loss": bench.outcome(name, beta, **place).loss,
            "time": bench.time(name, beta, **place),
            "classes": bench.outcome(name, beta, **place).audit.classes,
        }
        for name in KEEP_LIKENESS
    ]
    return [
        *rows,
        {x: at, "scheme": COUNTING, "loss": None, "time": bench.time_of_counting(**place), "classes": None},
    ]


def picture_of(rows: Sequence[Row], x: Quantity) -> Picture:
    """Plot loss on the left and time on the right."""
    return side_by_side(line_chart(rows, x, LOSS, "(a) information loss"), line_chart(rows, x, TIME, "(b) time"))


def in_words(rows: Sequence[Row], x: str, y: str, at: float, form: str) -> str:
    """Say in words the figures of some schemes in one setting."""
    shown = ("burel", "burel+split", "lmondrian", "lmondrian, narrowest", "whole", "seam")
    return ", ".join(f"`{name}` {series(rows, name, x, y)[at]:{form}}" for name in shown)


def claims_of(rows: Sequence[Row], x: str, figure: int) -> tuple[list[Claim], list[Claim]]:
    """Return the paper's claims about BUREL and its rivals in each of these figures: about loss and about time."""
    return (
        burel_beats(rows, x, "loss", f"{figure}(a): BUREL loses less than {{}}"),
        burel_beats(rows, x, "time", f"{figure}(b): BUREL is faster than {{}}"),
    )
