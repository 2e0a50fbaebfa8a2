"""Perturbation: quasi-identifiers stay exact, each sensitive value is drawn again. Paper: Section 5.

Why the promise is kept, and where Theorem 3 does not hold: docs/explanation/perturbation.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from betalike.errors import InfeasibleError, ParameterError, SchemaError
from betalike.promises import Likeness, Transition, judge_transition
from betalike.promises.parameters import choose
from betalike.promises.verdict import wording
from betalike.runtime.arrays import Floats, Ints
from betalike.runtime.randomness import Randomness, SystemRandomness
from betalike.schemes.perturbation.drawing import Draw
from betalike.schemes.perturbation.retention import best_retention, caps_of, no_room, shrunk, theorem_3
from betalike.schemes.perturbation.sets import fit_sets, name_sets
from betalike.table.axis import Axis
from betalike.table.joint import JointAxis

__all__ = ["Draw", "DrawingRule", "Mechanism", "Perturbation", "Perturbing", "best_retention", "theorem_3"]

MATERIAL_GAIN = 1.1  # keep the paper's rule unless the best one keeps values this much more often
SHRINKINGS = (0.0, *(2.0**-exponent for exponent in range(50, 0, -3)))


class Mechanism(StrEnum):
    """What a row shows in place of its sensitive value: one value, or several of which one is likely the true one."""

    MATRIX = "matrix"
    SETS = "sets"


# The published matrix has the square of this many entries, or for sets a multiple of it.
MOST_VALUES = {Mechanism.MATRIX: 1_000, Mechanism.SETS: 200}


class DrawingRule(StrEnum):
    """Where the chances come from."""

    THEOREM_3 = "theorem-3"
    BEST_RETENTION = "best-retention"
    SETS = "sets"

    @staticmethod
    def of(details: Mapping[str, object]) -> DrawingRule:
        """Return the rule that a certificate names; rules about retention give matrices of the same form."""
        return DrawingRule.SETS if details.get("rule") == DrawingRule.SETS else DrawingRule.BEST_RETENTION


@dataclass(frozen=True)
class Perturbing:
    """How to perturb values: a matrix that keeps the promise, and the rule behind it."""

    transition: Transition
    rule: DrawingRule

    def labels(self, counts: Mapping[str, int]) -> list[str]:
        """Return what each column of the matrix is published as, given how often each value occurs.

        ValueError if the matrix cannot be one of this rule.
        """
        if self.rule is DrawingRule.SETS:
            return name_sets(self.transition, np.array(list(counts.values()), dtype=np.int64), list(counts))
        if len(self.transition.units.T) != len(counts):
            raise ValueError("the matrix is not of the values")
        return list(counts)

    def by_label(self, counts: Mapping[str, int]) -> dict[str, dict[str, float]]:
        """Return the chance of each published label, given each original value."""
        return self.transition.by_label(list(counts), self.labels(counts))

    def figures(self, counts: Ints) -> dict[str, float]:
        """Return what can be recomputed from the matrix for the certificate."""
        return (set_figures if self.rule is DrawingRule.SETS else retention_figures)(self.transition, counts)

    def details(self, counts: Ints) -> Mapping[str, object]:
        """Return what the certificate reports about it."""
        return {"rule": str(self.rule), **self.figures(counts)}


def retention_figures(transition: Transition, counts: Ints) -> dict[str, float]:
    """Return the least and the greatest retention of a value, and the expected share of rows that keep theirs."""
    retention = transition.retention
    return {
        "least_retention": float(retention.min()),
        "greatest_retention": float(retention.max()),
        "kept_share": float(retention @ counts / counts.sum()),
    }


def set_figures(transition: Transition, counts: Ints) -> dict[str, float]:
    """Return the number of sets, how many values they name, and how often the true value is among them.

    `kept_share` is how far labels move the chances of values, on average: 1 if every row named its value alone.
    """
    likelier, prior = transition.likelier(counts), counts / counts.sum()
    chances = transition.probabilities
    named = float(prior @ (chances * likelier).sum(axis=1))
    return {
        "sets": len(likelier.T),
        "fewest_values": int(likelier.sum(axis=0).min()),
        "most_values": int(likelier.sum(axis=0).max()),
        "named_share": named,
        "kept_share": (named - float(prior @ chances @ (prior @ likelier))) / float(1 - prior @ prior),
    }


@dataclass(frozen=True)
class Perturbation:
    """Publishes exact quasi-identifiers beside a sensitive value that is drawn again, row by row."""

    mechanism: Mechanism = Mechanism.MATRIX
    randomness: Randomness = field(default_factory=SystemRandomness)

    def __post_init__(self) -> None:
        choose(Mechanism, self.mechanism, "mechanism")

    @property
    def name(self) -> str:
        """The scheme's name in a certificate and on the command line."""
        return "perturb"

    def perturbing(self, counts: Ints, model: Likeness, sensitive: Axis | None = None) -> Perturbing:
        """Return a matrix that exactly keeps the promise, for a table with these counts of sensitive values.

        A wider promise also needs the axis of the values.
        """
        _check_values(self.mechanism, len(counts), sensitive)
        if self.mechanism == Mechanism.SETS:
            perturbing = Perturbing(fit_sets(counts, model, sensitive), DrawingRule.SETS)
        else:
            rule, retention = choose_retention(*caps_of(model, counts, sensitive))
            retention = shrunk(retention, counts, model, sensitive)
            perturbing = Perturbing(_round(retention, counts, model, sensitive), rule)
        n_rows = int(counts.sum())
        kept = perturbing.figures(counts)["kept_share"] * n_rows
        if kept < 1:
            raise InfeasibleError(
                f"under {wording(model)} less than one of the table's {n_rows} rows is expected to keep its "
                f"sensitive value ({kept:.2g}), so the published column would say almost nothing about the "
                "original one. Promise less, such as a larger beta, or publish the overall distribution alone: scheme "
                "'baseline'."
            )
        return perturbing

    def draw(self, perturbing: Perturbing, counts: Mapping[str, int]) -> Draw:
        """Return draws with a fresh key, which is never stored."""
        labels = perturbing.labels(counts) if perturbing.rule is DrawingRule.SETS else None
        return Draw(perturbing.transition, self.randomness.words(4), labels)


