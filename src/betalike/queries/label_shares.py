"""Label shares: which part of the tuples behind a label is thought to lie in a set of values.

`uniform` spreads them evenly over the label (Paper: 6.2). `density` spreads them by how frequent the release shows
values to be: an even spread gives a first density of each column, which gives a second spread, and so on for two
rounds.

`density` uses two more facts. A range is as wide as it is because a tuple of the class lies at each end. And a class
has the label of an inner node because at least two of the node's children met in it. So a leaf's share of such a label
is proportional to its density times that of the other children: a frequent child alone would have kept its own label.

Every share may be wrong, and the release shows by how much: the less it shows of a column, and the further two ways to
spread a label's tuples are apart, the larger the standard deviation.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from betalike.queries.columns import LabelSpans, NamedColumn, OrderedColumn, QueryColumn
from betalike.queries.value_sets import ValueSet
from betalike.runtime.arrays import Bools, Floats, Ints

ROUNDS = 2  # more rounds overfit wide labels (measured on CENSUS)
MOST_BREAKS = 4096
SHARE, ENDS, OTHER = range(3)  # of a label, of the two tuples at its ends, of the label by the other spread
DOUBT = OTHER  # in weights: the standard deviation of the share
# Chosen on real tables, checked on others: docs/explanation/queries.md
LEAST_MISFIT, FURTHER_MISFIT = 0.8, 0.6  # standard deviation in log-odds, and what a hidden column adds
DISAGREEMENT = 1.5  # standard deviation, as a multiple of the distance between two spreads
TOUCHED, NOT_ALL = 1e-30, 1 - 1e-12
TOO_NARROW = 1e-8  # a label's part of the whole distribution
MISSING_SHARE = 0.5  # of `*` in a column of numbers, which may hide missing values


class Spread(StrEnum):
    """How the tuples of a class are assumed to lie within its labels."""

    UNIFORM = "uniform"
    DENSITY = "density"


def label_weights(shares: Shares, values: ValueSet) -> Floats:
    """Return three figures per label: its share inside a set, that of its two ends, and the share's standard deviation.

    A share is exactly 1 only for labels wholly inside, and above 0 for all labels that touch the set.
    """
    touching, within = shares.spans.touching(values), shares.spans.within(values)
    weights = np.clip(shares.within(values), TOUCHED, NOT_ALL)
    share = weights[SHARE]
    misfit = LEAST_MISFIT + FURTHER_MISFIT * shares.hidden
    weights[DOUBT] = np.hypot(misfit * share * (1.0 - share), DISAGREEMENT * (weights[OTHER] - share))
    weights[:, ~touching] = 0.0
    weights[:, within] = 1.0
    weights[DOUBT, within] = 0.0
    return np.asarray(weights)


@dataclass(frozen=True)
class OrderedShares:
    """Shares of numbers: an even spread, and a spread by masses that are even between breaks.

    A whole number v stands for the interval from v to v + 1, a real for the one from v to the next float.
    """

    spans: LabelSpans
    is_discrete: bool
    breaks: Floats
    mass: Floats
    spread: Spread
    hidden: float  # average part of the domain that a tuple's label covers: 0 if all values are exact

    def within(self, values: ValueSet) -> Floats:
        """Return the shares of each label inside a set; two tuples of a class lie at the ends of its label."""
        low, high = self.spans.measured(self.spans.low), after(self.spans.measured(self.spans.high), self.is_discrete)
        inside, length = self.covered(low, high, values)
        at_low, at_high = (values.meet(end, end).astype(np.float64) for end in (self.spans.low, self.spans.high))
        even = _ratio(length, self._clip(high) - self._clip(low), self.spans.is_present)
        total = self.below(high) - self.below(low)
        is_narrow = total < TOO_NARROW  # differences are mostly rounding error: spread evenly
        dense = np.where(is_narrow, even, _ratio(inside, total, self.spans.is_present))
        missing = self.missing_shares
        if self.spread is Spread.UNIFORM:
            shares = np.array([even, even, dense])
        else:
            shares = np.array([dense, np.where(has_ends(self.spans), 0.5 * (at_low + at_high), dense), even])
        return np.asarray(shares * (1.0 - missing) + missing * values.missing)

    def draw(self, label: Ints, chance: Floats) -> Floats:
        """Return a number within each label, measured from the origin, given random numbers between 0 and 1.

        It is NaN for a label of missing values alone; `*` may hide some.
        """
        missing = self.missing_shares[label]
        rest = np.divide(chance - missing, 1.0 - missing, out=np.zeros_like(chance), where=missing < 1)
        low, last = (self.spans.measured(side)[label] for side in (self.spans.low, self.spans.high))
        return np.where(chance < missing, np.nan, self.draw_between(low, last, rest))

    def draw_between(self, low: Floats, last: Floats, chance: Floats) -> Floats:
        """Return a number from `low` to `last`, by the density there, given random numbers between 0 and 1."""
        low, last = self._clip(low), self._clip(last)
        high = self._clip(after(last, self.is_discrete))
        start = self.below(low)
        total = self.below(high) - start
        is_even = (self.spread is Spread.UNIFORM) | (total < TOO_NARROW)
        drawn = np.where(is_even, low + chance * (high - low), self._quantile(start + chance * total))
        return np.clip(np.floor(drawn) if self.is_discrete else drawn, low, last)

    @property
    def is_unknown(self) -> bool:
        """Whether no label shows a number, so that nothing is known about the values."""
        return not np.isfinite(self.spans.measured(self.spans.low)).any()

    @property
    def missing_shares(self) -> Floats:
        """The share of each label's rows whose value is thought to be missing."""
        return np.where(self.spans.missing, np.where(self.spans.is_present, MISSING_SHARE, 1.0), 0.0)

    def parts(self, label: Ints, edges: Floats) -> Floats:
        """Return the share of each label (rows) in stretches that start at edges; that of missing values comes last."""
        low = self._clip(self.spans.measured(self.spans.low)[label])[:, None]
        high = self._clip(after(self.spans.measured(self.spans.high)[label], self.is_discrete))[:, None]
        starts, ends = np.maximum(low, edges), np.minimum(high, np.append(edges[1:], np.inf))
        is_met = starts < ends
        mass = np.where(is_met, self.below(ends) - self.below(starts), 0.0)
        length = np.where(is_met, ends - starts, 0.0)
        mass = np.where(mass.sum(axis=1, keepdims=True) < TOO_NARROW, length, mass)
        share = mass / np.maximum(mass.sum(axis=1, keepdims=True), 1e-300)
        missing = self.missing_shares[label][:, None]
        return np.concatenate([share * (1.0 - missing), missing], axis=1)

    def _quantile(self, share: Floats) -> Floats:
        """Return the number below which each share of the distribution lies; a stretch may be a single float."""
        place = np.clip(np.searchsorted(self._distribution, share, side="right") - 1, 0, len(self.mass) - 1)
        is_single = np.nextafter(self.breaks[place], np.inf) >= self.breaks[place + 1]
        return np.where(is_single, self.breaks[place], np.interp(share, self._distribution, self.breaks))

    def _clip(self, x: Floats) -> Floats:
        return np.clip(x, self.breaks[0], self.breaks[-1])

    @cached_property
    def _distribution(self) -> Floats:
        return np.append(0.0, np.cumsum(self.mass))

    def covered(self, low: Floats, high: Floats, values: ValueSet) -> tuple[Floats, Floats]:
        """Return the mass and the length that a set's intervals cover between each low and high.

        The first and the last interval that a label meets may stick out of it. Those between them lie inside, and
        running sums add them up.
        """
        inside, length = np.zeros(len(low)), np.zeros(len(low))
        if not values.spans:
            return inside, length
        starts, ends = values.ends
        start = self.spans.measured(starts)
        end = start if ends is starts else self.spans.measured(ends)
        end = after(end, self.is_discrete)
        lengths = np.append(0.0, np.cumsum(self._clip(end) - self._clip(start)))
        masses = np.append(0.0, np.cumsum(self.below(end) - self.below(start)))
        first = np.searchsorted(end, low)
        last = np.searchsorted(start, high, side="right") - 1
        for edge, is_met in ((first, first <= last), (last, first < last)):
            place = np.clip(edge, 0, len(start) - 1)
            a, b = np.maximum(low, start[place]), np.minimum(high, end[place])
            is_met = is_met & (a < b)
            inside += np.where(is_met, self.below(b) - self.below(a), 0.0)
            length += np.where(is_met, self._clip(b) - self._clip(a), 0.0)
        between = first + 1 < last
        inside[between] += masses[last[between]] - masses[first[between] + 1]
        length[between] += lengths[last[between]] - lengths[first[between] + 1]
        return inside, length

    def below(self, x: Floats) -> Floats:
        """Return which share of the distribution lies below each number."""
        place = np.clip(np.searchsorted(self.breaks, x, side="right") - 1, 0, len(self.mass) - 1)
        with np.errstate(over="ignore"):  # far outside a very narrow stretch
            part = np.clip((x - self.breaks[place]) / (self.breaks[place + 1] - self.breaks[place]), 0.0, 1.0)
        return np.asarray(self._distribution[place] + part * self.mass[place])


