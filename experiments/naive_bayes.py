"""Section 7's attack: guess everybody's sensitive value with a Naive Bayes classifier learned from a release."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from betalike.axis import Axis, HierarchyAxis
from betalike.report.charts import Quantity, line_chart
from betalike.table import Cells, Plan
from experiments.bench import Bench
from experiments.entrants import BUREL
from experiments.figure import FAILS, HOLDS, Claim, Figure, listed, series
from experiments.settings import BETA_TITLE

Floats = NDArray[np.float64]
MOST_FREQUENT, RAW = "the most frequent value", "the original table"
NEAR = 1.0  # percentage points above the most frequent value's share that still count as close to it


def run(bench: Bench) -> Figure:
    """The success rate over releases with each beta, beside a blind guess and the original table."""
    betas = bench.settings.betas
    cells = bench.cells()
    blind = 100 * float(cells.value_counts.max() / cells.n_rows)
    raw = 100 * success_rate(exact_plan(cells))
    rows: list[dict[str, Any]] = []
    for beta in betas:
        rates = {name: 100 * success_rate(bench.plan(name, beta)) for name in (*BUREL, "seam")}
        rates |= {MOST_FREQUENT: blind, RAW: raw}
        rows += [{"beta": beta, "scheme": name, "success": rate} for name, rate in rates.items()]
    highest = {name: max(series(rows, name, "beta", "success").values()) for name in BUREL}
    claim = Claim(
        "Section 7: the Naive Bayes attack succeeds about as often as guessing the most frequent value",
        HOLDS if all(rate <= blind + NEAR for rate in highest.values()) else FAILS,
        f"At most {', '.join(f'{rate:.2f} % (`{name}`)' for name, rate in highest.items())}; a blind guess "
        f"{blind:.2f} %, the original table {raw:.2f} %.",
    )
    return Figure(
        "nb",
        "Naive Bayes: success rate of the attack",
        "3 QI. Conditional probabilities as in Eq. 17 from the published labels of classes, predictions by Eq. 15.",
        rows,
        "The success rate remains remarkably close to the share of the most frequent value, 4.84 % of CENSUS.",
        f"For beta {listed(betas, 'd')}, the attack succeeds in percent with "
        + "; ".join(f"`{name}` {listed(series(rows, name, 'beta', 'success'), '.2f')}" for name in (*BUREL, "seam"))
        + f", against {blind:.2f} blindly and {raw:.2f} with the original table, so the claim {claim.verdict}.",
        [claim],
        line_chart(
            rows,
            Quantity("beta", BETA_TITLE, ticks=betas),
            Quantity("success", "success rate (% of rows)", starts_at_zero=True),
        ),
        table=[
            {"beta": beta, **{row["scheme"]: row["success"] for row in rows if row["beta"] == beta}} for beta in betas
        ],
        short=f"**The Naive Bayes attack.** {claim.evidence}",
    )


def success_rate(plan: Plan) -> float:
    """The share of tuples whose sensitive value is guessed right. Paper: Eq. 15 to 17."""
    cells = plan.cells
    counts = cells.value_counts
    with np.errstate(divide="ignore"):
        score = np.tile(np.log(counts / counts.sum()), (len(cells.points), 1))
        for number, axis in enumerate(cells.axes):
            seen = values_beside(plan, number, axis)
            score += np.log(seen / counts)[cells.points[:, number]]
    guess = np.argmax(score, axis=1)
    return float(cells.count[guess[cells.point] == cells.value].sum() / cells.n_rows)


def values_beside(plan: Plan, number: int, axis: Axis) -> Floats:
    """Tuples of each sensitive value (columns) in the classes whose label covers each code (rows) of an axis.

    Paper: Eq. 17, the sum over the classes that include t_j.
    """
    classes = plan.class_counts
    low, high = (side[:, number].astype(np.int64) for side in plan.boxes)
    if isinstance(axis, HierarchyAxis):
        node = axis.hierarchy.lowest_common_ancestor(low, high)
        low, high = axis.hierarchy.first[node], axis.hierarchy.last[node]
    change = np.zeros((axis.size + 1, classes.n_values))
    np.add.at(change, (low[classes.ec], classes.value), classes.count)
    np.subtract.at(change, (high[classes.ec] + 1, classes.value), classes.count)
    return np.cumsum(change, axis=0)[:-1]


def exact_plan(cells: Cells) -> Plan:
    """The original table: every point is a class of its own."""
    every = np.arange(len(cells.count), dtype=np.int32)
    return Plan(cells, every, cells.count, cells.point, len(cells.points))
