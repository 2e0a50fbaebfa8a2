"""Beta-likeness: no sensitive value becomes more than beta times likelier. Paper: Section 3."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from betalike.errors import ParameterError, SchemaError
from betalike.models.caps import Bound, Caps, is_below_surprise
from betalike.table import ClassCounts

Ints = NDArray[np.int64]


class Form(StrEnum):
    """The two forms of the promise."""

    BASIC = "basic"
    ENHANCED = "enhanced"


@dataclass(frozen=True)
class Verdict:
    """Whether every class keeps the promise, and the one that comes closest to breaking it."""

    holds: bool
    worst_gain: float
    worst_ratio: float
    worst_class: int
    worst_value: int
    smallest_class: int


@dataclass(frozen=True)
class Likeness:
    """The promise: q <= (1 + beta) p (basic), or q <= (1 + min(beta, -ln p)) p (enhanced), in classes of at least k.

    Paper: Definitions 2 and 3.
    """

    beta: float
    form: Form = Form.ENHANCED
    k: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.beta, bool) or not isinstance(self.beta, Real) or not math.isfinite(self.beta):
            raise ParameterError(f"beta is {self.beta!r}; it must be a number greater than 0, such as 4.")
        if self.beta <= 0:
            raise ParameterError(f"beta is {self.beta}; it must be greater than 0, such as 4.")
        if isinstance(self.k, bool) or not isinstance(self.k, Integral) or self.k < 1:
            raise ParameterError(f"k is {self.k!r}; it must be a whole number of 1 or more.")

    @property
    def name(self) -> str:
        """The promise's name in a certificate."""
        return f"{self.form}-likeness"

    def caps(self, counts: Ints, largest_class: int = 0) -> Caps:
        """Highest frequency of each sensitive value in a class, given how often it occurs in the table.

        Decided exactly for classes up to the table's size, or up to `largest_class` if that is greater.
        """
        return Caps.of(self.bounds(counts), max(int(counts.sum()), largest_class))

    def bounds(self, counts: Ints) -> list[Bound]:
        """The highest frequency of each sensitive value as an exact number. Paper: f(p)."""
        n_rows = int(counts.sum())
        threshold = exact_beta(float(self.beta))
        is_enhanced = self.form is Form.ENHANCED
        return [_bound(int(count), n_rows, threshold, is_enhanced) for count in counts]

    def check_feasible(self, counts: Ints) -> None:
        """Refuse a table for which even a single class of all rows breaks the promise."""
        n_rows = int(counts.sum())
        if self.k > n_rows:
            raise ParameterError(f"k is {self.k}, but the table has only {n_rows} rows. Choose a smaller k.")
        present = int((counts > 0).sum())
        if present < 2:
            raise SchemaError(
                f"the sensitive column has {present} distinct value, so everybody's is known beforehand and there is "
                "nothing to protect. Choose a sensitive column with at least two values."
            )

    def judge(self, classes: ClassCounts, counts: Ints) -> Verdict:
        """Decide, exactly, whether every class keeps the promise."""
        sizes = classes.sizes[classes.ec]
        caps = self.caps(counts, int(classes.sizes.max()))
        allowed = caps.allow(classes.value, classes.count, sizes)
        posterior = classes.count / sizes
        prior = (counts / counts.sum())[classes.value]
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = posterior / prior - 1
            ratio = posterior / np.where(prior > 0, posterior_cap(prior, float(self.beta), self.form), 0.0)
        ratio = np.where(allowed, np.minimum(ratio, 1.0), ratio)
        worst = int(np.argmax(ratio))
        smallest = int(classes.sizes.min())
        return Verdict(
            holds=bool(allowed.all()) and smallest >= self.k,
            worst_gain=float(gain.max()),
            worst_ratio=float(ratio.max()),
            worst_class=int(classes.ec[worst]),
            worst_value=int(classes.value[worst]),
            smallest_class=smallest,
        )


def exact_beta(beta: float) -> Fraction:
    """Beta as a fraction: the number typed or the one the machine holds, whichever promises more.

    >>> exact_beta(0.1)
    Fraction(1, 10)
    """
    return min(Fraction(beta), Fraction(repr(beta)))


@lru_cache(maxsize=1 << 16)
def _bound(count: int, n_rows: int, threshold: Fraction, is_enhanced: bool) -> Bound:
    prior = Fraction(count, n_rows)
    if is_enhanced and 0 < count < n_rows and not is_below_surprise(threshold, prior):
        return Bound(prior, is_logarithmic=True)
    return Bound(min(prior if is_enhanced and count == n_rows else prior * (1 + threshold), Fraction(1)))


def posterior_cap(prior: NDArray[np.float64], beta: float, form: Form = Form.ENHANCED) -> NDArray[np.float64]:
    """Highest frequency each sensitive value may have in an equivalence class.

    Rare values may grow by `beta`; frequent ones by less, so that none reaches 1. For display and formulas;
    decisions are made with the exact `Likeness.caps`. Paper: Definition 3, Eq. 1, f(p).

    >>> posterior_cap(np.array([2, 3, 4]) / 19, beta=2).round(2)
    array([0.32, 0.45, 0.54])
    """
    if form is Form.BASIC:
        return np.minimum(prior * (1 + beta), 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(prior * (1 + np.minimum(beta, -np.log(prior))))
