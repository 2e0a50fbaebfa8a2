"""Corruption: an adversary who knows the sensitive values of some people removes them and reads what is left.

In a class, known values make the others likelier, up to certainty for the last one. Perturbed values are drawn one by
one, so the values of other people say nothing about a person's own. Paper: Section 7.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from betalike.attacks.result import AttackResult, Rate, compared
from betalike.attacks.target import Generalized, Perturbed, Target
from betalike.errors import ParameterError
from betalike.runtime.arrays import Floats, Ints
from betalike.runtime.randomness import Randomness, SystemRandomness, uniform
from betalike.table.cells import ClassCounts

NAME = "corruption"
KNOWN = 0.5
SHARES = (0.1, 0.5, 0.9, 0.99)


def corruption(target: Target, randomness: Randomness | None = None, known: float = KNOWN) -> AttackResult:
    """Let the adversary know a random share of the people, and guess the others.

    The adversary also knows who is in which class. The control is a table that is published as a single class.
    """
    if not 0 <= known < 1:
        raise ParameterError(f"known is {known}; it must be at least 0 and below 1, such as 0.5.")
    chance = randomness or SystemRandomness()
    right, people, above = guess_rest(target, known, chance)
    control_right, control_people, _ = guess_rest(Target(target.cells, target.values, target.model, ""), known, chance)
    success, control = Rate.of(right, people), Rate.of(control_right, control_people)
    baseline = Rate.of(int(target.cells.value_counts.max()), target.n_rows)
    by_share = {share: guess_rest(target, share, chance) for share in (0.0, *SHARES)}
    details: dict[str, Any] = {
        "known": known,
        "success_by_known_share": {f"{share:g}": n / max(of, 1) for share, (n, of, _) in by_share.items()},
    }
    if target.caps is not None:
        details["people_above_their_cap"] = above / max(people, 1)
        details["above_by_known_share"] = {f"{share:g}": n / max(of, 1) for share, (_, of, n) in by_share.items()}
    sentence = (
        f"An adversary who knows the values of {100 * known:g} % of the rows guesses right "
        f"{compared(success, baseline, control)}."
    )
    if above:
        sentence += (
            f" For {100 * above / people:.3g} % of the rows some value becomes likelier than the promise allows, "
            "because the promise does not cover such knowledge."
        )
    return AttackResult(NAME, people, success, baseline, control, sentence, details)


def guess_rest(target: Target, known: float, randomness: Randomness) -> tuple[int, int, int]:
    """Return how many unknown people are guessed right, how many there are, and for how many a cap is exceeded.

    A cap is exceeded if some value is likelier than the promise allows, given what is known about others.
    """
    if isinstance(target, Perturbed):
        return _rest_of_perturbed(target, known, randomness)
    counts = target.cells.value_counts
    classes = target.classes if isinstance(target, Generalized) else _single_class(counts)
    left = draw_left(classes, 1 - known, randomness)
    sizes = np.bincount(classes.ec, left, len(classes.sizes))
    highest = np.zeros(len(sizes), dtype=np.int64)
    np.maximum.at(highest, classes.ec, left)
    n_above = 0
    if target.caps is not None:
        is_above = left > target.caps[classes.value] * sizes[classes.ec] * (1 + 1e-9)
        broken = np.zeros(len(sizes), dtype=bool)
        broken[classes.ec[is_above]] = True
        n_above = int(sizes[broken].sum())
    return int(highest.sum()), int(sizes.sum()), n_above


def _single_class(counts: Ints) -> ClassCounts:
    present = np.flatnonzero(counts)
    return ClassCounts.of(np.zeros_like(present), present, counts[present], len(counts))


def draw_left(classes: ClassCounts, share: float, randomness: Randomness) -> Ints:
    """Draw how many tuples of each count are left if each stays with a chance of `share`."""
    stays = uniform(int(classes.count.sum()), randomness) < share
    return np.add.reduceat(stays.astype(np.int64), np.append(0, np.cumsum(classes.count)[:-1]))


def _rest_of_perturbed(target: Perturbed, known: float, randomness: Randomness) -> tuple[int, int, int]:
    """Do the same for perturbed values: those of others only change how often each value is left."""
    left = draw_left(_single_class(target.cells.value_counts), 1 - known, randomness)
    counts = np.zeros(target.n_values)
    counts[np.flatnonzero(target.cells.value_counts)] = left
    joint = counts[:, None] * target.transition
    guess = joint.argmax(axis=0)
    right = float(joint[guess, np.arange(len(guess))].sum())
    people = int(counts.sum())
    n_above = 0.0
    if target.caps is not None:
        posterior: Floats = joint / np.maximum(joint.sum(axis=0), 1e-300)
        # The people who are left have a slightly different prior: chance alone takes some values above their caps.
        drift = counts / max(people, 1) / np.maximum(target.prior, 1e-300)
        slack = np.maximum(drift, 1.0)[:, None] / np.maximum(np.minimum(drift, 1.0) @ target.posterior, 1e-300)
        is_above = (posterior > target.caps[:, None] * slack * (1 + 1e-9)).any(axis=0)
        n_above = float(joint.sum(axis=0)[is_above].sum())
    return round(right), people, round(n_above)
