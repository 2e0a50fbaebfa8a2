"""Perturbation: quasi-identifiers stay exact, each sensitive value is kept or replaced at random. Paper: Section 5.

Why the promise is kept, and where Theorem 3 does not hold: docs/explanation/perturbation.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from betalike.errors import InfeasibleError, SchemaError
from betalike.promises import Likeness, Transition, judge_transition
from betalike.promises.verdict import wording
from betalike.runtime.arrays import Floats, Ints
from betalike.runtime.randomness import Randomness, SystemRandomness
from betalike.schemes.perturbation.drawing import Draw
from betalike.schemes.perturbation.retention import best_retention, caps_of, shrunk, theorem_3
from betalike.table.axis import Axis

__all__ = ["Draw", "Perturbation", "Perturbing", "RetentionRule", "best_retention", "theorem_3"]

MOST_VALUES = 1_000  # the published matrix has the square of this many entries
MATERIAL_GAIN = 1.1  # keep the paper's rule unless the best one keeps values this much more often
SHRINKINGS = (0.0, *(2.0**-exponent for exponent in range(50, 0, -3)))


class RetentionRule(StrEnum):
    """Where the retentions come from."""

    THEOREM_3 = "theorem-3"
    BEST_RETENTION = "best-retention"


@dataclass(frozen=True)
class Perturbing:
    """How to perturb values: a matrix that keeps the promise, and the rule behind it."""

    transition: Transition
    rule: RetentionRule

    def details(self, counts: Ints) -> Mapping[str, object]:
        """Return what the certificate reports about it."""
        return {"rule": str(self.rule), **retention_figures(self.transition, counts)}


def retention_figures(transition: Transition, counts: Ints) -> dict[str, float]:
    """Return the least and the greatest retention of a value, and the expected share of rows that keep theirs."""
    retention = transition.retention
    return {
        "least_retention": float(retention.min()),
        "greatest_retention": float(retention.max()),
        "kept_share": float(retention @ counts / counts.sum()),
    }


@dataclass(frozen=True)
class Perturbation:
    """Publishes exact quasi-identifiers with a sensitive value that is kept or replaced, row by row."""

    randomness: Randomness = field(default_factory=SystemRandomness)

    @property
    def name(self) -> str:
        """The scheme's name in a certificate and on the command line."""
        return "perturb"

    def perturbing(self, counts: Ints, model: Likeness, sensitive: Axis | None = None) -> Perturbing:
        """Return a matrix that exactly keeps the promise, for a table with these counts of sensitive values.

        A wider promise also needs the axis of the values.
        """
        if len(counts) > MOST_VALUES:
            raise SchemaError(
                f"the sensitive column has {len(counts)} values; perturbation publishes a matrix of all pairs, and "
                f"takes at most {MOST_VALUES}. Group the values first, or choose another scheme."
            )
        rule, retention = choose_retention(*caps_of(model, counts, sensitive))
        retention = shrunk(retention, counts, model, sensitive)
        perturbing = Perturbing(_round(retention, counts, model, sensitive), rule)
        n_rows = int(counts.sum())
        kept = retention_figures(perturbing.transition, counts)["kept_share"] * n_rows
        if kept < 1:
            raise InfeasibleError(
                f"under {wording(model)} less than one of the table's {n_rows} rows is expected to keep its "
                f"sensitive value ({kept:.2g}), so the published column would say almost nothing about the "
                "original one. Promise less, such as a larger beta, or publish the overall distribution alone: scheme "
                "'baseline'."
            )
        return perturbing

    def draw(self, transition: Transition) -> Draw:
        """Return draws with a fresh key, which is never stored."""
        return Draw(transition, self.randomness.words(4))


def choose_retention(prior: Floats, cap: Floats) -> tuple[RetentionRule, Floats]:
    """Return the paper's retentions where they hold, unless the best ones keep values clearly more often."""
    if (cap <= prior).any():  # a cap allows no gain at all, so nothing may be kept
        return RetentionRule.BEST_RETENTION, np.zeros(len(prior))
    paper, best = theorem_3(prior, cap), best_retention(prior, cap)
    if paper is not None and np.log(best).mean() <= np.log(paper).mean() + np.log(MATERIAL_GAIN):
        return RetentionRule.THEOREM_3, paper
    return RetentionRule.BEST_RETENTION, best


def _round(retention: Floats, counts: Ints, model: Likeness, sensitive: Axis | None) -> Transition:
    """Round the retentions to whole units, shrunk as little as possible so that they keep the promise exactly.

    Shrinking helps, because all-zero retentions keep the promise with room to spare and the allowed set is convex.
    There is no room, not even for the last digit of a chance, only if a cap equals the prior.
    """
    for shrinking in SHRINKINGS:
        transition = Transition.of_retention(retention * (1 - shrinking))
        if judge_transition(model, transition, counts, sensitive).holds:
            return transition
    raise InfeasibleError(
        f"{wording(model)} leaves no room for any value to be kept: for some value the promise allows no gain at all. "
        "Promise less, such as a larger beta or a higher cap, or publish the overall distribution alone: scheme "
        "'baseline'."
    )
