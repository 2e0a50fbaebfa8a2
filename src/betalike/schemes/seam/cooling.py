"""Anneal finished classes: parts of cells move to the classes of near points, and what is not allowed is merged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from betalike.errors import InternalError
from betalike.promises import Likeness, Rule
from betalike.runtime.arrays import Floats, Ids, Ints, Words
from betalike.runtime.noise import STATE_WORDS
from betalike.runtime.randomness import Randomness
from betalike.runtime.threads import share_work
from betalike.schemes.annealing import LEAST_LOSS, Heat, Pieces, anneal
from betalike.schemes.grouping import find_neighbours, make_groups
from betalike.schemes.limits import Limits, count_sets, make_limits
from betalike.schemes.merging import SMALLEST, Items, Style, merge_items
from betalike.schemes.spans import Spans, list_spans
from betalike.table.cells import Cells, Plan

PARTS = 8  # into which a cell is divided at most
NEAR, NEIGHBOURHOOD = 24, 256  # nearest points of each, and among how many they are found
MOVES, MOST_MOVES = 10_000_000, 50  # of all pieces together, and of each piece at most
SHARE, MOST_COUNTS = 50_000, 20_000_000  # fragments that are annealed together; counts of values that they may need
# Temperatures in units of a typical class's loss, and penalties for a missing row in units of a typical row's loss.
HOT, COLD, SOFT, HARD = 0.03, 0.0005, 10.0, 300.0
REPAIR = Style(is_blind=False, n_candidates=64, patience=0.1, lack=1.0, order=SMALLEST, noise=0.0)

Fragments = tuple[Ids, Ints, Ids, int]


@dataclass(frozen=True)
class Cooling:
    """Anneals the classes of plans for one table and promise."""

    cells: Cells
    model: Likeness
    randomness: Randomness
    share: int = SHARE

    @cached_property
    def _rule(self) -> Rule:
        return self.model.rule(self.cells.value_counts, self.cells.sensitive)

    @cached_property
    def _spans(self) -> Spans:
        return list_spans(self.cells)

    @cached_property
    def _limits(self) -> Limits:
        return make_limits(self._rule, self.cells.n_rows)

    @cached_property
    def _positions(self) -> Floats:
        return np.asarray(self.cells.positions * self._spans.axes.weight)

    @cached_property
    def _near(self) -> Ids:
        """The nearest points of each point."""
        alike, state = np.ones(len(self._positions)), self._state()
        order, starts = make_groups(self._positions, alike, float(NEIGHBOURHOOD), 0.0, state)
        return find_neighbours(self._spans, self.cells.points, order, starts, NEAR, state)

    def _state(self) -> Words:
        return self.randomness.words(STATE_WORDS).copy()

    def cool(self, plan: Plan) -> Plan:
        """Anneal all classes, in shares of near ones, on all cores. The promise is kept; the loss may grow."""
        heat = self._heat(plan)
        if heat is None:
            return plan
        shares = self._share_out(plan)
        states = [self._state() for _ in shares]  # drawn here, because threads ask in any order
        near = self._near

        def work(share: Ints, state: Words) -> Fragments:
            return self._cool_share(plan.cell[share], plan.count[share], plan.ec[share], near, heat, state)

        results = share_work(work, shares, states)
        shifts = np.append(0, np.cumsum([result[3] for result in results]))
        ec = [result[2] + shift for result, shift in zip(results, shifts, strict=False)]
        return Plan(
            self.cells,
            np.concatenate([result[0] for result in results]),
            np.concatenate([result[1] for result in results]),
            np.concatenate(ec).astype(np.int32),
            int(shifts[-1]),
        )

    def _heat(self, plan: Plan) -> Heat | None:
        """Return how hot to start and how to cool down, from the classes' losses; None if nothing is lost."""
        low, high = (side.astype(np.int64) for side in plan.boxes)
        weights = self._spans.axes.weight
        losses = sum(weights[i] * axis.losses(low[:, i], high[:, i]) for i, axis in enumerate(self.cells.axes))
        size = np.bincount(plan.ec, plan.count, plan.n_classes)
        lossy = np.asarray(losses) > LEAST_LOSS
        if not lossy.any():
            return None
        row = float((size * losses)[lossy].sum() / size[lossy].sum())
        group = row * float(np.median(size[lossy]))
        moves = min(max(MOVES // len(plan.cell), 1), MOST_MOVES)
        return Heat(moves, HOT * group, COLD * group, SOFT * row, HARD * row, alone=0.02, block=0.5, calm=0.7, slab=0.0)

    def _share_out(self, plan: Plan) -> list[Ints]:
        """Divide the fragments of a plan into shares of near classes; other ones each time."""
        fragments = np.bincount(plan.ec, minlength=plan.n_classes)
        middles = np.zeros((plan.n_classes, self._positions.shape[1]))
        np.add.at(middles, plan.ec, self._positions[self.cells.point[plan.cell]])
        middles /= fragments[:, None]
        most = min(self.share, MOST_COUNTS // len(self._limits.cap), max(len(plan.cell) // 2, 1))
        order, starts = make_groups(middles, fragments.astype(np.float64), float(most), 0.7, self._state())
        share_of_class = np.empty(plan.n_classes, dtype=np.int64)
        share_of_class[order] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        share = share_of_class[plan.ec]
        return np.split(np.argsort(share, kind="stable"), np.cumsum(np.bincount(share))[:-1])

    def _cool_share(self, cell: Ids, count: Ints, ec: Ids, near: Ids, heat: Heat, state: Words) -> Fragments:
        """Anneal the pieces of some classes, and merge classes that are not allowed in the end."""
        cells = self.cells
        fragment, rows = cut_fragments(count, -(-cells.count[cell] // PARTS))
        by_point = np.argsort(cells.point[cell[fragment]], kind="stable")
        fragment, rows = fragment[by_point], rows[by_point]
        cell, label = cell[fragment], number_labels(ec[fragment])
        used, point = np.unique(cells.point[cell], return_inverse=True)
        place = np.full(len(cells.points) + 1, -1, dtype=np.int32)  # the last place is that of no point
        place[used] = np.arange(len(used))
        codes, every = cells.points[cells.point[cell]], np.arange(len(cell))
        alone = replace(cells, points=codes, point=every.astype(np.int32), value=cells.value[cell], count=rows)
        items = Items(codes, codes, rows.astype(np.float64), *count_sets(self._rule, alone))
        start = np.searchsorted(point, np.arange(len(used) + 1))
        pieces = Pieces(items, point.astype(np.int64), start, place[near[used]])
        anneal(self._spans, self._limits, pieces, heat._replace(moves=heat.moves * len(cell)), label, state)
        label = number_labels(label)
        named, _, is_allowed = merge_items(self._spans, self._limits, items, every, label, REPAIR, state)
        if not is_allowed:
            raise InternalError("classes that are allowed were annealed, and together they are not allowed.")
        label = number_labels(named)
        keys, inverse = np.unique(label * len(cells.count) + cell, return_inverse=True)
        merged: Ints = np.bincount(inverse, rows).astype(np.int64)
        ecs = (keys // len(cells.count)).astype(np.int32)
        return (keys % len(cells.count)).astype(np.int32), merged, ecs, int(label.max()) + 1


def cut_fragments(count: Ints, most: Ints) -> tuple[Ints, Ints]:
    """Cut fragments into pieces of at most `most` rows; return the fragment of each piece, and its rows.

    >>> cut_fragments(np.array([5, 1]), np.array([2, 4]))
    (array([0, 0, 0, 1]), array([2, 2, 1, 1]))
    """
    n_pieces = -(-count // most)
    fragment = np.repeat(np.arange(len(count)), n_pieces)
    number = np.arange(len(fragment)) - np.repeat(np.cumsum(n_pieces) - n_pieces, n_pieces)
    return fragment, np.minimum(most[fragment], count[fragment] - number * most[fragment])


def number_labels(label: Ints | Ids) -> Ints:
    """Number labels 0, 1, ... without gaps, in their order."""
    return np.unique(label, return_inverse=True)[1].astype(np.int64)
