"""What a certificate may say of a quasi-identifier, given its published labels and, if it is at hand, the original."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import msgspec

from betalike.errors import HierarchyError
from betalike.release.certificate import ColumnFacts
from betalike.release.published_labels import CodedOriginal, Ends, Label, read_domain, read_range, tree_of
from betalike.table.exact_numbers import format_values
from betalike.table.hierarchy import ROOT, Hierarchy
from betalike.table.schema import Kind


@dataclass(frozen=True)
class ColumnFound:
    """The labels of a quasi-identifier with their rows: ends of ranges, or texts; without `*` and missing values."""

    shown: Mapping[Hashable, int]
    n_root: int
    n_missing: int
    is_bounds: bool | None  # whether ranges are in two columns; None for categories


@dataclass(frozen=True)
class Rebuilt:
    """A column as it was told and as it was found, and between which bounds its loss lies."""

    told: ColumnFacts
    found: ColumnFacts
    least_loss: float
    most_loss: float
    not_checked: list[str] = field(default_factory=list)


def read_labels(column: ColumnFacts, labels: Mapping[Label, int], is_bounds: bool) -> ColumnFound:
    """Read the labels of a column, each with its rows; ValueError if one is not of its kind."""
    is_ordered = Kind(column.kind).is_ordered
    shown: dict[Hashable, int] = {}
    nodes = {} if is_ordered else _nodes(column)
    for label, n_rows in labels.items():
        if label is None or label == ROOT:
            continue
        if not is_ordered and label not in nodes:
            raise ValueError("a label that the hierarchy lacks")
        meaning = read_range(label, Kind(column.kind)) if is_ordered else label
        shown[meaning] = shown.get(meaning, 0) + n_rows
    return ColumnFound(shown, labels.get(ROOT, 0), labels.get(None, 0), is_bounds if is_ordered else None)


def _nodes(column: ColumnFacts) -> dict[str, int]:
    """The labels of a certificate's hierarchy, with how many leaves each covers."""
    try:
        tree = tree_of(column)
    except HierarchyError as error:
        raise ValueError("a hierarchy that is none") from error
    if tree is None:
        return {}
    return dict(zip(tree.labels, (tree.last - tree.first + 1).tolist(), strict=True))


def rebuild_column(
    told: ColumnFacts, found: ColumnFound, n_rows: int, is_exact: bool, original: CodedOriginal | None
) -> Rebuilt:
    """Say what the certificate should tell of a column."""
    weight = told.weight if math.isfinite(told.weight) and told.weight >= 0 else 1.0
    plain = ColumnFacts(told.name, told.kind, weight)
    if Kind(told.kind).is_ordered:
        return _rebuild_ordered(told, plain, found, n_rows, is_exact, original)
    return _rebuild_categories(told, plain, found, n_rows, is_exact, original)


def _has_missing(told: ColumnFacts, found: ColumnFound, is_exact: bool, original: CodedOriginal | None) -> bool:
    """Missing values are seen, or hidden in what stands for everything; an ordered `*` always hides one."""
    if original is not None:
        return original.has_missing
    if found.n_missing or (found.n_root and found.is_bounds is not None):
        return True
    return told.has_missing if _may_hide_missing(told, found) and not is_exact else False


def _may_hide_missing(told: ColumnFacts, found: ColumnFound) -> bool:
    return found.n_root > 0 or (found.is_bounds is True and read_domain(told) in found.shown)


def _hidden(told: ColumnFacts, found: ColumnFound, is_exact: bool, original: CodedOriginal | None) -> list[str]:
    """The field that says whether values are missing, where neither the labels nor the original show it."""
    is_open = original is None and not is_exact and _may_hide_missing(told, found)
    is_certain = found.n_missing > 0 or (found.n_root > 0 and found.is_bounds is not None)
    return ["has_missing"] if is_open and not is_certain else []


