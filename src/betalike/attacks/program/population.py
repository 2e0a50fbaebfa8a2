"""A population model: how likely each value is for anyone with some quasi-identifiers, learned from one table.

The clues are smoothed shares of a value among the people who agree with a person on one column, on two, on all columns
in coarse bins, and on all exactly. How strongly each is smoothed, and how they are combined, is learned from people who
were left out of the counts.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from betalike.attacks.program.boosting import CandidatePairs, Learned, learn
from betalike.attacks.program.crowd import FOLDS, Crowd, Space
from betalike.runtime.arrays import Floats, Ids, Ints
from betalike.runtime.progress import SILENT, Progress
from betalike.table.cells import fold

FEW_CODES, COARSE_BINS, FINE_BINS = 12, 8, 32
MOST_PAIRED = 6  # columns that are also counted two at a time
MOST_COUNTS = 40_000_000  # counts in one view's table; a finer view is left out
SMOOTHINGS = (5.0, 25.0, 100.0, 400.0, 1_600.0)  # people with the table's shares who are added to each count
TRUST = (0.4, 0.6, 0.8, 1.0)  # weight of the columns' separate evidence, as in Naive Bayes
GROUPS_PER_STEP = 20_000
MOST_LEARNED = 1_500_000  # pairs


@dataclass(frozen=True)
class View:
    """Counts of each value among people who agree on some columns: all of them, and those of each fold."""

    number: Ints  # of each point's combination of codes
    counts: Floats  # by combination, fold and value
    smoothing: float

    def evidence(self, point: Ints, fold_of: Ints, prior: Floats) -> Floats:
        """Return the logarithm of how much more often each value occurs there than in the table, without a fold."""
        number = self.number[point]
        seen = self.counts[number].sum(axis=1) - self.counts[number, fold_of]
        total = seen.sum(axis=1, keepdims=True)
        return np.asarray(np.log((seen / prior + self.smoothing) / (total + self.smoothing)))


@dataclass(frozen=True)
class PopulationModel:
    """A model of the chance of each value at each point, learned from a crowd."""

    prior: Floats
    views: list[View]
    n_single: int  # views of a single column, which come first
    trust: float
    learned: Learned

    def chances(self, point: Ints, fold_of: Ints) -> Floats:
        """Return the chance of each value for people at some points, as if those of a fold were not known."""
        chances = np.empty((len(point), len(self.prior)))
        for start in range(0, len(point), GROUPS_PER_STEP):
            part = slice(start, start + GROUPS_PER_STEP)
            clues, score = self._clues(point[part], fold_of[part])
            pairs = _all_pairs(score, np.zeros_like(score))
            chances[part] = self.learned.apply(pairs, clues).chances.reshape(score.shape)
        return chances

    def _clues(self, point: Ints, fold_of: Ints) -> tuple[list[Floats], Floats]:
        return _clues(self.views, self.n_single, self.trust, self.prior, point, fold_of)


def learn_population(crowd: Crowd, progress: Progress = SILENT) -> PopulationModel:
    """Learn the chance of each value from a crowd; the people of the first fold decide how much is learned."""
    space = crowd.space
    counts = np.bincount(crowd.value, minlength=space.n_values) + 0.5
    prior: Floats = counts / counts.sum()
    key, count_of = np.unique(crowd.point * (FOLDS + 1) + crowd.fold, return_inverse=True)
    point, fold_of = key // (FOLDS + 1), key % (FOLDS + 1)
    people = np.zeros((len(key), space.n_values))
    np.add.at(people, (count_of, crowd.value), 1.0)
    most = max(MOST_LEARNED // space.n_values, 1)
    if len(key) > most:  # spread over all points
        some = np.arange(most) * len(key) // most
        point, fold_of, people = point[some], fold_of[some], people[some]
    numbers, n_single = _views(space, crowd.point)
    views = [_smooth(_count(number, crowd), point, fold_of, people, prior) for number in numbers]
    fits = []
    for trust in TRUST:
        _, score = _clues(views[:n_single], n_single, trust, prior, point, fold_of)
        fits.append((people * np.log(_all_pairs(score, people).chances.reshape(score.shape))).sum())
    trust = TRUST[int(np.argmax(fits))]
    clues, score = _clues(views, n_single, trust, prior, point, fold_of)
    learned = learn(_all_pairs(score, people), clues, fold_of == 0, point, progress, "learning the population")
    return PopulationModel(prior, views, n_single, trust, learned)


def _all_pairs(score: Floats, people: Floats) -> CandidatePairs:
    n_groups, m = score.shape
    value = np.tile(np.arange(m, dtype=np.int32), n_groups)
    return CandidatePairs(np.arange(n_groups + 1) * m, value, people.ravel(), score.ravel())


def _clues(
    views: list[View], n_single: int, trust: float, prior: Floats, point: Ints, fold_of: Ints
) -> tuple[list[Floats], Floats]:
    """Return what the learner sees of each pair, and a first score: Naive Bayes with less trust in each column."""
    evidence = [view.evidence(point, fold_of, prior) for view in views]
    separate = np.sum(evidence[:n_single], axis=0)
    logarithm = np.broadcast_to(np.log(prior), separate.shape)
    clues = [each.astype(np.float32).ravel() for each in (*evidence, separate, logarithm)]
    return clues, logarithm + trust * separate


def _views(space: Space, point: Ints) -> tuple[list[Ints], int]:
    """Number the points by single columns, pairs of columns, all in coarse bins, and exactly."""
    columns = range(space.points.shape[1])
    coarse = [_binned(space.points[:, i], space.points[point, i], COARSE_BINS) for i in columns]
    finer = [_binned(space.points[:, i], space.points[point, i], FINE_BINS) for i in columns]
    exact = [_number(space.points[:, i : i + 1]) for i in columns]
    fine = [each for some in (finer, exact) for each in some if each.max() >= FEW_CODES]
    pairs = [_number(np.column_stack(two)) for two in itertools.combinations(coarse[:MOST_PAIRED], 2)]
    whole = [_number(np.column_stack(coarse)), np.arange(len(space.points))] if len(coarse) > 1 else []
    numbers = [*coarse, *fine, *pairs, *whole]
    fits = [number for number in numbers if (int(number.max()) + 1) * (FOLDS + 1) * space.n_values <= MOST_COUNTS]
    return fits, len(coarse)


def _binned(codes: Ids, of_people: Ids, n_bins: int) -> Ints:
    """Number the codes of a column in bins that hold about as many people each; few codes stay as they are."""
    if len(np.unique(codes)) <= FEW_CODES:
        return _number(codes[:, None])
    borders = np.unique(np.quantile(of_people, np.linspace(0, 1, n_bins + 1)[1:-1], method="lower"))
    return _number(np.searchsorted(borders, codes, side="left").astype(np.int32)[:, None])


def _number(codes: Ints | Ids) -> Ints:
    columns = [np.ascontiguousarray(codes[:, i], dtype=np.int32) for i in range(codes.shape[1])]
    return fold(columns, [int(column.max()) + 1 for column in columns])[1].astype(np.int64)


def _count(number: Ints, crowd: Crowd) -> View:
    m = crowd.space.n_values
    shape = int(number.max()) + 1, FOLDS + 1, m
    flat = (number[crowd.point] * shape[1] + crowd.fold) * m + crowd.value
    return View(number, np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64), 0.0)


def _smooth(view: View, point: Ints, fold_of: Ints, people: Floats, prior: Floats) -> View:
    """Smooth the shares of a view as strongly as fits people who were left out best."""
    tried = [View(view.number, view.counts, smoothing) for smoothing in SMOOTHINGS]
    fits = [float((people * each.evidence(point, fold_of, prior)).sum()) for each in tried]
    return tried[int(np.argmax(fits))]