def _ratio(part: Floats, total: Floats, is_present: Bools) -> Floats:
    return np.divide(part, total, out=np.zeros(len(part)), where=(total > 0) & is_present)


def after(x: Floats, is_discrete: bool) -> Floats:
    """Return where the interval that stands for each number ends."""
    with np.errstate(over="ignore"):  # after the greatest number comes infinity
        return np.asarray(x + 1.0 if is_discrete else np.nextafter(x, np.inf))


def has_ends(spans: LabelSpans) -> Bools:
    """Return which labels are ranges whose two ends are values of actual tuples."""
    return np.asarray(spans.is_present & ~spans.missing & (spans.low < spans.high) & spans.are_ends_met)


def _ordered_shares(
    column: OrderedColumn, spans: LabelSpans, counts: Floats, n_classes: Floats, spread: Spread
) -> OrderedShares:
    shown = spans.is_present
    low, last = spans.measured(spans.low)[shown], spans.measured(spans.high)[shown]
    high = after(last, column.is_discrete)
    ends = np.concatenate([low, last])
    ends = ends[np.isfinite(ends)]  # those of `*` are infinite if the release does not show the domain
    breaks = np.unique(np.concatenate([ends, after(ends, column.is_discrete)]))
    breaks = breaks[np.isfinite(breaks)]
    if len(breaks) < 2:
        return OrderedShares(spans, column.is_discrete, np.array([0.0, 1.0]), np.ones(1), spread, 0.0)
    if len(breaks) > MOST_BREAKS:
        breaks = breaks[np.unique(np.linspace(0, len(breaks) - 1, MOST_BREAKS).astype(int))]
    width = breaks[-1] - breaks[0]
    even = np.diff(breaks) / width
    start = np.clip(np.searchsorted(breaks, low, side="right") - 1, 0, len(even) - 1)
    end = np.clip(np.searchsorted(breaks, high, side="left"), start + 1, len(even))
    at_last = np.clip(np.searchsorted(breaks, last, side="right") - 1, 0, len(even) - 1)
    present = counts[shown] * np.where(spans.missing[shown], 1.0 - MISSING_SHARE, 1.0)
    at_ends = np.where(has_ends(spans)[shown], np.minimum(n_classes[shown], present / 2), 0.0)
    known = np.bincount(start, at_ends, len(even)) + np.bincount(at_last, at_ends, len(even))
    mass = even
    for _ in range(ROUNDS):
        mass = known + _spread_once(mass, start, end, present - 2 * at_ends)
        mass = mass / mass.sum() + 1e-9 * even
    covered = np.clip((np.minimum(last, breaks[-1]) - np.maximum(low, breaks[0])) / width, 0.0, 1.0)
    return OrderedShares(spans, column.is_discrete, breaks, mass / mass.sum(), spread, _average(covered, present))


