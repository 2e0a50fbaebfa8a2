"""Shares: which part of the tuples behind a label is thought to lie in a set of values.

`uniform` spreads them evenly over the label (Paper: 6.2). `density` spreads them as the release shows values to be
frequent: a first, even spread gives a density of each column, which the second follows, and once more.

A class has the label of an inner node because members of at least two of the node's children met in it. So a leaf's
share of such a label is taken in proportion to its density times that of the other children: a frequent child alone
would have kept its own label.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from betalike.queries.columns import Column, LabelSpans, NamedColumn, OrderedColumn
from betalike.queries.values import ValueSet

Floats = NDArray[np.float64]
ROUNDS = 2  # more of them follow the accidents of wide labels (measured on CENSUS)
MOST_BREAKS = 4096
TOUCHED, NOT_ALL = 1e-30, 1 - 1e-12
TOO_NARROW = 1e-8  # a label's part of the whole distribution
MISSING_SHARE = 0.5  # of `*` in a column of numbers, where present and missing values met


class Spread(StrEnum):
    """How the tuples of a class are thought to lie within its labels."""

    UNIFORM = "uniform"
    DENSITY = "density"


class Shares(Protocol):
    """The shares of one column's labels."""

    @property
    def spans(self) -> LabelSpans:
        """What each label covers."""
        ...

    def within(self, values: ValueSet) -> Floats:
        """The share of each label that lies in a set."""
        ...


def make_shares(column: Column, spans: LabelSpans, counts: Floats, spread: Spread) -> Shares:
    """The shares of a column's labels, given how many tuples carry each."""
    if isinstance(column, NamedColumn):
        return _leaf_shares(column, spans, counts, spread)
    assert isinstance(column, OrderedColumn)
    return _ordered_shares(column, spans, counts, spread)


def label_weights(shares: Shares, values: ValueSet) -> Floats:
    """The share of each label in a set: exactly 1 only for labels wholly inside, above 0 for all that touch it."""
    touching, within = shares.spans.touching(values), shares.spans.within(values)
    doubtful = np.clip(shares.within(values), TOUCHED, NOT_ALL)
    return np.where(within, 1.0, np.where(touching, doubtful, 0.0))


@dataclass(frozen=True)
class OrderedShares:
    """Numbers: shares by a distribution function that is linear between its breaks.

    A whole number v is the interval from v to v + 1.
    """

    spans: LabelSpans
    width: float
    breaks: Floats
    distribution: Floats

    def within(self, values: ValueSet) -> Floats:
        """The share of each label that lies in a set."""
        low, high = self.spans.measured(self.spans.low), self.spans.measured(self.spans.high) + self.width
        inside, length = self._covered(low, high, values)
        total = self._below(high) - self._below(low)
        is_narrow = total < TOO_NARROW  # differences of the distribution are mostly rounding: an even spread instead
        inside, total = np.where(is_narrow, length, inside), np.where(is_narrow, high - low, total)
        share = np.divide(inside, total, out=np.zeros(len(low)), where=(total > 0) & self.spans.is_present)
        missing = np.where(self.spans.missing, np.where(self.spans.is_present, MISSING_SHARE, 1.0), 0.0)
        return np.asarray(share * (1.0 - missing) + missing * values.missing)

    def _covered(self, low: Floats, high: Floats, values: ValueSet) -> tuple[Floats, Floats]:
        """How much of the distribution, and which length, a set's intervals cover between each low and high.

        The first and the last interval that a label meets may stick out of it; those between them lie inside, and
        differences of running sums add them up.
        """
        inside, length = np.zeros(len(low)), np.zeros(len(low))
        if not values.spans:
            return inside, length
        start, end = (self.spans.measured(side) for side in values.ends)
        end = end + self.width
        with np.errstate(invalid="ignore"):  # inf - inf, of a set that starts and ends at infinity
            whole = end - start
        lengths = np.append(0.0, np.cumsum(np.where(np.isfinite(whole), whole, 0.0)))  # infinite ones are never between
        masses = np.append(0.0, np.cumsum(self._below(end) - self._below(start)))
        first = np.searchsorted(end, low)
        last = np.searchsorted(start, high, side="right") - 1
        for edge, is_met in ((first, first <= last), (last, first < last)):
            place = np.clip(edge, 0, len(start) - 1)
            a, b = np.maximum(low, start[place]), np.minimum(high, end[place])
            is_met = is_met & (a < b)
            inside += np.where(is_met, self._below(b) - self._below(a), 0.0)
            length += np.subtract(b, a, out=np.zeros(len(a)), where=is_met)
        between = first + 1 < last
        inside[between] += masses[last[between]] - masses[first[between] + 1]
        length[between] += lengths[last[between]] - lengths[first[between] + 1]
        return inside, length

    def _below(self, x: Floats) -> Floats:
        return np.asarray(np.interp(x, self.breaks, self.distribution))


