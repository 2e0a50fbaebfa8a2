"""Recount the published files of a release, as a receiver can: from the files and the certificate alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl

from betalike.engines.coding import code_sensitive, comparable, value_texts
from betalike.engines.combinations import Combinations, count_each
from betalike.engines.engine import Recount, SingledOut
from betalike.engines.recounting import recount
from betalike.engines.sensitive import join_columns, joint_axis
from betalike.engines.singling_out import count_singled_out
from betalike.engines.streams import BATCH_ROWS, scan_columns, scan_release, scan_written, written_names
from betalike.errors import GuaranteeError, SchemaError
from betalike.measures.audit import Audit
from betalike.promises import Model, Verdict, likeness_of
from betalike.promises.distances import Ground, natural_ground
from betalike.promises.verdict import wording
from betalike.release.certificate import Certificate, ColumnFacts, protected_columns, written_form
from betalike.release.companion_files import SENSITIVE_FILE, TRANSITION_FILE, read_distribution, read_transition
from betalike.release.files import Check
from betalike.release.promise import are_in_order, promised_axis, tree_axis
from betalike.release.published_labels import Label, ShownColumn, read_labels
from betalike.release.verify import SensitiveCounts, are_plausible, tally
from betalike.runtime.arrays import Ints
from betalike.schemes import Baseline, Perturbation
from betalike.schemes.perturbation import DrawingRule
from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.table.hierarchy import ROOT, Hierarchy
from betalike.table.schema import Attribute, Kind, Role

PERTURB, BASELINE = Perturbation().name, Baseline().name
COMPANIONS = {PERTURB: TRANSITION_FILE, BASELINE: SENSITIVE_FILE}
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
OTHER_VALUES = "the sensitive values are not those of the certificate."
T = TypeVar("T")
CLASSES_AT_ONCE = 500_000  # of a release that are counted in one turn


@dataclass(frozen=True)
class Recounted:
    """What the files of a release show; `sizes` is None if there are no classes."""

    verdict: Verdict
    audit: Audit
    columns: list[ShownColumn]
    is_ground_known: bool  # whether distances between sensitive values follow from the certificate
    sizes: Ints | None = None
    singled_out: SingledOut | None = None
    details: Mapping[str, float] = field(default_factory=dict)


def is_exact(certificate: Certificate) -> bool:
    """Whether a release has exact quasi-identifiers, and so no classes."""
    return certificate.scheme.name in COMPANIONS


def count_files(
    path: Path, certificate: Certificate, model: Model, check: Check, classes_at_once: int = CLASSES_AT_ONCE
) -> Recounted | None:
    """Recount a published table and check its promise; None if its figures cannot be compared."""
    if is_exact(certificate):
        found = _count_exact(path, certificate, model, check)
    else:
        found = _count_classes(path, certificate, model, check, classes_at_once)
    if found is not None:
        what = "a class" if found.sizes is not None else "a published value"
        check("promise", found.verdict.holds, f"{what} breaks the promise: {wording(model)}.")
        if certificate.table.kept:
            found = _count_singled_out(path, certificate, found, check)
    return found


def _count_singled_out(path: Path, certificate: Certificate, found: Recounted, check: Check) -> Recounted | None:
    """Add how many rows the kept columns single out; None if they cannot be read."""
    kept, form = certificate.table.kept, written_form(certificate, path)
    labels = certificate.table.quasi_identifiers

    def batches() -> Iterator[pl.DataFrame]:
        return scan_columns(path, form, [*labels, *kept])

    try:
        return replace(found, singled_out=count_singled_out(batches, kept, labels, found.audit.rows))
    except (*UNREADABLE, GuaranteeError):
        check("readable", False, f"{path.name} is not the table that the certificate describes.")
        return None


def scan_published(path: Path, certificate: Certificate) -> Iterator[pl.DataFrame]:
    """Read the rows of a published table, all cells of a generalized one as text or whole numbers."""
    form = written_form(certificate, path)
    if not is_exact(certificate):
        table = certificate.table
        names = [*table.quasi_identifiers, *protected_columns(certificate), *table.kept]
        yield from scan_written(path, form, dict.fromkeys(names, pl.String))
        return
    table, sensitive = certificate.table, protected_columns(certificate) if certificate.scheme.name == PERTURB else []
    rows = scan_release(path, form)
    if rows.collect_schema().names() != [*table.quasi_identifiers, *sensitive, *table.kept]:
        raise SchemaError("the columns are not those of the certificate.")
    yield from rows.collect_batches(chunk_size=BATCH_ROWS)


def _sensitive_values(certificate: Certificate, model: Model) -> tuple[SensitiveCounts, bool]:
    """Return the sensitive values of a certificate, and whether the distances behind its t are known."""
    counts = np.array(list(certificate.prior_counts.values()), dtype=np.int64)
    axis, order, is_ground_known = _audited_axis(certificate)
    return SensitiveCounts(counts, promised_axis(certificate, model), axis, order), is_ground_known


def _audited_axis(certificate: Certificate) -> tuple[Axis, Ints | None, bool]:
    """Return the axis whose distances the certificate's t was measured with, and the places of its values on it."""
    labels, columns = list(certificate.prior_counts), certificate.table.sensitive_columns
    name, ground = certificate.table.sensitive, certificate.also.t_ground
    if columns:
        return joint_axis(name, columns, labels), None, True
    column = pl.Series(name, labels, dtype=pl.String)
    axis, codes, _ = code_sensitive(column, Attribute(name, Role.SENSITIVE), missing_is_value=True)
    order = np.argsort(codes)
    if ground == str(natural_ground(axis)):
        return axis, order, True
    if ground == Ground.EQUAL:
        return HierarchyAxis(name, Hierarchy.flat(map(str, range(len(labels))))), None, True
    are_dates = all(re.match(r"[+-]?\d{4,}-\d\d-\d\d", label) for label in labels if label)
    if ground == Ground.ORDERED and are_dates and are_in_order(labels):
        return OrderedAxis(name, Kind.REAL, np.arange(len(labels)), (0.0, len(labels) - 1.0)), None, True
    if ground == Ground.HIERARCHICAL and certificate.promise.hierarchy:
        return tree_axis(name, labels, certificate.promise.hierarchy), None, True
    is_elsewhere = ground == Ground.HIERARCHICAL or (ground == Ground.ORDERED and are_dates)
    return axis, order, not is_elsewhere


