"""How the columns of a release go together: groups of people who are alike, learned from the labels alone.

Every person belongs to one of some hidden groups. Within a group, columns do not depend on each other. The shares of
the groups, and of the values in each, are those that make the published labels most likely (found by expectation
maximization), while all groups together keep the density of each column. A label counts as the set of values that it
covers, a perturbed value as all values it may come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from betalike.queries.count_estimate import ClassIndex
from betalike.queries.label_shares import LeafShares, OrderedShares, Shares
from betalike.runtime.arrays import Floats, Ints
from betalike.runtime.randomness import Randomness, uniform

N_GROUPS = 24
ROUNDS, FURTHER_ROUNDS = 50, 3  # to learn, and to learn again from resampled classes
PERTURBED_ROUNDS = 300  # to learn, if values are known only through noise, which takes longer
MOST_PAIRS = 20_000  # pairs of a class and a value that are learned from
MOST_ATOMS = 64  # stretches of a column of numbers
FITTING_ROUNDS = 5  # to make the groups of a label together what the label's density says
PRIOR_ROWS = 2.0  # rows with the distribution of the whole table that are added to each group


@dataclass(frozen=True)
class Atoms:
    """The values of one column as the groups see them: leaves, or stretches of numbers; missing values come last.

    Each label covers the atoms from `first` to `last`. `base` is the share of each atom in the table, by the density of
    the column alone.
    """

    first: Ints
    last: Ints
    base: Floats
    edges: Floats | None = None  # where stretches start

    @staticmethod
    def of(shares: Shares, counts: Floats) -> Atoms:
        """Return the atoms of a column's labels, given the rows of each label."""
        spans = shares.spans
        if isinstance(shares, LeafShares):
            n_present, edges = shares.n_leaves, None
            low, high = (
                np.where(spans.is_present, side, n_present).astype(np.int64) for side in (spans.low, spans.high)
            )
        else:
            edges = _edges(shares)
            n_present = len(edges)
            low, high = (_place(edges, spans.measured(side)) for side in (spans.low, spans.high))
            low, high = (np.where(spans.is_present, side, n_present) for side in (low, high))
        return Atoms(low, np.where(spans.missing, n_present, high), _base(shares, counts, edges, n_present), edges)

    @property
    def starts(self) -> Floats:
        """Where stretches of numbers start."""
        assert self.edges is not None
        return self.edges

    @property
    def size(self) -> int:
        """Number of atoms."""
        return len(self.base)

    def chances(self, table: Floats) -> Floats:
        """Return the chance of each label (rows) in each group (columns)."""
        up_to = np.concatenate([np.zeros((len(table), 1)), np.cumsum(table, axis=1)], axis=1)
        return np.asarray(np.maximum((up_to[:, self.last + 1] - up_to[:, self.first]).T, 1e-12))

    def spread(self, table: Floats, weight: Floats) -> Floats:
        """Return the expected rows of each atom in each group, given those of each label."""
        height = weight / self.chances(table)
        steps = np.zeros((self.size + 1, len(table)))
        np.add.at(steps, self.first, height)
        np.subtract.at(steps, self.last + 1, height)
        return np.asarray(table * np.maximum(np.cumsum(steps[:-1], axis=0), 0.0).T)


def _edges(shares: OrderedShares) -> Floats:
    """Return the starts of stretches: of every number if there are few, else with about the same number of rows."""
    if len(shares.mass) <= MOST_ATOMS:
        return np.asarray(shares.breaks[:-1])
    up_to = np.append(0.0, np.cumsum(shares.mass))
    place = np.searchsorted(up_to, np.linspace(0, up_to[-1], MOST_ATOMS + 1)[:-1], side="right") - 1
    return np.unique(shares.breaks[np.clip(place, 0, len(shares.mass) - 1)])


def _base(shares: Shares, counts: Floats, edges: Floats | None, n_present: int) -> Floats:
    """Return the share of each atom in the table, by the density of the column alone; missing values come last."""
    base = np.zeros(n_present + 1)
    if isinstance(shares, LeafShares):
        is_inner = shares.row >= 0
        share = np.diff(shares.before, axis=1)
        base[: share.shape[1]] += counts[is_inner] @ share[shares.row[is_inner]]
        alone = np.where(shares.spans.is_present, shares.spans.low, n_present)[~is_inner].astype(np.int64)
        base += np.bincount(alone, counts[~is_inner], n_present + 1)
    else:
        assert edges is not None
        missing = shares.missing_shares
        base[:-1] = np.bincount(_place(edges, shares.breaks[:-1]), shares.mass, n_present) * (counts @ (1 - missing))
        base[-1] = counts @ missing
    return np.asarray((base + 1e-9) / (base + 1e-9).sum())


