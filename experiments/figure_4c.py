"""Figure 4(c): the beta that schemes reach at a given loss."""

from __future__ import annotations

from collections.abc import Sequence

from betalike.report.charts import Quantity
from experiments.bench import Bench
from experiments.equal_footing import REFERENCE, SHOWN, at_loss, claim_of, margins, met, picture_of, sentence_of, spaced
from experiments.figure import AGAINST_NARROWEST, FAILS, HOLDS, Claim, Figure, Row, beats, counted_wins, listed


def run(bench: Bench) -> Figure:
    """Search the parameter with which every scheme reaches each loss."""
    betas = bench.settings.betas
    most, least = (bench.outcome(REFERENCE, beta).loss for beta in (betas[0], betas[-1]))
    wanted = spaced(least, most, bench.settings.n_matches, 3)
    rows = [at_loss(bench, name, loss, {"wanted_loss": loss}) for loss in wanted for name in SHOWN]
    claim = claim_of(rows, "wanted_loss", "4(c): at a given loss, BUREL reaches a lower beta than tMondrian and SABRE")
    return Figure(
        "4c",
        "Figure 4(c): reached beta at a given loss",
        "3 QI. For every scheme, a search finds the beta or t that gives this loss (for BUREL, at most this loss). A "
        "scheme is left out if it misses the loss by more than 10 %.",
        rows,
        "At the same information loss, BUREL again gives the highest privacy, followed by SABRE and tMondrian.",
        f"For loss {listed(wanted)}, the reached beta is {sentence_of(rows, 'wanted_loss')}. The claim "
        f"{claim.verdict}.",
        [claim, _order(met(rows))],
        picture_of(rows, Quantity("wanted_loss", "average loss (share of each attribute's range)")),
        short=f"**At equal loss.** {margins(rows, 'wanted_loss', SHOWN)} The claim that BUREL's is lower than "
        f"tMondrian's and SABRE's {claim.verdict}.",
    )


def _order(rows: Sequence[Row]) -> Claim:
    """Whether SABRE as published reaches a lower beta than tMondrian with either attribute rule."""
    rules = ("tmondrian", "tmondrian, narrowest")
    won = [beats(rows, "wanted_loss", "reached_beta", "sabre, counts", [rule]) for rule in rules]
    verdict = HOLDS if all(won) else AGAINST_NARROWEST if won[1] else FAILS
    evidence = "; ".join(
        counted_wins(rows, "wanted_loss", "reached_beta", sabre, rules) for sabre in ("sabre", "sabre, counts")
    )
    return Claim("4(c): at a given loss, SABRE reaches a lower beta than tMondrian", verdict, evidence + ".")
