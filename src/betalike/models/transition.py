"""Likeness by perturbation: how likely each value is published as each other, exactly. Paper: Section 5, Definition 6.

Probabilities are whole numbers of units of 1e-15, so that what is drawn, what is written in decimals and what is judged
are the same matrix to the last digit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from betalike.models.likeness import Likeness, Verdict, posterior_cap

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

DECIMALS = 15
UNITS: int = 10**DECIMALS


@dataclass(frozen=True)
class Transition:
    """The chance, in units, that each original value (rows) is published as each value (columns). Paper: PM."""

    units: Ints

    def __post_init__(self) -> None:
        n_values = len(self.units)
        if self.units.shape != (n_values, n_values) or n_values < 2:
            raise ValueError("a transition is a square of two values or more")
        if (self.units < 0).any() or (self.units > UNITS).any() or (self.units.sum(axis=1) != UNITS).any():
            raise ValueError("the chances of each original value are not negative and add up to 1")

    @staticmethod
    def of_retention(retention: Floats) -> Transition:
        """Keep a value with the chance of its retention, else replace it by any value, each as likely as the others.

        Rounded towards less retention. Paper: Eq. 12, alpha.
        """
        n_values = len(retention)
        move = np.ceil((1 - retention) / n_values * UNITS).astype(np.int64)
        move = np.minimum(move, UNITS // (n_values - 1))
        units = np.repeat(move[:, None], n_values, axis=1)
        np.fill_diagonal(units, UNITS - (n_values - 1) * move)
        return Transition(units)

    @staticmethod
    def from_texts(rows: Sequence[Sequence[str]]) -> Transition:
        """The matrix behind decimals as `texts` writes them; anything else is a ValueError."""
        return Transition(np.array([[_units_of(text) for text in row] for row in rows], dtype=np.int64))

    def texts(self) -> list[list[str]]:
        """Each chance as the decimal number that it is, to the last digit."""
        return [[_text_of(units) for units in row] for row in self.units.tolist()]

    @property
    def probabilities(self) -> Floats:
        """The chances as floating-point numbers, for display and estimates."""
        return np.asarray(self.units / UNITS)

    @property
    def retention(self) -> Floats:
        """The chance that a value is kept and not replaced, whatever it is replaced by. Paper: alpha."""
        n_values = len(self.units)
        return (n_values * np.diagonal(self.probabilities) - 1) / (n_values - 1)

    @cached_property
    def cumulated(self) -> Ints:
        """Units of each row up to and with each value: where a draw falls."""
        return np.cumsum(self.units, axis=1)

    def published(self, counts: Ints) -> NDArray[np.object_]:
        """How many rows of each value are to be expected in the release, times UNITS, as exact integers."""
        return np.asarray(counts.astype(object) @ self.units.astype(object))

    def posterior(self, counts: Ints) -> Floats:
        """Chance of each original value (rows) for whoever sees each published one (columns); 0 if never published."""
        published = self.published(counts).astype(np.float64)
        joint = counts[:, None] * self.units.astype(np.float64)
        return np.divide(joint, published, out=np.zeros_like(joint), where=published > 0)


def judge_transition(model: Likeness, transition: Transition, counts: Ints) -> Verdict:
    """Decide exactly whether no original value is likelier than its cap, whatever value is seen. Paper: Definition 6.

    The worst class of the verdict is the published value that tells most.
    """
    n_rows = int(counts.sum())
    published = transition.published(counts)
    allowed = np.zeros(transition.units.shape, dtype=bool)
    for value, bound in enumerate(model.bounds(counts)):
        cap = bound.greatest_fraction(n_rows * UNITS)  # as good as the bound itself, for no posterior lies between
        joint = transition.units[value].astype(object) * int(counts[value])
        allowed[value] = joint * cap.denominator <= cap.numerator * published
    prior = counts / n_rows
    posterior = transition.posterior(counts)
    ratio = posterior / posterior_cap(prior, float(model.beta), model.form)[:, None]
    ratio = np.where(allowed, np.minimum(ratio, 1.0), ratio)
    worst_value, worst_seen = np.unravel_index(np.argmax(ratio), ratio.shape)
    return Verdict(
        holds=bool(allowed.all()),
        worst_gain=max(float((posterior / prior[:, None]).max()) - 1, 0.0),
        worst_ratio=float(ratio.max()),
        worst_class=int(worst_seen),
        worst_value=int(worst_value),
        smallest_class=0,  # there are no classes
    )


def _text_of(units: int) -> str:
    """Units as a decimal number.

    >>> _text_of(74218750000000), _text_of(0), _text_of(UNITS)
    ('0.07421875', '0', '1')
    """
    whole, rest = divmod(units, UNITS)
    return f"{whole}.{rest:0{DECIMALS}}".rstrip("0").removesuffix(".")


def _units_of(text: str) -> int:
    match: re.Match[str] | None = re.fullmatch(rf"([01])(?:\.(\d{{1,{DECIMALS}}}))?", text, flags=re.ASCII)
    if match is None:
        raise ValueError("not a chance as a decimal number")
    rest: str = match[2] or ""
    return int(match[1]) * UNITS + int(rest.ljust(DECIMALS, "0"))