def _place(edges: Floats, numbers: Floats) -> Ints:
    return np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, len(edges) - 1)


@dataclass(frozen=True)
class GroupShares:
    """Shares of the groups, of the atoms of each column in each group, and of the sensitive values in each group."""

    share: Floats
    tables: tuple[Floats, ...]
    values: Floats


@dataclass(frozen=True)
class Totals:
    """Adds up rows that have the same code."""

    order: Ints
    starts: Ints
    codes: Ints
    size: int

    @staticmethod
    def of(codes: Ints, size: int) -> Totals:
        """Sort the codes once, for many sums."""
        order = np.argsort(codes, kind="stable")
        used, starts = np.unique(codes[order], return_index=True)
        return Totals(order, starts, used, size)

    def __call__(self, rows: Floats) -> Floats:
        """Return the sum of the rows with each code."""
        total = np.zeros((self.size, rows.shape[1]))
        total[self.codes] = np.add.reduceat(rows[self.order], self.starts, axis=0)
        return total


@dataclass(frozen=True)
class PublishedPairs:
    """Published pairs of a class and a sensitive label, the labels of each class, and what both may stand for.

    `chances` has the chance of each sensitive label (columns) given each value (rows); `prior` the share of each value
    in the table, if labels are not the values themselves.
    """

    columns: tuple[Atoms, ...]
    ids: Ints
    ec: Ints
    value: Ints
    count: Floats
    chances: Floats
    prior: Floats | None = None

    @staticmethod
    def of(index: ClassIndex, shares: Sequence[Shares], chances: Floats | None, prior: Floats) -> PublishedPairs:
        """Return the pairs of a release."""
        counts = index.counts
        known = np.eye(counts.n_values) if chances is None else chances
        columns = tuple(map(Atoms.of, shares, index.label_counts))
        coded = (index.ids.astype(np.int64), counts.ec, counts.value, counts.count.astype(np.float64))
        return PublishedPairs(columns, *coded, known, None if chances is None else prior)

    def sampled(self, most: int, randomness: Randomness) -> PublishedPairs:
        """Return the pairs of random classes, about `most` of them; all if there are not more."""
        if len(self.ec) <= most:
            return self
        is_kept = (uniform(len(self.ids), randomness) < most / len(self.ec))[self.ec]
        old, new = np.unique(self.ec[is_kept], return_inverse=True)
        kept = (self.ids[old], new, self.value[is_kept], self.count[is_kept])
        return PublishedPairs(self.columns, *kept, self.chances, self.prior)

    def belong(self, groups: GroupShares) -> Floats:
        """Return the chance that a row of each pair belongs to each group."""
        of_class = np.tile(groups.share, (len(self.ids), 1))
        for axis, atoms in enumerate(self.columns):
            of_class *= atoms.chances(groups.tables[axis])[self.ids[:, axis]]
            of_class /= of_class.max(axis=1, keepdims=True)
        chance = of_class[self.ec] * np.maximum(groups.values @ self.chances, 1e-12).T[self.value]
        return np.asarray(chance / chance.sum(axis=1, keepdims=True))

    @cached_property
    def _sums(self) -> tuple[Totals, Totals, list[Totals]]:
        """What adds up pairs by class, pairs by sensitive label, and classes by the label of each column."""
        columns = [Totals.of(self.ids[:, axis], len(atoms.first)) for axis, atoms in enumerate(self.columns)]
        return Totals.of(self.ec, len(self.ids)), Totals.of(self.value, self.chances.shape[1]), columns

    def label_weights(self, belong: Floats) -> list[Floats]:
        """Return the share of each group (columns) among the rows of each label (rows), per column."""
        by_class, _, by_label = self._sums
        of_class = by_class(belong * self.count[:, None])
        rows = [total(of_class) for total in by_label]
        return [np.asarray(of_label / np.maximum(of_label.sum(axis=1, keepdims=True), 1e-300)) for of_label in rows]

    def learn(self, groups: GroupShares, count: Floats, rounds: int, prior_rows: float = PRIOR_ROWS) -> GroupShares:
        """Return groups under which the labels are likelier, each round a little."""
        by_class, by_value, by_label = self._sums
        for _ in range(rounds):
            rows = self.belong(groups) * count[:, None]
            of_class = by_class(rows)
            share = _shares(rows.sum(axis=0)[None, :], prior_rows)[0]
            columns = zip(self.columns, groups.tables, by_label, strict=True)
            tables = [
                _raked(_shares(atoms.spread(table, total(of_class)), prior_rows), share, atoms.base)
                for atoms, table, total in columns
            ]
            ratio = by_value(rows) / np.maximum(groups.values @ self.chances, 1e-12).T
            values = _shares(groups.values * (self.chances @ ratio).T, prior_rows)
            if self.prior is not None:  # which is certified, so that noise need not be fitted
                values = _raked(values, share, self.prior)
            groups = GroupShares(share, tuple(tables), values)
        return groups

    def begin(self, randomness: Randomness) -> GroupShares:
        """Return groups that differ at random; values that are not published are as frequent in all as in the table."""
        rows = float(self.count.sum())
        tables = [np.full((1, atoms.size), 1 / atoms.size) for atoms in self.columns]
        alone = GroupShares(np.ones(1), tuple(tables), np.full((1, len(self.chances)), 1 / len(self.chances)))
        alone = self.learn(alone, self.count, 3)
        n_groups = int(min(N_GROUPS, max(rows // 100, 1)))

        def scattered(table: Floats) -> Floats:
            noise = uniform(n_groups * table.shape[1], randomness).reshape(n_groups, -1)
            drawn = table * (0.05 + noise**3)
            return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))

        tables = [scattered(table) for table in alone.tables]
        values = scattered(alone.values) if self.prior is None else np.tile(self.prior, (n_groups, 1))
        return GroupShares(np.full(n_groups, 1 / n_groups), tuple(tables), values)


def chances_within(base: Floats, table: Floats, weight: Floats) -> Floats:
    """Return the chance of each atom (last) for a row of each label (first) and group (second).

    Groups differ by their tables, but all rows of a label together have the shares `base` of its atoms: groups say
    whose value is which, not which values there are. `weight` is the share of each group among the rows of a label.
    """
    chance = base[:, None, :] * np.maximum(table, 1e-12)[None, :, :]
    chance /= chance.sum(axis=2, keepdims=True)
    for _ in range(FITTING_ROUNDS):
        mixture = np.einsum("lz,lza->la", weight, chance)
        chance *= np.divide(base, mixture, out=np.ones_like(base), where=mixture > 1e-300)[:, None, :]
        chance /= np.maximum(chance.sum(axis=2, keepdims=True), 1e-300)
    return chance


def _raked(table: Floats, share: Floats, base: Floats) -> Floats:
    """Return a table whose groups together have the density of the column; without it, wide labels are overfitted."""
    raked = table * (base / np.maximum(share @ table, 1e-12))
    return np.asarray(raked / raked.sum(axis=1, keepdims=True))


def _shares(rows: Floats, prior_rows: float) -> Floats:
    """Return rows as shares of each group, with some rows that have the distribution of all groups together."""
    total = rows.sum(axis=0, keepdims=True)
    filled = rows + prior_rows * (total + 1e-9) / (total.sum() + 1e-9 * rows.shape[1])
    return np.asarray(filled / filled.sum(axis=1, keepdims=True))


def learn_groups(pairs: PublishedPairs, randomness: Randomness) -> tuple[PublishedPairs, GroupShares | None]:
    """Return the pairs to learn from, of all classes or of a sample, and groups where learning takes long."""
    some = pairs.sampled(MOST_PAIRS, randomness)
    return some, None if pairs.prior is None else some.learn(some.begin(randomness), some.count, PERTURBED_ROUNDS)


def learn_again(pairs: PublishedPairs, groups: GroupShares | None, randomness: Randomness) -> GroupShares:
    """Return groups learned from resampled classes (the Bayesian bootstrap), which show how unsure they are.

    Without groups to begin with, others are begun at random: what is learned depends on this too.
    """
    times = -np.log1p(-uniform(len(pairs.ids), randomness))
    count = pairs.count * times[pairs.ec]
    if groups is None:
        return pairs.learn(pairs.begin(randomness), count, ROUNDS)
    return pairs.learn(groups, count, FURTHER_ROUNDS)
