"""k-anonymity: every class has several rows. Paper: Section 2, after Samarati."""

from __future__ import annotations

from dataclasses import dataclass

from betalike.errors import ParameterError
from betalike.promises.rule import ANYTHING, Rule
from betalike.promises.verdict import Model, Verdict, apply, verdict_on
from betalike.runtime.arrays import Ints
from betalike.table.axis import Axis
from betalike.table.cells import ClassCounts


@dataclass(frozen=True)
class Anonymity(Model):
    """The promise that every class has at least k rows; it says nothing about sensitive values."""

    k: int

    name = "k-anonymity"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k == 1:
            raise ParameterError("k is 1, which every table has; k-anonymity needs a k of 2 or more.")

    def rule(self, counts: Ints, sensitive: Axis, largest_class: int = 0) -> Rule:
        """Return a least size."""
        return ANYTHING._replace(k=self.k)

    def rule_in_people(self, totals: Ints, n_people: int, largest_class: int = 0) -> Rule:
        """Return a least number of people."""
        return ANYTHING._replace(k=self.k)

    def judge(self, classes: ClassCounts, counts: Ints, sensitive: Axis) -> Verdict:
        """Decide whether every class is large enough."""
        return verdict_on(apply(self.rule(counts, sensitive), classes), self.k / classes.sizes, classes, counts)
