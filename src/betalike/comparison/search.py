"""Search for the parameter of a promise at which a release reaches a given figure.

The paper compares schemes at equal closeness and at equal loss in this way. Paper: 6.1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from betalike.errors import ParameterError

Result = TypeVar("Result")
STEPS = 12
SPREAD = 3  # parameters that are tried first, evenly over the range
CLOSE = 0.005  # of the target: near enough to stop


@dataclass(frozen=True, eq=False)  # results need not be comparable
class Match(Generic[Result]):
    """The parameter whose figure is nearest the target, that figure, and its result."""

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

    The figure need not rise or fall evenly: a few parameters are spread over the range first. At most `steps`
    parameters are tried in addition to the ends, and the nearest is returned. With `at_most`, a figure that is not
    above the target wins over any figure above it.

    >>> match(9.0, lambda side: (side**2, "a square"), 1.0, 100.0, steps=40).result
    'a square'
    """
    if not 0 < low < high:
        raise ParameterError(f"the ends are {low} and {high}; they must be above 0, and the first below the second.")

    def distance(found: Match[Result]) -> tuple[bool, float]:
        return at_most and found.figure > target, abs(found.figure - target)

    spread = [low * (high / low) ** (place / (SPREAD + 1)) for place in range(1, min(SPREAD, steps) + 1)]
    tried = [Match(parameter, *evaluate(parameter)) for parameter in (low, *spread, high)]
    while len(tried) < steps + 2 and distance(min(tried, key=distance)) > (False, CLOSE * target):
        pairs = list(itertools.pairwise(tried))
        around = [pair for pair in pairs if _is_between(target, *pair)] or pairs
        left, right = min(around, key=lambda pair: min(map(distance, pair)))
        middle = math.sqrt(left.parameter * right.parameter)
        tried.insert(tried.index(right), Match(middle, *evaluate(middle)))
    return min(tried, key=distance)


def _is_between(target: float, one: Match[Result], other: Match[Result]) -> bool:
    return min(one.figure, other.figure) <= target <= max(one.figure, other.figure)
