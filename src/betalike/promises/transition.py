"""Likeness by perturbation: how likely each value gets each published label, exactly. Paper: Section 5, Definition 6.

Probabilities are whole numbers of units of 1e-15, so that what is drawn, what is written in decimals and what is judged
are the same matrix to the last digit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from betalike.promises.demands import Demands
from betalike.promises.likeness import Likeness
from betalike.promises.sets import Columns, Sets
from betalike.promises.verdict import Verdict
from betalike.runtime.arrays import Floats, Ints
from betalike.table.axis import Axis

DECIMALS = 15
UNITS: int = 10**DECIMALS


@dataclass(frozen=True)
class Transition:
    """The chance, in units, that each original value (rows) is published as each label (columns). Paper: PM.

    A label is a value, or names several of them.
    """

    units: Ints

    def __post_init__(self) -> None:
        if self.units.ndim != 2 or min(self.units.shape) < 2:
            raise ValueError("a transition has two values and two labels or more")
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
        """Read decimals as `texts` writes them; anything else is a ValueError."""
        return Transition(np.array([[_units_of(text) for text in row] for row in rows], dtype=np.int64))

    def texts(self) -> list[list[str]]:
        """Return each chance as the exact decimal number, to the last digit."""
        return [[_text_of(units) for units in row] for row in self.units.tolist()]

    def by_label(self, values: Sequence[str], labels: Sequence[str]) -> dict[str, dict[str, float]]:
        """Return the chance of each published label, given the original value."""
        rows = self.probabilities.tolist()
        return {value: dict(zip(labels, row, strict=True)) for value, row in zip(values, rows, strict=True)}

    @property
    def probabilities(self) -> Floats:
        """The chances as floating-point numbers, for display and estimates."""
        return np.asarray(self.units / UNITS)

    @property
    def retention(self) -> Floats:
        """The chance that a value is kept and not replaced, if labels are values. Paper: alpha."""
        n_values = len(self.units)
        return (n_values * np.diagonal(self.probabilities) - 1) / (n_values - 1)

    @cached_property
    def cumulated(self) -> Ints:
        """Units of each row up to and with each value: where a draw falls."""
        return np.cumsum(self.units, axis=1)

    def published(self, counts: Ints) -> NDArray[np.object_]:
        """Return how many rows with each label to expect in the release, times UNITS, as exact integers."""
        return np.asarray(counts.astype(object) @ self.units.astype(object))

    def likelier(self, counts: Ints) -> NDArray[np.bool_]:
        """Whether each label (columns) makes each value (rows) likelier than it was before; decided with integers."""
        return np.asarray(self.units.astype(object) * int(counts.sum()) > self.published(counts), dtype=bool)

    def posterior(self, counts: Ints) -> Floats:
        """Return the chance of each original value (rows), given each label (columns); 0 if never published."""
        published = self.published(counts).astype(np.float64)
        joint = counts[:, None] * self.units.astype(np.float64)
        return np.divide(joint, published, out=np.zeros_like(joint), where=published > 0)


def judge_transition(model: Likeness, transition: Transition, counts: Ints, sensitive: Axis | None = None) -> Verdict:
    """Decide exactly whether no original value is likelier than its cap, whatever label is seen. Paper: Definition 6.

    A wider promise may have floors too, and be about sets of values; it needs the axis of the values. The worst class
    of the verdict is the published label that gives away most.
    """
    n_rows = int(counts.sum())
    demands = model.demands(counts, sensitive)
    allowed = _allowed(demands, transition, counts)
    prior = counts / n_rows
    posterior = transition.posterior(counts)
    gain = posterior / prior[:, None] - 1
    if isinstance(model.span, Columns):  # gains are those of each column's values, not of combinations
        shares = demands.sets.totals(counts) / n_rows
        gain = sums_over(demands.sets, posterior) / shares[:, None] - 1
    used = used_by_transition(demands, posterior, transition.published(counts) > 0)
    used = np.where(allowed, np.minimum(used, 1.0), used)
    worst, worst_seen = np.unravel_index(np.argmax(used), used.shape)
    inside = demands.sets.order[demands.sets.first[worst] : demands.sets.last[worst] + 1]
    return Verdict(
        holds=bool(allowed.all()),
        worst_gain=max(float(gain.max()), 0.0),
        worst_ratio=float(used.max()),
        worst_class=int(worst_seen),
        worst_value=int(inside[np.argmax((posterior / prior[:, None])[inside, worst_seen])]),
        smallest_class=0,  # there are no classes
    )


def _allowed(demands: Demands, transition: Transition, counts: Ints) -> NDArray[np.bool_]:
    """Whether each set of values keeps its cap and its floor, given each published label; decided with integers."""
    published = transition.published(counts)
    largest = int(counts.sum()) * UNITS  # fractions up to it are as good as the bounds: no posterior lies between
    joint = sums_over(demands.sets, transition.units.astype(object) * counts.astype(object)[:, None])
    allowed = np.ones(joint.shape, dtype=bool)
    for number, bound in enumerate(demands.caps):
        cap = bound.greatest_fraction(largest)
        allowed[number] = joint[number] * cap.denominator <= cap.numerator * published
    for number, bottom in enumerate(demands.floors):
        floor = bottom.least_fraction(largest)
        allowed[number] &= joint[number] * floor.denominator >= floor.numerator * published
    return allowed


def used_by_transition(demands: Demands, posterior: Floats, is_seen: NDArray[np.bool_]) -> Floats:
    """Return how much of what is allowed is used on each set (rows), given each label (columns), rounded."""
    share = sums_over(demands.sets, posterior)
    with np.errstate(divide="ignore", invalid="ignore"):
        used = share / demands.ceilings[:, None]
        if demands.floors:
            used = np.fmax(used, demands.bottoms[:, None] / share)
    return np.where(is_seen[None, :], used, 0.0)


def sums_over(sets: Sets, of_values: NDArray[Any]) -> NDArray[Any]:
    """Return sums over the values of each set; of rounded numbers, no sum is a difference, which would lose digits."""
    if np.array_equal(sets.first, sets.last):  # every value by itself
        return of_values[sets.order[sets.first]]
    nothing, ordered = np.zeros_like(of_values[:1]), of_values[sets.order]
    if ordered.dtype.kind == "f":
        ends = np.column_stack([sets.first, sets.last + 1]).ravel()
        return np.asarray(np.add.reduceat(np.concatenate([ordered, nothing]), ends, axis=0)[::2])
    up_to = np.concatenate([nothing, np.cumsum(ordered, axis=0)])
    return np.asarray(up_to[sets.last + 1] - up_to[sets.first])


def _text_of(units: int) -> str:
    """Return units as a decimal number.

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
