"""k-anonymity: every class has several rows. Paper: Section 2, after Samarati."""

from __future__ import annotations

from dataclasses import dataclass

from betalike.errors import ParameterError
from betalike.promises.rule import ANYTHING, Rule
from betalike.promises.verdict import Verdict, apply, check_k, check_table, verdict_on
from betalike.runtime.arrays import Ints
from betalike.table.axis import Axis
from betalike.table.cells import ClassCounts


@dataclass(frozen=True)
class Anonymity:
    """The promise that every class has at least k rows; it says nothing of sensitive values."""

    k: int

    def __post_init__(self) -> None:
        check_k(self.k)
        if self.k == 1:
            raise ParameterError("k is 1, which every table has; k-anonymity needs a k of 2 or more.")

    @property
    def name(self) -> str:
        """The promise's name in a certificate."""
        return "k-anonymity"

    @property
    def parameters(self) -> dict[str, float | str]:
        """Nothing: k is told for every promise."""
        return {}

    @property
    def beta(self) -> None:
        """It has none."""

    def check_feasible(self, counts: Ints, sensitive: Axis) -> None:
        """Refuse a table with fewer than k rows, or with nothing to protect."""
        check_table(counts, self.k)

    def rule(self, counts: Ints, sensitive: Axis, largest_class: int = 0) -> Rule:
        """A least size."""
        return ANYTHING._replace(k=self.k)

    def judge(self, classes: ClassCounts, counts: Ints, sensitive: Axis) -> Verdict:
        """Decide whether every class is large enough."""
        return verdict_on(apply(self.rule(counts, sensitive), classes), self.k / classes.sizes, classes, counts)
