"""What an adversary sees of a crowd: groups of people who look the same, the classes they may be in, and clues.

An adversary who knows who is in which class groups people by class and point; otherwise by point alone, and everybody
may be in any class whose labels cover the point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from betalike.attacks.definetti import Assigning, People, most_points
from betalike.attacks.possible_classes import cover_counts, covering_classes, sum_over, transposed
from betalike.attacks.program.boosting import CandidatePairs
from betalike.attacks.program.crowd import FOLDS, Crowd
from betalike.attacks.program.population import PopulationModel
from betalike.runtime.arrays import Bools, Floats, Ids, Ints
from betalike.runtime.randomness import Randomness, uniform

MOST_PAIRS = 1_500_000  # beyond this, classes (or points) are sampled
SCALINGS = 20
TINY = 1e-12


@dataclass(frozen=True)
class Scene:
    """Groups of a crowd, with the population model's chances, the truth, and the classes that each may be in.

    `ec` is the class of each group if that is known.
    """

    crowd: Crowd
    point: Ints
    fold: Ints
    people: Floats  # the truth: people of each group with each value
    population: Floats
    starts: Ints
    classes: Ids
    share: float
    ec: Ints | None = None

    @cached_property
    def sizes(self) -> Floats:
        """People in each group."""
        return np.asarray(self.people.sum(axis=1))

    @cached_property
    def by_shares(self) -> Floats:
        """Guess (a): the chance of each value in each group from class shares alone."""
        return self.matched(np.ones_like(self.population))

    @cached_property
    def by_population(self) -> Floats:
        """A first form of guess (b): members and values of each class matched by the population model."""
        return self.matched(self.population)

    def matched(self, likelihood: Floats) -> Floats:
        """Return the chances that fit a likelihood and keep the members and values of each class."""
        group, value = np.nonzero(self.people)
        truth = group, value, self.people[group, value].astype(np.int64)
        codes = self.crowd.space.points[self.point]
        people = People(self.point, codes, (), *truth, self.starts, self.classes, self.share)
        assigning = Assigning(people, self.crowd.class_counts)
        for _ in range(SCALINGS):
            counts = assigning.assign(likelihood)
        return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), TINY))

    @cached_property
    def possible(self) -> Bools:
        """Which values each group may have: those of its classes."""
        return self.by_shares > 0

    def pairs(self, chances: Floats) -> CandidatePairs:
        """Return groups with their possible values, scored by some chances."""
        value = np.nonzero(self.possible)[1].astype(np.int32)
        starts = np.append(0, np.cumsum(self.possible.sum(axis=1))).astype(np.int64)
        score = np.log(np.maximum(chances[self.possible], TINY))
        return CandidatePairs(starts, value, self.people[self.possible], score)

    def settled(self, pairs: CandidatePairs) -> CandidatePairs:
        """Return guesses that keep the values of each class; without knowing the classes they stay as they are."""
        if self.ec is None:
            return pairs
        likelihood = np.zeros_like(self.population)
        likelihood[self.possible] = pairs.chances
        return self.pairs(self.matched(likelihood))

    def average(self, rows: Floats) -> Floats:
        """Return the average of the classes' rows for each group, over the classes that it may be in."""
        if self.ec is not None:
            return np.asarray(rows[self.ec])
        weighed = sum_over(self.starts, self.classes, rows * self._density[:, None])
        return np.asarray(weighed / np.maximum(self._total_density, TINY)[:, None])

    @cached_property
    def _density(self) -> Floats:
        """People of each class per person whom its labels cover."""
        covered = sum_over(*self.members, self.sizes[:, None])[:, 0]
        return np.asarray(self.crowd.counts.sum(axis=1) * self.share / np.maximum(covered, 1.0))

    @cached_property
    def _total_density(self) -> Floats:
        return sum_over(self.starts, self.classes, self._density[:, None])[:, 0]

    @cached_property
    def members(self) -> tuple[Ints, Ids]:
        """The groups that may be in each class, and where those of each class start."""
        return transposed(self.starts, self.classes, len(self.crowd.low))

    @cached_property
    def expected(self) -> Floats:
        """The people with each value that the population model expects in each class."""
        n_possible = np.diff(self.starts)
        weight = self.sizes / np.maximum(n_possible, 1)
        if self.ec is None:
            weight = self.sizes / np.maximum(self._total_density, TINY)
        sums = sum_over(*self.members, self.population * weight[:, None])
        return sums if self.ec is not None else np.asarray(sums * self._density[:, None] / self.share)

    @cached_property
    def overlap(self) -> Floats:
        """How many classes cover each group's point."""
        if self.ec is None:
            return np.diff(self.starts).astype(np.float64)
        point, number = np.unique(self.point, return_inverse=True)
        crowd = self.crowd
        return cover_counts(crowd.space.points[point], crowd.low, crowd.high).astype(np.float64)[number]


Watch = Callable[[Crowd, PopulationModel, Randomness], Scene]


def known(crowd: Crowd, population: PopulationModel, randomness: Randomness) -> Scene:
    """Return what an adversary sees who knows who is in which class."""
    n_classes, m = len(crowd.low), crowd.space.n_values
    is_chosen = _sample(np.bincount(crowd.ec, minlength=n_classes) * m, randomness)[crowd.ec]
    n_points = len(crowd.space.points)
    key = (crowd.ec * n_points + crowd.point) * (FOLDS + 1) + crowd.fold
    unique, group = np.unique(key[is_chosen], return_inverse=True)
    fold, rest = unique % (FOLDS + 1), unique // (FOLDS + 1)
    ec, point = rest // n_points, rest % n_points
    people = _count(group, crowd.value[is_chosen], len(unique), m)
    starts = np.arange(len(unique) + 1)
    chances = population.chances(point, fold)
    return Scene(crowd, point, fold, people, chances, starts, ec.astype(np.int32), float(is_chosen.mean()), ec)


def unknown(crowd: Crowd, population: PopulationModel, randomness: Randomness) -> Scene:
    """Return what an adversary sees who knows of the classes only their labels."""
    m = crowd.space.n_values
    key = crowd.point * (FOLDS + 1) + crowd.fold
    used = np.unique(crowd.point)
    most = min(most_points(crowd.space.points[used], crowd.low, crowd.high, m, randomness), MOST_PAIRS // m)
    is_kept = np.zeros(len(crowd.space.points), dtype=bool)
    is_kept[used[np.argsort(uniform(len(used), randomness))[: max(most, 1)]]] = True
    is_chosen = is_kept[crowd.point]
    unique, group = np.unique(key[is_chosen], return_inverse=True)
    point, fold = unique // (FOLDS + 1), unique % (FOLDS + 1)
    people = _count(group, crowd.value[is_chosen], len(unique), m)
    starts, classes = covering_classes(crowd.space.points[point], crowd.low, crowd.high)
    return Scene(crowd, point, fold, people, population.chances(point, fold), starts, classes, float(is_chosen.mean()))


def _sample(work: Ints, randomness: Randomness) -> Bools:
    """Choose items at random as long as their work is bounded; the first is always chosen."""
    order = np.argsort(uniform(len(work), randomness))
    is_chosen = np.zeros(len(work), dtype=bool)
    done = np.cumsum(work[order])
    is_chosen[order[: max(int(np.searchsorted(done, MOST_PAIRS, side="right")), 1)]] = True
    return is_chosen


def _count(group: Ints, value: Ints, n_groups: int, m: int) -> Floats:
    return np.bincount(group * m + value, minlength=n_groups * m).reshape(n_groups, m).astype(np.float64)
