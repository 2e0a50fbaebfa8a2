"""Completed tables: each label of a release is replaced by a value that is drawn within it.

Values are drawn by the density that the release itself shows. Each row is first given a hidden group, by its labels and
its sensitive value: see `latent_groups`. The group says which of the values within a label are likelier. One row of a
class with a range lies at each end of it, because a range is no wider than its rows. If sensitive values were
perturbed, or left out, they are drawn by their chance given what is published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from betalike.measures.sample import Column, Sample
from betalike.queries.columns import NamedColumn, OrderedColumn, QueryColumn
from betalike.queries.estimator import BASELINE, Estimator
from betalike.queries.label_shares import LeafShares, OrderedShares, Shares, Spread, has_ends
from betalike.queries.latent_groups import Atoms, GroupShares, PublishedPairs, chances_within, learn_again, learn_groups
from betalike.runtime.arrays import Floats, Ids, Ints
from betalike.runtime.randomness import Randomness, uniform
from betalike.table.schema import Kind

UNNAMED = "not named in the release"
MOST_CHANCES = 2_000_000  # of atoms, for labels and groups, held at once
PER_DAY = {Kind.DATE: 1.0, Kind.DATETIME: 86_400e6, Kind.MONTH: 12 / 365.2425}  # what dates count, per day


@dataclass(frozen=True)
class RowsToComplete:
    """Rows of a release to complete: the class, the published sensitive label and the hidden group of each."""

    ec: Ids
    label: Ids
    group: Ids


@dataclass(frozen=True)
class Completion:
    """Draws completed tables from a release; rows are given by the class and the sensitive label of each."""

    release: Estimator
    _learned: list[tuple[PublishedPairs, GroupShares | None]] = field(default_factory=list)

    @cached_property
    def _shares(self) -> list[Shares]:
        return self.release.index.shares(Spread.DENSITY)

    @cached_property
    def rows(self) -> tuple[Ids, Ids]:
        """The class and the published sensitive label of every row, class by class."""
        counts = self.release.index.counts
        ec, label = (np.repeat(codes, counts.count).astype(np.int32) for codes in (counts.ec, counts.value))
        return ec, label

    @cached_property
    def chances(self) -> Floats | None:
        """The chance of each published label (columns) given each value (rows); None if labels are the values."""
        n_values = len(self.release.values)
        if self.release.certificate.scheme.name == BASELINE:  # any label says as much as any other: nothing
            return np.full((n_values, n_values), 1 / n_values)
        transition = self.release.transition
        return None if transition is None else np.array([list(row.values()) for row in transition.values()])

    @property
    def posterior(self) -> Floats | None:
        """The chance of each value (columns) given each published label (rows); None if labels are the values."""
        if self.chances is None:
            return None
        return _normed((self.release.counts[:, None] * self.chances).T)

    @cached_property
    def _pairs(self) -> PublishedPairs:
        prior = self.release.counts / self.release.counts.sum()
        return PublishedPairs.of(self.release.index, self._shares, self.chances, prior)

    def draw(self, ec: Ids, label: Ids, randomness: Randomness) -> tuple[list[Floats], Ids]:
        """Return a value of each quasi-identifier, and the sensitive one, for each row.

        Quasi-identifiers are numbers, measured from the origin of their column's labels, or codes of leaves; NaN if
        missing. Sensitive values are codes.
        """
        if not self._learned:
            self._learned.append(learn_groups(self._pairs, randomness))
        groups = learn_again(*self._learned[0], randomness)
        keys, n_values = self.release.index.counts, self.release.index.counts.n_values
        pair = np.searchsorted(keys.ec * n_values + keys.value, ec.astype(np.int64) * n_values + label)
        belong = self._pairs.belong(groups)
        rows = RowsToComplete(ec, label, _choose(belong, pair, randomness))
        weights = enumerate(self._pairs.label_weights(belong))
        drawn = [self._draw_column(axis, rows, groups, weight, randomness) for axis, weight in weights]
        return drawn, self._draw_sensitive(rows, groups, randomness)

    def _draw_column(
        self, axis: int, rows: RowsToComplete, groups: GroupShares, weight: Floats, randomness: Randomness
    ) -> Floats:
        index, shares, atoms = self.release.index, self._shares[axis], self._pairs.columns[axis]
        label, column = index.ids[:, axis][rows.ec].astype(np.int64), index.columns[axis]
        if isinstance(shares, OrderedShares) and shares.is_unknown:
            return np.full(len(label), np.nan)
        named = len(column.leaves) if isinstance(column, NamedColumn) else 0
        chance = uniform(len(label), randomness)
        drawn = shares.draw(label, chance, named) if isinstance(shares, LeafShares) else shares.draw(label, chance)
        wide = np.flatnonzero(atoms.first < atoms.last)
        if not len(wide):
            return drawn
        is_short = index.n_labels[axis] <= np.iinfo(np.uint16).max  # short numbers are sorted fast
        order = np.argsort(label.astype(np.uint16) if is_short else label, kind="stable")
        at_once = max(MOST_CHANCES // (len(groups.share) * atoms.size), 1)
        for some in (wide[i : i + at_once] for i in range(0, len(wide), at_once)):
            base = shares.parts(some, named) if isinstance(shares, LeafShares) else shares.parts(some, atoms.starts)
            chances = chances_within(base, groups.tables[axis], weight[some])
            mine = np.concatenate([order[slice(*np.searchsorted(label, [i, i + 1], sorter=order))] for i in some])
            place = np.searchsorted(some, label[mine]) * len(groups.share) + rows.group[mine]
            atom = _choose(chances.reshape(-1, atoms.size), place, randomness).astype(np.int64)
            drawn[mine] = self._within_atoms(axis, label[mine], atom, randomness)
        if isinstance(shares, OrderedShares):
            _place_ends(drawn, shares, atoms, groups.tables[axis], rows, label, randomness)
        return drawn

    def _within_atoms(self, axis: int, label: Ints, atom: Ints, randomness: Randomness) -> Floats:
        """Return the leaf that an atom is, or a number in its stretch and in the label; NaN for a missing value."""
        shares, atoms = self._shares[axis], self._pairs.columns[axis]
        is_missing = atom == atoms.size - 1
        if isinstance(shares, LeafShares):
            return np.where(is_missing, np.nan, atom.astype(np.float64))
        low, high = (shares.spans.measured(side)[label] for side in (shares.spans.low, shares.spans.high))
        starts = atoms.starts
        before = starts[1:] - 1.0 if shares.is_discrete else np.nextafter(starts[1:], -np.inf)
        inside = np.minimum(atom, atoms.size - 2)
        low, high = np.maximum(low, starts[inside]), np.minimum(high, np.append(before, np.inf)[inside])
        return np.where(is_missing, np.nan, shares.draw_between(low, high, uniform(len(atom), randomness)))

    def _draw_sensitive(self, rows: RowsToComplete, groups: GroupShares, randomness: Randomness) -> Ids:
        """Return the code of the sensitive value of each row, given the published label and the group."""
        if self.chances is None:
            return rows.label
        n_labels = self.chances.shape[1]
        posterior = _normed((groups.values[:, None, :] * self.chances.T[None, :, :]).reshape(-1, len(self.chances)))
        return _choose(posterior, rows.group.astype(np.int64) * n_labels + rows.label, randomness)

    def sample(self, randomness: Randomness) -> Sample:
        """Return one completed table to analyse."""
        drawn, sensitive = self.draw(*self.rows, randomness)
        numbers = [self.number(axis, values) for axis, values in enumerate(drawn)]
        return Sample.of(sample_columns(self.release), [*numbers, sensitive_codes(self.release.values, sensitive)])

    def number(self, axis: int, drawn: Floats) -> Floats:
        """Return drawn values as a sample has them: numbers, days, or codes of leaves."""
        column = self.release.index.columns[axis]
        if isinstance(column, NamedColumn):
            return np.minimum(drawn, len(column.leaves))  # values without a name are one level
        origin = float(self.release.index.spans[axis].origin)
        return (drawn + origin) / PER_DAY.get(column.kind, 1.0)


def _choose(chances: Floats, row: Ints, randomness: Randomness) -> Ids:
    """Return a random column for each entry, by the chances in the row that it names."""
    up_to = np.cumsum(chances, axis=1)
    ends = (up_to / up_to[:, -1:] + np.arange(len(up_to))[:, None]).ravel()
    found = np.searchsorted(ends, uniform(len(row), randomness) + row, side="right") - row * up_to.shape[1]
    return np.asarray(np.minimum(found, up_to.shape[1] - 1), dtype=np.int32)


def _normed(rows: Floats) -> Floats:
    """Return rows that add up to 1; those of zeros are even."""
    total = rows.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, rows / np.where(total > 0, total, 1.0), 1 / rows.shape[1]))


def _place_ends(
    drawn: Floats,
    shares: OrderedShares,
    atoms: Atoms,
    table: Floats,
    rows: RowsToComplete,
    label: Ints,
    randomness: Randomness,
) -> None:
    """Put one row of each class with a range at the low end, and another at the high end, by their groups' chances."""
    spans = shares.spans
    wide = np.flatnonzero(has_ends(spans)[label])
    weight = np.log(np.maximum(table, 1e-12))
    whole = np.log(atoms.chances(table))
    is_placed = np.zeros(len(wide), dtype=bool)
    for end, atom in ((spans.measured(spans.low), atoms.first), (spans.measured(spans.high), atoms.last)):
        of_row, group = label[wide], rows.group[wide]
        noise = -np.log(-np.log(np.clip(uniform(len(wide), randomness), 1e-300, 1 - 1e-16)))
        score = weight[group, atom[of_row]] - whole[of_row, group] + noise
        order = np.lexsort((np.where(is_placed, -np.inf, score), rows.ec[wide]))
        last = np.flatnonzero(np.diff(rows.ec[wide][order], append=-1))
        chosen = order[last]
        chosen = chosen[~is_placed[chosen]]  # a class of one row has no second end
        drawn[wide[chosen]] = end[of_row[chosen]]
        is_placed[chosen] = True


def sample_columns(release: Estimator) -> list[Column]:
    """Return the columns of a release as a sample has them; the sensitive one is the last."""
    columns = [_column(column) for column in release.quasi_identifiers]
    return [*columns, Column(release.sensitive.name, tuple(release.values))]


def _column(column: QueryColumn) -> Column:
    if isinstance(column, OrderedColumn):
        return Column(column.name, None, column.kind is Kind.INTEGER, column.kind in PER_DAY)
    return Column(column.name, (*column.leaves, *[UNNAMED] * bool(column.n_unnamed)))


def sensitive_codes(values: Sequence[str], codes: Ids) -> Floats:
    """Return codes of sensitive values as numbers; NaN for a missing one, which is the empty text."""
    is_missing = np.array([value == "" for value in values], dtype=bool)
    return np.where(is_missing[codes], np.nan, codes.astype(np.float64))
