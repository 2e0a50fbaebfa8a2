"""Delta-disclosure privacy: no value becomes much likelier, nor much less likely. Paper: Sections 2 and 6.2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from betalike.promises.caps import LARGEST_DENOMINATOR, settle
from betalike.promises.rule import ANYTHING, Rule
from betalike.promises.verdict import Verdict, apply, check_k, check_positive, check_table, exact, verdict_on
from betalike.runtime.arrays import Ints
from betalike.table.axis import Axis
from betalike.table.cells import ClassCounts

MOST_DELTA = 100.0  # beyond it every share of every table is allowed, but not a value's absence


@dataclass(frozen=True)
class Disclosure:
    """The promise |ln(q / p)| < delta for every value in every class; so each class holds every value."""

    delta: float
    k: int = 1

    def __post_init__(self) -> None:
        check_positive("delta", self.delta, 1.5)
        check_k(self.k)

    @property
    def name(self) -> str:
        """The promise's name in a certificate."""
        return "delta-disclosure"

    @property
    def parameters(self) -> dict[str, float | str]:
        """What it was asked with."""
        return {"delta": float(self.delta)}

    @property
    def beta(self) -> None:
        """It has none."""

    def check_feasible(self, counts: Ints, sensitive: Axis) -> None:
        """Refuse a table with fewer than k rows, or with nothing to protect."""
        check_table(counts, self.k)

    def rule(self, counts: Ints, sensitive: Axis, largest_class: int = 0) -> Rule:
        """Of each value more than p / e^delta, less than p e^delta; e^delta is no fraction, so neither is reached."""
        n_rows = int(counts.sum())
        largest = min(max(n_rows, largest_class), LARGEST_DENOMINATOR)
        delta = min(exact(self.delta), Fraction(MOST_DELTA))
        priors = [Fraction(count, n_rows) for count in counts.tolist()]
        caps = [_most(prior, delta, largest) for prior in priors]
        floors = [_least(prior, delta, largest) for prior in priors]
        return ANYTHING._replace(
            k=self.k,
            cap_numerator=np.array([cap.numerator for cap in caps], dtype=np.int64),
            cap_denominator=np.array([cap.denominator for cap in caps], dtype=np.int64),
            floor_numerator=np.array([floor.numerator for floor in floors], dtype=np.int64),
            floor_denominator=np.array([floor.denominator for floor in floors], dtype=np.int64),
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
class DisclosureForLikeness:
    """Delta-disclosure that is strict enough for enhanced beta-likeness; how strict depends on the table."""

    beta: float
    k: int = 1

    def __post_init__(self) -> None:
        check_positive("beta", self.beta, 4)
        check_k(self.k)

    def for_table(self, counts: Ints) -> Disclosure:
        """The promise for a table with these counts of sensitive values."""
        check_table(counts, self.k)
        return Disclosure(delta_for(float(self.beta), counts), self.k)


def delta_for(beta: float, counts: Ints) -> float:
    """The greatest delta under which enhanced beta-likeness holds for every value, rounded down. Paper: 6.2.

    >>> round(delta_for(4, np.array([2, 3, 4, 10])), 3)
    0.496
    """
    most_frequent = float(counts.max() / counts.sum())
    return math.log1p(min(beta, -math.log(most_frequent))) * (1 - 1e-12)


def _most(prior: Fraction, delta: Fraction, largest: int) -> Fraction:
    """The greatest frequency below p e^delta in classes of up to `largest` tuples."""
    if prior == 0:
        return Fraction(0)

    def enclose(digits: int) -> tuple[Fraction, Fraction]:
        low, high = _enclose_power(delta, digits)
        return min(prior * low, Fraction(1)), min(prior * high, Fraction(1))

    return settle(enclose, largest)


def _least(prior: Fraction, delta: Fraction, largest: int) -> Fraction:
    """The least frequency above p / e^delta in classes of up to `largest` tuples."""
    if prior == 0:
        return Fraction(0)

    def enclose(digits: int) -> tuple[Fraction, Fraction]:
        low, high = _enclose_power(-delta, digits)
        return 1 - prior * high, 1 - prior * low

    return 1 - settle(enclose, largest)


def _enclose_power(exponent: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Two fractions around e to an exponent of at most 100; the margin is far wider than the rounding."""
    with localcontext() as context:
        context.prec = digits
        power = Fraction((Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp())
    margin = power / 10 ** (digits - 10)
    return power - margin, power + margin
