"""Axes: the values of one column as integer codes, with the loss and the label of a range of codes.

Numbers are coded in their order and hierarchy leaves in pre-order, so that a set of values is generalized from its
least and greatest code alone. Missing values have the last code; they join others only at the root.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from betalike.runtime.arrays import Bools, Floats, Ints
from betalike.table.exact_numbers import Number, Numbers, as_numbers, distances, format_values, parse_values
from betalike.table.hierarchy import ROOT, Hierarchy
from betalike.table.schema import DateOrder, Kind


@dataclass(frozen=True)
class OrderedAxis:
    """Numbers or dates, generalized to ranges. Dates count days (datetimes: microseconds) since 1970.

    Values are exact: whole numbers beyond 64 bits, decimals and nanoseconds are Python numbers.
    """

    name: str
    kind: Kind
    values: Numbers
    domain: tuple[Number, Number]
    has_missing: bool = False
    is_domain_declared: bool = False
    dates: DateOrder | None = None  # what comes first in the table's dates, where that is not clear

    @property
    def size(self) -> int:
        """Number of codes."""
        return len(self.values) + self.has_missing

    @property
    def uppers(self) -> Numbers:
        """The upper end of each code's range: the value itself, unless values are in bins."""
        return self.values

    @property
    def positions(self) -> Floats:
        """Position of each code in the unit interval; missing values are at the upper end."""
        lows = np.repeat(as_numbers([self.domain[0]]), len(self.values))
        return np.append(self._parts_of_domain(lows, self.values).clip(0.0, 1.0), [1.0] * self.has_missing)

    def losses(self, low: Ints, high: Ints) -> Floats:
        """Return the width of each range over the width of the domain. Paper: Eq. 2."""
        if not len(self.values):
            return np.zeros(len(low))
        values = np.append(self.values, self.values[-1:])  # a placeholder for the code of missing values
        loss = self._parts_of_domain(values[low], values[high])
        return np.where(self.is_mixed(low, high), 1.0, np.where(low == high, 0.0, loss))

    def labels(self, low: Ints, high: Ints) -> list[str | None]:
        """Return `37`, `[30, 45]`, `*` for a mix of missing and present values, or None if all are missing."""
        starts, ends = self._ends(low, self.values), self._ends(high, self.uppers)
        labels = [a if a == b else f"[{a}, {b}]" for a, b in zip(starts, ends, strict=True)]
        for i in np.flatnonzero(self.is_mixed(low, high)):
            labels[i] = ROOT
        return labels

    def label_losses(self, labels: Sequence[str | None]) -> Floats:
        """Return the loss of published ranges: single values lose nothing, `*` loses all. Paper: Eq. 2."""
        return self.read_labels(labels)[0]

    def read_labels(self, labels: Sequence[str | None]) -> tuple[Floats, set[str]]:
        """Return the losses of labels and those at the ends of the domain; reading many numbers twice is slow."""
        losses = np.array([1.0 if label == ROOT else 0.0 for label in labels])
        shown, low, high = self._parse(labels)
        losses[shown], at_ends = self.measure_ranges(low, high)
        return losses, {str(labels[shown[i]]) for i in at_ends}

    def measure_ranges(self, low: Numbers, high: Numbers) -> tuple[Floats, list[int]]:
        """Return the losses of ranges of numbers, and the places of those that begin or end where the domain does."""
        may_be = np.zeros(len(low), dtype=bool)  # arrays may round before they compare
        for end in self.domain:
            may_be |= np.asarray((low == end) | (high == end), dtype=bool)
        ends = zip(low[may_be].tolist(), high[may_be].tolist(), np.flatnonzero(may_be).tolist(), strict=True)
        return self._parts_of_domain(low, high), [i for a, b, i in ends if {a, b} & {*self.domain}]

    def _parts_of_domain(self, low: Numbers, high: Numbers) -> Floats:
        """Return the part of the domain that lies between each pair of numbers."""
        width = distances(*(as_numbers([end]) for end in self.domain))[0]
        return distances(low, high) / width if width > 0 else np.zeros(len(low))

    def meanings(self, labels: Sequence[str | None]) -> Sequence[object]:
        """Return the two ends of each range as numbers; `*` and missing values stay as they are."""
        meanings: list[object] = [*labels]
        shown, low, high = self._parse(labels)
        for i, ends in zip(shown, zip(low.tolist(), high.tolist(), strict=True), strict=True):
            meanings[i] = ends
        return meanings

    def _parse(self, labels: Sequence[str | None]) -> tuple[list[int], Numbers, Numbers]:
        """Return which labels are values or ranges, and their ends."""
        shown = [i for i, label in enumerate(labels) if label is not None and label != ROOT]
        texts = [str(labels[i]).removeprefix("[").removesuffix("]") for i in shown]
        commas = [text.find(", ") for text in texts]  # no pairs are made, of which there may be many
        low = [text if at < 0 else text[:at] for text, at in zip(texts, commas, strict=True)]
        high = [text if at < 0 else text[at + 2 :] for text, at in zip(texts, commas, strict=True)]
        return shown, parse_values(low, self.kind), parse_values(high, self.kind)

    @property
    def domain_texts(self) -> tuple[str, str]:
        """The ends of the domain as published."""
        low, high = format_values(self.domain, self.kind)
        return low, high

    def _ends(self, codes: Ints, ends: Numbers) -> list[str | None]:
        """Return the end of each code's range as published; None for a missing value."""
        used, inverse = np.unique(codes, return_inverse=True)
        texts: list[str | None] = [*format_values(ends[used[used < len(ends)]].tolist(), self.kind)]
        texts += [None] * (len(used) - len(texts))
        return [texts[i] for i in inverse.tolist()]

    def is_mixed(self, low: Ints, high: Ints) -> Bools:
        """Return which ranges mix missing and present values."""
        return np.asarray((high == len(self.values)) & (low < high))


