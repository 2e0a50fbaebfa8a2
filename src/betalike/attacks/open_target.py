"""Open a release as a target: translate its labels to codes of the original table's columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from betalike.attacks.possible_classes import cover_counts, covering_classes, sum_over
from betalike.attacks.target import Generalized, OfAnotherTable, Perturbed, Target, posterior_of
from betalike.engines.coding import comparable
from betalike.engines.local import LocalEngine
from betalike.errors import InputError
from betalike.io.hierarchies import choose_hierarchies
from betalike.io.tables import Frame, read
from betalike.queries.columns import LabelSpans, NamedColumn, QueryColumn, comparable_number
from betalike.queries.estimator import BASELINE, PERTURBED, Estimator
from betalike.queries.release import Release, folder_of
from betalike.release.binned_values import ranges_of
from betalike.release.certificate import Certificate, ColumnFacts, read_certificate
from betalike.release.promise import promised_model
from betalike.runtime.arrays import Ids, Ints
from betalike.schemes import OPTIONS
from betalike.table.axis import Axis, OrderedAxis
from betalike.table.cells import Cells, ClassCounts, fold
from betalike.table.exact_numbers import Numbers
from betalike.table.hierarchy import ROOT, Hierarchy
from betalike.table.schema import Attribute, Kind, Role, RoundEnds, Schema

OTHER_TABLE = "so this is not the table that was published. Name the original table of this release."


def open_target(
    release: str | Path | Release,
    *,
    original: Frame,
    hierarchies: str | Path | Mapping[str, Any] | None = None,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
) -> Target:
    """Match a release with its original table; `release` is a folder, or what `betalike.publish` returned.

    A hierarchy of the sensitive column says which values are close to each other, for the similarity attack.
    """
    opened = _open(release, hierarchies)
    table = opened.certificate.table
    tree = choose_hierarchies(hierarchies, [table.sensitive]).get(table.sensitive)
    schema = _schema(opened, {}, tree)
    frame = read(original, schema, missing, delimiter)
    schema.check_columns(frame.columns)
    engine = LocalEngine(frame, _schema(opened, _unnamed_leaves(opened, frame), tree))
    target = lay_over(opened, engine.count_cells(), engine.sensitive_labels)
    return replace(target, cell_of_rows=engine.cell_of_rows)


def open_second(
    release: str | Path | Release,
    first: Target,
    *,
    original: Frame,
    hierarchies: str | Path | Mapping[str, Any] | None = None,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
) -> Target:
    """Lay a second release over the original table of the first one; it may be of the same table or of another one.

    In a release of another table, people are looked up by the quasi-identifiers that they have in this one.
    """
    opened = _open(release, hierarchies)
    if opened.certificate.prior_counts == dict(zip(first.values, first.cells.value_counts.tolist(), strict=True)):
        return open_target(release, original=original, hierarchies=hierarchies, missing=missing, delimiter=delimiter)
    named = opened.certificate.table.sensitive
    if named != first.cells.sensitive.name:
        raise InputError(
            f"the second release protects the column '{named}', and the first one '{first.cells.sensitive.name}'. Name "
            "a release with the same sensitive column."
        )
    schema = _schema(opened, {}, None, is_same_table=False)
    frame = read(original, schema, missing, delimiter)
    schema.check_columns(frame.columns)
    unnamed = _unnamed_leaves(opened, frame, is_same_table=False)
    engine = LocalEngine(frame, _schema(opened, unnamed, None, is_same_table=False))
    return replace(_look_up(opened, engine.count_cells()), cell_of_rows=engine.cell_of_rows)


def _look_up(release: Estimator, cells: Cells) -> OfAnotherTable:
    """Return what a release says about the points of a table that it was not made from."""
    scheme, shares, n_points = release.certificate.scheme.name, release.counts / release.counts.sum(), len(cells.points)
    if scheme == BASELINE:
        chances = np.tile(shares, (n_points, 1))
    else:
        counts = release.index.counts
        rows = np.zeros((len(release.index.ids), counts.n_values))
        np.add.at(rows, (counts.ec, counts.value), counts.count)
        if scheme == PERTURBED:
            rows = rows @ posterior_of(release.perturbation.transition, shares).T
        starts, classes = covering_classes(cells.points, *_codes(release, cells.axes))
        chances = sum_over(starts, classes, rows)
        chances /= np.maximum(chances.sum(axis=1, keepdims=True), 1e-300)
    return OfAnotherTable(
        cells,
        tuple(release.values),
        promised_model(release.certificate),
        scheme,
        shares=shares,
        chances=chances,
        other_rows=release.certificate.table.rows,
    )


def _open(release: str | Path | Release, hierarchies: str | Path | Mapping[str, Any] | None) -> Estimator:
    if not isinstance(release, Release):
        folder = folder_of(release)
        release = Release(read_certificate(folder), folder=folder)
    return release.open_with(_trees(release.facts, hierarchies))


def _trees(certificate: Certificate, hierarchies: str | Path | Mapping[str, Any] | None) -> dict[str, Hierarchy]:
    """Return hierarchies of the columns whose hierarchy is not in the certificate."""
    columns = [c.name for c in certificate.table.columns if not Kind(c.kind).is_ordered and not c.hierarchy]
    return choose_hierarchies(hierarchies, columns)


def _schema(
    release: Estimator, further: Mapping[str, list[str]], tree: Hierarchy | None, is_same_table: bool = True
) -> Schema:
    """Return the columns of a table as the certificate describes them; the domains of another table are its own."""
    certificate = release.certificate
    facts = {column.name: column for column in certificate.table.columns}
    attributes = tuple(
        _attribute(column, facts[column.name], further.get(column.name, []), is_same_table)
        for column in release.quasi_identifiers
    )
    rows = certificate.promise.hierarchy
    if tree is None and rows:
        tree = Hierarchy.from_rows(rows, source="the hierarchy of the sensitive values in the certificate")
    bins = ranges_of(certificate).get(certificate.table.sensitive) if is_same_table else None
    sensitive = Attribute(certificate.table.sensitive, Role.SENSITIVE, hierarchy=tree, bins=bins)
    return Schema(attributes, sensitive, sensitive_missing_is_value=True)


def _attribute(column: QueryColumn, facts: ColumnFacts, further: list[str], is_same_table: bool) -> Attribute:
    tree = column.tree if isinstance(column, NamedColumn) else None
    if tree is not None and further:
        height = len(tree.paths[0])
        tree = Hierarchy.from_rows([*tree.paths, *([leaf] * (height - 1) + [ROOT] for leaf in further)])
    ends = RoundEnds(facts.round, facts.bottom, facts.top)
    return Attribute(
        column.name,
        Role.QUASI_IDENTIFIER,
        Kind(facts.kind),
        facts.domain if is_same_table else None,
        tree,
        facts.weight,
        None if ends == RoundEnds() else ends,
        facts.dates,
    )


def _unnamed_leaves(release: Estimator, frame: pl.DataFrame, is_same_table: bool = True) -> dict[str, list[str]]:
    """Return the values of a table that the release never names, because `*` hides them or its own table has none."""
    leaves = {}
    for column in release.quasi_identifiers:
        if isinstance(column, NamedColumn) and column.tree is not None and (column.n_unnamed or not is_same_table):
            texts = comparable(frame[column.name], Kind.CATEGORICAL).drop_nulls().unique().sort()
            leaves[column.name] = [text for text in texts if text not in column.codes]
    return leaves


def lay_over(release: Estimator, cells: Cells, sensitive_labels: Sequence[str]) -> Target:
    """Return a release as a target, given the cells of its original table."""
    certificate = release.certificate
    code = {label: i for i, label in enumerate(sensitive_labels)}
    certified = dict(zip(release.values, release.counts.astype(np.int64).tolist(), strict=True))
    if certified != {label: int(cells.value_counts[i]) for label, i in code.items()}:
        raise InputError(f"the sensitive values of this table are not those of the certificate, {OTHER_TABLE}")
    model, scheme, labels = promised_model(certificate), certificate.scheme.name, tuple(sensitive_labels)
    if scheme == BASELINE:
        return Target(cells, labels, model, scheme)
    counts = release.index.counts
    place = np.array([code[label] for label in release.values], dtype=np.int64)
    low, high = _codes(release, cells.axes)
    if scheme == PERTURBED:
        points = _points_of(low, high, cells)
        published = ClassCounts.of(points[counts.ec], counts.value, counts.count, counts.n_values)
        transition = np.empty_like(release.perturbation.transition)
        transition[place] = release.perturbation.transition
        return Perturbed(cells, labels, model, scheme, published=published, transition=transition)
    classes = ClassCounts.of(counts.ec, place[counts.value], counts.count, len(code))
    if (cover_counts(cells.points, low, high) == 0).any():
        raise InputError(f"some rows of this table lie in no class of the release, {OTHER_TABLE}")
    details = certificate.scheme.details
    options = {name: details[name] for name in OPTIONS.get(scheme, []) if name in details}
    return Generalized(cells, labels, model, scheme, options, classes=classes, low=low, high=high)


def _codes(release: Estimator, axes: Sequence[Axis]) -> tuple[Ids, Ids]:
    """Return the first and the last code that the labels of each class cover, on each axis."""
    index = release.index
    low, high = np.empty(index.ids.shape, dtype=np.int32), np.empty(index.ids.shape, dtype=np.int32)
    for i, (column, axis, spans) in enumerate(zip(release.quasi_identifiers, axes, index.spans, strict=True)):
        first, last = _codes_of_labels(column, axis, spans)
        low[:, i], high[:, i] = first[index.ids[:, i]], last[index.ids[:, i]]
    return low, high


def _codes_of_labels(column: QueryColumn, axis: Axis, spans: LabelSpans) -> tuple[Ints, Ints]:
    n_present = axis.size - axis.has_missing
    shown = spans.is_present
    low, high = np.where(shown, spans.low, 0.0), np.where(shown, spans.high, 0.0)
    if isinstance(axis, OrderedAxis):
        begins, ends = (_comparable(side, low.dtype == object) for side in (axis.values, axis.uppers))
        first = np.searchsorted(begins, low, side="left")
        last = np.searchsorted(ends, high, side="right") - 1
    else:
        assert isinstance(column, NamedColumn)
        is_root = (low == 0) & (high == column.n_leaves - 1)
        first, last = low.astype(np.int64), np.where(is_root, n_present - 1, high).astype(np.int64)
    first, last = np.where(shown & spans.missing, 0, first), np.where(shown & spans.missing, axis.size - 1, last)
    return np.where(shown, first, n_present), np.where(shown, last, axis.size - 1)


def _comparable(numbers: Numbers, is_exact: bool) -> Numbers:
    """Return numbers that compare exactly with the ends of labels; floats suffice where these are floats."""
    if not is_exact:
        return numbers.astype(np.float64)
    return np.array([comparable_number(number) for number in numbers.tolist()], dtype=object)


def _points_of(low: Ids, high: Ids, cells: Cells) -> Ids:
    """Return the point of the original table for each distinct row of an exact release."""
    n_points = len(cells.points)
    is_exact = low.shape[0] == n_points and np.array_equal(low, high)
    codes = np.concatenate([cells.points, low]).astype(np.int32) if is_exact else cells.points
    firsts, number = fold([np.ascontiguousarray(column) for column in codes.T], [axis.size for axis in cells.axes])
    if not is_exact or len(firsts) != n_points:
        raise InputError(f"the quasi-identifiers of this table are not those of the release, {OTHER_TABLE}")
    return number[n_points:]  # the points are sorted, and so are the combinations
