"""Axes: the values of one column as integer codes, with what a box of codes loses and how it is written.

Numeric values are coded in their order, hierarchy leaves in pre-order, so that a set of values is generalized from its
least and its greatest code alone. Missing values have the last code; they join others only at the root.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
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


def format_value(value: int | float, kind: Kind) -> str:
    """A single numeric value, date or moment as published."""
    if kind is Kind.INTEGER:
        return str(int(value))
    if kind is Kind.DATE:
        return (EPOCH + datetime.timedelta(days=int(value))).date().isoformat()
    if kind is Kind.DATETIME:
        return (EPOCH + datetime.timedelta(microseconds=int(value))).isoformat(sep=" ")
    return repr(float(value))


def parse_value(text: str, kind: Kind) -> int | float:
    """The number behind a published value: the inverse of `format_value`."""
    if kind is Kind.INTEGER:
        return int(text)
    if kind is Kind.DATE:
        return (datetime.datetime.fromisoformat(text) - EPOCH).days
    if kind is Kind.DATETIME:
        return (datetime.datetime.fromisoformat(text) - EPOCH) // datetime.timedelta(microseconds=1)
    return float(text)


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
        return np.where(self._is_mixed(low, high), 1.0, np.where(low == high, 0.0, loss))

    def labels(self, low: Codes, high: Codes) -> list[str | None]:
        """`37`, `[30, 45]`, `*` where missing and present values meet, None where all are missing."""
        texts: list[str | None] = [*self._texts, None]
        mixed = self._is_mixed(low, high)
        pairs = zip(low.tolist(), high.tolist(), mixed.tolist(), strict=True)
        return [ROOT if m else texts[a] if a == b else f"[{texts[a]}, {texts[b]}]" for a, b, m in pairs]

    def label_losses(self, labels: Sequence[str | None]) -> NDArray[np.float64]:
        """Loss of published ranges: single values lose nothing, `*` loses all. Paper: Eq. 2."""
        width = self.domain[1] - self.domain[0]
        return np.array([self._label_width(label) / width if width > 0 else 0.0 for label in labels], dtype=np.float64)

    def _label_width(self, label: str | None) -> float:
        if label is None:
            return 0.0
        if label == ROOT:
            return self.domain[1] - self.domain[0]
        if label.startswith("[") and label.endswith("]") and ", " in label:
            low, high = (parse_value(end, self.kind) for end in label[1:-1].split(", ", 1))
            return high - low
        parse_value(label, self.kind)
        return 0.0

    def bounds(self, low: Codes, high: Codes) -> tuple[list[Bound], list[Bound]]:
        """The two ends of each range; the domain's ends where missing and present values meet."""
        ends: list[Bound] = [*(self.values.tolist() if self.kind in _PLAIN else self._texts), None]
        domain = [self._bound(end) for end in self.domain]
        mixed = self._is_mixed(low, high).tolist()
        lows = [domain[0] if m else ends[a] for a, m in zip(low.tolist(), mixed, strict=True)]
        highs = [domain[1] if m else ends[b] for b, m in zip(high.tolist(), mixed, strict=True)]
        return lows, highs

    def _bound(self, value: float) -> Bound:
        if self.kind is Kind.REAL:
            return float(value)
        return int(value) if self.kind is Kind.INTEGER else format_value(value, self.kind)

    def _is_mixed(self, low: Codes, high: Codes) -> NDArray[np.bool_]:
        return np.asarray((high == len(self.values)) & (low < high))

    @cached_property
    def _texts(self) -> list[str]:
        return [format_value(value, self.kind) for value in self.values.tolist()]


_PLAIN = (Kind.INTEGER, Kind.REAL)


@dataclass(frozen=True)
class HierarchyAxis:
    """Categories, generalized along a hierarchy. A missing value is one more leaf, directly under the root."""

    name: str
    hierarchy: Hierarchy
    has_missing: bool = False
    kind: Kind = Kind.CATEGORICAL

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
        leaves = np.where(is_root, self.size, self.hierarchy.n_leaves_under(node))
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

    def _nodes(self, low: Codes, high: Codes) -> tuple[Codes, NDArray[np.bool_]]:
        """The lowest common ancestors, and where missing and present values meet (at the root)."""
        leaf = self.hierarchy.n_leaves - 1
        is_root = np.asarray((high > leaf) & (low < high))
        return self.hierarchy.lowest_common_ancestor(np.minimum(low, leaf), np.minimum(high, leaf)), is_root
