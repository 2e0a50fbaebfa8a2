"""The search for classes of whole points: merge until all are allowed, then anneal and regroup, on all cores."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from betalike.errors import InfeasibleError
from betalike.runtime.arrays import Floats, IdGrid, Ints, Words
from betalike.runtime.kernel_building import compile_ahead
from betalike.runtime.noise import STATE_WORDS
from betalike.runtime.randomness import Randomness
from betalike.runtime.threads import share_work
from betalike.schemes.annealing import FORBIDDEN, LEAST_LOSS, Heat
from betalike.schemes.cutting import Cutting, cut_groups
from betalike.schemes.grouping import find_neighbours, make_groups
from betalike.schemes.merging import ANY, SMALLEST, WORST, Style
from betalike.schemes.regrouping import (
    BETTER,
    MOST_COUNTS,
    MOST_ITEMS,
    Classes,
    Styles,
    draw_places,
    join_groups,
    list_members,
    merge_groups,
    outline_boxes,
    outline_classes,
    regroup,
)
from betalike.schemes.spans import list_losses
from betalike.schemes.whole.cooling import anneal_groups, count_lacking
from betalike.schemes.whole.problem import GroupingProblem

KERNELS = (  # for tables with few points
    merge_groups, anneal_groups, count_lacking, regroup, find_neighbours, make_groups, list_members, outline_boxes,
    draw_places, list_losses,
)  # fmt: skip
S = TypeVar("S")
T = TypeVar("T")
Work = Callable[[Classes, Ints, Ints, Words], T]
GROWTH = 4  # of a group where its points cannot be merged
ROOM = 0.9  # a group has to be cut where that leaves no less
CANDIDATES_OF_MANY = 8
NEIGHBOURS = 12  # near points that are known, twice
NEIGHBOURHOOD, PAIRS, NEIGHBOURHOOD_OF_MANY = (256, 1024), 5_000_000, 64  # points among which they are found
COLD = 0.001  # the last temperature of a round, in units of what a class loses
SOFT, HARD = 5.0, 150.0  # penalties for a row that a class lacks; 1 is what is lost per row that points lack alone
SLAB, POINTS_TO_SLAB = 0.4, 8  # how often a side of a class moves; less often in larger classes, which take longer
GROUPS = (24, 48, 96, 192)  # points of a neighbourhood that is regrouped, pass by pass
POINTS_OF_CLASS, MOST_TIMES = 16, 4  # with larger classes, neighbourhoods are larger, at most this many times
LARGE_CLASS = 32  # points of classes that mix slowly
SHARES = 8  # of the work, for the cores
WIDE_PASSES = 2  # with `strict`: a group that was only just allowed as a whole has become one large class
PARTS = 4  # of a table that are annealed on their own, if they have points enough
NEAR_CLASSES, FEWEST_NEAR = 12, 128  # classes that are annealed together in later rounds, and their points at least
NEAR_MOVES, NEAR_PASSES = 200, 2  # for each point, and afterwards
TIMES_NEAR, POINTS_TO_NEAR = (1, 30), 60_000  # in a round; a table of this many points has one
WARMTH, SAME_HEAT = 0.1, 0.0  # their first temperature at most, in units of what their lossy classes lose
TRIES = 2  # of a round whose points are one group, which one core anneals; the better one is kept
FEWEST_HELD = 64  # classes that are searched together, however many values there are
MANY_VALUES = 128  # with more, the work on each class grows, and less is tried
BY_SCORE = Style(is_blind=False, n_candidates=64, patience=0.1, lack=1.0, order=SMALLEST, noise=0.0)
BY_ANSWERS = BY_SCORE._replace(is_blind=True, patience=0.3)
SCORES = Styles(
    is_blind=False,
    n_candidates=np.array([8, 16, 64, 64]),
    patience=np.array([0.01, 0.1, 1.0, 10.0]),
    lack=np.array([0.1, 1.0, 10.0, 10.0]),
    order=np.array([SMALLEST, WORST, ANY, ANY]),
    noise=0.3,
    kept=0.5,
)
ANSWERS = SCORES._replace(is_blind=True, patience=np.array([0.03, 0.1, 0.3, 1.0]), order=np.array([SMALLEST, ANY]))


class Pace(NamedTuple):
    """How long each part of the search is.

    It begins with some passes of regrouping. Then each round anneals all points with some moves each, and regroups them
    a few times. Of two numbers, the first is the fewest, the second the most; a table of `points_to_` points has one.
    The first temperature falls from round to round. It is in units of what a class loses.
    """

    first_passes: tuple[int, int]
    points_to_first_pass: int
    rounds: tuple[int, int]
    points_to_round: int
    moves: tuple[int, int]
    points_to_move: int
    times_slow: float  # as many moves where classes mix slowly
    passes: tuple[int, int]
    points_to_pass: int
    hot: float
    mild: float
    worth: float  # annealed groups are kept for regrouping if they lose less than this many times what they lost
    together: int  # points that are annealed together, at least; larger tables are annealed in parts, on all cores


QUICK_ROUNDS = Pace((1, 2), 30_000, (2, 2), 1, (28, 400), 500_000, 1.4, (2, 30), 20_000, 0.05, 0.05, 1.03, 8192)
# What comes next with more effort; and all rounds of a table with many points.
LONG_ROUNDS = Pace((2, 4), 90_000, (2, 2), 1, (35, 300), 500_000, 1.0, (3, 30), 60_000, 0.05, 0.05, 1.03, 8192)
# With `strict`, classes are always allowed and mix slowly, so that long rounds do not pay.
SHORT_ROUNDS = Pace((2, 12), 90_000, (7, 12), 80_000, (15, 50), 150_000, 1.0, (1, 5), 12_000, 0.05, 0.01, BETTER, 2048)


@dataclass(frozen=True)
class Schedule:
    """Sizes of tables and groups by which the search goes one way or another.

    A table with many points is cut into groups that are allowed; they are merged with fewer candidates, and not
    annealed.
    """

    few_points: int = 8192  # a table with no more is merged, and annealed, as one group
    first_group: int = 512  # points that are merged first; more where that is not allowed
    many_points: int = 100_000
    cuts_of_many: tuple[int, int] = (64, 256)  # points of a group
    most_items: int = MOST_ITEMS  # of a group that is regrouped
    most_counts: int = MOST_COUNTS  # classes times sets of values that are searched together
    few_to_share: int = 500  # with fewer points, starting threads would take longer than the work itself


@dataclass(frozen=True)
class Search:
    """Looks for classes with little loss; a label names the class of each point by one of its points."""

    problem: GroupingProblem
    strict: bool
    randomness: Randomness
    schedule: Schedule = Schedule()

    def rounds(self, effort: int) -> list[int]:
        """Return how long each round is for an effort; more effort means more rounds.

        Later rounds are longer, unless they work on small neighbourhoods.
        """
        n_rounds = self._n_rounds
        if not (self.strict or self._has_many):
            return [1] * (effort * n_rounds)
        lengths: Iterator[int] = (1 + number // n_rounds for number in itertools.count())
        spent = itertools.accumulate(lengths)
        return [
            1 + n // n_rounds for n, total in enumerate(itertools.takewhile(lambda t: t <= effort * n_rounds, spent))
        ]

    def merge(self) -> Ints:
        """Merge points until every class is allowed."""
        problem, style = self.problem, BY_ANSWERS if self.strict else BY_SCORE
        kernels = problem.spans, problem.limits, problem.items
        label = np.arange(self._n_points)
        most = (
            self.schedule.few_points
            if self._has_many or self._n_points <= self.schedule.few_points
            else self.schedule.first_group
        )
        most = min(most * GROWTH if self.strict else most, self._most_held)
        is_cut = self._has_many or (self._n_points > self.schedule.few_points and not self.strict)
        if is_cut:
            compile_ahead((cut_groups,))
        if is_cut and self._cut_and_merge(label):
            return label

        def work(classes: Classes, order: Ints, starts: Ints, state: Words) -> bool:
            return merge_groups(*kernels, classes, order, starts, style, state, label)

        def join(classes: Classes, order: Ints, starts: Ints, state: Words) -> None:
            join_groups(problem.limits, problem.items, classes, order, starts, label)

        while not all(self._over_groups(label, most, 0.0, work)):
            if most >= self._n_points:
                raise InfeasibleError("the rows together do not keep the promise, so no classes of them can.")
            most *= GROWTH
            if most > self._most_held:  # classes have to be large, so very near points may join at once
                self._over_groups(label, -(-most // min(self._most_held, self.schedule.most_items)), 0.0, join)
        return label

    def _cut_and_merge(self, label: Ints) -> bool:
        """Cut the table into groups of near points that are allowed, and merge each; return whether all are merged."""
        problem, every = self.problem, np.arange(self._n_points)
        style, kernels = BY_ANSWERS if self.strict else BY_SCORE, (problem.spans, problem.limits, problem.items)
        room, sizes_of_groups = 1.0 if self.strict else ROOM, (self.schedule.first_group, self._n_points)
        if self._has_many:
            style, sizes_of_groups = style._replace(n_candidates=CANDIDATES_OF_MANY), self.schedule.cuts_of_many
        alone = outline_classes(problem.spans, problem.items, every)
        first = Cutting(self._n_points // SHARES, sizes_of_groups[1], room)
        order, starts = cut_groups(problem.positions, *kernels[1:], every, first, self._state())

        def work(share: tuple[int, int, Words]) -> bool:
            is_done = True
            for group in range(*share[:2]):
                members, cutting = order[starts[group] : starts[group + 1]], Cutting(*sizes_of_groups, room)
                near, begins = cut_groups(problem.positions, *kernels[1:], members, cutting, share[2])
                sizes = np.diff(begins)
                is_small = sizes <= min(self.schedule.most_items, self._most_held)
                begins = np.append(0, np.cumsum(sizes[is_small]))
                small = near[np.repeat(is_small, sizes)]
                is_done &= merge_groups(*kernels, alone, small, begins, style, share[2], label) and bool(is_small.all())
            return is_done

        return all(self._in_threads(self._share_out(len(starts) - 1), work))

    def improve(self, label: Ints, number: int, length: int) -> None:
        """Anneal all points and regroup all neighbourhoods; the loss never grows."""
        pace = self._pace(number)
        if number >= 2 * self._n_rounds and not (self.strict or self._has_many):
            self._improve_nearby(label, number)
            return
        if number == 0 and self.strict and self.schedule.few_points < self._n_points <= self.schedule.many_points:
            for _ in range(WIDE_PASSES):
                self._regroup_groups(label, self.schedule.most_items)
        if number == 0:
            for turn in range(self._as_many(pace.first_passes, pace.points_to_first_pass)):
                self._regroup(label, turn)
        if number == 0 and self._has_many:
            return
        tries = self._anneal(label, number, length)
        passes = length * self._as_many(pace.passes, pace.points_to_pass)
        for tried, turn in itertools.product(tries, range(number * passes, (number + 1) * passes)):
            self._regroup(tried, turn)
        best = min(tries, key=self._loss)
        if self._loss(best) < self._loss(label) * BETTER:
            label[:] = best

    def _improve_nearby(self, label: Ints, number: int) -> None:
        """Anneal small neighbourhoods again and again, each kept if it loses less, and regroup after each time."""
        times = self._as_many(TIMES_NEAR, POINTS_TO_NEAR)
        for turn in range(number * times, (number + 1) * times):
            most = NEAR_CLASSES * self._n_points // len(np.unique(label))
            self._anneal_nearby(label, min(max(most, FEWEST_NEAR), self.schedule.most_items, self._most_held))
            for pass_number in range(turn * NEAR_PASSES, (turn + 1) * NEAR_PASSES):
                self._regroup(label, pass_number)

    def _anneal_nearby(self, label: Ints, most: int) -> None:
        problem, near = self.problem, self._near
        kernels = problem.spans, problem.limits, problem.items
        heat = self._heat(outline_classes(problem.spans, problem.items, label), 0, 1)._replace(moves=NEAR_MOVES)

        def work(classes: Classes, order: Ints, starts: Ints, state: Words) -> None:
            anneal_groups(*kernels, classes, order, starts, near, heat, BY_SCORE, state, BETTER, WARMTH, label)

        self._over_groups(label, most, 1.0, work)

    def _loss(self, label: Ints) -> float:
        """Return the loss of all rows."""
        classes = outline_classes(self.problem.spans, self.problem.items, label)
        return float(classes.size @ classes.loss)

    def _anneal(self, label: Ints, number: int, length: int) -> list[Ints]:
        """Return labels with all points annealed: two if the points are one group, so that no core is idle."""
        problem, style, pace = self.problem, BY_ANSWERS if self.strict else BY_SCORE, self._pace(number)
        kernels = problem.spans, problem.limits, problem.items
        together = min(max(self._n_points // PARTS, pace.together), self._most_held)
        classes, order, starts = self._divide(label, together, 1.0)
        heat, near = self._heat(classes, number, length), self._near  # here, because it draws randomness
        tries = [label.copy() for _ in range(TRIES if len(starts) == 2 else 1)]
        shares = [(tried, *share) for tried in tries for share in self._share_out(len(starts) - 1)]

        def work(share: tuple[Ints, int, int, Words]) -> None:
            tried, first, last, state = share
            part = order, starts[first : last + 1]
            anneal_groups(*kernels, classes, *part, near, heat, style, state, pace.worth, SAME_HEAT, tried)

        self._in_threads(shares, work)
        return tries

    def _heat(self, classes: Classes, number: int, length: int) -> Heat:
        """Return how long and how hot a round is."""
        pace = self._pace(number)
        is_lossy = classes.loss > LEAST_LOSS
        lossy, size = classes.loss[is_lossy], classes.size[is_lossy]
        total = float(lossy @ size) if len(size) else 1.0
        unit = total / float(size.sum()) * float(np.median(size)) if len(size) else 1.0
        soft = hard = FORBIDDEN
        if not self.strict:
            lacking = count_lacking(self.problem.limits, self.problem.items)
            soft, hard = SOFT * total / max(lacking, 1.0), HARD * total / max(lacking, 1.0)
        times = pace.times_slow if self._n_points > LARGE_CLASS * len(size) else 1.0
        moves = length * self._as_many(pace.moves, int(pace.points_to_move * times))
        slab = min(SLAB, POINTS_TO_SLAB * max(len(size), 1) / self._n_points)
        hot = pace.hot * (pace.mild / pace.hot) ** (number % self._n_rounds / max(self._n_rounds - 1, 1))
        return Heat(moves, hot * unit, COLD * unit, soft, hard, alone=0.05, block=1.0, calm=0.5, slab=slab)

    def _regroup(self, label: Ints, turn: int) -> None:
        times = 1.0
        if self._n_points <= self.schedule.few_points:
            times = min(max(self._n_points / POINTS_OF_CLASS / len(np.unique(label)), 1.0), MOST_TIMES)
        self._regroup_groups(label, int(times * GROUPS[turn % len(GROUPS)]))

    def _regroup_groups(self, label: Ints, most: int) -> None:
        problem, styles = self.problem, ANSWERS if self.strict else SCORES
        kernels = problem.spans, problem.limits, problem.items

        def work(classes: Classes, order: Ints, starts: Ints, state: Words) -> None:
            regroup(*kernels, classes, order, starts, styles, state, label)

        self._over_groups(label, most, 1.0, work)

    @cached_property
    def _near(self) -> IdGrid:
        """The near points of each, from two ways to divide the table into groups."""
        problem, found = self.problem, []
        weight, most = np.ones(self._n_points), NEIGHBOURHOOD_OF_MANY
        if not self._has_many:
            most = min(max(PAIRS // self._n_points, NEIGHBOURHOOD[0]), NEIGHBOURHOOD[1])
        for jitter in (0.0, 1.0):
            order, starts = make_groups(problem.positions, weight, float(most), jitter, self._state())

            def work(share: tuple[int, int, Words], order: Ints = order, starts: Ints = starts) -> IdGrid:
                part = order, starts[share[0] : share[1] + 1]
                return find_neighbours(problem.spans, problem.items.low, *part, NEIGHBOURS, share[2])

            parts = self._in_threads(self._share_out(len(starts) - 1), work)
            found.append(np.maximum.reduce(parts))
        return np.concatenate(found, axis=1)

    def _over_groups(self, label: Ints, most: int, jitter: float, work: Work[T]) -> list[T]:
        """Divide the classes into groups of at most `most` points, and call `work` on shares of these groups."""
        classes, order, starts = self._divide(label, most, jitter)

        def work_on(share: tuple[int, int, Words]) -> T:
            return work(classes, order, starts[share[0] : share[1] + 1], share[2])

        return self._in_threads(self._share_out(len(starts) - 1), work_on)

    def _divide(self, label: Ints, most: int, jitter: float) -> tuple[Classes, Ints, Ints]:
        """Return the classes, their order by groups of near ones with at most `most` points, and where groups start."""
        problem, state = self.problem, self._state()
        classes = outline_classes(problem.spans, problem.items, label)
        places = draw_places(classes, problem.positions, 0.6 * jitter, state)
        weight: Floats = np.diff(classes.start).astype(np.float64)
        return classes, *make_groups(places, weight, float(most), jitter, state)

    def _share_out(self, n_groups: int) -> list[tuple[int, int, Words]]:
        """Return the first and last group of each share, and randomness of its own."""
        ends = [n_groups * i // SHARES for i in range(SHARES + 1)]
        return [(a, b, self._state()) for a, b in itertools.pairwise(ends) if a < b]

    def _in_threads(self, shares: Sequence[S], work: Callable[[S], T]) -> list[T]:
        """Call `work` with each share, on all cores."""
        if self._n_points < self.schedule.few_to_share or len(shares) == 1:
            return [work(share) for share in shares]
        return share_work(work, shares)

    def _state(self) -> Words:
        return self.randomness.words(STATE_WORDS).copy()

    def _as_many(self, range_of: tuple[int, int], points: int) -> int:
        """Return how often the points of the table fit into a number of points, within a range.

        With many values, points count several times, and the range begins at 1.
        """
        times = -(-self._n_sets // MANY_VALUES)
        return min(max(points // (times * self._n_points), range_of[0] if times == 1 else 1), range_of[1])

    def _pace(self, number: int) -> Pace:
        if self.strict:
            return SHORT_ROUNDS
        return QUICK_ROUNDS if number < self._n_rounds and not self._has_many else LONG_ROUNDS

    @property
    def _n_rounds(self) -> int:
        pace = SHORT_ROUNDS if self.strict else QUICK_ROUNDS
        return 1 if self._has_many else self._as_many(pace.rounds, pace.points_to_round)

    @property
    def _most_held(self) -> int:
        """How many classes are searched together at most."""
        return max(min(self.schedule.most_counts // self._n_sets, self.schedule.few_points), FEWEST_HELD)

    @property
    def _n_sets(self) -> int:
        return max(len(self.problem.limits.cap), 1)

    @property
    def _has_many(self) -> bool:
        return self._n_points > self.schedule.many_points

    @property
    def _n_points(self) -> int:
        return len(self.problem.items.size)
