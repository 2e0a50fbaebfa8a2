"""Cores and seam of a cut where values have floors too: each part holds enough of every value, and not too much."""

from __future__ import annotations

import numpy as np

from betalike.runtime.arrays import Floats
from betalike.runtime.compilation import inner_kernel, summing_kernel

Sizes = tuple[float, float, float]

NEARLY = 1e-9  # floors are rounded this kindly; the parts are judged exactly afterwards


@summing_kernel
def most_lifted(counts: Floats, floor: Floats) -> float:
    """Return how large a part of these tuples may be, if there are to be enough of every value."""
    most = np.inf
    for v in range(len(counts)):
        if floor[v] > 0.0:
            most = min(most, counts[v] / floor[v])
    return np.floor(most + NEARLY) if most < np.inf else most


@inner_kernel
def ranges(
    v: int, left: Floats, total: Floats, sizes: Sizes, cap: Floats, margin: Floats, floor: Floats
) -> tuple[float, float, float, float, float, float]:
    """Return the least and the most that the left core, the right core, and both together may take of a value.

    The left core takes it from what is left of the cut, the right core from the right, and the seam gets the rest.
    """
    least_left, least_right = np.ceil(floor[v] * sizes[0] - NEARLY), np.ceil(floor[v] * sizes[1] - NEARLY)
    most_left = min(left[v], np.floor(cap[v] * sizes[0] + margin[v]))
    most_right = min(total[v] - left[v], np.floor(cap[v] * sizes[1] + margin[v]))
    least = max(total[v] - np.floor(cap[v] * sizes[2] + margin[v]), least_left + least_right)
    most = min(total[v] - np.ceil(floor[v] * sizes[2] - NEARLY), most_left + most_right)
    least_left, least_right = max(least_left, least - most_right), max(least_right, least - most_left)
    most_left, most_right = min(most_left, most - least_right), min(most_right, most - least_left)
    least, most = max(least, least_left + least_right), min(most, most_left + most_right)
    return least_left, most_left, least_right, most_right, least, most


@inner_kernel
def can_lift(left: Floats, total: Floats, sizes: Sizes, cap: Floats, margin: Floats, floor: Floats) -> bool:
    """Whether a left core, a right core and a seam of these sizes can all be allowed.

    What a value may give its cores is a region with edges of three directions; such regions add up to one of the same
    form, so the sums over all values decide.
    """
    least_left, most_left, least_right, most_right, least, most = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for v in range(len(left)):
        found = ranges(v, left, total, sizes, cap, margin, floor)
        if found[0] > found[1] or found[2] > found[3] or found[4] > found[5]:
            return False
        least_left, most_left = least_left + found[0], most_left + found[1]
        least_right, most_right = least_right + found[2], most_right + found[3]
        least, most = least + found[4], most + found[5]
    return (
        least_left <= sizes[0] <= most_left
        and least_right <= sizes[1] <= most_right
        and least <= sizes[0] + sizes[1] <= most
    )


@inner_kernel
def bound_left(
    left: Floats, total: Floats, sizes: Sizes, cap: Floats, margin: Floats, floor: Floats, least: Floats, most: Floats
) -> None:
    """Fill in the least and the most that the left core may take of each value."""
    for v in range(len(left)):
        found = ranges(v, left, total, sizes, cap, margin, floor)
        least[v], most[v] = found[0], found[1]


@inner_kernel
def bound_right(
    left: Floats,
    total: Floats,
    sizes: Sizes,
    cap: Floats,
    margin: Floats,
    floor: Floats,
    core: Floats,
    least: Floats,
    most: Floats,
) -> None:
    """Fill in the least and the most that the right core may take of each value, given what the left one took."""
    for v in range(len(left)):
        found = ranges(v, left, total, sizes, cap, margin, floor)
        least[v], most[v] = max(found[2], found[4] - core[v]), min(found[3], found[5] - core[v])
