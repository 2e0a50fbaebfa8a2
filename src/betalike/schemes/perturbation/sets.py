"""Labels that name several values: the sets are chosen so that each of their values stands at its cap.

A label may be any distribution of the original value within the caps, if all labels together mix to the prior. The
extreme ones say most: every value at its cap or at its floor, with at most one between. Sets of values with chances to
be chosen of (prior - floor) / (cap - floor), whose rooms `cap - floor` add up to the same total, are exactly these.
Such sets are drawn by the generalized pivotal method (Deville and Tille, 1998), and then weighted so that they mix
to the prior exactly. What is drawn here is public: no row has any part in it. Why: docs/explanation/perturbation.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from betalike.errors import InfeasibleError
from betalike.promises import UNITS, Likeness, Transition, judge_transition
from betalike.promises.verdict import wording
from betalike.runtime.arrays import Bools, Floats, Ints
from betalike.runtime.randomness import Randomness, SeededRandomness, uniform
from betalike.schemes.perturbation.retention import caps_of, largest_factor, no_room
from betalike.table.axis import Axis

SEPARATOR, ESCAPE = "|", "\\"
SETS_PER_VALUE = 16  # more sets lower the variance of estimates by less than 4 %
DOUBLINGS = 4  # of the number of sets, if their mixtures do not reach the prior
COPIES = 4  # of sets that have as much, or as little, as possible of one value
SCALINGS = 60
TINY = 1e-12
TIE = 1e-6
TIGHTENINGS = (1e-9, 1e-6, 1e-3)


def fit_sets(counts: Ints, model: Likeness, sensitive: Axis | None = None) -> Transition:
    """Return a matrix of sets that keeps the promise exactly.

    Bounds are a little tighter than promised, which leaves room for rounding. For what a wider promise asks of several
    values together, every posterior moves towards the prior as far as needed.
    """
    prior, cap = caps_of(model, counts, sensitive)
    floor = _floors(model, counts, sensitive)
    for tightening in TIGHTENINGS:
        room, below = (np.minimum(cap, 1.0) - prior) * (1 - tightening), (prior - floor) * (1 - tightening)
        chances = choose_sets(prior, prior + room, np.where(floor > 0, prior - below, 0.0))
        if chances is None:
            break
        posterior = prior[:, None] * chances / (prior @ chances)
        factor = largest_factor(partial(_mix, posterior, prior[:, None]), counts, model, sensitive)
        transition = to_transition(_mix(chances, prior @ chances, factor), counts)
        if transition is not None and judge_transition(model, transition, counts, sensitive).holds:
            return transition
    if (cap <= prior).any():
        raise no_room(model)
    raise InfeasibleError(
        f"no sets of values were found that keep {wording(model)}. Take the mechanism 'matrix', or promise less, such "
        "as a larger beta."
    )


def _floors(model: Likeness, counts: Ints, sensitive: Axis | None) -> Floats:
    """Return the floor of each value; 0 if there is none, or only one for several values together."""
    floor = np.zeros(len(counts))
    if model.negative_beta is not None:
        demands = model.demands(counts, sensitive)
        is_alone = demands.sets.first == demands.sets.last
        floor[demands.sets.order[demands.sets.first[is_alone]]] = demands.bottoms[is_alone]
    return floor


def _mix(one: Floats, other: Floats, share: float) -> Floats:
    return np.asarray(share * one + (1 - share) * other)


def choose_sets(prior: Floats, cap: Floats, floor: Floats) -> Floats | None:
    """Return the chance of each set (columns) given each value (rows); None if no sets were found.

    Given a set, no value is likelier than its cap or less likely than its floor, up to rounding.
    """
    for doubling in range(DOUBLINGS):
        n_sets = SETS_PER_VALUE * len(prior) << doubling
        starts = np.vstack([np.tile(prior - floor, (n_sets, 1)), *[extremes(prior - floor, cap - floor)] * COPIES])
        sets = draw_sets(starts, cap - floor, SeededRandomness(doubling))
        posterior = floor + np.unique(sets, axis=0)
        weights = weigh(posterior, prior)
        if weights is not None:
            chances = (weights[:, None] * posterior).T
            return np.asarray(chances / chances.sum(axis=1, keepdims=True))
    return None


def extremes(expected: Floats, room: Floats) -> Floats:
    """Return amounts with the same sum in which one value has as much, or as little, as possible.

    Without these, a value that is nearly always inside or outside of sets would never be drawn otherwise.
    """
    total, everything = expected.sum(), room.sum()
    rows = []
    for value, amount in enumerate(expected):
        most, least = min(room[value], total), max(0.0, total - everything + room[value])
        down = expected * ((total - most) / max(total - amount, 1e-300))
        free = everything - room[value] - total + amount
        up = expected + (room - expected) * ((amount - least) / max(free, 1e-300))
        down[value], up[value] = most, least
        rows += [down, up]
    return np.array(rows)


def draw_sets(expected: Floats, room: Floats, randomness: Randomness) -> Floats:
    """Draw amounts per value (one row for each set) that are 0 or all of the room, but one at most; sums stay.

    On average, a value gets what is expected. Two values at a time settle who gets the amounts of both.
    """
    amounts, n_sets = expected.copy(), len(expected)
    every = np.arange(n_sets)
    order = np.argsort(uniform(amounts.size, randomness).reshape(amounts.shape), axis=1)
    open_one = order[:, 0]
    for other in order.T[1:]:
        one, two = amounts[every, open_one], amounts[every, other]
        up, down = np.minimum(room[open_one] - one, two), np.minimum(one, room[other] - two)
        change = np.where(uniform(n_sets, randomness) * (up + down) < down, up, -down)
        one, two = (_settle(amount, room[of]) for amount, of in ((one + change, open_one), (two - change, other)))
        amounts[every, open_one], amounts[every, other] = one, two
        open_one = np.where((two > 0) & (two < room[other]), other, open_one)
    return amounts


def _settle(amount: Floats, room: Floats) -> Floats:
    """Round amounts next to nothing, or to all of the room."""
    settled = np.where(amount < TINY * room, 0.0, amount)
    return np.where(settled > (1 - TINY) * room, room, settled)


def weigh(posterior: Floats, prior: Floats) -> Floats | None:
    """Return the weights with which posteriors (rows) mix to the prior, as even as possible; None if none were found.

    Newton's steps for the weights exp(ratio * multipliers) with the right mean. Ratios are to the prior, because some
    values may be millions of times as frequent as others.
    """
    weights, ratio = np.full(len(posterior), 1 / len(posterior)), posterior / prior
    for _ in range(SCALINGS):
        gap = 1 - weights @ ratio
        if np.abs(gap).max() < TINY:
            return weights
        curvature = ratio.T @ (weights[:, None] * ratio)
        step = ratio @ np.linalg.lstsq(curvature, gap, rcond=None)[0]
        weights = weights * np.exp(np.clip(step, -1.0, 1.0))
    return None


def to_transition(chances: Floats, counts: Ints) -> Transition | None:
    """Return the chances in whole units, with a column for each set of values that become likelier; None if it is one.

    Columns that make the same values likelier are added up, which keeps what they promise. First come those that differ
    in values that stay as likely as they were, up to rounding: whether these are named would be chance.
    """
    units = np.array([_whole_units(row) for row in chances])
    units = units[:, units.any(axis=0)]
    units = _add_up(units, units > (counts / counts.sum()) @ units * (1 + TIE))
    if units.shape[1] > 1:
        units = _add_up(units, Transition(units).likelier(counts))
    return Transition(units) if units.shape[1] > 1 else None


def _add_up(units: Ints, likelier: Bools) -> Ints:
    """Add up the columns that make the same values likelier."""
    _, owner = np.unique(~likelier, axis=1, return_inverse=True)
    merged = np.zeros((len(units), int(owner.max()) + 1), dtype=np.int64)
    np.add.at(merged.T, owner.ravel(), units.T)
    return merged


def _whole_units(chances: Floats) -> Ints:
    """Round chances that add up to 1, by less than a unit each."""
    units = np.floor(chances * UNITS).astype(np.int64)
    left = UNITS - int(units.sum())
    units[np.argsort(units - chances * UNITS)[: max(left, 0)]] += 1
    units[units.argmax()] += UNITS - int(units.sum())
    return units


def name_sets(transition: Transition, counts: Ints, values: Sequence[str]) -> list[str]:
    r"""Return the label of each column: the values that it makes likelier, which no other column has.

    >>> name_sets(Transition(np.array([[UNITS, 0], [UNITS // 2, UNITS // 2]])), np.array([1, 1]), ["a|b", "c"])
    ['a\\|b', 'c']
    """
    texts = [value.replace(ESCAPE, 2 * ESCAPE).replace(SEPARATOR, ESCAPE + SEPARATOR) for value in values]
    members = transition.likelier(counts).T
    return [SEPARATOR.join(texts[i] for i in np.flatnonzero(column)) for column in members]
