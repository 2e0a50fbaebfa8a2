"""How wide the published labels of a column are, as an analyst sees them: in units of the column, or in values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from betalike.measures.phrases import number
from betalike.release.certificate import ColumnFacts
from betalike.release.published_labels import read_domain, read_range, read_rounding, tree_of
from betalike.table.hierarchy import ROOT
from betalike.table.schema import Kind


@dataclass(frozen=True)
class LabelWidths:
    """The share of rows with an exact value, and the width that half, nine in ten, and all rows do not exceed.

    A width is the distance between the two ends of a range, or how many values a label of categories stands for; None
    if it is not known, because the release does not show the domain.
    """

    column: str
    exact: float
    half: float | None
    most: float | None
    all: float | None
    unit: str

    @property
    def words(self) -> list[str]:
        """The three widths with their unit."""
        return [self._in_words(width) for width in (self.half, self.most, self.all)]

    def _in_words(self, width: float | None) -> str:
        if width is None:
            return "not known"
        return f"{number(width)} {self.unit.removesuffix('s') if width == 1 else self.unit}".rstrip()


def measure_widths(column: ColumnFacts, labels: Mapping[str | None, int]) -> LabelWidths:
    """Measure the labels of a column, each with its rows."""
    is_ordered = Kind(column.kind).is_ordered
    width = _width_of_range if is_ordered else _values_of_node
    widths = np.array([width(column, label) for label in labels], dtype=np.float64)
    rows = np.array(list(labels.values()), dtype=np.float64)
    exact = widths <= (0.0 if is_ordered else 1.0)
    order = np.argsort(widths)
    reached = np.cumsum(rows[order]) / rows.sum()

    def quantile(share: float) -> float | None:
        found = float(widths[order][np.searchsorted(reached, share - 1e-12)])
        return found if math.isfinite(found) else None

    return LabelWidths(
        column.name, float(rows[exact].sum() / rows.sum()), quantile(0.5), quantile(0.9), quantile(1.0), _unit(column)
    )


def _unit(column: ColumnFacts) -> str:
    kind = Kind(column.kind)
    if not kind.is_ordered:
        return "values"
    return {Kind.DATE: "days", Kind.DATETIME: "seconds", Kind.MONTH: "months"}.get(kind, "")


def _width_of_range(column: ColumnFacts, label: str | None) -> float:
    if label is None:
        return 0.0
    rounding, domain = read_rounding(column), read_domain(column)
    ends = domain if label == ROOT else read_range(label, Kind(column.kind), rounding)
    if ends is None:
        return math.inf
    if rounding is not None and domain is not None:  # what a code stands for reaches to the end of the domain
        low = min(ends[0], domain[0]) if ends[0] == rounding.bottom else ends[0]
        high = max(ends[1], domain[1]) if ends[1] == rounding.top else ends[1]
        ends = low, high
    width = float(Fraction(ends[1]) - Fraction(ends[0]))  # exact, also for decimals
    return width / 1e6 if Kind(column.kind) is Kind.DATETIME else width


def _values_of_node(column: ColumnFacts, label: str | None) -> float:
    if label is None:
        return 1.0
    if label == ROOT:
        return float(column.leaves or math.inf)
    if label in column.leaves_under:
        return float(column.leaves_under[label])
    tree = tree_of(column)
    if tree is None or label in tree.leaves:
        return 1.0
    node = np.array([list(tree.labels).index(label)])
    return float(tree.n_leaves_under(node)[0])
