"""Composition: combine two releases of one table.

Each release keeps its promise alone. Anyone who has both can exclude what either excludes, and multiply what both
suggest. The promise covers a table that is published once. Paper: Section 7.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from betalike.attacks.control_release import control_of, replan, shuffled
from betalike.attacks.definetti import FIRST_SCALINGS, Assigning, People
from betalike.attacks.naive_bayes import POINTS_PER_STEP
from betalike.attacks.result import AttackResult, Rate, in_percent
from betalike.attacks.target import Generalized, Perturbed, Target
from betalike.errors import InputError
from betalike.promises import Likeness
from betalike.runtime.arrays import Floats, Ints
from betalike.runtime.randomness import Randomness, SystemRandomness
from betalike.table.cells import Cells

NAME = "composition"
OTHER = {"lmondrian": "burel"}  # scheme of a made-up second release; else lmondrian
WITHHELD = "the release has no sensitive values, so a second one adds nothing to it."


def composition(target: Target, second: Target | None = None, randomness: Randomness | None = None) -> AttackResult:
    """Attack two releases of a table together; without a second one, one is made up with another scheme.

    The adversary does not know who is in which class. Success is with both releases, the baseline with the better one
    alone. The control is two releases of the table with its sensitive column shuffled.
    """
    chance = randomness or SystemRandomness()
    if not isinstance(target, Generalized | Perturbed):
        return AttackResult(NAME, refusal=WITHHELD)
    is_made_up = second is None
    second = second if second is not None else another(target, target.cells, chance)
    check_same_people(target, second)
    found = compose(target, second, chance)
    mixed = replace(target, cells=shuffled(target.cells, chance), cell_of_rows=None)
    control = compose(control_of(mixed, chance), another(mixed, mixed.cells, chance), chance)
    success, baseline = Rate.of(found.right, found.people), Rate.of(max(found.right_alone), found.people)
    against = Rate.of(control.right, control.people)
    what = f"a second release by '{second.scheme}'" if is_made_up else f"the second release, by '{second.scheme}',"
    sentence = (
        f"An adversary who also has {what} is right for {in_percent(success)} of the people, against "
        f"{in_percent(baseline)} with the better of the two alone and {in_percent(against)} where there is nothing to "
        f"find; the largest gain on a value goes from {found.gain_alone:.3g} to {found.gain:.3g}. A table is published "
        "once."
    )
    details = {"second": second.scheme, "worst_gain": found.gain, "worst_gain_alone": found.gain_alone}
    return AttackResult(NAME, found.people, success, baseline, against, sentence, details)


def another(target: Target, cells: Cells, randomness: Randomness) -> Generalized:
    """Publish the same people with another scheme, under the same promise if that is a likeness."""
    is_likeness = isinstance(target.model, Likeness) and target.model.is_plain
    model = target.model if is_likeness else Likeness(4.0)
    scheme = OTHER.get(target.scheme, "lmondrian")
    plan = replan(Target(cells, target.values, model, scheme), cells, randomness)
    made = Generalized.of_plan(plan, target.values, model, scheme)
    return replace(made, cell_of_rows=target.cell_of_rows)


def check_same_people(one: Target, two: Target) -> None:
    """Raise an error unless both releases are of the same table; their quasi-identifiers may differ."""
    counts = [dict(zip(each.values, each.cells.value_counts.tolist(), strict=True)) for each in (one, two)]
    if counts[0] != counts[1]:
        raise InputError("the second release is not of the same table. Name another release of it.")


@dataclass(frozen=True)
class Composed:
    """What two releases reveal together and each alone: people guessed right, and the largest gain on a value."""

    people: int
    right: int
    right_alone: tuple[int, int]
    gain: float
    gain_alone: float


def compose(one: Target, two: Target, randomness: Randomness) -> Composed:
    """Combine what two releases say about the people at each pair of points."""
    points, values, counts = _pairs(one, two)
    (first, chances_one), (other, chances_two) = (chances_at_points(each, randomness) for each in (one, two))
    places = first[points[:, 0]], other[points[:, 1]]
    is_known = (places[0] >= 0) & (places[1] >= 0)  # very many people are sampled
    place_one, place_two = places[0][is_known], places[1][is_known]
    values, counts = values[is_known], counts[is_known]
    order = {label: code for code, label in enumerate(two.values)}
    chances_two = chances_two[:, [order[label] for label in one.values]]
    right, gain, alone = 0, 0.0, [0, 0]
    prior = np.maximum(one.prior, 1e-300)
    for start in range(0, len(values), POINTS_PER_STEP):
        part = slice(start, start + POINTS_PER_STEP)
        each = chances_one[place_one[part]], chances_two[place_two[part]]
        both = combined(*each, one.prior)
        right += _count_right(both, values[part], counts[part])
        alone = [n + _count_right(chances, values[part], counts[part]) for n, chances in zip(alone, each, strict=True)]
        gain = max(gain, float((both / prior).max()) - 1)
    gain_alone = max(float((chances / prior).max()) - 1 for chances in (chances_one, chances_two))
    return Composed(int(counts.sum()), right, (alone[0], alone[1]), gain, gain_alone)


def _pairs(one: Target, two: Target) -> tuple[Ints, Ints, Ints]:
    """Return the pairs of points that people have in both tables, with a value each, and the number of people."""
    if one.cells is two.cells or one.cell_of_rows is None or two.cell_of_rows is None:
        cells = one.cells
        return np.column_stack([cells.point, cells.point]), cells.value.astype(np.int64), cells.count
    n_other = len(two.cells.count)
    key = one.cell_of_rows.astype(np.int64) * n_other + two.cell_of_rows
    unique, count = np.unique(key, return_counts=True)
    cell_one, cell_two = unique // n_other, unique % n_other
    points = np.column_stack([one.cells.point[cell_one], two.cells.point[cell_two]])
    return points, one.cells.value[cell_one].astype(np.int64), count.astype(np.int64)


def chances_at_points(target: Target, randomness: Randomness) -> tuple[Ints, Floats]:
    """Return the row of each point (-1 if it has none), and rows with the chance of each value there.

    This is for an adversary who has this release alone and does not know who is in which class.
    """
    n_points = len(target.cells.points)
    if isinstance(target, Generalized):
        people = People.by_labels(target, randomness)
        assigning = Assigning(people, target.classes)
        for _ in range(FIRST_SCALINGS):
            counts = assigning.assign(np.ones((len(people.codes), target.n_values)))
        place = np.full(n_points, -1)
        place[people.point] = np.arange(len(people.point))
        return place, _normalized(counts)
    if isinstance(target, Perturbed):
        chances = np.zeros((n_points, target.n_values))
        published = target.published
        np.add.at(chances, published.ec, published.count[:, None] * target.posterior.T[published.value])
        return np.arange(n_points), _normalized(chances)
    return np.zeros(n_points, dtype=np.int64), target.prior[None, :]


def _normalized(counts: Floats) -> Floats:
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300))


def combined(one: Floats, two: Floats, prior: Floats) -> Floats:
    """Combine the chances of both releases with Bayes' rule: the gains over the prior are multiplied."""
    product = one * two / np.maximum(prior, 1e-300)
    total = product.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, product / np.where(total > 0, total, 1.0), prior))


def _count_right(chances: Floats, values: Ints, counts: Ints) -> int:
    return int(counts[np.argmax(chances, axis=1) == values].sum())