def _rebuild_ordered(
    told: ColumnFacts,
    plain: ColumnFacts,
    found: ColumnFound,
    n_rows: int,
    is_exact: bool,
    original: CodedOriginal | None,
) -> Rebuilt:
    ranges: dict[Ends, int] = {ends: count for ends, count in found.shown.items() if isinstance(ends, tuple)}
    hull = (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else None
    true = original.ends if original is not None else hull if is_exact else None
    domain, known = read_domain(told), None
    if domain is not None:
        known = domain if all(_is_inside(inner, domain) for inner in (hull, true)) else true or hull
    elif is_exact or (hull is not None and (hull == true or (true is None and not found.n_root))):
        known = hull  # its ends are shown, so that it has to be told
    column = msgspec.structs.replace(
        plain,
        domain=told.domain if known == domain else _texts(known, Kind(told.kind)),
        has_missing=_has_missing(told, found, is_exact, original),
    )
    measured = known or true
    least, most = found.n_root / n_rows, _loss(ranges, found.n_root, measured or hull, n_rows)
    hidden = _hidden(told, found, is_exact, original)
    if measured is None and any(low < high for low, high in ranges):
        most -= most * 1e-12  # the domain is wider than what is shown
        return Rebuilt(told, column, least, max(least, most), ["domain", *hidden])
    is_declared = domain is not None and domain != (true or hull)  # wider than the values that are known
    return Rebuilt(told, column, most, most, [*(["domain"] if is_declared else []), *hidden])


def _is_inside(inner: Ends | None, outer: Ends) -> bool:
    return inner is None or (outer[0] <= inner[0] and inner[1] <= outer[1])


def _texts(ends: Ends | None, kind: Kind) -> tuple[str, str] | None:
    if ends is None:
        return None
    low, high = format_values(ends, kind)
    return low, high


def _loss(ranges: Mapping[Ends, int], n_root: int, domain: Ends | None, n_rows: int) -> float:
    """Average loss: the width of each range over that of the domain. Paper: Eq. 2 and 5."""
    width = _width(domain) if domain is not None else Fraction(0)
    lost = sum(count * float(_width(ends) / width) for ends, count in ranges.items()) if width else 0.0
    return (lost + n_root) / n_rows


def _width(ends: Ends) -> Fraction:
    """How far apart two numbers are, exactly."""
    return Fraction(ends[1]) - Fraction(ends[0])


def _rebuild_categories(
    told: ColumnFacts,
    plain: ColumnFacts,
    found: ColumnFound,
    n_rows: int,
    is_exact: bool,
    original: CodedOriginal | None,
) -> Rebuilt:
    tree, has_missing = tree_of(told), _has_missing(told, found, is_exact, original)
    labels = {str(label): count for label, count in found.shown.items()}
    n_leaves = 0 if tree is None else tree.n_leaves
    is_deep = tree is not None and any(len(path) > 2 for path in tree.paths)
    paths, least, most = told.hierarchy, n_leaves, n_leaves
    if not is_deep and (tree is None or told.leaves != n_leaves + has_missing):  # made from the table's own values
        shown = [[label, ROOT] for label in labels]
        paths = [] if is_exact else paths if sorted(paths) == sorted(shown) else shown
        least = max(len(labels), 1)
        most = least if is_exact else max(len(labels) + found.n_root, 1)
        if original is not None:
            least = most = max(original.n_values, 1)
    leaves = min(max((told.leaves or 0) - has_missing, least), most) + has_missing
    under = _nodes_shown(tree, labels)
    lost = sum(labels[label] * n / leaves for label, n in under.items())
    loss = (lost + found.n_root) / n_rows
    column = msgspec.structs.replace(
        plain, leaves=leaves, leaves_under={} if is_exact else under, hierarchy=paths, has_missing=has_missing
    )
    is_declared = paths == told.hierarchy and (is_deep or len(paths) > len(labels))
    not_checked = [*(["leaves"] if least != most else []), *(["hierarchy"] if is_declared else [])]
    return Rebuilt(told, column, loss, loss, [*not_checked, *_hidden(told, found, is_exact, original)])


def _nodes_shown(tree: Hierarchy | None, labels: Mapping[str, int]) -> dict[str, int]:
    """How many leaves each inner node covers that is among the labels."""
    if tree is None:
        return {}
    inner = range(tree.n_leaves, tree.root)
    return {tree.labels[i]: int(tree.last[i] - tree.first[i] + 1) for i in inner if tree.labels[i] in labels}
