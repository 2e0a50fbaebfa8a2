"""Cores and seam of a cut, from counts alone: how large the cores can be, and what they hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from betalike.compilation import kernel
from betalike.schemes.seam.problem import Problem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

HALVINGS = 40
ATTEMPTS = 60
ATTEMPTS_WITH_RESERVE = 20


@kernel
def largest_core(counts: Ints, total: int, cap: Floats, values: Ints) -> float:
    """The greatest size T with sum of min(counts, floor(cap * T)) >= T.

    Without rounding, values over their cap hold a fixed share of the core and the others all they have: solved for T
    until no further value is over its cap. Rounding down then takes a few steps more.
    """
    size = float(total)
    for _ in range(len(values) + 1):
        whole, share = 0.0, 0.0
        for v in values:
            if counts[v] > cap[v] * size:
                share += cap[v]
            else:
                whole += counts[v]
        if share >= 1.0 or whole >= (1.0 - share) * size:
            break
        size = whole / (1.0 - share)
    size = np.floor(size + 1e-6)
    while size > 0.0:
        kept = 0.0
        for v in values:
            kept += min(float(counts[v]), np.floor(cap[v] * size))
        if kept >= size:
            break
        size = kept
    return size


@kernel
def core_sizes(left: Ints, n_left: int, right: Ints, n_right: int, cap: Floats, values: Ints) -> tuple[float, float]:
    """Sizes of the largest cores left and right of a cut that leave a seam which is allowed.

    What a value has over its cap left of the cut fits into the seam just if the right core leaves it the room, and the
    other way round.
    """
    n = float(n_left + n_right)
    most_left, most_right = n, n
    for v in values:
        most_left = min(most_left, n - right[v] / cap[v])
        most_right = min(most_right, n - left[v] / cap[v])
    size_left = largest_core(left, n_left, cap, values) if most_left > 0 else 0.0
    size_right = largest_core(right, n_right, cap, values) if most_right > 0 else 0.0
    return max(min(size_left, np.floor(most_left)), 0.0), max(min(size_right, np.floor(most_right)), 0.0)


@kernel
def most_of(problem: Problem, v: int, cap: Floats, size: int) -> int:
    """How many tuples of a value a set may hold, under the exact cap and under a tighter one that may be rounded."""
    return min(int(problem.numerator[v]) * size // int(problem.denominator[v]), int(cap[v] * size + 1e-9))


@kernel
def fill_core(problem: Problem, counts: Ints, size: int, room: Ints, cap: Floats, values: Ints, core: Ints) -> bool:
    """Fill a core of this size as evenly as can be, so that every value keeps slack; False if it cannot be filled.

    The core takes min(counts, level * cap * size) of each value, with the least level that reaches the size, but leaves
    no more of a value than the seam has room for.
    """
    allowed = np.zeros_like(counts)
    least, most = 0, 0
    for v in values:
        core[v] = max(counts[v] - room[v], 0)
        allowed[v] = min(counts[v], most_of(problem, v, cap, size))
        if core[v] > allowed[v]:
            return False
        least += core[v]
        most += allowed[v]
    if least > size or most < size:
        return False
    low, high = 0.0, 1.0 + 1e-9  # so that rounding cannot keep a value from its cap
    for _ in range(HALVINGS):
        level = (low + high) / 2
        total = 0
        for v in values:
            total += max(core[v], min(allowed[v], int(level * cap[v] * size)))
        if total == size:
            high = level
            break
        if total > size:
            high = level
        else:
            low = level
    total = 0
    for v in values:
        core[v] = max(core[v], min(allowed[v], int(low * cap[v] * size)))
        total += core[v]
    for v in values:  # the rest goes to values that reach the level just above
        more = min(min(allowed[v], int(high * cap[v] * size)) - core[v], size - total)
        if more > 0:
            core[v] += more
            total += more
    return total == size


@kernel
def fill_cores(
    problem: Problem, left: Ints, right: Ints, sizes: tuple[int, int], rest: int, cap: Floats, values: Ints, cores: Ints
) -> bool:
    """Fill both cores so that the seam of `rest` tuples between them is allowed too; False if it cannot be done."""
    room = np.zeros_like(left)
    for v in values:
        forced = max(right[v] - most_of(problem, v, cap, sizes[1]), 0)
        room[v] = most_of(problem, v, cap, rest) - forced
    if not fill_core(problem, left, sizes[0], room, cap, values, cores[0]):
        return False
    for v in values:
        room[v] = most_of(problem, v, cap, rest) - (left[v] - cores[0, v])
    return fill_core(problem, right, sizes[1], room, cap, values, cores[1])


@kernel
def fit_cores(
    problem: Problem, left: Ints, right: Ints, sizes: tuple[int, int], cap: Floats, values: Ints, cores: Ints
) -> bool:
    """Find what both cores hold, starting from the formula's sizes and growing the seam while rounding demands it."""
    k = problem.k
    n = left.sum() + right.sum()
    extra = 0  # what the seam gets beyond the formula
    for attempt in range(ATTEMPTS):
        tighter = cap if attempt < ATTEMPTS_WITH_RESERVE else problem.cap
        for quarter in (2, 0, 4, 1, 3) if extra > 0 else (2, 2, 2, 2, 2):  # of it from the left core
            from_left = extra * quarter // 4
            size_left, size_right = sizes[0] - from_left, sizes[1] - (extra - from_left)
            size_left = size_left if size_left >= k else 0
            size_right = size_right if size_right >= k else 0
            rest = n - size_left - size_right
            cores[:] = 0
            if (
                size_left + size_right > 0
                and (rest == 0 or rest >= k)
                and fill_cores(problem, left, right, (size_left, size_right), rest, tighter, values, cores)
            ):
                return True
            if extra == 0:
                break
        extra += 1 + max(extra // 20, attempt * n // 4000, k - (n - sizes[0] - sizes[1]) - extra if attempt == 0 else 0)
        if extra >= sizes[0] + sizes[1]:
            break
    return False
