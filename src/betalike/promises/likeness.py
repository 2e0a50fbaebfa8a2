"""Beta-likeness: no sensitive value becomes more than 1 + beta times as likely. Paper: Section 3."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from betalike.errors import ParameterError
from betalike.promises.caps import Bound, Caps, is_below_surprise
from betalike.promises.floors import Floor
from betalike.promises.monotone import Cap, MonotoneCap
from betalike.promises.rule import ANYTHING, Rule
from betalike.promises.verdict import Verdict, check_k, check_positive, check_table, exact
from betalike.runtime.arrays import Floats, Ints
from betalike.table.axis import Axis
from betalike.table.cells import ClassCounts


class Form(StrEnum):
    """The two forms of the promise."""

    BASIC = "basic"
    ENHANCED = "enhanced"


@dataclass(frozen=True)
class Likeness:
    """The promise: q <= (1 + beta) p (basic), or q <= (1 + min(beta, -ln p)) p (enhanced), in classes of at least k.

    Or, without a beta, q <= f(p) for any monotone cap f. Paper: Definitions 2 and 3, and the end of Section 3.
    """

    beta: float | None
    form: Form = Form.ENHANCED
    k: int = 1
    cap: Cap | None = None

    def __post_init__(self) -> None:
        if self.cap is None:
            check_positive("beta", self.beta, 4)
        elif self.beta is not None:
            raise ParameterError("beta and cap are given; choose one, for each says how likely a value may become.")
        check_k(self.k)

    @property
    def name(self) -> str:
        """The promise's name in a certificate."""
        return f"{self.form if self.cap is None else 'capped'}-likeness"

    @property
    def parameters(self) -> dict[str, float | str]:
        """Nothing besides beta and k."""
        return {}

    def caps(self, counts: Ints, largest_class: int = 0) -> Caps:
        """Highest frequency of each sensitive value in a class, given how often it occurs in the table.

        Decided exactly for classes up to the table's size, or up to `largest_class` if that is greater.
        """
        return Caps.of(self.bounds(counts), max(int(counts.sum()), largest_class))

    def bounds(self, counts: Ints, n_rows: int | None = None) -> list[Bound]:
        """The highest frequency of each sensitive value as an exact number. Paper: f(p).

        Of values, or sets of them, that occur so often among `n_rows`; by default they make up all rows.
        """
        n_rows = int(counts.sum()) if n_rows is None else n_rows
        if self.cap is not None:
            return [Bound(self.cap.at(count, n_rows)) for count in counts.tolist()]
        is_enhanced = self.form is Form.ENHANCED
        return [_bound(int(count), n_rows, self._threshold, is_enhanced) for count in counts]

    @property
    def _threshold(self) -> Fraction:
        assert self.beta is not None
        return exact(float(self.beta))

    def ceilings(self, counts: Ints) -> Floats:
        """The caps as floating-point numbers, for display and formulas."""
        return np.array([float(bound) for bound in self.bounds(counts)])

    def mirrored(self, count: int, n_rows: int) -> Floor:
        """How rare a value may become if as many times rarer as it may become likelier.

        p / (1 + min(beta, -ln p)), or p^2 / f(p) for any cap.
        """
        if self.cap is not None:
            prior = Fraction(count, n_rows)
            return Floor(prior * prior / self.cap.at(count, n_rows) if count else prior)
        return _mirrored(count, n_rows, self._threshold, self.form is Form.ENHANCED)

    def check_feasible(self, counts: Ints, sensitive: Axis | None = None) -> None:
        """Refuse a table for which even a single class of all rows breaks the promise."""
        check_table(counts, self.k)
        self.check_cap(counts, int(counts.sum()))

    def check_cap(self, counts: Ints, n_rows: int) -> None:
        """Refuse a function that is no cap for what occurs so often."""
        if isinstance(self.cap, MonotoneCap):
            self.cap.check(counts.tolist(), n_rows)

    def rule(self, counts: Ints, sensitive: Axis | None = None, largest_class: int = 0) -> Rule:
        """The caps as demands on a class."""
        caps = self.caps(counts, largest_class)
        return ANYTHING._replace(k=self.k, cap_numerator=caps.numerator, cap_denominator=caps.denominator)

    def judge(self, classes: ClassCounts, counts: Ints, sensitive: Axis | None = None) -> Verdict:
        """Decide, exactly, whether every class keeps the promise."""
        sizes = classes.sizes[classes.ec]
        caps = self.caps(counts, int(classes.sizes.max()))
        allowed = caps.allow(classes.value, classes.count, sizes)
        posterior = classes.count / sizes
        prior = (counts / counts.sum())[classes.value]
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = posterior / prior - 1
            ratio = posterior / self.ceilings(counts)[classes.value]
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


@lru_cache(maxsize=1 << 16)
def _bound(count: int, n_rows: int, threshold: Fraction, is_enhanced: bool) -> Bound:
    prior = Fraction(count, n_rows)
    if is_enhanced and 0 < count < n_rows and not is_below_surprise(threshold, prior):
        return Bound(prior, is_logarithmic=True)
    return Bound(min(prior if is_enhanced and count == n_rows else prior * (1 + threshold), Fraction(1)))


@lru_cache(maxsize=1 << 16)
def _mirrored(count: int, n_rows: int, threshold: Fraction, is_enhanced: bool) -> Floor:
    prior = Fraction(count, n_rows)
    if is_enhanced and 0 < count < n_rows and not is_below_surprise(threshold, prior):
        return Floor(prior, is_logarithmic=True)
    return Floor(prior if is_enhanced and count == n_rows else prior / (1 + threshold))


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