def _count_classes(
    path: Path, certificate: Certificate, model: Model, check: Check, classes_at_once: int
) -> Recounted | None:
    counts = np.array(list(certificate.prior_counts.values()), dtype=np.int64)
    if counts.min() <= 0:  # no class can be judged by it
        check("sensitive values", False, OTHER_VALUES)
        return None
    values, is_ground_known = _sensitive_values(certificate, model)
    n_turns = _turns(path, certificate, classes_at_once)
    try:
        found = tally((_count_turn(path, certificate, turn, n_turns) for turn in range(n_turns)), values, model)
    except (*UNREADABLE, GuaranteeError, SchemaError):
        check("readable", False, f"{path.name} is not the table that the certificate describes.")
        return None
    check("readable", True, "")
    is_permutation = not found.n_unknown and np.array_equal(found.value_counts, counts)
    if not check("sensitive values", is_permutation, OTHER_VALUES):
        return None
    try:
        shown = [dict(zip(labels.to_list(), rows.tolist(), strict=True)) for labels, rows in found.labels]
        columns = [read_labels(*facts) for facts in zip(certificate.table.columns, shown, strict=True)]
    except (ValueError, OverflowError):
        check("labels", False, "a published label is not a value, range or node of its column, or is not rounded.")
        return None
    check("labels", True, "")
    return Recounted(found.verdict, found.audit, columns, is_ground_known, found.sizes)


