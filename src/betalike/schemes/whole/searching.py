"""The search for classes of whole points: merge until all are allowed, then regroup neighbourhoods, on all cores."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from betalike.errors import InfeasibleError
from betalike.runtime.arrays import Floats, Ints, Words
from betalike.runtime.noise import STATE_WORDS
from betalike.runtime.randomness import Randomness
from betalike.schemes.grouping import make_groups
from betalike.schemes.merging import ANY, SMALLEST, WORST, Style
from betalike.schemes.regrouping import Classes, Styles, draw_places, merge_groups, outline_classes, regroup
from betalike.schemes.whole.problem import Problem

T = TypeVar("T")
FIRST_GROUP, GROWTH = 512, 4  # points that are merged first; larger groups where that is not allowed
GROUPS = (24, 48, 96, 192)  # points of a neighbourhood, pass by pass
POINTS_TO_IMPROVE, MOST_PASSES = 300_000, 100
SHARES = 8  # of the work, for the cores
FEW = 500  # with fewer points, starting threads would take longer than the work itself
BY_SCORE = Style(is_blind=False, n_candidates=64, patience=0.1, lack=1.0, order=SMALLEST, noise=0.0)
BY_LOSS = BY_SCORE._replace(is_blind=True, n_candidates=1)
SCORES = Styles(
    is_blind=False,
    n_candidates=np.array([8, 16, 64, 64]),
    patience=np.array([0.01, 0.1, 1.0, 10.0]),
    lack=np.array([0.1, 1.0, 10.0, 10.0]),
    order=np.array([SMALLEST, WORST, ANY, ANY]),
    noise=0.3,
    kept=0.5,
)
LOSSES = SCORES._replace(is_blind=True, n_candidates=np.array([1, 2, 4]), order=np.array([SMALLEST, ANY]), noise=0.5)


@dataclass(frozen=True)
class Search:
    """Looks for classes with little loss; a label names the class of each point by one of its points."""

    problem: Problem
    strict: bool
    randomness: Randomness

    def n_passes(self, effort: int) -> int:
        """Return how many passes over all classes an effort is worth."""
        return effort * min(max(POINTS_TO_IMPROVE // self._n_points, 1), MOST_PASSES)

    def merge(self) -> Ints:
        """Merge points until every class is allowed."""
        problem = self.problem
        style = BY_LOSS if self.strict else BY_SCORE
        label, most = np.arange(self._n_points), FIRST_GROUP

        def work(classes: Classes, order: Ints, starts: Ints, state: Words) -> bool:
            return merge_groups(
                problem.spans, problem.limits, problem.items, classes, order, starts, style, state, label
            )

        while not all(self._over_groups(label, most, 0.0, work)):
            if most >= self._n_points:
                raise InfeasibleError("the rows together do not keep the promise, so no classes of them can.")
            most *= GROWTH
        return label

    def improve(self, label: Ints, number: int) -> Ints:
        """Regroup all neighbourhoods once; the loss never grows."""
        problem = self.problem
        styles = LOSSES if self.strict else SCORES

        def work(classes: Classes, order: Ints, starts: Ints, state: Words) -> None:
            regroup(problem.spans, problem.limits, problem.items, classes, order, starts, styles, state, label)

        self._over_groups(label, GROUPS[number % len(GROUPS)], 1.0, work)
        return label

    def _over_groups(
        self, label: Ints, most: int, jitter: float, work: Callable[[Classes, Ints, Ints, Words], T]
    ) -> list[T]:
        """Divide the classes into groups of at most `most` points, and call `work` on shares of these groups."""
        problem = self.problem
        classes = outline_classes(problem.spans, problem.items, label)
        state = self._state()
        places = draw_places(classes, problem.positions, 0.6 * jitter, state)
        weight: Floats = np.diff(classes.start).astype(np.float64)
        order, starts = make_groups(places, weight, float(most), jitter, state)
        n_groups = len(starts) - 1
        ends = [n_groups * i // SHARES for i in range(SHARES + 1)]
        shares = [(a, b, self._state()) for a, b in itertools.pairwise(ends) if a < b]

        def work_on(share: tuple[int, int, Words]) -> T:
            first, last, state = share
            part = order[starts[first] : starts[last]]
            return work(classes, part, starts[first : last + 1] - starts[first], state)

        if self._n_points < FEW:
            return [work_on(share) for share in shares]
        with ThreadPoolExecutor() as pool:
            return list(pool.map(work_on, shares))

    def _state(self) -> Words:
        return self.randomness.words(STATE_WORDS).copy()

    @property
    def _n_points(self) -> int:
        return len(self.problem.items.size)
