"""Figure 5: loss and time with beta."""

from __future__ import annotations

from betalike.report.charts import Quantity
from experiments.bench import Bench
from experiments.entrants import MONDRIAN, NARROWEST
from experiments.figure import (
    AGAINST_NARROWEST,
    FAILS,
    HOLDS,
    Claim,
    Figure,
    beats,
    burel_follows,
    counted_wins,
    falls,
    listed,
    series,
    verdicts,
)
from experiments.loss_and_time import SETTINGS, claims_of, in_words, measured, picture_of
from experiments.settings import BETA, BETA_TITLE


def run(bench: Bench) -> Figure:
    """Run every scheme that keeps beta-likeness, with each beta."""
    betas = bench.settings.betas
    rows = [row for beta in betas for row in measured(bench, "beta", beta, beta=beta)]
    losses = {name: series(rows, name, "beta", "loss") for name in dict.fromkeys(row["scheme"] for row in rows)}
    by_loss, by_time = claims_of(rows, "beta", 5)
    return Figure(
        "5",
        "Figure 5: loss and time with beta",
        f"3 QI. {SETTINGS}",
        rows,
        "As beta grows, the loss falls. BUREL has almost half the loss of LMondrian and DMondrian, in about half the "
        "time.",
        f"The losses for beta {listed(betas, 'd')} are "
        + "; ".join(f"`{name}` {listed(losses[name], '.3f')}" for name in losses if losses[name])
        + f". The claim that BUREL loses least {verdicts(by_loss)}. The claim that it is fastest {verdicts(by_time)}.",
        [
            burel_follows(rows, "beta", "loss", "5(a): BUREL's loss falls as beta grows", falls),
            *by_loss,
            _half(rows, "loss", "5(a): BUREL has almost half the loss of its Mondrian rivals"),
            _strictness(rows),
            *by_time,
            _half(rows, "time", "5(b): BUREL takes about half the time of its Mondrian rivals"),
        ],
        picture_of(rows, Quantity("beta", BETA_TITLE, ticks=betas)),
        short=f"**Loss.** With beta {BETA} and three quasi-identifiers the losses are "
        f"{in_words(rows, 'beta', 'loss', BETA, '.3g')}. The claim that BUREL loses least {verdicts(by_loss)}. "
        "Times to form these classes, in yardsticks, are "
        f"{in_words(rows, 'beta', 'time', BETA, '.3g')}.",
    )


def _half(rows: list[dict[str, float]], y: str, text: str) -> Claim:
    """Return each rival's figure in multiples of BUREL's, on average over beta."""
    ours = series(rows, "burel+split", "beta", y)
    times = {}
    for name in (*MONDRIAN, *NARROWEST):
        theirs = series(rows, name, "beta", y)
        times[name] = sum(theirs[beta] / ours[beta] for beta in ours) / len(ours)
    is_half = {name: times[name] >= 1.5 for name in times}
    verdict = (
        HOLDS if all(is_half.values()) else AGAINST_NARROWEST if all(is_half[name] for name in NARROWEST) else FAILS
    )
    shown = ", ".join(f"`{name}` {factor:.2f}" for name, factor in times.items())
    return Claim(text, verdict, f"As a multiple of `burel+split`, on average over beta: {shown}.")


def _strictness(rows: list[dict[str, float]]) -> Claim:
    """Compare LMondrian with its stricter sibling, each with the same attribute rule."""
    pairs = list(zip(MONDRIAN[:1] + NARROWEST[:1], MONDRIAN[1:] + NARROWEST[1:], strict=True))
    holds = all(beats(rows, "beta", "loss", one, [other]) for one, other in pairs)
    evidence = "; ".join(counted_wins(rows, "beta", "loss", one, [other]) for one, other in pairs)
    return Claim("5(a): LMondrian loses less than DMondrian", HOLDS if holds else FAILS, evidence + ".")
