"""Figure 6: loss and time with the number of quasi-identifiers."""

from __future__ import annotations

from betalike.report.charts import Quantity
from experiments.bench import Bench
from experiments.figure import Figure, burel_follows, listed, rises, series, verdicts
from experiments.loss_and_time import SETTINGS, claims_of, measured, picture_of
from experiments.settings import BETA


def run(bench: Bench) -> Figure:
    """Run every scheme that keeps beta-likeness, with the first quasi-identifiers."""
    sizes = bench.settings.attributes
    rows = [row for size in sizes for row in measured(bench, "attributes", size, n_attributes=size)]
    by_loss, by_time = claims_of(rows, "attributes", 6)
    shown = ("whole", "seam", "burel", "burel+split", "lmondrian", "lmondrian, narrowest")
    return Figure(
        "6",
        "Figure 6: loss and time with the number of quasi-identifiers",
        f"Beta {BETA}; the first of age, gender, education, marital status, work class. {SETTINGS}",
        rows,
        "With more quasi-identifiers the loss rises, and BUREL again has the lowest loss and is the fastest.",
        f"The losses with {listed(sizes, 'd')} QI are "
        + "; ".join(f"`{name}` {listed(series(rows, name, 'attributes', 'loss'), '.3f')}" for name in shown)
        + f". The claim that BUREL loses least {verdicts(by_loss)}. The claim that it is fastest {verdicts(by_time)}.",
        [
            burel_follows(
                rows, "attributes", "loss", "6(a): BUREL's loss rises with the number of quasi-identifiers", rises
            ),
            *by_loss,
            *by_time,
        ],
        picture_of(rows, Quantity("attributes", "quasi-identifiers (number)", ticks=sizes)),
    )
