"""What every promise answers with, and what every promise asks of its parameters and of a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral, Real
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from betalike.errors import ParameterError, SchemaError
from betalike.promises.rule import Rule, allowed_classes
from betalike.runtime.arrays import Floats, Ints
from betalike.table.axis import Axis
from betalike.table.cells import ClassCounts

LARGEST_COUNT = 2**53  # rows that can be counted and compared without rounding


@dataclass(frozen=True)
class Verdict:
    """Whether every class keeps the promise, and the class and value that come closest to breaking it.

    `worst_gain` is the largest (q - p) / p, whatever the promise; `worst_ratio` how much of what is allowed is used.
    """

    holds: bool
    worst_gain: float
    worst_ratio: float
    worst_class: int
    worst_value: int
    smallest_class: int


class Model(Protocol):
    """A promise: demands on the counts of every class."""

    @property
    def name(self) -> str:
        """The promise's name in a certificate."""
        ...

    @property
    def parameters(self) -> Mapping[str, float | str | bool | list[str]]:
        """What it was asked with, besides beta and k."""
        ...

    @property
    def beta(self) -> float | None:
        """By how much a value may become likelier; None if the promise is not about that."""
        ...

    @property
    def k(self) -> int:
        """Least number of rows in a class."""
        ...

    def check_feasible(self, counts: Ints, sensitive: Axis) -> None:
        """Refuse a table for which even a single class of all rows breaks the promise."""
        ...

    def rule(self, counts: Ints, sensitive: Axis, largest_class: int = 0) -> Rule:
        """The demands on classes of up to the table's size, or up to `largest_class` if that is greater."""
        ...

    def judge(self, classes: ClassCounts, counts: Ints, sensitive: Axis) -> Verdict:
        """Decide, exactly, whether every class keeps the promise."""
        ...


def apply(rule: Rule, classes: ClassCounts) -> NDArray[np.bool_]:
    """Which classes meet the demands of a rule."""
    return allowed_classes(rule, classes.starts, classes.value, classes.count, classes.n_values)


def verdict_on(allowed: NDArray[np.bool_], used: Floats, classes: ClassCounts, counts: Ints) -> Verdict:
    """The verdict of a promise about whole classes; `used` is how much of what is allowed each class uses."""
    with np.errstate(divide="ignore"):
        gain = classes.count / classes.sizes[classes.ec] / (counts / counts.sum())[classes.value] - 1
    used = np.where(allowed, np.minimum(used, 1.0), used)
    worst = int(np.argmax(np.where(allowed, 0.0, 1.0) + np.minimum(used, 1e9)))
    inside = slice(int(classes.starts[worst]), int(classes.starts[worst + 1]))
    return Verdict(
        holds=bool(allowed.all()),
        worst_gain=float(gain.max()),
        worst_ratio=float(used[worst]),
        worst_class=worst,
        worst_value=int(classes.value[inside][np.argmax(gain[inside])]),
        smallest_class=int(classes.sizes.min()),
    )


def worst_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on a release from those on its parts; the worst class is one of its own part."""
    worst = max(verdicts, key=lambda verdict: verdict.worst_ratio)
    return replace(
        worst,
        holds=all(verdict.holds for verdict in verdicts),
        worst_gain=max(verdict.worst_gain for verdict in verdicts),
        smallest_class=min(verdict.smallest_class for verdict in verdicts),
    )


def wording(model: Model) -> str:
    """A promise in a few words: its name and its numbers."""
    beta = {} if model.beta is None else {"beta": float(model.beta)}
    return wording_of(model.name, {**beta, **model.parameters, **({"k": model.k} if model.k > 1 else {})})


def wording_of(name: str, numbers: Mapping[str, float | str | bool | list[str]]) -> str:
    """A promise in a few words, from its name and its numbers."""
    told = [_word(parameter, given) for parameter, given in numbers.items() if given is not False]
    return f"{name} with {', '.join(told)}" if told else name


def _word(parameter: str, given: float | str | bool | list[str]) -> str:
    words = parameter.replace("_", " ")
    if given is True:
        return words
    if isinstance(given, list):
        return f"{words} {' + '.join(given)}"
    return f"{words} {given}" if isinstance(given, str) else f"{words} {given:g}"


def one_class(counts: Ints) -> ClassCounts:
    """All rows of a table as a single class."""
    present = np.flatnonzero(counts)
    return ClassCounts.of(np.zeros_like(present), present, counts[present], len(counts))


def exact(number: float) -> Fraction:
    """A number as a fraction: the one typed or the one the machine holds, whichever is less.

    >>> exact(0.1)
    Fraction(1, 10)
    """
    return min(Fraction(number), Fraction(repr(float(number))))


def check_positive(name: str, number: object, example: float) -> None:
    """Refuse a parameter that is no positive number."""
    if isinstance(number, bool) or not isinstance(number, Real) or not math.isfinite(number):
        raise ParameterError(f"{name} is {number!r}; it must be a number greater than 0, such as {example:g}.")
    if number <= 0:
        raise ParameterError(f"{name} is {number}; it must be greater than 0, such as {example:g}.")


def check_k(k: object) -> None:
    """Refuse a least class size that is no positive whole number."""
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise ParameterError(f"k is {k!r}; it must be a whole number of 1 or more.")
    if int(k) > LARGEST_COUNT:
        raise ParameterError(f"k is {k}, which is more rows than any table has. Choose a smaller k.")


def check_table(counts: Ints, k: int) -> None:
    """Refuse a table with fewer than k rows, or with nothing to protect."""
    n_rows, present = int(counts.sum()), int((counts > 0).sum())
    if k > n_rows:
        raise ParameterError(f"k is {k}, but the table has only {n_rows} rows. Choose a smaller k.")
    if present < 2:
        raise SchemaError(
            f"the sensitive column has {present} distinct value, so everybody's is known beforehand and there is "
            "nothing to protect. Choose a sensitive column with at least two values."
        )
