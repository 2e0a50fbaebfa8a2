"""Targets: a release as an adversary sees it, matched with the people it is about.

The adversary knows everybody's quasi-identifiers, the release and its certificate. The original sensitive values are
here to judge guesses, and for attacks that assume some of them are known; nothing else reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from betalike.promises import Likeness, Model
from betalike.runtime.arrays import Floats, Ids, Ints
from betalike.table.axis import Axis, HierarchyAxis
from betalike.table.cells import Cells, ClassCounts, Plan


@dataclass(frozen=True)
class Target:
    """The people and the promise of a release; used as it is, a release that links no sensitive value to a person."""

    cells: Cells
    values: tuple[str, ...]  # sensitive values as published, in the order of their codes
    model: Model
    scheme: str
    options: Mapping[str, Any] = field(default_factory=dict)
    cell_of_rows: Ids | None = None  # needed if a second release has other quasi-identifiers

    @property
    def n_rows(self) -> int:
        """People in the table."""
        return self.cells.n_rows

    @property
    def n_values(self) -> int:
        """Sensitive values."""
        return len(self.values)

    @cached_property
    def prior(self) -> Floats:
        """The share of each sensitive value in the table, which is public. Paper: p."""
        return np.asarray(self.cells.value_counts / self.n_rows)

    @cached_property
    def caps(self) -> Floats | None:
        """The largest share that the promise allows for each value; None unless the promise is a likeness."""
        if not isinstance(self.model, Likeness) or not self.model.is_plain:
            return None
        return self.model.ceilings(self.cells.value_counts)


@dataclass(frozen=True)
class Generalized(Target):
    """A release with classes: the counts of each value per class, and the range of codes that its labels cover."""

    classes: ClassCounts = field(kw_only=True)
    low: Ids = field(kw_only=True)
    high: Ids = field(kw_only=True)

    @staticmethod
    def of_plan(
        plan: Plan, values: Sequence[str], model: Model, scheme: str, options: Mapping[str, Any] | None = None
    ) -> Generalized:
        """Return what the release of a plan shows; classes with the same labels become one class."""
        number, low, high = label_classes(plan)
        counts = plan.class_counts
        classes = ClassCounts.of(number[counts.ec], counts.value, counts.count, counts.n_values)
        return Generalized(plan.cells, tuple(values), model, scheme, options or {}, classes=classes, low=low, high=high)


@dataclass(frozen=True)
class Perturbed(Target):
    """A release with exact quasi-identifiers: how often each label is published at each point, and the matrix."""

    published: ClassCounts = field(kw_only=True)
    transition: Floats = field(kw_only=True)

    @cached_property
    def posterior(self) -> Floats:
        """Chance of each original value (rows) given the published label (columns). Paper: Eq. 8."""
        return posterior_of(self.transition, self.prior)


def posterior_of(transition: Floats, prior: Floats) -> Floats:
    """Return the chance of each original value (rows) given the published label (columns). Paper: Eq. 8."""
    joint = prior[:, None] * transition
    total = joint.sum(axis=0)
    return np.asarray(np.divide(joint, total, out=np.zeros_like(joint), where=total > 0))


@dataclass(frozen=True)
class OfAnotherTable(Target):
    """A release of another table, such as last year's, and what it says about the people of this one.

    The cells are those of this table. `chances` has a row for each of its points: the chance of each value in the
    classes that cover the point, and zeros where none does.
    """

    shares: Floats = field(kw_only=True)  # of each value in the other table
    chances: Floats = field(kw_only=True)
    other_rows: int = field(kw_only=True)

    @cached_property
    def prior(self) -> Floats:
        """The share of each sensitive value in the other table."""
        return self.shares


def label_classes(plan: Plan) -> tuple[Ints, Ids, Ids]:
    """Return the class of the release that each class of a plan becomes, and the codes that its labels reach.

    Classes with the same labels become one.
    """
    low, high = (side.astype(np.int64) for side in plan.boxes)
    ends = [reach(axis, low[:, i], high[:, i]) for i, axis in enumerate(plan.cells.axes)]
    boxes = np.column_stack([side for pair in ends for side in pair])
    distinct, number = np.unique(boxes, axis=0, return_inverse=True)
    low_codes, high_codes = (distinct[:, side::2].astype(np.int32) for side in (0, 1))
    return number.ravel().astype(np.int64), low_codes, high_codes


def reach(axis: Axis, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Return the first and the last code that the label of each range of codes covers."""
    if not isinstance(axis, HierarchyAxis):
        is_mixed = (high == axis.size - 1) & (low < high) & axis.has_missing
        return np.where(is_mixed, 0, low), high
    leaf = axis.hierarchy.n_leaves - 1
    node = axis.hierarchy.lowest_common_ancestor(np.minimum(low, leaf), np.minimum(high, leaf))
    is_missing = low > leaf
    is_root = ((high > leaf) & ~is_missing) | (node == axis.hierarchy.root)
    first = np.where(is_root, 0, axis.hierarchy.first[node])
    last = np.where(is_root, axis.size - 1, axis.hierarchy.last[node])
    return np.where(is_missing, low, first), np.where(is_missing, high, last)
