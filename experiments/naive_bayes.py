"""Section 7's attack: guess everybody's sensitive value with a Naive Bayes classifier learned from a release."""

from __future__ import annotations

from typing import Any

import numpy as np

from betalike.attacks import Generalized
from betalike.attacks.naive_bayes import count_right, guess
from betalike.promises import Likeness
from betalike.report.charts import Quantity, line_chart
from betalike.table.cells import Cells, Plan
from experiments.bench import Bench
from experiments.entrants import BUREL
from experiments.figure import FAILS, HOLDS, Claim, Figure, listed, series
from experiments.settings import BETA_TITLE

MOST_FREQUENT, RAW = "the most frequent value", "the original table"
SHOWN = (*BUREL, "whole", "seam")
NEAR = 1.0  # percentage points above the most frequent value's share that still count as close to it


def run(bench: Bench) -> Figure:
    """Measure the success rate on releases with each beta, beside a blind guess and the original table."""
    betas = bench.settings.betas
    cells = bench.cells()
    blind = 100 * float(cells.value_counts.max() / cells.n_rows)
    raw = 100 * success_rate(exact_plan(cells))
    rows: list[dict[str, Any]] = []
    for beta in betas:
        rates = {name: 100 * success_rate(bench.plan(name, beta)) for name in SHOWN}
        rates |= {MOST_FREQUENT: blind, RAW: raw}
        rows += [{"beta": beta, "scheme": name, "success": rate} for name, rate in rates.items()]
    highest = {name: max(series(rows, name, "beta", "success").values()) for name in BUREL}
    claim = Claim(
        "Section 7: the Naive Bayes attack succeeds about as often as guessing the most frequent value",
        HOLDS if all(rate <= blind + NEAR for rate in highest.values()) else FAILS,
        f"It is right for at most {' and '.join(f'{rate:.2f} % (`{name}`)' for name, rate in highest.items())} of the "
        f"rows; a blind guess for {blind:.2f} %, and with the original table for {raw:.2f} %.",
    )
    return Figure(
        "nb",
        "Naive Bayes: success rate of the attack",
        "3 QI. Conditional probabilities come from the published labels of classes (Eq. 17), predictions from Eq. 15.",
        rows,
        "The success rate remains remarkably close to the share of the most frequent value, 4.84 % of CENSUS.",
        f"For beta {listed(betas, 'd')}, the attack succeeds in percent with "
        + "; ".join(f"`{name}` {listed(series(rows, name, 'beta', 'success'), '.2f')}" for name in SHOWN)
        + f", against {blind:.2f} for a blind guess and {raw:.2f} with the original table, so the claim "
        f"{claim.verdict}.",
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
    """Return the share of tuples whose sensitive value is guessed right. Paper: Eq. 15 to 17."""
    cells = plan.cells
    target = Generalized.of_plan(plan, [str(value) for value in range(cells.sensitive.size)], Likeness(1.0), "plan")
    return count_right(cells, guess(target)) / cells.n_rows


def exact_plan(cells: Cells) -> Plan:
    """Return the original table as a plan: every point is a class of its own."""
    every = np.arange(len(cells.count), dtype=np.int32)
    return Plan(cells, every, cells.count, cells.point, len(cells.points))
