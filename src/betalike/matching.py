"""Schemes brought to the same footing: the parameter of a promise at which a release reaches a given figure.

The paper compares schemes at equal closeness and at equal loss in this way. Paper: 6.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from betalike.errors import ParameterError

Result = TypeVar("Result")
STEPS = 12
CLOSE = 0.005  # of the target: near enough to stop


@dataclass(frozen=True)
class Match(Generic[Result]):
    """The parameter whose figure is nearest the target, that figure, and what else was found with it."""

    parameter: float
    figure: float
    result: Result


def match(
    target: float,
    evaluate: Callable[[float], tuple[float, Result]],
    low: float,
    high: float,
    *,
    steps: int = STEPS,
    at_most: bool = False,
) -> Match[Result]:
    """Find a parameter between two ends at which a figure equals the target, by halving on a logarithmic scale.

    The figure need not rise or fall evenly: of all that were tried, at most `steps` besides the ends, the nearest is
    taken. With `at_most`, one that is not above the target comes first, however near another is from above.

    >>> match(9.0, lambda side: (side**2, "a square"), 1.0, 100.0, steps=40).result
    'a square'
    """
    if not 0 < low < high:
        raise ParameterError(f"the ends are {low} and {high}; they must be above 0, and the first below the second.")
    first, last = (Match(end, *evaluate(end)) for end in (low, high))
    tried = [first, last]

    def distance(found: Match[Result]) -> tuple[bool, float]:
        return at_most and found.figure > target, abs(found.figure - target)

    is_between = min(first.figure, last.figure) < target < max(first.figure, last.figure)
    while is_between and len(tried) < steps + 2:
        middle = math.sqrt(first.parameter * last.parameter)
        tried.append(found := Match(middle, *evaluate(middle)))
        if distance(found) <= (False, CLOSE * target):
            break
        if (found.figure < target) == (first.figure < target):
            first = found
        else:
            last = found
    return min(tried, key=distance)
