"""Figure 7: loss and time with the number of rows."""

from __future__ import annotations

from collections.abc import Mapping

from betalike.report.charts import Quantity
from experiments.bench import Bench
from experiments.figure import Figure, burel_follows, listed, rises, series, verdicts
from experiments.loss_and_time import COUNTING, SETTINGS, claims_of, measured, picture_of
from experiments.settings import BETA

NO_EFFECT = 1.1  # the greatest loss is at most this many times the least
NOISE = 0.1  # of a time


def run(bench: Bench) -> Figure:
    """Run every scheme that keeps beta-likeness, on random parts of the table."""
    counts = [bench.rows(share) for share in bench.settings.shares_of_rows]
    rows = [row for n_rows in counts for row in measured(bench, "rows", n_rows, n_rows=n_rows)]
    by_loss, by_time = claims_of(rows, "rows", 7)
    shown = ("whole", "seam", "burel", "burel+split", "lmondrian", "lmondrian, narrowest")
    return Figure(
        "7",
        "Figure 7: loss and time with the number of rows",
        f"3 QI, beta {BETA}, rows drawn at random from the table. {SETTINGS}",
        rows,
        "The number of rows has no clear effect on the loss, time grows with it, and BUREL is superior in both.",
        f"The losses with {listed(counts, ',d')} rows are "
        + "; ".join(f"`{name}` {listed(series(rows, name, 'rows', 'loss'), '.3g')}" for name in shown)
        + f". Counting the table takes {listed(series(rows, COUNTING, 'rows', 'time'), '.2f')} yardsticks. The claim "
        f"that BUREL loses least {verdicts(by_loss)}. The claim that it is fastest {verdicts(by_time)}.",
        [
            burel_follows(
                rows,
                "rows",
                "loss",
                "7(a): the number of rows has no clear effect on BUREL's loss (10 % at most)",
                lambda losses: max(losses.values()) <= NO_EFFECT * min(losses.values()),
            ),
            *by_loss,
            burel_follows(rows, "rows", "time", "7(b): BUREL's time grows with the number of rows", _grows),
            *by_time,
        ],
        picture_of(rows, Quantity("rows", "rows (number)", ticks=tuple(counts), format="~s")),
    )


def _grows(times: Mapping[int, float]) -> bool:
    return rises(times, NOISE)