def _average(width: Floats, counts: Floats) -> float:
    total = float(counts.sum())
    return float(width @ counts) / total if total > 0 else 0.0


def _spread_once(mass: Floats, start: Ints, end: Ints, counts: Floats) -> Floats:
    """Spread each label's tuples over its stretch in proportion to the mass there, and return the new masses."""
    below = np.append(0.0, np.cumsum(mass))
    total = below[end] - below[start]
    is_narrow = total < 1e-15  # too narrow for the sums: all goes to the first stretch
    height = np.divide(counts, total, out=np.zeros(len(total)), where=~is_narrow)
    steps = np.bincount(start, height, len(below)) - np.bincount(end, height, len(below))
    spread = mass * np.maximum(np.cumsum(steps)[:-1], 0.0)
    spread += np.bincount(start[is_narrow], counts[is_narrow], len(mass))
    return np.asarray(spread)


@dataclass(frozen=True)
class LeafShares:
    """Shares of names: for each label of several leaves, its part before each leaf; missing values come last.

    `other` is the same for the other spread.
    """

    spans: LabelSpans
    row: Ints
    before: Floats
    other: Floats
    n_leaves: int
    hidden: float  # see `OrderedShares`

    def within(self, values: ValueSet) -> Floats:
        """Return the shares of each label inside a set; the two ends of a label have no meaning here."""
        share = self._inside(self.before, values)
        return np.array([share, share, self._inside(self.other, values)])

    def draw(self, label: Ints, chance: Floats, n_named: int) -> Floats:
        """Return the code of a leaf within each label, given random numbers between 0 and 1; NaN for a missing value.

        A leaf without a name is drawn only if nothing else is under the label.
        """
        codes = np.where(self.spans.is_present, self.spans.low, np.nan)[label]
        is_inner = self.row[label] >= 0
        inner = np.flatnonzero(self.row >= 0)
        up_to = np.cumsum(self.parts(inner, n_named), axis=1)
        row = self.row[label[is_inner]]
        ends = (up_to + np.arange(len(up_to))[:, None]).ravel()
        found = np.searchsorted(ends, chance[is_inner] + row, side="right") - row * up_to.shape[1]
        codes[is_inner] = np.where(found >= self.n_leaves, np.nan, found)
        return codes

    def parts(self, label: Ints, n_named: int) -> Floats:
        """Return the share of each leaf in labels of several leaves; that of missing values comes last.

        Leaves without a name have none if anything else is under the label.
        """
        share = np.zeros((len(label), self.n_leaves + 1))
        share[:, : self.before.shape[1] - 1] = np.diff(self.before, axis=1)[self.row[label]]
        named = share.copy()
        named[:, n_named : self.n_leaves] = 0.0
        named = np.where(named.any(axis=1, keepdims=True), named, share)
        return np.asarray(named / named.sum(axis=1, keepdims=True))

    def _inside(self, before: Floats, values: ValueSet) -> Floats:
        start, end = (side.clip(-1, self.n_leaves).astype(np.int64) for side in values.ends)
        is_met = (start < self.n_leaves) & (end >= 0)
        first, last = np.maximum(start[is_met], 0), np.minimum(end[is_met], self.n_leaves - 1)
        inside = (before[:, last + 1] - before[:, first]).sum(axis=1)
        if values.missing:
            inside += before[:, -1] - before[:, self.n_leaves]
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
    even = np.zeros((len(inner), size))
    for i, leaves in enumerate(covered):
        even[i, leaves] = 1.0 / len(leaves)
    pairs, dense = even.copy(), even.copy()
    siblings = [_child_of_leaf(column, leaves) for leaves in covered]
    exact = np.zeros(size)
    outer = np.flatnonzero(~is_inner)
    code = np.where(spans.is_present[outer], np.maximum(spans.low[outer], 0), size - 1).astype(np.int64)
    np.add.at(exact, code, counts[outer])
    for _ in range(ROUNDS):
        density = exact + counts[inner] @ pairs
        for i, (leaves, child) in enumerate(zip(covered, siblings, strict=True)):
            pairs[i, leaves] = _pair_shares(density[leaves], child)
            dense[i, leaves] = (density[leaves] + 1e-300) / (density[leaves] + 1e-300).sum()
    width = np.array([(len(leaves) - 1) / (size - 1) for leaves in covered])
    hidden = _average(np.append(width, 0.0), np.append(counts[inner], counts[outer].sum()))
    chosen = pairs if spread is Spread.DENSITY else even
    other = np.where(np.abs(even - chosen) > np.abs(dense - chosen), even, dense)
    return LeafShares(spans, row, _before(chosen), _before(other), column.n_leaves, hidden)