def _turns(path: Path, certificate: Certificate, classes_at_once: int) -> int:
    """Return in how many turns to count; a claim of more classes than rows is not believed."""
    n_classes = certificate.release.classes or 1
    if n_classes <= classes_at_once:
        return 1
    try:
        table = scan_release(path, written_form(certificate, path))
        n_rows = int(table.select(pl.len()).collect(engine="streaming").item())
    except UNREADABLE:  # reported when it is counted
        return 1
    return max(-(-min(n_classes, n_rows) // classes_at_once), 1)


def _count_turn(path: Path, certificate: Certificate, turn: int, n_turns: int) -> Recount:
    """Count some of the classes of a published table; refuse one without the columns of the certificate."""
    table, form = certificate.table, written_form(certificate, path)
    names, sensitive, values = table.quasi_identifiers, protected_columns(certificate), list(certificate.prior_counts)
    types = dict.fromkeys([*names, *sensitive], pl.String)
    if [*names, *sensitive, *table.kept] != written_names(path, form):
        raise SchemaError("the columns are not those of the certificate.")
    rows = scan_written(path, form, types)
    if n_turns > 1:
        rows = (batch.filter(batch.select(names).hash_rows() % n_turns == turn) for batch in rows)
    return recount(rows, names, sensitive, values)


def _count_exact(path: Path, certificate: Certificate, model: Model, check: Check) -> Recounted | None:
    read = _read_exact(path, certificate)
    if not check("readable", read is not None, f"{path.name} is not the table that the certificate describes."):
        return None
    assert read is not None
    n_rows, published, columns = read
    counts = list(certificate.prior_counts.values())
    is_prior = len(counts) > 1 and min(counts) > 0 and sum(counts) == n_rows
    if not check("prior", is_prior, "the counts of the certificate's prior do not add up to the published rows."):
        return None
    likeness = likeness_of(model, certificate.scheme.name)
    values, is_ground_known = _sensitive_values(certificate, likeness)
    if certificate.scheme.name == BASELINE:
        written = _read_or_none(lambda: read_distribution(path.with_name(SENSITIVE_FILE)))
        is_true = written == certificate.prior_counts
        if not check("distribution", is_true, f"{SENSITIVE_FILE} is not the prior of the certificate."):
            return None
        return Recounted(*values.judge_prior(likeness), columns, is_ground_known)
    file, rule = path.with_name(TRANSITION_FILE), DrawingRule.of(certificate.scheme.details)
    matrix = _read_or_none(lambda: read_transition(file, certificate.prior_counts, rule))
    if not check("transition", matrix is not None, f"{TRANSITION_FILE} is not a matrix of the values."):
        return None
    assert matrix is not None
    labels = matrix.labels(certificate.prior_counts)
    is_known = set(published) <= set(labels)
    if not check("sensitive values", is_known, "there are sensitive values that the matrix does not have."):
        return None
    drawn = np.array([published[label] for label in labels], dtype=np.int64)
    expected = values.counts @ matrix.transition.probabilities
    is_plausible = are_plausible(drawn, expected, np.full(len(drawn), n_rows))
    check("draws", is_plausible, "the sensitive values do not look as if they were drawn with the matrix.")
    verdict, audit = values.judge_matrix(matrix.transition, likeness)
    return Recounted(verdict, audit, columns, is_ground_known, details=matrix.figures(values.counts))


def _read_or_none(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except (OSError, ValueError):
        return None


def _read_exact(path: Path, certificate: Certificate) -> tuple[int, Counter[str], list[ShownColumn]] | None:
    """Read the rows, the sensitive values and the quasi-identifiers of a table; None if it is not as certified."""
    table = certificate.table
    values: Counter[str] = Counter()
    n_rows = 0

    def batches() -> Iterator[pl.DataFrame]:
        nonlocal n_rows
        for batch in scan_published(path, certificate):
            n_rows += batch.height
            if certificate.scheme.name == PERTURB:
                name, parts = table.sensitive, table.sensitive_columns
                column = join_columns(batch, parts, name)[name] if parts else batch[name]
                values.update(dict(value_texts(column).value_counts().iter_rows()))
            yield batch

    try:
        counted = count_each(batches(), table.quasi_identifiers)
        columns = [_read_column(found, column) for found, column in zip(counted, table.columns, strict=True)]
    except (*UNREADABLE, SchemaError):
        return None
    return (n_rows, values, columns) if n_rows else None


def _read_column(counted: Combinations, column: ColumnFacts) -> ShownColumn:
    """Read the distinct values of an exact column with their rows; the first of them stands for missing ones."""
    shown: Counter[Label] = Counter({None: int(counted.count[0])})
    kind = Kind(column.kind)
    cells = comparable(next(iter(counted.values.values())).slice(1), kind, column.dates).to_list()
    for value, count in zip(cells, counted.count[1:].tolist(), strict=True):
        shown[value] += count
    if ROOT in shown:
        raise SchemaError("'*' is not a value of an exact column.")
    if not kind.is_ordered:
        return ShownColumn(shown)
    numbers = [value for value in cells if value is not None]
    return ShownColumn({None: shown[None]}, [(min(numbers), max(numbers))] if numbers else [])
