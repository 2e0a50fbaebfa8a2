"""What every promise is and answers with, and what it asks of a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from betalike.errors import ParameterError, SchemaError
from betalike.promises.parameters import NUMBERS, check_parameter
from betalike.promises.rule import Rule, allowed_classes
from betalike.promises.sets import Sets
from betalike.runtime.arrays import Floats, Ints
from betalike.table.axis import Axis
from betalike.table.cells import ClassCounts

ParameterValue = float | str | bool | list[str]
NEAR = 0.9  # of what is allowed: classes that use so much of it are counted


@dataclass(frozen=True)
class Verdict:
    """Whether every class keeps the promise, and the class and value that come closest to breaking it.

    `worst_gain` is the largest (q - p) / p, whatever the promise; `worst_ratio` how much of what is allowed is used.
    `near_rows` are the rows of classes that use at least 90 % of it; None if there are no classes.
    """

    holds: bool
    worst_gain: float
    worst_ratio: float
    worst_class: int
    worst_value: int
    smallest_class: int
    near_rows: int | None = None


class Model(ABC):
    """A promise: demands on the counts of every class.

    Promises are frozen dataclasses. Their fields with the name of a parameter are checked, and certified, as such.
    """

    k: int  # least number of rows in a class
    beta: float | None = None  # by how much a value may become likelier; None if the promise is not about that

    def __post_init__(self) -> None:
        for field in self._declared():
            given = getattr(self, field.name)
            if given is not None or field.default is not None:
                object.__setattr__(self, field.name, check_parameter(field.name, given))

    def _declared(self) -> list[Field[Any]]:
        """Return the fields that are parameters of promises, except a cap, which is a function."""
        every: tuple[Field[Any], ...] = fields(self)  # type: ignore[arg-type]  # every promise is a dataclass
        return [field for field in every if field.name in ("k", *NUMBERS) and field.name != "cap"]

    @property
    @abstractmethod
    def name(self) -> str:
        """The promise's name in a certificate."""

    @property
    def parameters(self) -> dict[str, ParameterValue]:
        """The numbers that it was made with, except beta and k."""
        given = {field.name: getattr(self, field.name) for field in self._declared() if field.name not in ("beta", "k")}
        return {name: _plain(value) for name, value in given.items() if value is not None}

    def settle(self, counts: Ints, sensitive: Axis) -> Model:
        """Return the promise with everything decided that depends on the table; refuse values it cannot be about."""
        return self

    def check_feasible(self, counts: Ints, sensitive: Axis) -> None:
        """Refuse a table for which even a single class of all rows breaks the promise."""
        check_table(counts, self.k)

    @abstractmethod
    def rule(self, counts: Ints, sensitive: Axis, largest_class: int = 0) -> Rule:
        """Return the demands on classes of up to the table's size, or up to `largest_class` if that is greater."""

    @abstractmethod
    def judge(self, classes: ClassCounts, counts: Ints, sensitive: Axis) -> Verdict:
        """Decide, exactly, whether every class keeps the promise."""

    def sets(self, n_values: int, sensitive: Axis | None) -> Sets:
        """Return the sets of values that are promised together: mostly each value by itself."""
        return Sets.singletons(n_values)

    def rule_in_people(self, totals: Ints, n_people: int, largest_class: int = 0) -> Rule:
        """Return the demands on the people of a class, by the people who have each set of values in the table.

        Numbers that a rule has for values are here for sets of values, for classes of up to all people, or up to
        `largest_class` if that is greater. A person may have several of them, so promises
        about a whole distribution have no such rule.
        """
        raise ParameterError(
            f"{self.name} cannot be promised in people: it compares whole distributions, and a person with several "
            "rows may have several values. Promise likeness, delta-disclosure, distinct-l-diversity or k-anonymity, or "
            "leave the person column out."
        )


def _plain(value: Any) -> ParameterValue:
    if isinstance(value, bool):
        return value
    return str(value) if isinstance(value, str) else list(value) if isinstance(value, Sequence) else float(value)


def apply(rule: Rule, classes: ClassCounts) -> NDArray[np.bool_]:
    """Return which classes meet the demands of a rule."""
    return allowed_classes(rule, classes.starts, classes.value, classes.count, classes.n_values)


def verdict_on(allowed: NDArray[np.bool_], used: Floats, classes: ClassCounts, counts: Ints) -> Verdict:
    """Return the verdict of a promise about whole classes; `used` is how much of what is allowed each class uses."""
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
        near_rows=count_near(used, classes.sizes),
    )


def count_near(used: Floats, sizes: Ints) -> int:
    """Count the rows of classes that use at least 90 % of what is allowed, up to rounding."""
    return int(sizes[used >= NEAR - 1e-9].sum())


def worst_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict on a release from those on its parts; the worst class is one of its own part."""
    worst = max(verdicts, key=lambda verdict: verdict.worst_ratio)
    return replace(
        worst,
        holds=all(verdict.holds for verdict in verdicts),
        worst_gain=max(verdict.worst_gain for verdict in verdicts),
        smallest_class=min(verdict.smallest_class for verdict in verdicts),
        near_rows=sum(verdict.near_rows or 0 for verdict in verdicts),
    )


def wording(model: Model) -> str:
    """Describe a promise in a few words: its name and its numbers."""
    return wording_of(model.name, model.beta, model.k, model.parameters)


def wording_of(name: str, beta: float | None, k: int, parameters: Mapping[str, ParameterValue]) -> str:
    """Describe a promise in a few words, as a certificate has it."""
    numbers = {"beta": beta, **parameters, "k": k if k > 1 else None}
    words = [_word(parameter, given) for parameter, given in numbers.items() if not (given is None or given is False)]
    return f"{name} with {', '.join(words)}" if words else name


def _word(parameter: str, given: ParameterValue) -> str:
    words = parameter.replace("_", " ")
    if given is True:
        return words
    if isinstance(given, list):
        return f"{words} {' + '.join(given)}"
    return f"{words} {given}" if isinstance(given, str) else f"{words} {given:g}"


def one_class(counts: Ints) -> ClassCounts:
    """Return all rows of a table as a single class."""
    present = np.flatnonzero(counts)
    return ClassCounts.of(np.zeros_like(present), present, counts[present], len(counts))


def exact(number: float) -> Fraction:
    """Return a number as a fraction: the one typed or the one the machine holds, whichever is less.

    >>> exact(0.1)
    Fraction(1, 10)
    """
    return min(Fraction(number), Fraction(repr(float(number))))


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