def _before(share: Floats) -> Floats:
    return np.concatenate([np.zeros((len(share), 1)), np.cumsum(share, axis=1)], axis=1)


def _covered(spans: LabelSpans, label: int, column: NamedColumn) -> Ints:
    """Return the codes of the leaves under a label; missing values have the last code."""
    leaves = np.arange(int(spans.low[label]), int(spans.high[label]) + 1)
    return np.append(leaves, column.n_leaves) if spans.missing[label] else leaves


def _child_of_leaf(column: NamedColumn, leaves: Ints) -> Ints:
    """Return which child of a node each of its leaves is under; leaves outside the tree count as children."""
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


def _pair_shares(density: Floats, child: Ints) -> Floats:
    """Return the shares of leaves in a label in which two different children met."""
    density = density + 1e-12 * density.sum() + 1e-300
    others = density.sum() - np.bincount(child, density, len(child))[child]
    share = density * np.maximum(others, 0.0)
    total = share.sum()
    return np.asarray(share / total if total > 0 else np.full(len(share), 1.0 / len(share)))


Shares = OrderedShares | LeafShares


def make_shares(column: QueryColumn, spans: LabelSpans, counts: Floats, n_classes: Floats, spread: Spread) -> Shares:
    """Return the shares of a column's labels, given the tuples and classes of each label."""
    if isinstance(column, NamedColumn):
        return _leaf_shares(column, spans, counts, spread)
    return _ordered_shares(column, spans, counts, n_classes, spread)
