"""Kernels that walk at random through the assignments that keep an order."""

from __future__ import annotations

import numpy as np

from betalike.runtime.arrays import Floats, Ids, Ints, Words
from betalike.runtime.compilation import kernel

STEPS = 30  # search steps per member


@kernel
def next_word(state: Words) -> np.uint64:
    """Return the next number of a xorshift generator: good enough for a walk, which protects nobody."""
    state[0] |= np.uint64(state[0] == 0)
    state[0] ^= state[0] << np.uint64(13)
    state[0] ^= state[0] >> np.uint64(7)
    state[0] ^= state[0] << np.uint64(17)
    return np.uint64(state[0])


@kernel
def pick(state: Words, count: int) -> int:
    """Return a random number below a count."""
    return int(next_word(state) % np.uint64(count))


@kernel
def n_broken(position: int, kind: int, is_far: bool, others: Ints, other_value: Ids, kind_of_value: Ints) -> int:
    """Count the members of the other part with which a member of a kind breaks the order."""
    broken = 0
    for j in range(len(others)):
        if kind_of_value[other_value[j]] == kind:
            broken += position > others[j] if is_far else position < others[j]
    return broken


@kernel
def find_start(far_position: Ints, near_position: Ints, far: Ids, near: Ids, kind_of_value: Ints, state: Words) -> int:
    """Shuffle the values of both parts, then swap until the order is kept; return how many pairs still break it.

    Swaps that break more pairs are also accepted, less and less often (simulated annealing).
    """
    for values in (far, near):
        for i in range(len(values) - 1, 0, -1):
            j = pick(state, i + 1)
            values[i], values[j] = values[j], values[i]
    broken = 0
    for i in range(len(far)):
        broken += n_broken(far_position[i], kind_of_value[far[i]], True, near_position, near, kind_of_value)
    n_steps = STEPS * (len(far) + len(near))
    for step in range(2 * n_steps):
        if broken == 0:
            break
        heat = 2.0 * max(1.0 - step / n_steps, 0.0) ** 2 + 1e-3
        is_far = pick(state, len(far) + len(near)) < len(far)
        values, line = (far, far_position) if is_far else (near, near_position)
        others, other_line = (near, near_position) if is_far else (far, far_position)
        i, j = pick(state, len(values)), pick(state, len(values))
        one, two = kind_of_value[values[i]], kind_of_value[values[j]]
        if one == two or line[i] == line[j]:
            continue
        more = (
            n_broken(line[i], two, is_far, other_line, others, kind_of_value)
            + n_broken(line[j], one, is_far, other_line, others, kind_of_value)
            - n_broken(line[i], one, is_far, other_line, others, kind_of_value)
            - n_broken(line[j], two, is_far, other_line, others, kind_of_value)
        )
        if more <= 0 or pick(state, 1 << 30) < np.exp(-more / heat) * (1 << 30):
            values[i], values[j] = values[j], values[i]
            broken += more
    return broken


@kernel
def walk(
    far_position: Ints,
    near_position: Ints,
    far: Ids,
    near: Ids,
    kind_of_value: Ints,
    places: tuple[Ints, Ints],
    tallies: tuple[Floats, Floats],
    n_burned: int,
    n_rounds: int,
    state: Words,
) -> None:
    """Swap values within each part at random while the order is kept, and count which value is where.

    With the other part fixed, each kind has a place that it may not pass; then the parts swap roles.
    """
    limit = np.empty(len(kind_of_value), dtype=np.int64)
    for turn in range(n_burned + n_rounds):
        limit[:] = np.iinfo(np.int64).max
        for i in range(len(near)):
            kind = kind_of_value[near[i]]
            limit[kind] = min(limit[kind], near_position[i])
        for _ in range(2 * len(far)):
            i, j = pick(state, len(far)), pick(state, len(far))
            if far_position[j] <= limit[kind_of_value[far[i]]] and far_position[i] <= limit[kind_of_value[far[j]]]:
                far[i], far[j] = far[j], far[i]
        limit[:] = np.iinfo(np.int64).min
        for i in range(len(far)):
            kind = kind_of_value[far[i]]
            limit[kind] = max(limit[kind], far_position[i])
        for _ in range(2 * len(near)):
            i, j = pick(state, len(near)), pick(state, len(near))
            if near_position[j] >= limit[kind_of_value[near[i]]] and near_position[i] >= limit[kind_of_value[near[j]]]:
                near[i], near[j] = near[j], near[i]
        if turn < n_burned:
            continue
        for i in range(len(far)):
            tallies[0][places[0][i], far[i]] += 1
        for i in range(len(near)):
            tallies[1][places[1][i], near[i]] += 1
