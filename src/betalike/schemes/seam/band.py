"""Which tuples go to the seam: of each value at random, within one band beside the cut for all values."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from betalike.runtime.arrays import FloatGrid, Floats, Ids, Ints, Words
from betalike.runtime.compilation import inner_kernel, kernel
from betalike.runtime.draws import Draws, take_words
from betalike.runtime.sorting import order_of_codes
from betalike.schemes.seam.cuts import codes_on
from betalike.schemes.seam.group import Group
from betalike.schemes.seam.problem import SplitProblem

FEW_TUPLES = 16  # drawn one by one, with parts of one word
TINY = 1e-18  # chances below this are left out


@kernel
def send_to_seam(
    problem: SplitProblem,
    group: Group,
    axis: int,
    low: int,
    high: int,
    part: NDArray[np.int8],
    cores: FloatGrid,
    draws: Draws,
    kept: Ints,
) -> None:
    """Fill in how many tuples of each fragment stay in their core; the others go to the seam.

    On each side, the band is as wide as it must be if every value sent its tuples nearest to the cut. Within the band,
    all tuples of a value are equally likely to be sent, so a tuple's place does not depend on its value.
    """
    n = len(group.cell)
    codes = np.empty(n, dtype=np.int64)
    codes_on(problem.points, problem.cell_point, group.cell, axis, codes)
    codes -= low
    order = order_of_codes(codes, high - low + 1)
    words = take_words(draws, n)
    leaving, inside = np.zeros_like(cores), np.zeros_like(cores)
    count_leaving(part, group.value, group.tuples, cores, leaving, kept)
    for side in range(2):
        edge = find_edge(order, codes, side, part, group.value, group.tuples, leaving[side], inside[side])
        draw_from_band(edge, codes, side, part, group.value, group.tuples, words, leaving[side], inside[side], kept)


@inner_kernel
def count_leaving(
    part: NDArray[np.int8], value: Ids, tuples: Ints, cores: FloatGrid, leaving: FloatGrid, kept: Ints
) -> None:
    """Fill in how many tuples of each value leave each side, and keep all tuples for now."""
    for i in range(len(part)):
        leaving[part[i], value[i]] += tuples[i]
        kept[i] = tuples[i]
    for side in range(2):
        for v in range(cores.shape[1]):
            leaving[side, v] -= cores[side, v]


@inner_kernel
def find_edge(
    order: Ints,
    codes: Ints,
    side: int,
    part: NDArray[np.int8],
    value: Ids,
    tuples: Ints,
    leaving: Floats,
    inside: Floats,
) -> int:
    """Return the code where the band of one side ends, -1 if there is none, and count the tuples of each value inside.

    The left side is walked from its end, the right side from its beginning.
    """
    waiting, edge = 0.0, -1
    for v in range(len(leaving)):
        waiting += leaving[v]
    for place in range(len(order)):
        i = order[place if side == 1 else len(order) - 1 - place]
        if part[i] != side:
            continue
        if waiting <= 0.0 and codes[i] != edge:
            break
        v = value[i]
        here = min(float(tuples[i]), max(leaving[v] - inside[v], 0.0))
        if here > 0.0:
            edge = codes[i]
            waiting -= here
        inside[v] += tuples[i]
    return edge


@inner_kernel
def draw_from_band(
    edge: int,
    codes: Ints,
    side: int,
    part: NDArray[np.int8],
    value: Ids,
    tuples: Ints,
    words: Words,
    leaving: Floats,
    inside: Floats,
    kept: Ints,
) -> None:
    """Draw the tuples of one side that are sent, and take them from what is kept."""
    if edge < 0:
        return
    for i in range(len(part)):
        if part[i] != side or (codes[i] < edge if side == 0 else codes[i] > edge):
            continue
        v = value[i]
        if leaving[v] > 0.0:
            uniform = float(words[i] >> np.uint64(11)) * 2.0**-53
            sent = draw_share(uniform, tuples[i], int(inside[v]), int(leaving[v]))
            kept[i] -= sent
            leaving[v] -= sent
        inside[v] -= tuples[i]


@inner_kernel
def draw_share(uniform: float, tuples: int, total: int, chosen: int) -> int:
    """Draw how many of some tuples are among those chosen from a total, where every choice is equally likely.

    The number has the hypergeometric distribution. Where there are many tuples, the chances are gone through from the
    likeliest number outwards, until they add up to `uniform`.
    """
    least, most = max(chosen - (total - tuples), 0), min(tuples, chosen)
    if least == most:
        return least
    if tuples <= FEW_TUPLES:
        sent = 0
        for done in range(tuples):
            chance = (chosen - sent) / (total - done)
            if uniform < chance:
                sent += 1
                uniform /= chance
            else:
                uniform = (uniform - chance) / (1.0 - chance)
        return sent
    others = total - tuples
    mode = min(max(int((tuples + 1.0) * (chosen + 1.0) / (total + 2.0)), least), most)
    chance = math.exp(log_ways(tuples, mode) + log_ways(others, chosen - mode) - log_ways(total, chosen))
    above, below, chance_above, chance_below = mode, mode, chance, chance
    uniform -= chance
    while uniform >= 0.0 and chance_above + chance_below > TINY:
        chance_above *= (tuples - above) / (above + 1.0) * (chosen - above) / (others - chosen + above + 1.0)
        above += 1
        uniform -= chance_above
        if uniform < 0.0:
            return above
        chance_below *= below / (tuples - below + 1.0) * (others - chosen + below) / (chosen - below + 1.0)
        below -= 1
        uniform -= chance_below
        if uniform < 0.0:
            return below
    return mode


@inner_kernel
def log_ways(total: int, chosen: int) -> float:
    """Return the logarithm of the number of ways to choose some of a total."""
    return math.lgamma(total + 1.0) - math.lgamma(chosen + 1.0) - math.lgamma(total - chosen + 1.0)
