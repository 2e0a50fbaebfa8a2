"""Composition: combine two releases of one table, or of two tables with the same people, such as two years.

Each release keeps its promise alone. Anyone who has both can exclude what either excludes, and multiply what both
suggest. The promise covers a table that is published once. Paper: Section 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from betalike.attacks.control_release import control_of, replan, shuffled
from betalike.attacks.definetti import FIRST_SCALINGS, Assigning, People
from betalike.attacks.naive_bayes import POINTS_PER_STEP
from betalike.attacks.result import AttackResult, Rate, in_percent
from betalike.attacks.target import Generalized, OfAnotherTable, Perturbed, Target
from betalike.errors import InputError
from betalike.promises import Likeness
from betalike.runtime.arrays import Floats, Ints
from betalike.runtime.randomness import Randomness, SystemRandomness
from betalike.table.cells import Cells, random_order

NAME = "composition"
OTHER = {"lmondrian": "burel"}  # scheme of a made-up second release; else lmondrian
WITHHELD = "the release has no sensitive values, so a second one adds nothing to it."
NOBODY = "nobody of this table lies in a class of the second release, so the two say nothing together."
ONCE_EACH = "Each of the two keeps its promise alone, and not both together."


def composition(target: Target, second: Target | None = None, randomness: Randomness | None = None) -> AttackResult:
    """Attack two releases together; without a second one, one of the same table is made up with another scheme.

    The adversary does not know who is in which class. Success is with both releases, the baseline with the better one
    alone. The control is two releases of the table with its sensitive column shuffled; a second release of another
    table stays as it is.
    """
    chance = randomness or SystemRandomness()
    if not isinstance(target, Generalized | Perturbed):
        return AttackResult(NAME, refusal=WITHHELD)
    is_made_up = second is None
    second = second if second is not None else another(target, target.cells, chance)
    check_same_people(target, second)
    found = compose(target, second, chance)
    if not found.people:
        return AttackResult(NAME, refusal=NOBODY)
    control = compose(*_without_relation(target, second, chance), chance)
    success, baseline = Rate.of(found.right, found.people), Rate.of(max(found.right_alone), found.people)
    against = Rate.of(control.right, control.people)
    sentence = (
        f"An adversary who also has {_described(target, second, found.people, is_made_up)} is right for "
        f"{in_percent(success)} of the rows, against {in_percent(baseline)} with the better of the two alone and "
        f"{in_percent(against)} where there is nothing to find; the largest gain on a value goes from "
        f"{found.gain_alone:.3g} to {found.gain:.3g}. "
        + (ONCE_EACH if isinstance(second, OfAnotherTable) else "A table is published once.")
    )
    details = {"second": second.scheme, "worst_gain": found.gain, "worst_gain_alone": found.gain_alone}
    if isinstance(second, OfAnotherTable):
        details["second_rows"] = second.other_rows
    return AttackResult(NAME, found.people, success, baseline, against, sentence, details)


def _described(target: Target, second: Target, n_found: int, is_made_up: bool) -> str:
    if isinstance(second, OfAnotherTable):
        return (
            f"the second release, by '{second.scheme}', of another table with {second.other_rows:,} rows, and looks up "
            f"people in it by their quasi-identifiers in this table ({n_found:,} of {target.n_rows:,} lie in a class),"
        )
    return f"a second release by '{second.scheme}'" if is_made_up else f"the second release, by '{second.scheme}',"


def _without_relation(target: Target, second: Target, randomness: Randomness) -> tuple[Target, Target]:
    """Return two releases that say nothing together, because sensitive values are shuffled."""
    if not isinstance(second, OfAnotherTable):
        mixed = replace(target, cells=shuffled(target.cells, randomness), cell_of_rows=None)
        return control_of(mixed, randomness), another(mixed, mixed.cells, randomness)
    assert target.cell_of_rows is not None
    control = control_of(target, randomness)
    point = target.cells.point[target.cell_of_rows]
    by_point = random_order(len(point), randomness)  # the rows of a point get its shuffled values at random
    by_point = by_point[np.argsort(point[by_point], kind="stable")]
    cell_of_rows = np.empty_like(target.cell_of_rows)
    cell_of_rows[by_point] = np.repeat(np.arange(len(control.cells.count)), control.cells.count)
    return replace(control, cell_of_rows=cell_of_rows), second


def another(target: Target, cells: Cells, randomness: Randomness) -> Generalized:
    """Publish the same people with another scheme, under the same promise if that is a likeness."""
    is_likeness = isinstance(target.model, Likeness) and target.model.is_plain
    model = target.model if is_likeness else Likeness(4.0)
    scheme = OTHER.get(target.scheme, "lmondrian")
    plan = replan(Target(cells, target.values, model, scheme), cells, randomness)
    made = Generalized.of_plan(plan, target.values, model, scheme)
    return replace(made, cell_of_rows=target.cell_of_rows)


def check_same_people(one: Target, two: Target) -> None:
    """Raise an error unless both releases are of the same table, or the second is known to be of another one."""
    if isinstance(two, OfAnotherTable):
        if not {*one.values} & {*two.values}:
            raise InputError("the two releases have no sensitive value in common, so they say nothing together.")
        return
    counts = [dict(zip(each.values, each.cells.value_counts.tolist(), strict=True)) for each in (one, two)]
    if counts[0] != counts[1]:
        raise InputError(
            "the second release is of another table. Open it with open_second, which looks people up in it."
        )


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
    chances_two, prior_two = (
        _in_order(one.values, two.values, chances_two),
        _in_order(one.values, two.values, two.prior),
    )
    right, gain, alone = 0, 0.0, [0, 0]
    prior = np.maximum(one.prior, 1e-300)
    for start in range(0, len(values), POINTS_PER_STEP):
        part = slice(start, start + POINTS_PER_STEP)
        each = chances_one[place_one[part]], chances_two[place_two[part]]
        both = combined(*each, prior_two)
        right += _count_right(both, values[part], counts[part])
        alone = [n + _count_right(chances, values[part], counts[part]) for n, chances in zip(alone, each, strict=True)]
        gain = max(gain, float((both / prior).max()) - 1)
    alone_one, alone_two = chances_one / prior, chances_two / np.maximum(prior_two, 1e-300)
    gain_alone = max(float(gains.max()) - 1 for gains in (alone_one, alone_two))
    return Composed(int(counts.sum()), right, (alone[0], alone[1]), gain, gain_alone)


def _in_order(values: Sequence[str], given: Sequence[str], figures: Floats) -> Floats:
    """Return figures of given values (the last axis) for other values; 0 for a value that was not given."""
    order = {label: code for code, label in enumerate(given)}
    padded = np.concatenate([figures, np.zeros((*figures.shape[:-1], 1))], axis=-1)
    return padded[..., [order.get(label, len(given)) for label in values]]


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
    if isinstance(target, OfAnotherTable):
        return np.where(target.chances.any(axis=1), np.arange(n_points), -1), target.chances
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
    """Combine the chances of both releases with Bayes' rule: the gain over the second one's prior is multiplied."""
    product = one * two / np.maximum(prior, 1e-300)
    total = product.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, product / np.where(total > 0, total, 1.0), prior))


def _count_right(chances: Floats, values: Ints, counts: Ints) -> int:
    return int(counts[np.argmax(chances, axis=1) == values].sum())
