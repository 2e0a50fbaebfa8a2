"""A crowd: the people of one table, each with a point, a value and the class that a program put the person in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from betalike.attacks.target import label_classes
from betalike.runtime.arrays import Floats, Ids, Ints
from betalike.runtime.randomness import Randomness, uniform
from betalike.schemes.retrieval import hilbert_keys, ranks_along
from betalike.table.cells import Cells, ClassCounts, Plan

FOLDS = 5  # parts of the adversary's own table; what is said about one is learned from the others


@dataclass(frozen=True)
class Space:
    """The points of all tables of one kind: codes, positions in the unit cube, and places along a curve."""

    points: Ids
    positions: Floats
    along: Floats
    n_values: int

    @staticmethod
    def of(cells: Cells) -> Space:
        """Return the points of a table."""
        rank = ranks_along(hilbert_keys(cells.positions))
        return Space(cells.points, cells.positions, rank / max(len(rank), 1), cells.sensitive.size)


@dataclass(frozen=True)
class Crowd:
    """People in classes. `fold` parts them at random; people whose values are to be guessed have the fold `FOLDS`.

    `low` and `high` are the codes that the labels of each class reach. `caps` is the largest share of each value.
    `kind` numbers the values without gaps; values of one kind are the same to the program's choice of rows.
    """

    space: Space
    point: Ints
    value: Ints
    ec: Ints
    fold: Ints
    low: Ids
    high: Ids
    caps: Floats
    kind: Ints

    @staticmethod
    def of(space: Space, point_of: Ints, plan: Plan, caps: Floats, kind: Ints) -> Crowd:
        """Return the people of a plan by their cells; classes with the same labels are one.

        `point_of` numbers points of the space.
        """
        number, low, high = label_classes(plan)
        order = np.argsort(plan.cell, kind="stable")
        cell, ec = np.repeat(plan.cell[order], plan.count[order]), np.repeat(number[plan.ec[order]], plan.count[order])
        point, value = point_of[plan.cells.point[cell]], plan.cells.value[cell].astype(np.int64)
        return Crowd(space, point, value, ec, np.full(len(ec), FOLDS), low, high, caps, kind)

    @cached_property
    def counts(self) -> Floats:
        """People with each value in each class."""
        n_classes, m = len(self.low), self.space.n_values
        return np.bincount(self.ec * m + self.value, minlength=n_classes * m).reshape(n_classes, m).astype(np.float64)

    @property
    def class_counts(self) -> ClassCounts:
        """The same without zeros."""
        return ClassCounts.of(self.ec, self.value, np.ones(len(self.ec), dtype=np.int64), self.space.n_values)

    @cached_property
    def shares(self) -> Floats:
        """The share of each value in each class."""
        return np.asarray(self.counts / self.counts.sum(axis=1, keepdims=True))

    def in_folds(self, randomness: Randomness) -> Crowd:
        """Part the people into folds at random."""
        return replace(self, fold=(uniform(len(self.ec), randomness) * FOLDS).astype(np.int64))

    def with_values(self, value: Ints) -> Crowd:
        """Give the same people in the same classes other values."""
        return replace(self, value=value)
