"""deFinetti: learn from all classes which values go with which quasi-identifiers, and reassign each class's values.

Kifer's attack starts with a random assignment of each class's values to its members. It learns a Naive Bayes model from
all of them and assigns the values of each class again, until nothing changes. Here every assignment is weighted by its
chance, so that nothing depends on luck: the start is the average of all random assignments, and each class keeps its
members and values (by scaling rows and columns). Where labels of classes overlap, the adversary does not know which
class a person is in, and the same scaling gives the chance of each. Paper: Section 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from betalike.attacks.control_release import control_of
from betalike.attacks.possible_classes import cover_counts, covering_classes, sum_over, transposed
from betalike.attacks.result import AttackResult, Rate, compared
from betalike.attacks.target import Generalized, Target
from betalike.runtime.arrays import Floats, Ids, Ints
from betalike.runtime.randomness import Randomness, SystemRandomness, uniform
from betalike.table.cells import Cells, ClassCounts, Plan

NAME = "definetti"
MOST_ROUNDS, SETTLED = 30, 1e-3  # stop after this many rounds, or when fewer guesses change
FIRST_SCALINGS = 4  # scalings before anything is learned
MOST_WORK = 2e8  # (group, class) pairs times values; beyond this, people are sampled
MOST_CHECKS = 4e8  # (group, class) pairs to check
SAMPLE = 512


@dataclass(frozen=True)
class People:
    """People in groups that the adversary cannot distinguish: their codes, true values and possible classes.

    `point` is the table's point of each group. `group`, `value` and `count` are the truth, used only to judge guesses.
    `starts` and `classes` list the classes that each group may be in. `share` is the groups' share of the table.
    """

    point: Ints
    codes: Ids
    axis_sizes: Sequence[int]
    group: Ints
    value: Ints
    count: Ints
    starts: Ints
    classes: Ids
    share: float = 1.0

    @property
    def sizes(self) -> Floats:
        """People in each group."""
        return np.bincount(self.group, self.count, len(self.codes)).astype(np.float64)

    @staticmethod
    def by_labels(target: Generalized, randomness: Randomness, most: int | None = None) -> People:
        """Let everybody be in any class whose labels cover the person; sample if there are more points than `most`."""
        cells = target.cells
        keep = np.arange(len(cells.points))
        most = most or most_points(cells.points, target.low, target.high, target.n_values, randomness)
        if most < len(keep):
            keep = np.sort(np.argsort(uniform(len(keep), randomness))[:most])
        place = np.full(len(cells.points), -1)
        place[keep] = np.arange(len(keep))
        is_kept = place[cells.point] >= 0
        starts, classes = covering_classes(cells.points[keep], target.low, target.high)
        return People(
            keep,
            cells.points[keep],
            [axis.size for axis in cells.axes],
            place[cells.point[is_kept]],
            cells.value[is_kept].astype(np.int64),
            cells.count[is_kept],
            starts,
            classes,
            float(cells.count[is_kept].sum() / cells.n_rows),
        )

    @staticmethod
    def by_plan(plan: Plan) -> People:
        """Let everybody's class be known, as in Anatomy, or to an adversary who knows the classes."""
        cells: Cells = plan.cells
        key = plan.ec.astype(np.int64) * len(cells.points) + cells.point[plan.cell]
        unique, group = np.unique(key, return_inverse=True)
        ec, point = unique // len(cells.points), unique % len(cells.points)
        return People(
            point,
            cells.points[point],
            [axis.size for axis in cells.axes],
            group,
            cells.value[plan.cell].astype(np.int64),
            plan.count,
            np.arange(len(unique) + 1),
            ec.astype(np.int32),
        )


def most_points(points: Ids, low: Ids, high: Ids, n_values: int, randomness: Randomness) -> int:
    """Return how many points can be processed with a bounded amount of work."""
    some = np.argsort(uniform(len(points), randomness))[:SAMPLE]
    covering = max(float(cover_counts(points[some], low, high).mean()), 1.0)
    return max(int(min(MOST_WORK / (covering * n_values), MOST_CHECKS / len(low))), SAMPLE)


