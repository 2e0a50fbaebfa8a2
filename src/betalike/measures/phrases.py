"""Figures as people read them: rounded, with separators, and none of fewer than 3 people."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING
from fractions import Fraction

from betalike.promises import wording

FEWEST = 3  # people behind a figure that is shown
FEW = "fewer than 3"
LEFT_OUT = "left out"


def percent(share: float | None) -> str:
    """Return a share in per cent with three digits, never rounded to 0 or to 100.

    >>> percent(0.12345), percent(0.000001), percent(0.99999), percent(1.0), percent(None)
    ('12.3 %', 'below 0.001 %', 'over 99.9 %', '100 %', 'none')
    """
    if share is None:
        return "none"
    if 1e-9 < share < 0.00001:
        return "below 0.001 %"
    if 0.999 < share < 1:
        return "over 99.9 %"
    return f"{100 * round(share, 9):.3g} %"


def at_most(share: float) -> str:
    """Return a share in per cent with three digits, rounded up.

    >>> at_most(0.19241), at_most(1.0)
    ('19.3 %', '100 %')
    """
    return wording.percent(Fraction(min(share, 1.0)).limit_denominator(10**12), ROUND_CEILING)


def people(count: int) -> str:
    """Return a number of people, but not a small one.

    >>> people(12345), people(2), people(0)
    ('12,345', 'fewer than 3', '0')
    """
    return FEW if 0 < count < FEWEST else f"{count:,}"


def is_few(share: float, rows: int) -> bool:
    """Return whether a share of the rows, or the rest of it, is that of one or two people."""
    return 0 < round(share * rows) < FEWEST or 0 < rows - round(share * rows) < FEWEST


def share_of_people(share: float, rows: int, is_safe: bool = True) -> str:
    """Return a share of the rows in per cent, but not if it or the rest is one or two people, nor if it is not safe.

    >>> share_of_people(0.5, 100), share_of_people(0.01, 100), share_of_people(0.98, 100)
    ('50 %', 'fewer than 3 people', 'all but fewer than 3 people')
    >>> share_of_people(0.5, 100, is_safe=False)
    'left out'
    """
    if 0 < round(share * rows) < FEWEST:
        return f"{FEW} people"
    if 0 < rows - round(share * rows) < FEWEST:
        return f"all but {FEW} people"
    return percent(share) if is_safe else LEFT_OUT


def number(value: float | None) -> str:
    """Return a figure with four digits.

    >>> number(3.99996), number(12345678.0), number(None)
    ('4', '12,345,678', 'none')
    """
    if value is None:
        return "none"
    if math.isfinite(value) and abs(value) >= 10_000:
        return f"{value:,.0f}"
    return f"{value:.4g}"
