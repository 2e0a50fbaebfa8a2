"""Bounds on shares as exact numbers: fractions, and logarithms enclosed with 60 digits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np

DIGITS = 60
ERROR = Fraction(1, 10**50)
NEAR = 1e-9  # shares as near to a bound as this are compared exactly, all others with floating-point numbers


def least(number: float) -> Fraction:
    """A number as typed or as the machine holds it, whichever is less."""
    return min(Fraction(number), Fraction(repr(float(number))))


def greatest(number: float) -> Fraction:
    """A number as typed or as the machine holds it, whichever is greater."""
    return max(Fraction(number), Fraction(repr(float(number))))


@cache
def logarithm(number: Fraction) -> Fraction:
    """ln(number) to 60 digits."""
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction(Decimal(number.numerator).ln() - Decimal(number.denominator).ln())


@cache
def exponential(number: Fraction) -> Fraction:
    """e to a number, to 60 digits of a number not far from 1."""
    with localcontext() as context:
        context.prec = DIGITS + 50
        return Fraction((Decimal(number.numerator) / Decimal(number.denominator)).exp())


@dataclass(frozen=True)
class Real:
    """A number known as a fraction, or only up to ERROR where no fraction equals it."""

    value: Fraction
    is_exact: bool = True

    def compare(self, count: int, size: int) -> int:
        """Whether count / size is below (-1), equal to (0) or above (1) the number."""
        gap = Fraction(count, size) - self.value
        if not self.is_exact and abs(gap) < ERROR:
            raise ArithmeticError("60 digits do not decide this case")
        return (gap > 0) - (gap < 0)


@cache
def likeness_cap(count: int, n_rows: int, beta: float, is_enhanced: bool) -> Real:
    """f(p): p (1 + beta), and with the enhanced form at most p (1 - ln p)."""
    p, gain = Fraction(count, n_rows), least(beta)
    if is_enhanced and p:
        surprise = -logarithm(p)
        if surprise < gain:
            return Real(p * (1 + surprise), is_exact=p == 1)
    return Real(min(p * (1 + gain), Fraction(1)))


def mirrored(count: int, n_rows: int, cap: Real) -> Real:
    """p^2 / f(p): as many times rarer as it may become likelier."""
    p = Fraction(count, n_rows)
    return Real(p * p / cap.value if p else Fraction(0), cap.is_exact)


def broken_caps(counts: np.ndarray, sizes: np.ndarray, caps: list[Real], is_floor: bool = False) -> int:
    """How many shares (classes x sets) exceed their cap, or fall below their floor: exactly."""
    limits = np.array([float(cap.value) for cap in caps])
    gap = counts / sizes[:, None] - limits
    gap = -gap if is_floor else gap
    near = np.abs(gap) <= NEAR * np.maximum(limits, 1e-300)
    broken = int(((gap > 0) & ~near).sum())
    for ec, number in zip(*np.nonzero(near), strict=True):
        side = caps[number].compare(int(counts[ec, number]), int(sizes[ec]))
        broken += (side < 0) if is_floor else (side > 0)
    return broken


def is_entropy_at_least(counts: list[int], worth: Fraction) -> bool:
    """Whether e to the entropy of some counts is at least this, with whole numbers where it is close."""
    size = sum(counts)
    entropy = math.fsum(-n / size * math.log(n / size) for n in counts)
    gap = entropy - math.log(worth)
    if abs(gap) > NEAR:
        return gap > 0
    shared = math.gcd(*counts)
    reduced = [n // shared for n in counts]
    size = sum(reduced)
    # H >= ln w  <=>  size^size >= w^size * product of n^n
    return size**size * worth.denominator**size >= worth.numerator**size * math.prod(n**n for n in reduced)