@dataclass(frozen=True)
class HierarchyAxis:
    """Categories, generalized along a hierarchy. A missing value is an extra leaf, directly under the root."""

    name: str
    hierarchy: Hierarchy
    has_missing: bool = False
    kind: Kind = Kind.CATEGORICAL
    is_declared: bool = False  # given, not built from the table's own values

    @property
    def size(self) -> int:
        """Number of codes."""
        return self.hierarchy.n_leaves + self.has_missing

    @property
    def positions(self) -> Floats:
        """Leaves in pre-order, spread evenly over the unit interval. Paper: 4.5."""
        return np.arange(self.size) / max(self.size - 1, 1)

    def losses(self, low: Ints, high: Ints) -> Floats:
        """Return the leaves under the lowest common ancestor over all leaves, 0 for a single leaf. Paper: Eq. 3."""
        node, is_root = self._nodes(low, high)
        leaves = np.where(is_root | (node == self.hierarchy.root), self.size, self.hierarchy.n_leaves_under(node))
        return np.where(low == high, 0.0, leaves / self.size)

    def labels(self, low: Ints, high: Ints) -> list[str | None]:
        """Return the label of the lowest common ancestor; None if all values are missing."""
        node, is_root = self._nodes(low, high)
        labels: list[str | None] = [self.hierarchy.labels[i] for i in node]
        missing = (low == high) & (low == self.hierarchy.n_leaves)
        for i in np.flatnonzero(is_root | missing):
            labels[i] = None if missing[i] else ROOT
        return labels

    def label_losses(self, labels: Sequence[str | None]) -> Floats:
        """Return the loss of published nodes; raise an error for a label that is not in the hierarchy. Paper: Eq. 3."""
        nodes = {label: node for node, label in enumerate(self.hierarchy.labels)}
        losses = np.zeros(len(labels))
        for i, label in enumerate(labels):
            if label is not None and nodes[label] >= self.hierarchy.n_leaves:
                node = np.array([nodes[label]])
                leaves = self.size if label == ROOT else int(self.hierarchy.n_leaves_under(node)[0])
                losses[i] = leaves / self.size
        return losses

    def meanings(self, labels: Sequence[str | None]) -> Sequence[object]:
        """Return the labels themselves."""
        return labels

    def _nodes(self, low: Ints, high: Ints) -> tuple[Ints, Bools]:
        """Return the lowest common ancestors, and which ranges mix missing and present values (at the root)."""
        leaf = self.hierarchy.n_leaves - 1
        is_root = np.asarray((high > leaf) & (low < high))
        return self.hierarchy.lowest_common_ancestor(np.minimum(low, leaf), np.minimum(high, leaf)), is_root


# What schemes, the loss and the labels need to know about a column.
Axis = OrderedAxis | HierarchyAxis
