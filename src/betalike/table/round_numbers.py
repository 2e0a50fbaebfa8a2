"""Round numbers: the multiples of a step around each number, exactly."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from betalike.errors import SchemaError
from betalike.table.exact_numbers import MOST_DIGITS, Numbers

BEYOND_REALS = 2**53  # of whole numbers above it, reals hold only some


def around_numbers(values: Numbers, step: Any) -> tuple[Numbers, Numbers]:
    """Return the multiple of a step at or below each value, and the next one; the step is of the values' kind."""
    if isinstance(step, Decimal):
        return _around_decimals(values, step)
    if isinstance(step, float):
        return _around_reals(values, Fraction(repr(step)))  # 0.1 is one tenth
    low = values // step * step
    return low, low + step


def _around_decimals(values: Numbers, step: Decimal) -> tuple[Numbers, Numbers]:
    width = Fraction(step)
    places = [math.floor(Fraction(value) / width) for value in values.tolist()]
    with localcontext() as context:
        context.prec = 3 * MOST_DIGITS
        low, after = [step * place for place in places], [step * (place + 1) for place in places]
    return _objects(low), _objects(after)


def _objects(numbers: list[Decimal]) -> Numbers:
    found = np.empty(len(numbers), dtype=object)
    found[:] = numbers
    return found


def _around_reals(values: Numbers, step: Fraction) -> tuple[Numbers, Numbers]:
    """Return the multiples of a step around each value, each the nearest real to the exact multiple.

    A division of reals may be one multiple off, so the place is compared with the multiples themselves.
    """
    place = np.floor(values / float(step))
    if len(values) and not np.abs(place).max() < BEYOND_REALS:
        raise SchemaError(
            f"a column of reals is rounded to {float(step):g}, but has values so large that reals cannot hold its "
            "multiples. Choose a larger number, or make the column of type integer or decimal."
        )
    for _ in range(3):
        place += (values >= _multiples(place + 1, step)).astype(np.float64)
        place -= (values < _multiples(place, step)).astype(np.float64)
    return _multiples(place, step), _multiples(place + 1, step)


def _multiples(place: Numbers, step: Fraction) -> Numbers:
    if step.denominator == 1 and (not len(place) or np.abs(place).max() * float(step) < BEYOND_REALS):
        return np.asarray(place * float(step) + 0.0)
    distinct, inverse = np.unique(place, return_inverse=True)
    return np.array([float(step * int(number)) for number in distinct.tolist()], dtype=np.float64)[inverse]
