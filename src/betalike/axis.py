"""Axes: the values of one column as integer codes, with what a box of codes loses and how it is written.

Numeric values are coded in their order, hierarchy leaves in pre-order, so that a set of values is generalized from its
least and its greatest code alone. Missing values have the last code; they join others only at the root.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from betalike.hierarchy import ROOT, Hierarchy
from betalike.schema import Kind

Codes = NDArray[np.int64]
EPOCH = datetime.datetime(1970, 1, 1)
Bound = str | int | float | None


class Axis(Protocol):
    """What schemes, the loss and the labels need to know of a column."""

    @property
    def name(self) -> str:
        """The column's name."""
        ...

    @property
    def kind(self) -> Kind:
        """The column's type."""
        ...

    @property
    def has_missing(self) -> bool:
        """Whether some rows lack a value; their code is the last."""
        ...

    @property
    def size(self) -> int:
        """Number of codes."""
        ...

    @property
    def positions(self) -> NDArray[np.float64]:
        """Where each code lies in the unit interval, for the curve and for distances."""
        ...

    def losses(self, low: Codes, high: Codes) -> NDArray[np.float64]:
        """Information loss of each range of codes. Paper: Eq. 2 and 3."""
        ...

    def labels(self, low: Codes, high: Codes) -> list[str | None]:
        """How each range of codes is published; None is a missing value."""
        ...

    def label_losses(self, labels: Sequence[str | None]) -> NDArray[np.float64]:
        """Information loss read from published labels alone; an error if one cannot be understood."""
        ...

    def meanings(self, labels: Sequence[str | None]) -> Sequence[object]:
        """What published labels stand for, whatever form their numbers are written in."""
        ...


def format_values(values: Iterable[int | float], kind: Kind) -> list[str]:
    """Numbers, dates or moments as published."""
    if kind is Kind.INTEGER:
        return [str(int(value)) for value in values]
    if kind is Kind.REAL:
        return [repr(float(value)) for value in values]
    if kind is Kind.DATE:
        return [(EPOCH + datetime.timedelta(days=int(value))).date().isoformat() for value in values]
    return [(EPOCH + datetime.timedelta(microseconds=int(value))).isoformat(sep=" ") for value in values]


