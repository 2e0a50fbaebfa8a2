"""The result of an experiment: figures as rows, a picture, words, and a verdict on the paper's claims."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from betalike.report.charts import Picture
from experiments.entrants import BUREL, MONDRIAN, NARROWEST

Row = Mapping[str, Any]

HOLDS, FAILS, UNKNOWN = "holds", "does not hold", "cannot be judged here"
WITH_SPLIT = "holds only with the split"
AGAINST_NARROWEST = "holds only against the narrowest rule"
WITH_BOTH = "holds only with the split and against the narrowest rule"
VERDICTS = (HOLDS, WITH_SPLIT, AGAINST_NARROWEST, WITH_BOTH)
RIVALS = ("LMondrian", "DMondrian")
SLACK = 0.02  # a step this small against the trend is chance: the seed, or the queries drawn


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, whether it holds here, and the figures."""

    text: str
    verdict: str
    evidence: str


@dataclass(frozen=True)
class Figure:
    """A figure or table of the paper, repeated; `short` is a summary for a reader in a hurry."""

    key: str
    title: str
    settings: str
    rows: Sequence[Row]
    paper: str
    seen: str
    claims: Sequence[Claim] = ()
    picture: Picture | None = None
    table: Sequence[Row] = ()
    short: str = ""

    @property
    def file(self) -> str:
        """The name of its files, without a suffix."""
        return self.title.split(":")[0].lower().replace(" ", "-").replace("(", "").replace(")", "")


def series(rows: Sequence[Row], scheme: str, x: str, y: str) -> dict[Any, float]:
    """Return the figures of a scheme, by what was varied."""
    return {row[x]: row[y] for row in rows if row["scheme"] == scheme and row[y] is not None}


def listed(figures: Mapping[Any, float] | Sequence[float], form: str = ".3g") -> str:
    """Join figures with commas.

    >>> listed([0.5, 0.25])
    '0.5, 0.25'
    """
    values = figures.values() if isinstance(figures, Mapping) else figures
    return ", ".join(format(value, form) for value in values)


def wins(rows: Sequence[Row], x: str, y: str, one: str, other: str) -> tuple[int, int]:
    """Count the settings in which one scheme has a lower figure than the other, and all settings."""
    ours, theirs = series(rows, one, x, y), series(rows, other, x, y)
    both = [at for at in ours if at in theirs]
    return sum(ours[at] < theirs[at] for at in both), len(both)


def counted_wins(rows: Sequence[Row], x: str, y: str, one: str, others: Sequence[str]) -> str:
    """Say in words how often a scheme is below each of some others."""
    parts = []
    for other in others:
        won, of = wins(rows, x, y, one, other)
        parts.append(f"`{other}` in {won} of {of}")
    return f"`{one}` is below " + ", ".join(parts)


def beats(rows: Sequence[Row], x: str, y: str, one: str, others: Sequence[str]) -> bool:
    """Whether a scheme has the lower figure in every setting."""
    return all(won == of > 0 for won, of in (wins(rows, x, y, one, other) for other in others))


def burel_beats(rows: Sequence[Row], x: str, y: str, text: str) -> list[Claim]:
    """Return the claims that BUREL is below LMondrian and below DMondrian; {} in the text stands for either."""
    pairs = zip(RIVALS, MONDRIAN, NARROWEST, strict=True)
    return [burel_beats_one(rows, x, y, text.format(name), *rules) for name, *rules in pairs]


def burel_beats_one(rows: Sequence[Row], x: str, y: str, text: str, widest: str, narrowest: str) -> Claim:
    """Return the claim that BUREL is below a rival: as published, else with the split, else with the narrowest rule."""
    rivals = [widest, narrowest]
    tried = [(one, against) for against in (rivals, [narrowest]) for one in BUREL]
    won = [beats(rows, x, y, one, against) for one, against in tried]
    verdict = VERDICTS[won.index(True)] if any(won) else FAILS
    return Claim(text, verdict, "; ".join(counted_wins(rows, x, y, one, rivals) for one in BUREL) + ".")


def verdicts(claims: Sequence[Claim]) -> str:
    """Say in words whether the claims about LMondrian and DMondrian hold."""
    return " and ".join(f"{claim.verdict} ({name})" for name, claim in zip(RIVALS, claims, strict=True))


def falls(figures: Mapping[Any, float], slack: float = 0.0) -> bool:
    """Whether each figure is below the one before; a slack allows a small rise."""
    steps = itertools.pairwise(figures.values())
    return all(after <= before * (1 + slack) if slack else after < before for before, after in steps)


def rises(figures: Mapping[Any, float], slack: float = 0.0) -> bool:
    """Whether each figure is above the one before; a slack allows a small fall."""
    steps = itertools.pairwise(figures.values())
    return all(after >= before * (1 - slack) if slack else after > before for before, after in steps)


def burel_follows(rows: Sequence[Row], x: str, y: str, text: str, is_as_claimed: Any, form: str = ".3g") -> Claim:
    """Return the claim that BUREL's figures rise or fall: as published, else with the split."""
    of = {name: series(rows, name, x, y) for name in BUREL}
    verdict = HOLDS if is_as_claimed(of["burel"]) else WITH_SPLIT if is_as_claimed(of["burel+split"]) else FAILS
    return Claim(text, verdict, "; ".join(f"`{name}`: {listed(figures, form)}" for name, figures in of.items()) + ".")