def _check_values(mechanism: Mechanism, n_values: int, sensitive: Axis | None) -> None:
    """Refuse more values than a published matrix can have, and sets of combinations of several columns' values."""
    if mechanism == Mechanism.SETS and isinstance(sensitive, JointAxis):
        raise ParameterError(
            "the mechanism 'sets' publishes a set of values of one sensitive column, and several are named. Take the "
            "mechanism 'matrix', or publish each column by itself."
        )
    most = MOST_VALUES[mechanism]
    if n_values > most:
        raise SchemaError(
            f"the sensitive column has {n_values} values; perturbation publishes a matrix of all of them, and takes at "
            f"most {most} with the mechanism '{mechanism}'. Group the values first, or choose another scheme."
        )


def choose_retention(prior: Floats, cap: Floats) -> tuple[DrawingRule, Floats]:
    """Return the paper's retentions where they hold, unless the best ones keep values clearly more often."""
    if (cap <= prior).any():  # a cap allows no gain at all, so nothing may be kept
        return DrawingRule.BEST_RETENTION, np.zeros(len(prior))
    paper, best = theorem_3(prior, cap), best_retention(prior, cap)
    if paper is not None and np.log(best).mean() <= np.log(paper).mean() + np.log(MATERIAL_GAIN):
        return DrawingRule.THEOREM_3, paper
    return DrawingRule.BEST_RETENTION, best


def _round(retention: Floats, counts: Ints, model: Likeness, sensitive: Axis | None) -> Transition:
    """Round the retentions to whole units, shrunk as little as possible so that they keep the promise exactly.

    Shrinking helps, because all-zero retentions keep the promise with room to spare and the allowed set is convex.
    There is no room, not even for the last digit of a chance, only if a cap equals the prior.
    """
    for shrinking in SHRINKINGS:
        transition = Transition.of_retention(retention * (1 - shrinking))
        if judge_transition(model, transition, counts, sensitive).holds:
            return transition
    raise no_room(model)
