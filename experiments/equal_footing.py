"""Schemes with different promises on an equal footing: at the same closeness, or at the same loss. Paper: 6.1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from betalike.comparison.search import match
from betalike.report.charts import Picture, Quantity, line_chart
from experiments.bench import Bench, Outcome
from experiments.entrants import BUREL, ENTRANTS, KEEP_CLOSENESS
from experiments.figure import FAILS, HOLDS, UNKNOWN, WITH_SPLIT, Claim, Row, series

SHOWN = ("whole", "seam", *BUREL, "lmondrian", *KEEP_CLOSENESS)
ENDS = {"beta": (0.01, 10.0), "t": (0.001, 0.9)}
REFERENCE = "burel+split"
NEAR = 0.1  # share of a target by which a scheme may miss it and still be on an equal footing
FAR_MORE = 1.5  # times the loss
UNLESS_LOST = "holds unless a rival loses far more"


def reached(bench: Bench, name: str, parameter: float, setting: Mapping[str, float]) -> dict[str, Any]:
    """Return what a scheme reaches with this parameter."""
    return _row(name, bench.outcome(name, parameter), True, setting)


def at_closeness(bench: Bench, name: str, t: float, setting: Mapping[str, float]) -> dict[str, Any]:
    """Return a scheme at a closeness: with t itself if it promises that, else with the beta that reaches at most t."""
    if ENTRANTS[name].takes == "t":
        return reached(bench, name, t, setting)
    return _search(bench, name, t, lambda outcome: outcome.audit.t, True, setting)


def at_loss(bench: Bench, name: str, loss: float, setting: Mapping[str, float]) -> dict[str, Any]:
    """Return a scheme at a loss, by a search for its parameter; BUREL's loss is not above it, to be fair to rivals."""
    return _search(bench, name, loss, lambda outcome: outcome.loss, name in BUREL, setting)


def _search(
    bench: Bench,
    name: str,
    target: float,
    figure: Callable[[Outcome], float],
    at_most: bool,
    setting: Mapping[str, float],
) -> dict[str, Any]:
    def evaluate(parameter: float) -> tuple[float, Outcome]:
        outcome = bench.outcome(name, parameter)
        return figure(outcome), outcome

    ends = ENDS[ENTRANTS[name].takes]
    found = match(target, evaluate, *ends, steps=bench.settings.steps, at_most=at_most)
    return _row(name, found.result, abs(found.figure - target) <= NEAR * target, setting)


def _row(name: str, outcome: Outcome, is_met: bool, setting: Mapping[str, float]) -> dict[str, Any]:
    return {
        **setting,
        "scheme": name,
        "parameter": outcome.parameter,
        "reached_t": outcome.audit.t,
        "reached_beta": outcome.beta,
        "loss": outcome.loss,
        "classes": outcome.audit.classes,
        "is_met": "yes" if is_met else "no",
    }


def picture_of(rows: Sequence[Row], x: Quantity) -> Picture:
    """Plot the reached beta on a logarithmic axis, as in the paper; a single class has gain 0 and is not shown."""
    y = Quantity("reached_beta", "reached beta (relative gain, log scale)", is_logarithmic=True)
    return line_chart(met(rows), x, y)


def met(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of schemes that are on the equal footing."""
    return [row for row in rows if row["is_met"] == "yes"]


def claim_of(rows: Sequence[Row], x: str, text: str) -> Claim:
    """Judge whether BUREL reaches a lower beta than all schemes for t-closeness, as published or with the split."""
    evidence = margins(rows, x)
    missed = exceptions(rows, x, REFERENCE)
    if not rivals_of(rows, x, REFERENCE):
        return Claim(text, UNKNOWN, f"`{REFERENCE}` was not brought to an equal footing.")
    if not missed:
        return Claim(text, WITH_SPLIT if exceptions(rows, x, "burel") else HOLDS, evidence)
    ours = {row[x]: row for row in met(rows) if row["scheme"] == REFERENCE}
    verdict = UNLESS_LOST if all(row["loss"] > FAR_MORE * ours[row[x]]["loss"] for row in missed) else FAILS
    shown = "; ".join(_exception(row, ours[row[x]], f"{x.replace('wanted_', '')} {row[x]:.3g}") for row in missed)
    return Claim(text, verdict, f"{evidence} Exceptions: {shown}.")


def _exception(row: Row, ours: Row, where: str) -> str:
    classes = "one class" if row["classes"] == 1 else f"{row['classes']} classes"
    return (
        f"`{row['scheme']}` at {where} reaches {row['reached_beta']:.2f} with {classes} and a loss of "
        f"{row['loss']:.2f} (`{REFERENCE}`: {ours['reached_beta']:.2f} and {ours['loss']:.2f})"
    )


def rivals_of(rows: Sequence[Row], x: str, one: str, rivals: Sequence[str] = KEEP_CLOSENESS) -> list[Row]:
    """Return the rows of schemes (by default those for t-closeness) that one scheme can be compared with."""
    ours = series(met(rows), one, x, "reached_beta")
    return [row for row in met(rows) if row["scheme"] in rivals and row["scheme"] != one and row[x] in ours]


def exceptions(rows: Sequence[Row], x: str, one: str) -> list[Row]:
    """Return where a scheme for t-closeness reaches no more than one scheme."""
    ours = series(met(rows), one, x, "reached_beta")
    return [row for row in rivals_of(rows, x, one) if row["reached_beta"] <= ours[row[x]]]


def margins(rows: Sequence[Row], x: str, rivals: Sequence[str] = KEEP_CLOSENESS) -> str:
    """Return the rivals' reached beta in multiples of BUREL's."""
    ours = series(met(rows), REFERENCE, x, "reached_beta")
    times: dict[str, list[float]] = {}
    for row in rivals_of(rows, x, REFERENCE, rivals):
        times.setdefault(row["scheme"], []).append(row["reached_beta"] / ours[row[x]])
    parts = [f"`{name}` {_factor(min(of))} to {_factor(max(of))}" for name, of in times.items()]
    return f"Reached beta, in multiples of that of `{REFERENCE}`: {', '.join(parts)}."


def _factor(factor: float) -> str:
    return f"{factor:.0f}" if factor >= 10 else f"{factor:.2g}"


def sentence_of(rows: Sequence[Row], x: str) -> str:
    """Say in words what some schemes reach."""
    shown = ("whole", "seam", REFERENCE, "lmondrian", "tmondrian", "sabre", "sabre, counts")
    settings = dict.fromkeys(row[x] for row in rows)
    reached = {name: series(met(rows), name, x, "reached_beta") for name in shown}
    return "; ".join(
        f"`{name}` " + ", ".join(f"{of[at]:.2f}" if at in of else "(missed)" for at in settings)
        for name, of in reached.items()
    )


def spaced(low: float, high: float, count: int, digits: int) -> list[float]:
    """Return round figures, evenly spaced from one end to the other."""
    return [round(low + (high - low) * i / max(count - 1, 1), digits) for i in range(count)]
