"""l-diversity: every class holds several well represented values. Paper: Section 2, after Machanavajjhala et al."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from enum import StrEnum
from fractions import Fraction

import numpy as np

from betalike.errors import ParameterError
from betalike.promises.caps import DIGITS, clip, fraction_below
from betalike.promises.parameters import LARGEST_COUNT, choose
from betalike.promises.rule import ANYTHING, Rule, entropy_of
from betalike.promises.verdict import Model, ParameterValue, Verdict, apply, exact, one_class, verdict_on
from betalike.runtime.arrays import Ints
from betalike.table.axis import Axis
from betalike.table.cells import ClassCounts

BORDER = 1e-9  # entropies as near to the limit as this are decided exactly


class Variety(StrEnum):
    """How values are counted for l-diversity."""

    DISTINCT = "distinct"
    ENTROPY = "entropy"
    RECURSIVE = "recursive"


@dataclass(frozen=True)
class Diversity(Model):
    """The promise that every class has l values: distinct ones, as many as its entropy is worth, or (c, l)-recursively.

    Recursively: the most frequent value is rarer than c times all from the l-th most frequent on.
    """

    l: float  # noqa: E741 - the name that everybody uses
    variety: Variety | str = Variety.DISTINCT
    c: float = 1.0
    k: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "variety", choose(Variety, self.variety, "variety"))
        super().__post_init__()
        if self.variety is not Variety.ENTROPY and self.l != int(self.l):
            raise ParameterError(f"l is {self.l}; it must be a whole number of 1 or more (any from 1 on for entropy).")

    @property
    def name(self) -> str:
        """The promise's name in a certificate."""
        return f"{self.variety}-l-diversity"

    @property
    def parameters(self) -> dict[str, ParameterValue]:
        """l, and c where it counts."""
        given = super().parameters
        return given if self.variety is Variety.RECURSIVE else {"l": given["l"]}

    @property
    def _n_values(self) -> int:
        """How many values are asked for, at most as many as a table can have."""
        return min(int(self.l), LARGEST_COUNT)

    def check_feasible(self, counts: Ints, sensitive: Axis) -> None:
        """Refuse a table for which even a single class of all rows breaks the promise."""
        super().check_feasible(counts, sensitive)
        if not self.judge(one_class(counts), counts, sensitive).holds:
            wish = f"l {self.l:g}" + (f" and c {self.c:g}" if self.variety is Variety.RECURSIVE else "")
            raise ParameterError(
                f"the whole table does not have {self.name} with {wish}, so no release of it can. Choose a smaller l"
                + (" or a larger c." if self.variety is Variety.RECURSIVE else ".")
            )

    def rule(self, counts: Ints, sensitive: Axis, largest_class: int = 0) -> Rule:
        """Return the demand of the chosen variety."""
        if self.variety is Variety.DISTINCT:
            return ANYTHING._replace(k=self.k, least_distinct=self._n_values)
        if self.variety is Variety.ENTROPY:
            return ANYTHING._replace(k=self.k, least_worth=float(self.l))
        largest = clip(max(int(counts.sum()), largest_class))
        ratio = min(exact(self.c), Fraction(largest + 1))  # no count is more times the tail
        part = fraction_below(ratio - math.floor(ratio), largest)
        return ANYTHING._replace(
            k=self.k,
            rank=self._n_values,
            ratio_whole=math.floor(ratio),
            ratio_numerator=part.numerator,
            ratio_denominator=part.denominator,
            is_ratio_allowed=math.floor(ratio) + part < ratio,  # the fraction in its place is below it
        )

    def rule_in_people(self, totals: Ints, n_people: int, largest_class: int = 0) -> Rule:
        """Demand as many distinct values; the other varieties are about whole distributions."""
        if self.variety is not Variety.DISTINCT:
            return super().rule_in_people(totals, n_people)
        return ANYTHING._replace(k=self.k, least_distinct=self._n_values)

    def judge(self, classes: ClassCounts, counts: Ints, sensitive: Axis) -> Verdict:
        """Decide, exactly, whether every class keeps the promise."""
        allowed = apply(self.rule(counts, sensitive, int(classes.sizes.max())), classes)
        parts = np.split(classes.count, classes.starts[1:-1])
        used = np.array([self._used(part) for part in parts])
        if self.variety is Variety.ENTROPY:
            for ec in np.flatnonzero((np.abs(np.log(used)) < BORDER) & (classes.sizes >= self.k)):
                allowed[ec] = has_entropy(parts[ec].tolist(), max(Fraction(self.l), Fraction(repr(float(self.l)))))
        return verdict_on(allowed, used, classes, counts)

    def _used(self, counts: Ints) -> float:
        """Return how much of what is allowed a class uses."""
        if self.variety is Variety.DISTINCT:
            return float(self.l / len(counts))
        if self.variety is Variety.ENTROPY:
            return float(self.l / 2 ** entropy_of(counts, int(counts.sum())))
        ordered = np.sort(counts)[::-1]
        tail = int(ordered[self._n_values - 1 :].sum())
        with np.errstate(over="ignore"):  # a tiny c makes it infinite
            return float(ordered[0] / tail / self.c) if tail else math.inf


def has_entropy(counts: list[int], least: Fraction) -> bool:
    """Whether e to the entropy of some counts is at least this, decided exactly.

    >>> has_entropy([4, 1, 1, 1, 1], Fraction(4)), has_entropy([5, 1, 1, 1, 1], Fraction(4))
    (True, False)
    """
    divisor = math.gcd(*counts)
    reduced = [count // divisor for count in counts]
    size = sum(reduced)
    with localcontext() as context:
        context.prec = DIGITS
        wanted = size * (Decimal(least.numerator).ln() - Decimal(least.denominator).ln())
        gap = size * Decimal(size).ln() - sum((n * Decimal(n).ln() for n in reduced), Decimal(0)) - wanted
    if abs(gap) > Decimal(10) ** (20 - DIGITS):
        return gap > 0
    # Too close for logarithms: the same with whole numbers, which are large but few.
    product = math.prod(count**count for count in reduced)
    return bool(least.numerator**size * product <= (least.denominator * size) ** size)