def _ordered_shares(column: OrderedColumn, spans: LabelSpans, counts: Floats, spread: Spread) -> OrderedShares:
    width = 1.0 if column.is_discrete else 0.0
    shown = spans.is_present
    low, high = spans.measured(spans.low)[shown], spans.measured(spans.high)[shown] + width
    breaks = np.unique(np.concatenate([low, high]))
    breaks = breaks[np.isfinite(breaks)]
    if len(breaks) < 2:
        return OrderedShares(spans, width, np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    if len(breaks) > MOST_BREAKS:
        breaks = breaks[np.unique(np.linspace(0, len(breaks) - 1, MOST_BREAKS).astype(int))]
    even = np.diff(breaks) / (breaks[-1] - breaks[0])
    mass = even
    if spread is Spread.DENSITY:
        start = np.searchsorted(breaks, low, side="right") - 1
        start = np.clip(start, 0, len(even) - 1)
        end = np.searchsorted(breaks, high, side="left")
        end = np.clip(end, start + 1, len(even))
        present = counts[shown] * np.where(spans.missing[shown], 1.0 - MISSING_SHARE, 1.0)
        for _ in range(ROUNDS):
            mass = _spread_once(mass, start, end, present) + 1e-9 * even
    distribution = np.append(0.0, np.cumsum(mass))
    return OrderedShares(spans, width, breaks, distribution / distribution[-1])


def _spread_once(mass: Floats, start: NDArray[np.int64], end: NDArray[np.int64], counts: Floats) -> Floats:
    """Spread each label's tuples over its stretch in proportion to the mass there; the new masses, of sum 1."""
    below = np.append(0.0, np.cumsum(mass))
    total = below[end] - below[start]
    is_narrow = total < 1e-15  # too narrow for the sums: all of it goes to the first stretch
    height = np.divide(counts, total, out=np.zeros(len(total)), where=~is_narrow)
    steps = np.bincount(start, height, len(below)) - np.bincount(end, height, len(below))
    spread = mass * np.maximum(np.cumsum(steps)[:-1], 0.0)
    spread += np.bincount(start[is_narrow], counts[is_narrow], len(mass))
    return np.asarray(spread / spread.sum())


@dataclass(frozen=True)
class LeafShares:
    """Names: for each label of several leaves, which part of it lies before each leaf; missing values come last."""

    spans: LabelSpans
    row: NDArray[np.int64]
    before: Floats
    n_leaves: int

    def within(self, values: ValueSet) -> Floats:
        """The share of each label that lies in a set."""
        start, end = (side.clip(-1, self.n_leaves).astype(np.int64) for side in values.ends)
        is_met = (start < self.n_leaves) & (end >= 0)
        first, last = np.maximum(start[is_met], 0), np.minimum(end[is_met], self.n_leaves - 1)
        inside = (self.before[:, last + 1] - self.before[:, first]).sum(axis=1)
        if values.missing:
            inside += self.before[:, -1] - self.before[:, self.n_leaves]
        shares = self.spans.within(values).astype(np.float64)
        is_inner = self.row >= 0
        shares[is_inner] = inside[self.row[is_inner]]
        return shares


def _leaf_shares(column: NamedColumn, spans: LabelSpans, counts: Floats, spread: Spread) -> LeafShares:
    size = column.n_leaves + column.has_missing
    is_inner = (spans.low < spans.high) | (spans.missing & spans.is_present)
    row = np.where(is_inner, np.cumsum(is_inner) - 1, -1)
    inner = np.flatnonzero(is_inner)
    covered = [_covered(spans, label, column) for label in inner.tolist()]
    share = np.zeros((len(inner), size))
    for i, leaves in enumerate(covered):
        share[i, leaves] = 1.0 / len(leaves)
    if spread is Spread.DENSITY and len(inner):
        siblings = [_child_of_leaf(column, leaves) for leaves in covered]
        exact = np.zeros(size)
        outer = np.flatnonzero(~is_inner)
        code = np.where(spans.is_present[outer], np.maximum(spans.low[outer], 0), size - 1).astype(np.int64)
        np.add.at(exact, code, counts[outer])
        for _ in range(ROUNDS):
            density = exact + counts[inner] @ share
            for i, (leaves, child) in enumerate(zip(covered, siblings, strict=True)):
                share[i, leaves] = _pair_shares(density[leaves], child)
    before = np.concatenate([np.zeros((len(inner), 1)), np.cumsum(share, axis=1)], axis=1)
    return LeafShares(spans, row, before, column.n_leaves)


def _covered(spans: LabelSpans, label: int, column: NamedColumn) -> NDArray[np.int64]:
    """The codes of the leaves under a label; missing values have the last code."""
    leaves = np.arange(int(spans.low[label]), int(spans.high[label]) + 1)
    return np.append(leaves, column.n_leaves) if spans.missing[label] else leaves


def _child_of_leaf(column: NamedColumn, leaves: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of the child that each leaf of a node lies under; leaves without a place in the tree are children."""
    child = np.arange(len(leaves))
    if column.tree is None:
        return child
    tree, first, last = column.tree, int(leaves[0]), int(leaves[-1])
    for node in range(tree.n_leaves, len(tree.labels)):
        is_below = tree.first[node] >= first and tree.last[node] <= last
        n_below = int(tree.last[node] - tree.first[node]) + 1
        if is_below and n_below < min(len(leaves), tree.n_leaves):  # higher nodes have higher numbers and win
            child[int(tree.first[node]) - first : int(tree.last[node]) - first + 1] = int(tree.first[node]) - first
    return child


def _pair_shares(density: Floats, child: NDArray[np.int64]) -> Floats:
    """Shares of leaves in a label that two different children met in."""
    density = density + 1e-12 * density.sum() + 1e-300
    others = density.sum() - np.bincount(child, density, len(child))[child]
    share = density * np.maximum(others, 0.0)
    total = share.sum()
    return np.asarray(share / total if total > 0 else np.full(len(share), 1.0 / len(share)))
