"""Figure 4(a): the beta that schemes reach at the closeness of BUREL with a given beta."""

from __future__ import annotations

from betalike.report.charts import Quantity
from experiments.bench import Bench
from experiments.equal_footing import (
    REFERENCE,
    SHOWN,
    at_closeness,
    claim_of,
    margins,
    picture_of,
    reached,
    sentence_of,
)
from experiments.figure import Figure, listed, series


def run(bench: Bench) -> Figure:
    """Use BUREL's closeness at each beta as the threshold of the others."""
    rows = []
    for beta in bench.settings.betas:
        t = bench.outcome(REFERENCE, beta).audit.t
        for name in SHOWN:
            bring, parameter = (reached, beta) if name == REFERENCE else (at_closeness, t)
            rows.append(bring(bench, name, parameter, {"beta": beta, "t": t}))
    text = "4(a): at the closeness of its own release, BUREL reaches a lower beta than tMondrian and SABRE"
    claim = claim_of(rows, "beta", text)
    return Figure(
        "4a",
        "Figure 4(a): reached beta at the closeness of BUREL",
        f"3 QI. `{REFERENCE}` with each beta sets t. tMondrian and SABRE use it as their threshold. For the others, a "
        "search finds the beta that reaches at most that t; they are left out if they miss it by more than 10 %. A "
        "single class reaches 0 and has no place on the axis.",
        rows,
        "With all schemes tuned to the same t, BUREL gives consistently higher privacy by beta-likeness than SABRE "
        "and tMondrian.",
        f"For beta {listed(bench.settings.betas, 'd')} (t {listed(series(rows, REFERENCE, 'beta', 't'), '.3f')}), the "
        f"reached beta is {sentence_of(rows, 'beta')}. The claim {claim.verdict}.",
        [claim],
        picture_of(rows, Quantity("beta", "beta that BUREL promises (relative gain)", ticks=bench.settings.betas)),
        short=f"**At equal closeness.** {margins(rows, 'beta', SHOWN)} The claim that BUREL's is lower than "
        f"tMondrian's and SABRE's {claim.verdict}.",
    )