def parse_values(texts: Sequence[str], kind: Kind) -> NDArray[np.float64]:
    """The numbers behind published values: the inverse of `format_values`."""
    if kind in (Kind.INTEGER, Kind.REAL):
        return np.array(list(map(int if kind is Kind.INTEGER else float, texts)), dtype=np.float64)
    unit = datetime.timedelta(days=1) if kind is Kind.DATE else datetime.timedelta(microseconds=1)
    moments = map(datetime.datetime.fromisoformat, texts)
    return np.array([(moment - EPOCH) // unit for moment in moments], dtype=np.float64)


@dataclass(frozen=True)
class OrderedAxis:
    """Numbers or dates, generalized to ranges. Dates count days (moments: microseconds) since 1970."""

    name: str
    kind: Kind
    values: NDArray[np.int64] | NDArray[np.float64]
    domain: tuple[float, float]
    has_missing: bool = False
    is_domain_declared: bool = False

    @property
    def size(self) -> int:
        """Number of codes."""
        return len(self.values) + self.has_missing

    @property
    def positions(self) -> NDArray[np.float64]:
        """Where each code lies in the unit interval; missing values at the upper end."""
        low, high = self.domain
        span = (self.values.astype(np.float64) - low) / (high - low) if high > low else np.zeros(len(self.values))
        return np.append(span, [1.0] * self.has_missing)

    def losses(self, low: Codes, high: Codes) -> NDArray[np.float64]:
        """Width of each range over the width of the domain. Paper: Eq. 2."""
        if not len(self.values):
            return np.zeros(len(low))
        values = np.append(self.values, self.values[-1:]).astype(np.float64)  # the last stands for missing: not used
        width = self.domain[1] - self.domain[0]
        loss = (values[high] - values[low]) / width if width > 0 else np.zeros(len(low))
        return np.where(self.is_mixed(low, high), 1.0, np.where(low == high, 0.0, loss))

    def labels(self, low: Codes, high: Codes) -> list[str | None]:
        """`37`, `[30, 45]`, `*` where missing and present values meet, None where all are missing."""
        starts, ends = self._ends(low), self._ends(high)
        labels = [a if a == b else f"[{a}, {b}]" for a, b in zip(starts, ends, strict=True)]
        for i in np.flatnonzero(self.is_mixed(low, high)):
            labels[i] = ROOT
        return labels

    def label_losses(self, labels: Sequence[str | None]) -> NDArray[np.float64]:
        """Loss of published ranges: single values lose nothing, `*` loses all. Paper: Eq. 2."""
        width = self.domain[1] - self.domain[0]
        losses = np.array([1.0 if label == ROOT else 0.0 for label in labels])
        shown, low, high = self._parse(labels)
        losses[shown] = (high - low) / width if width > 0 else 0.0
        return losses

    def meanings(self, labels: Sequence[str | None]) -> Sequence[object]:
        """The two ends of each range as numbers; `*` and missing values as they are."""
        meanings: list[object] = [*labels]
        shown, low, high = self._parse(labels)
        for i, ends in zip(shown, zip(low.tolist(), high.tolist(), strict=True), strict=True):
            meanings[i] = ends
        return meanings

    def _parse(self, labels: Sequence[str | None]) -> tuple[list[int], NDArray[np.float64], NDArray[np.float64]]:
        """Which labels are values or ranges, and the ends of these."""
        shown = [i for i, label in enumerate(labels) if label is not None and label != ROOT]
        ends = [str(labels[i]).removeprefix("[").removesuffix("]").split(", ", 1) for i in shown]
        low, high = (parse_values([pair[end] for pair in ends], self.kind) for end in (0, -1))
        return shown, low, high

    def bounds(self, low: Codes, high: Codes) -> tuple[list[Bound], list[Bound]]:
        """The two ends of each range; the domain's ends where missing and present values meet."""
        lows, highs = (self._as_bounds(self._ends(codes)) for codes in (low, high))
        domain = self._as_bounds([*self.domain_texts])
        for i in np.flatnonzero(self.is_mixed(low, high)):
            lows[i], highs[i] = domain
        return lows, highs

    @property
    def domain_texts(self) -> tuple[str, str]:
        """The ends of the domain as published."""
        low, high = format_values(self.domain, self.kind)
        return low, high

    def _ends(self, codes: Codes) -> list[str | None]:
        """The value of each code as published; None for a missing one."""
        used, inverse = np.unique(codes, return_inverse=True)
        texts: list[str | None] = [*format_values(self.values[used[used < len(self.values)]].tolist(), self.kind)]
        texts += [None] * (len(used) - len(texts))
        return [texts[i] for i in inverse.tolist()]

    def _as_bounds(self, texts: Sequence[str | None]) -> list[Bound]:
        if self.kind not in (Kind.INTEGER, Kind.REAL):
            return [*texts]
        parse = int if self.kind is Kind.INTEGER else float
        return [None if text is None else parse(text) for text in texts]

    def is_mixed(self, low: Codes, high: Codes) -> NDArray[np.bool_]:
        """Where missing and present values meet."""
        return np.asarray((high == len(self.values)) & (low < high))


@dataclass(frozen=True)
class HierarchyAxis:
    """Categories, generalized along a hierarchy. A missing value is one more leaf, directly under the root."""

    name: str
    hierarchy: Hierarchy
    has_missing: bool = False
    kind: Kind = Kind.CATEGORICAL
    is_declared: bool = False  # a hierarchy that was given, not made from the table's own values

    @property
    def size(self) -> int:
        """Number of codes."""
        return self.hierarchy.n_leaves + self.has_missing

    @property
    def positions(self) -> NDArray[np.float64]:
        """Leaves in pre-order, spread evenly over the unit interval. Paper: 4.5."""
        return np.arange(self.size) / max(self.size - 1, 1)

    def losses(self, low: Codes, high: Codes) -> NDArray[np.float64]:
        """Leaves under the lowest common ancestor over all leaves, 0 for a single leaf. Paper: Eq. 3."""
        node, is_root = self._nodes(low, high)
        leaves = np.where(is_root | (node == self.hierarchy.root), self.size, self.hierarchy.n_leaves_under(node))
        return np.where(low == high, 0.0, leaves / self.size)

    def labels(self, low: Codes, high: Codes) -> list[str | None]:
        """The label of the lowest common ancestor; None where all values are missing."""
        node, is_root = self._nodes(low, high)
        labels: list[str | None] = [self.hierarchy.labels[i] for i in node]
        missing = (low == high) & (low == self.hierarchy.n_leaves)
        for i in np.flatnonzero(is_root | missing):
            labels[i] = None if missing[i] else ROOT
        return labels

    def label_losses(self, labels: Sequence[str | None]) -> NDArray[np.float64]:
        """Loss of published nodes; a label that the hierarchy does not have is an error. Paper: Eq. 3."""
        nodes = {label: node for node, label in enumerate(self.hierarchy.labels)}
        losses = np.zeros(len(labels))
        for i, label in enumerate(labels):
            if label is not None and nodes[label] >= self.hierarchy.n_leaves:
                node = np.array([nodes[label]])
                leaves = self.size if label == ROOT else int(self.hierarchy.n_leaves_under(node)[0])
                losses[i] = leaves / self.size
        return losses

    def meanings(self, labels: Sequence[str | None]) -> Sequence[object]:
        """The labels themselves."""
        return labels

    def _nodes(self, low: Codes, high: Codes) -> tuple[Codes, NDArray[np.bool_]]:
        """The lowest common ancestors, and where missing and present values meet (at the root)."""
        leaf = self.hierarchy.n_leaves - 1
        is_root = np.asarray((high > leaf) & (low < high))
        return self.hierarchy.lowest_common_ancestor(np.minimum(low, leaf), np.minimum(high, leaf)), is_root
