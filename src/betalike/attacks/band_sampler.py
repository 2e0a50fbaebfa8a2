"""Kernels that walk through the assignments under which SEAM would have sent these rows, weighed by their chance.

Members of a cut lie in the left core (part 0), the right core (1) or the seam (2), and on the left or right side of the
cut. Each part keeps its values.
"""

from __future__ import annotations

import math

import numpy as np

from betalike.attacks.order_sampler import pick
from betalike.runtime.arrays import Bools, Floats, Ids, Ints, Words
from betalike.runtime.compilation import kernel
from betalike.schemes.seam.cores import fill_cores
from betalike.schemes.seam.group import Group

STEPS = 40  # search steps per member


@kernel
def n_off(group: Group, left: Floats, cores: Floats) -> float:
    """Return how many tuples SEAM would place otherwise, if the values left of the cut were these; 0 if none.

    `cores` are what both cores hold. SEAM keeps a reserve where it can; either form may explain the cores.
    """
    sizes = (cores[0].sum(), cores[1].sum())
    filled = np.empty_like(cores)
    best = np.inf
    for cap in (group.tight, group.cap):
        if fill_cores(group, left, sizes, cap, filled):
            best = min(best, np.abs(filled - cores).sum())
    return best


@kernel
def log_ways(sent: int, kept: int) -> float:
    """Return the logarithm of the number of ways to choose the tuples that are sent from a band."""
    return math.lgamma(sent + kept + 1.0) - math.lgamma(sent + 1.0) - math.lgamma(kept + 1.0)


@kernel
def count_members(value: Ids, part: Ids, side: Ids, is_near: Bools, sent: Ints, kept: Ints, left: Floats) -> None:
    """Count the values sent from each side, kept in the band of each side, and left of the cut."""
    for i in range(len(value)):
        if part[i] == 2:
            sent[side[i], value[i]] += 1
        elif is_near[i]:
            kept[side[i], value[i]] += 1
        if side[i] == 0:
            left[value[i]] += 1.0


@kernel
def replace_value(side: int, before: int, after: int, counts: Ints, sent: Ints, kept: Ints) -> float:
    """Count one value less and another more on a side; return by how much the logarithm of the chance grows."""
    gain = log_ways(sent[side, before], kept[side, before]) + log_ways(sent[side, after], kept[side, after])
    counts[side, before] -= 1
    counts[side, after] += 1
    return gain - log_ways(sent[side, before], kept[side, before]) - log_ways(sent[side, after], kept[side, after])


@kernel
def try_swap(
    i: int, j: int, value: Ids, part: Ids, side: Ids, is_near: Bools, sent: Ints, kept: Ints, left: Floats
) -> float:
    """Swap the values of two members of one part; return by how much the logarithm of the chance grows."""
    one, two = value[i], value[j]
    value[i], value[j] = two, one
    if part[i] != 2 and is_near[i] == is_near[j]:
        return 0.0
    counts = sent if part[i] == 2 else kept
    gain = 0.0
    if part[i] == 2 or is_near[i]:
        gain += replace_value(side[i], one, two, counts, sent, kept)
    if part[j] == 2 or is_near[j]:
        gain += replace_value(side[j], two, one, counts, sent, kept)
    if side[i] != side[j]:
        at_left = (one, two) if side[i] == 0 else (two, one)
        left[at_left[0]] -= 1.0
        left[at_left[1]] += 1.0
    return gain


@kernel
def walk_band(
    group: Group,
    cores: Floats,
    value: Ids,
    part: Ids,
    side: Ids,
    is_near: Bools,
    members: Ids,
    starts: Ints,
    place: Ints,
    tally: Floats,
    n_burned: int,
    n_rounds: int,
    state: Words,
) -> bool:
    """Shuffle the values of each part, find an assignment that SEAM explains, and walk; False if none is found.

    `members` lists the members of each part, from `starts`. A walk counts which value is at which place.
    """
    for number in range(3):
        for i in range(starts[number + 1] - starts[number] - 1, 0, -1):
            one, two = members[starts[number] + i], members[starts[number] + pick(state, i + 1)]
            value[one], value[two] = value[two], value[one]
    sent, kept, left = np.zeros(cores.shape, np.int64), np.zeros(cores.shape, np.int64), np.zeros(cores.shape[1])
    count_members(value, part, side, is_near, sent, kept, left)
    off = n_off(group, left, cores)
    n_seam = starts[3] - starts[2]
    for step in range(STEPS * n_seam):
        if off == 0.0:
            break
        i, j = int(members[starts[2] + pick(state, n_seam)]), int(members[starts[2] + pick(state, n_seam)])
        if side[i] == side[j] or value[i] == value[j]:
            continue
        try_swap(i, j, value, part, side, is_near, sent, kept, left)
        now = n_off(group, left, cores)
        if now <= off or pick(state, STEPS * n_seam) > step + STEPS * n_seam // 2:
            off = now
        else:
            try_swap(i, j, value, part, side, is_near, sent, kept, left)
    if off > 0.0:
        return False
    for turn in range(n_burned + n_rounds):
        for _ in range(2 * len(value)):
            i = int(pick(state, len(value)))
            first = starts[part[i]]
            j = int(members[first + pick(state, starts[part[i] + 1] - first)])
            if value[i] == value[j]:
                continue
            gain = try_swap(i, j, value, part, side, is_near, sent, kept, left)
            is_lost = gain < 0 and pick(state, 1 << 30) >= math.exp(gain) * (1 << 30)
            if not is_lost and side[i] != side[j]:
                is_lost = n_off(group, left, cores) > 0.0
            if is_lost:
                try_swap(i, j, value, part, side, is_near, sent, kept, left)
        if turn >= n_burned:
            for i in range(len(value)):
                tally[place[i], value[i]] += 1
    return True
