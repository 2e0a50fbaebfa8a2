"""Delta-disclosure privacy: no value becomes much likelier, nor much less likely. Paper: Sections 2 and 6.2."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial

import numpy as np

from betalike.promises.caps import as_pairs, clip, settle, settle_above
from betalike.promises.rule import ANYTHING, Rule
from betalike.promises.verdict import Model, Verdict, apply, check_table, exact, verdict_on
from betalike.runtime.arrays import Ints
from betalike.table.axis import Axis
from betalike.table.cells import ClassCounts

MOST_DELTA = 100.0  # beyond it every share of every table is allowed, but not a value's absence


@dataclass(frozen=True)
class Disclosure(Model):
    """The promise |ln(q / p)| < delta for every value in every class; so each class holds every value."""

    delta: float
    k: int = 1

    name = "delta-disclosure"

    def rule(self, counts: Ints, sensitive: Axis, largest_class: int = 0) -> Rule:
        """Demand of each value more than p / e^delta and less than p e^delta; no fraction equals either."""
        n_rows = int(counts.sum())
        return self._rule(counts, n_rows, max(n_rows, largest_class))

    def rule_in_people(self, totals: Ints, n_people: int, largest_class: int = 0) -> Rule:
        """Demand the same of the share of people who have each value."""
        return self._rule(totals, n_people, max(n_people, largest_class))

    def _rule(self, counts: Ints, n_rows: int, largest: int) -> Rule:
        delta = min(exact(self.delta), Fraction(MOST_DELTA))
        limits = [_limits(Fraction(count, n_rows), delta, clip(largest)) for count in counts.tolist()]
        floor, cap = (as_pairs(fractions) for fractions in zip(*limits, strict=True))
        return ANYTHING._replace(
            k=self.k, cap_numerator=cap[0], cap_denominator=cap[1], floor_numerator=floor[0], floor_denominator=floor[1]
        )

    def judge(self, classes: ClassCounts, counts: Ints, sensitive: Axis) -> Verdict:
        """Decide, exactly, whether every class keeps the promise."""
        prior = (counts / counts.sum())[classes.value]
        with np.errstate(divide="ignore", over="ignore"):
            distance = np.abs(np.log(classes.count / classes.sizes[classes.ec] / prior)) / self.delta
        farthest = np.maximum.reduceat(distance, classes.starts[:-1])
        is_whole = np.diff(classes.starts) >= (counts > 0).sum()
        rule = self.rule(counts, sensitive, int(classes.sizes.max()))
        return verdict_on(apply(rule, classes), np.where(is_whole, farthest, np.inf), classes, counts)


@dataclass(frozen=True)
class DisclosureForLikeness(Model):
    """Delta-disclosure that is strict enough for enhanced beta-likeness; how strict depends on the table."""

    beta: float = field()  # must be given, although other promises have none
    k: int = 1

    name = "delta-disclosure"

    def settle(self, counts: Ints, sensitive: Axis) -> Disclosure:
        """Return the promise for a table with these counts of sensitive values."""
        check_table(counts, self.k)
        return Disclosure(delta_for(float(self.beta), counts), self.k)

    def rule(self, counts: Ints, sensitive: Axis, largest_class: int = 0) -> Rule:
        """Return the demands of the promise for this table."""
        return self.settle(counts, sensitive).rule(counts, sensitive, largest_class)

    def judge(self, classes: ClassCounts, counts: Ints, sensitive: Axis) -> Verdict:
        """Judge by the promise for this table."""
        return self.settle(counts, sensitive).judge(classes, counts, sensitive)


def delta_for(beta: float, counts: Ints) -> float:
    """Return the greatest delta under which enhanced beta-likeness holds for every value, rounded down. Paper: 6.2.

    >>> round(delta_for(4, np.array([2, 3, 4, 10])), 3)
    0.496
    """
    most_frequent = float(counts.max() / counts.sum())
    return math.log1p(min(beta, -math.log(most_frequent))) * (1 - 1e-12)


def _limits(prior: Fraction, delta: Fraction, largest: int) -> tuple[Fraction, Fraction]:
    """Return the least frequency above p / e^delta and the greatest below p e^delta, in classes of up to `largest`."""
    if prior == 0:
        return prior, prior

    def enclose(exponent: Fraction, digits: int) -> tuple[Fraction, Fraction]:
        low, high = _enclose_power(exponent, digits)
        return min(prior * low, Fraction(1)), min(prior * high, Fraction(1))

    return settle_above(partial(enclose, -delta), largest), settle(partial(enclose, delta), largest)


def _enclose_power(exponent: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return two fractions around e to an exponent of at most 100; the margin is far wider than the rounding."""
    with localcontext() as context:
        context.prec = digits
        power = Fraction((Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp())
    margin = power / 10 ** (digits - 10)
    return power - margin, power + margin
