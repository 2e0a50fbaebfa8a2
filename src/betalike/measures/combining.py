"""Rubin's rules: one estimate and one standard error from those of several completed tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from betalike.errors import ParameterError
from betalike.runtime.arrays import Floats
from betalike.runtime.display import Row, Shown

LARGE = 1e7  # degrees of freedom that are as good as infinite
STEPS = 200


@dataclass(frozen=True, repr=False)
class Combined(Shown):
    """An estimate from several completed tables: each field is a number, or an array with one number per estimate.

    `within` is the average variance of the tables, `between` the variance of their estimates.
    """

    estimate: Any
    standard_error: Any
    low: Any
    high: Any
    degrees_of_freedom: Any
    within: Any
    between: Any
    confidence: float
    tables: int

    def _summary(self) -> Row:
        names = ("estimate", "standard_error", "low", "high", "degrees_of_freedom", "tables")
        return {name.replace("_", " "): _plain(getattr(self, name)) for name in names}


def combine(
    estimates: Sequence[Any] | Floats, variances: Sequence[Any] | Floats, *, confidence: float = 0.95
) -> Combined:
    """Combine the estimates of several completed tables, and their variances, by Rubin's rules.

    Each of the two has an entry per table: a number, or an array of them. The total variance is the average variance
    plus 1 + 1/m times the variance between the m tables. The interval is that of a t-distribution with Rubin's degrees
    of freedom.

    >>> combined = combine([1.0, 2.0, 3.0], [0.5, 0.5, 0.5])
    >>> combined.estimate, round(combined.standard_error, 3)
    (2.0, 1.354)
    """
    points, squares = np.asarray(estimates, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    if points.shape != squares.shape or not points.ndim:
        raise ParameterError(
            f"estimates have the shape {points.shape} and variances {squares.shape}; both need one entry per table."
        )
    m = len(points)
    if m < 2:
        raise ParameterError(f"there are estimates of {m} tables; combining needs 2 or more, such as draws(5).")
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence is {confidence}; it must be between 0 and 1, such as 0.95.")
    if (squares < 0).any():
        raise ParameterError("a variance is below 0; give squared standard errors.")
    within, between = squares.mean(axis=0), points.var(axis=0, ddof=1)
    added = (1 + 1 / m) * between
    error = np.sqrt(within + added)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.where(added > 0, (m - 1) * (1 + within / added) ** 2, np.inf)
    estimate = points.mean(axis=0)
    reach = np.vectorize(lambda degrees: t_quantile((1 + confidence) / 2, degrees))(freedom) * error
    return Combined(
        estimate=_plain(estimate),
        standard_error=_plain(error),
        low=_plain(estimate - reach),
        high=_plain(estimate + reach),
        degrees_of_freedom=_plain(freedom),
        within=_plain(within),
        between=_plain(between),
        confidence=confidence,
        tables=m,
    )


def _plain(figure: Any) -> Any:
    return float(figure) if np.ndim(figure) == 0 else figure


def t_quantile(chance: float, degrees: float) -> float:
    """Return the quantile of Student's t-distribution, by bisection; for infinite degrees that of a normal one."""
    if chance < 0.5:
        return -t_quantile(1 - chance, degrees)
    if degrees > LARGE:
        return NormalDist().inv_cdf(chance)
    low, high = 0.0, 1.0
    while t_chance(high, degrees) < chance:
        low, high = high, 2 * high
    for _ in range(STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if t_chance(middle, degrees) < chance else (low, middle)
    return (low + high) / 2


def t_chance(x: float, degrees: float) -> float:
    """Return the chance that Student's t is at most x, for x from 0 on."""
    return 1 - beta_chance(degrees / (degrees + x * x), degrees / 2, 0.5) / 2


def beta_chance(x: float, a: float, b: float) -> float:
    """Return the regularized incomplete beta function, by Lentz's continued fraction.

    >>> round(beta_chance(0.3, 2, 3), 4)
    0.3483
    """
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_chance(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    value = d = 1 / _not_zero(1 - (a + b) * x / (a + 1))
    c = 1.0
    for m in range(1, 10 * STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d = 1 / _not_zero(1 + step * d)
            c = _not_zero(1 + step / c)
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * value


def _not_zero(number: float) -> float:
    return number if abs(number) > 1e-300 else 1e-300
