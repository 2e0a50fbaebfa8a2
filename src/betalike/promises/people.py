"""Promises counted in people: whether every class keeps them for the people in it, of whom each may have several rows.

A person has a set of values in a class if one of the person's rows there has a value of the set. A class is judged by
the share of its people who have each set, against the share of all people who do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from betalike.promises.rule import ANYTHING, Rule, is_allowed
from betalike.promises.sets import Sets
from betalike.promises.verdict import Model
from betalike.runtime.arrays import Ints
from betalike.runtime.compilation import kernel


@dataclass(frozen=True)
class Holdings:
    """Which person has which set of values in which class, each once; sorted by class, then by person."""

    ec: Ints
    person: Ints
    member: Ints
    n_sets: int

    @staticmethod
    def of(
        ec: NDArray[np.integer], person: NDArray[np.integer], value: NDArray[np.integer], sets: Sets, n_values: int
    ) -> Holdings:
        """Return the sets that people have, from the values of their rows."""
        number = np.repeat(np.arange(len(sets.first)), sets.last - sets.first + 1)
        places = np.concatenate([np.arange(a, b + 1) for a, b in zip(sets.first, sets.last, strict=True)])
        values = sets.order[places]
        number = number[np.argsort(values, kind="stable")]
        starts = np.searchsorted(np.sort(values), np.arange(n_values + 1))
        times = np.diff(starts)[value]
        row = np.repeat(np.arange(len(value)), times)
        inside = np.arange(len(row)) - np.repeat(np.cumsum(times) - times, times)
        member = number[starts[value][row] + inside]
        n_sets, n_people = len(sets.first), int(person.max(initial=-1)) + 1
        keys = (ec.astype(np.int64)[row] * n_people + person[row]) * n_sets + member
        distinct = np.unique(keys)
        who, member = np.divmod(distinct, n_sets)
        return Holdings(*np.divmod(who, n_people), member, n_sets)

    @property
    def totals(self) -> Ints:
        """How many people have each set of values somewhere."""
        pairs = np.unique(self.person * self.n_sets + self.member)
        return np.bincount(pairs % self.n_sets, minlength=self.n_sets)

    @property
    def n_people(self) -> int:
        """People in all classes together."""
        return len(np.unique(self.person))

    def people_per_class(self, n_classes: int) -> Ints:
        """Return how many people each class has."""
        is_first = np.append(True, (np.diff(self.ec) != 0) | (np.diff(self.person) != 0))[: len(self.ec)]
        return np.bincount(self.ec[is_first], minlength=n_classes)


@dataclass(frozen=True)
class PeopleVerdict:
    """Whether every class keeps a promise in people, the largest gain of a set of values, and the fewest people."""

    holds: bool
    n_people: int
    worst_gain: float
    smallest_class: int


def judge_in_people(model: Model | None, held: Holdings, prior: Holdings | None = None) -> PeopleVerdict:
    """Decide, exactly, whether every class keeps a promise in people; without a promise, only measure.

    The prior is what all people have: in these classes, or in the original table.
    """
    known, n_classes = held if prior is None else prior, int(held.ec.max()) + 1
    totals, n_people = known.totals, known.n_people
    sizes = held.people_per_class(n_classes)
    keys, counts = np.unique(held.ec * held.n_sets + held.member, return_counts=True)
    ec, member = np.divmod(keys, held.n_sets)
    starts = np.searchsorted(ec, np.arange(n_classes + 1))
    rule = ANYTHING if model is None else model.rule_in_people(totals, n_people, int(sizes.max()))
    allowed = _allowed(rule, starts, member, counts, sizes, held.n_sets)
    with np.errstate(divide="ignore"):
        gain = counts / sizes[ec] * n_people / totals[member] - 1
    return PeopleVerdict(bool(allowed.all()), held.n_people, float(gain.max()), int(sizes.min()))


@kernel
def _allowed(rule: Rule, starts: Ints, member: Ints, count: Ints, sizes: Ints, n_sets: int) -> NDArray[np.bool_]:
    """Return which of some classes meet every demand, by how many of their people have each set of values."""
    allowed = np.empty(len(starts) - 1, dtype=np.bool_)
    counts = np.zeros(n_sets, dtype=np.int64)
    for ec in range(len(allowed)):
        counts[:] = 0
        for i in range(starts[ec], starts[ec + 1]):
            counts[member[i]] = count[i]
        allowed[ec] = is_allowed(rule, counts, sizes[ec])
    return allowed
