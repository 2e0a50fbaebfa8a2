"""What the files of a release show of a quasi-identifier, as an axis from which its facts and its loss follow."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from betalike.errors import HierarchyError
from betalike.release.certificate import ColumnFacts
from betalike.release.published_labels import CodedOriginal, Ends, Label, read_domain, read_range, tree_of
from betalike.release.verify import loss_of_labels
from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.table.exact_numbers import as_numbers
from betalike.table.hierarchy import ROOT, Hierarchy
from betalike.table.schema import Kind

ANYWHERE = (-math.inf, math.inf)


@dataclass(frozen=True)
class ShownColumn:
    """The labels of a quasi-identifier with their rows, and the ranges that they stand for, of numbers and dates.

    Of exact numbers, one range holds them all, and only the missing ones are counted.
    """

    labels: Mapping[Label, int]
    ranges: Collection[Ends] = ()
    is_bounds: bool | None = None  # whether ranges are in two columns; None for categories and exact values

    @property
    def n_root(self) -> int:
        """Rows whose label stands for everything."""
        return self.labels.get(ROOT, 0)

    @property
    def hull(self) -> Ends | None:
        """The least and the greatest number that is shown."""
        return (min(low for low, _ in self.ranges), max(high for _, high in self.ranges)) if self.ranges else None

    @property
    def names(self) -> list[str]:
        """The labels without `*` and missing values."""
        return [label for label in self.labels if label is not None and label != ROOT]


@dataclass(frozen=True)
class KnownColumn:
    """A column as far as it is known: its axis, how many leaves it has, and the bounds of its loss.

    `not_checked` names the facts that only its owner knows.
    """

    axis: Axis
    least_loss: float
    most_loss: float
    leaves: int | None = None
    not_checked: tuple[str, ...] = ()


def read_labels(column: ColumnFacts, labels: Mapping[Label, int], is_bounds: bool) -> ShownColumn:
    """Read the labels of a column, each with its rows; ValueError if one is not of its kind."""
    kind = Kind(column.kind)
    if kind.is_ordered:
        ends = {read_range(label, kind) for label in labels}
        return ShownColumn(labels, [each for each in ends if each is not None], is_bounds)
    try:
        tree = tree_of(column)
    except HierarchyError as error:
        raise ValueError("a hierarchy that is none") from error
    shown = ShownColumn(labels)
    if not {*shown.names} <= {*(() if tree is None else tree.labels)}:
        raise ValueError("a label that the hierarchy lacks")
    return shown


def know_column(
    claimed: ColumnFacts, shown: ShownColumn, is_exact: bool, original: CodedOriginal | None
) -> KnownColumn:
    """Return what is known of a column from its labels and the original; the certificate's claims fill the gaps."""
    has_missing, is_hidden = _has_missing(claimed, shown, is_exact, original)
    know = _know_numbers if Kind(claimed.kind).is_ordered else _know_categories
    known = know(claimed, shown, is_exact, original, has_missing)
    return replace(known, not_checked=(*known.not_checked, "has_missing")) if is_hidden else known


def _has_missing(
    claimed: ColumnFacts, shown: ShownColumn, is_exact: bool, original: CodedOriginal | None
) -> tuple[bool, bool]:
    """Return whether values are missing, and whether the certificate alone says so.

    Missing values are seen, or hidden in what stands for everything; a `*` of numbers always hides one.
    """
    if original is not None:
        return original.has_missing, False
    if shown.labels.get(None) or (shown.n_root and shown.is_bounds is not None):
        return True, False
    may_hide = shown.n_root > 0 or (shown.is_bounds is True and read_domain(claimed) in shown.ranges)
    is_hidden = may_hide and not is_exact
    return claimed.has_missing and is_hidden, is_hidden


def _know_numbers(
    claimed: ColumnFacts, shown: ShownColumn, is_exact: bool, original: CodedOriginal | None, has_missing: bool
) -> KnownColumn:
    hull, domain = shown.hull, read_domain(claimed)
    true = original.ends if original is not None else hull if is_exact else None
    known = None
    if domain is not None:
        known = domain if all(_is_inside(inner, domain) for inner in (hull, true)) else true or hull
    elif is_exact or (hull is not None and (hull == true or (true is None and not shown.n_root))):
        known = hull  # its ends are shown, so that the certificate has to have it
    kind, measured = Kind(claimed.kind), known or true
    axis = OrderedAxis(
        claimed.name, kind, as_numbers([]), measured or ANYWHERE, has_missing, is_domain_declared=known is not None
    )
    if is_exact:
        return KnownColumn(axis if measured else replace(axis, domain=(0, 0)), 0.0, 0.0)
    n_rows = sum(shown.labels.values())
    most = _loss(replace(axis, domain=measured or hull or (0, 0)), shown)
    if measured is None and any(low < high for low, high in shown.ranges):  # the domain is wider than what is shown
        least = shown.n_root / n_rows
        return KnownColumn(axis, least, max(least, most - most * 1e-12), not_checked=("domain",))
    is_declared = domain is not None and domain != (true or hull)  # wider than the values that are known
    return KnownColumn(axis, most, most, not_checked=("domain",) if is_declared else ())


def _is_inside(inner: Ends | None, outer: Ends) -> bool:
    return inner is None or (outer[0] <= inner[0] and inner[1] <= outer[1])


def _know_categories(
    claimed: ColumnFacts, shown: ShownColumn, is_exact: bool, original: CodedOriginal | None, has_missing: bool
) -> KnownColumn:
    tree, names = tree_of(claimed), shown.names
    is_deep = tree is not None and any(len(path) > 2 for path in tree.paths)
    if tree is not None and (is_deep or claimed.leaves == tree.n_leaves + has_missing):  # a declared hierarchy
        axis = HierarchyAxis(claimed.name, tree, has_missing, is_declared=True)
        loss = 0.0 if is_exact else _loss(axis, shown)
        is_declared = is_deep or tree.n_leaves > len(names)
        return KnownColumn(axis, loss, loss, axis.size, ("hierarchy",) if is_declared else ())
    # The hierarchy was made from the table's own values, of which those under `*` are not known.
    named = [path[0] for path in claimed.hierarchy]
    in_order = named if sorted(named) == sorted(names) else names
    axis = HierarchyAxis(claimed.name, Hierarchy.flat((not is_exact and in_order) or [ROOT * 2]), has_missing)
    loss = 0.0 if is_exact else _loss(axis, shown)
    least, most = max(len(names), 1), max(len(names) + (0 if is_exact else shown.n_root), 1)
    if original is not None:
        least = most = max(original.n_values, 1)
    leaves = min(max((claimed.leaves or 0) - has_missing, least), most) + has_missing
    return KnownColumn(axis, loss, loss, leaves, ("leaves",) if least != most else ())


def _loss(axis: Axis, shown: ShownColumn) -> float:
    with np.errstate(all="ignore"):  # numbers that are too far apart
        return loss_of_labels(axis, list(shown.labels), np.array(list(shown.labels.values()), dtype=np.int64))