def definetti(target: Target, randomness: Randomness | None = None, control: Target | None = None) -> AttackResult:
    """Attack a release with classes; a release without classes has no assignments to guess."""
    if not isinstance(target, Generalized):
        return AttackResult(NAME, refusal="the release has no classes, so there is nothing to assign within them.")
    chance = randomness or SystemRandomness()
    control = control if control is not None else control_of(target, chance)
    assert isinstance(control, Generalized)
    people = People.by_labels(target, chance)
    success, n_rounds = attack_people(people, target.classes)
    against, _ = attack_people(People.by_labels(control, chance), control.classes)
    baseline = Rate.of(int(target.cells.value_counts.max()), target.n_rows)
    sentence = (
        "An adversary who assigns the values within each class by what all classes show together is right "
        f"{compared(success, baseline, against)}."
    )
    n_people = int(people.count.sum())
    return AttackResult(NAME, n_people, success, baseline, against, sentence, {"rounds": n_rounds})


def attack_people(people: People, classes: ClassCounts) -> tuple[Rate, int]:
    """Return how often the likeliest value of each group is right, and the number of rounds."""
    posterior, n_rounds = posterior_of(people, classes)
    guess = np.argmax(posterior, axis=1)
    right = int(people.count[guess[people.group] == people.value].sum())
    return Rate.of(right, int(people.count.sum())), n_rounds


def posterior_of(people: People, classes: ClassCounts, most_rounds: int = MOST_ROUNDS) -> tuple[Floats, int]:
    """Estimate how many people of each group have each value; also return the number of rounds."""
    assigning = Assigning(people, classes)
    likelihood = np.ones((len(people.codes), classes.n_values))
    for _ in range(FIRST_SCALINGS):
        posterior = assigning.assign(likelihood)
    guess = np.argmax(posterior, axis=1)
    sizes = people.sizes
    n_rounds = 0
    for n_rounds in range(1, most_rounds + 1):  # noqa: B007 - returned to the caller
        likelihood = likelihood_of(people, posterior)
        for _ in range(2):
            posterior = assigning.assign(likelihood)
        before, guess = guess, np.argmax(posterior, axis=1)
        if sizes[before != guess].sum() <= SETTLED * sizes.sum():
            break
    return posterior, n_rounds


class Assigning:
    """Assignments of values to people in which each class keeps its members and its values."""

    def __init__(self, people: People, classes: ClassCounts) -> None:
        n_classes = len(classes.sizes)
        self._people = people
        self._members = transposed(people.starts, people.classes, n_classes)
        self._sizes = people.sizes
        self._wanted = np.zeros((n_classes, classes.n_values))
        self._wanted[classes.ec, classes.value] = classes.count * people.share
        self._scale = self._wanted / np.maximum(self._wanted.sum(axis=1, keepdims=True), 1e-300)

    def assign(self, likelihood: Floats) -> Floats:
        """Scale people, then values, and return how many people of each group have each value."""
        people = self._people
        offered = sum_over(people.starts, people.classes, self._scale)
        weighed = likelihood * offered
        total = np.maximum(weighed.sum(axis=1), 1e-300)
        factor = (self._sizes / total)[:, None]
        taken = self._scale * sum_over(*self._members, likelihood * factor)
        self._scale = self._scale * np.divide(self._wanted, taken, out=np.zeros_like(taken), where=taken > 0)
        return np.asarray(weighed * factor)


def likelihood_of(people: People, posterior: Floats) -> Floats:
    """Return how likely each value makes each group's codes, by Naive Bayes; 1 for the likeliest. Paper: Eq. 15."""
    counts = np.maximum(posterior.sum(axis=0), 1e-300)
    score = np.zeros_like(posterior)
    for axis, size in enumerate(people.axis_sizes):
        beside = np.zeros((size, posterior.shape[1]))
        np.add.at(beside, people.codes[:, axis], posterior)
        share = beside.sum(axis=1, keepdims=True) / counts.sum()  # one extra tuple of each value, spread like all
        score += np.log(np.maximum((beside + share) / (counts + 1), 1e-300))[people.codes[:, axis]]
    return np.asarray(np.exp(score - score.max(axis=1, keepdims=True)))
