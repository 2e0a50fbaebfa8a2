"""The check of a release with exact quasi-identifiers against its certificate: a perturbed one, or the baseline."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from betalike.engines.coding import code_sensitive, comparable, value_texts
from betalike.engines.combinations import Combinations, count_each
from betalike.engines.sensitive import join_columns, joint_axis
from betalike.engines.streams import BATCH_ROWS, scan_release
from betalike.errors import SchemaError
from betalike.measures.audit import Audit, measure_perturbed, measure_withheld
from betalike.promises import (
    Likeness,
    Transition,
    Verdict,
    judge_transition,
    likeness_of,
)
from betalike.promises.distances import Ground, natural_ground
from betalike.promises.verdict import wording
from betalike.release.certificate import Certificate, protected_columns, written_form
from betalike.release.companion_files import SENSITIVE_FILE, TRANSITION_FILE, read_distribution, read_transition
from betalike.release.original_rows import Matched, Original, match_exact
from betalike.release.promise import are_in_order, promised_axis, promised_model, tree_axis
from betalike.release.rebuilding import Found
from betalike.release.rebuilt_columns import ColumnFound
from betalike.release.verification import are_plausible, judge_withheld
from betalike.runtime.arrays import Ints
from betalike.schemes import Baseline, Perturbation
from betalike.schemes.perturbation import retention_figures
from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.table.hierarchy import ROOT, Hierarchy
from betalike.table.schema import Attribute, Kind, Role

Check = Callable[[str, bool, str], bool]  # a check's name, whether it passed, and what to say if not

PERTURB, BASELINE = Perturbation().name, Baseline().name
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
COMPANIONS = {PERTURB: TRANSITION_FILE, BASELINE: SENSITIVE_FILE}


@dataclass(frozen=True)
class Judged:
    """What the files of a release show: the verdict, the levels, and the figures of the scheme."""

    verdict: Verdict
    audit: Audit
    details: dict[str, float]


@dataclass(frozen=True)
class FittedPromise:
    """What was promised, and of which values, in the certificate's order."""

    model: Likeness
    axis: Axis


@dataclass(frozen=True)
class SensitiveValues:
    """The sensitive values of a certificate in the order of their axis, for distances between them."""

    labels: list[str]
    counts: Ints
    axis: Axis
    order: Ints  # places in the certificate
    is_ground_known: bool = True  # whether the certificate's distances follow from what it says

    @staticmethod
    def of(certificate: Certificate) -> SensitiveValues:
        """Return the values of a certificate, with the distances that it measured t with."""
        labels, columns = list(certificate.prior_counts), certificate.table.sensitive_columns
        name, ground = certificate.table.sensitive, certificate.also.t_ground
        counts = np.array(list(certificate.prior_counts.values()), dtype=np.int64)
        places = np.arange(len(labels))
        if columns:
            return SensitiveValues(labels, counts, joint_axis(name, columns, labels), places)
        column = pl.Series(name, labels, dtype=pl.String)
        axis, codes, _ = code_sensitive(column, Attribute(name, Role.SENSITIVE), missing_is_value=True)
        if ground == str(natural_ground(axis)):
            return SensitiveValues(labels, counts, axis, np.argsort(codes))
        if ground == Ground.EQUAL:
            return SensitiveValues(labels, counts, HierarchyAxis(name, Hierarchy.flat(map(str, places))), places)
        are_dates = all(re.match(r"[+-]?\d{4,}-\d\d-\d\d", label) for label in labels if label)
        if ground == Ground.ORDERED and are_dates and are_in_order(labels):
            line = OrderedAxis(name, Kind.REAL, places, (0.0, len(labels) - 1.0))
            return SensitiveValues(labels, counts, line, places)
        if ground == Ground.HIERARCHICAL and certificate.promise.hierarchy:
            return SensitiveValues(labels, counts, tree_axis(name, labels, certificate.promise.hierarchy), places)
        is_elsewhere = ground == Ground.HIERARCHICAL or (ground == Ground.ORDERED and are_dates)
        return SensitiveValues(labels, counts, axis, np.argsort(codes), is_ground_known=not is_elsewhere)


def sensitive_column(frame: pl.DataFrame, certificate: Certificate) -> pl.Series:
    """The sensitive column of a table; where there are several, the labels of their combinations."""
    name, columns = certificate.table.sensitive, certificate.table.sensitive_columns
    return join_columns(frame, columns, name)[name] if columns else frame[name]


def is_exact(certificate: Certificate) -> bool:
    """Whether a release has exact quasi-identifiers, and so no classes."""
    return certificate.scheme.name in COMPANIONS


def exact_columns(certificate: Certificate) -> list[str]:
    """Return the columns of a published table with exact quasi-identifiers, in their order."""
    sensitive = protected_columns(certificate) if certificate.scheme.name == PERTURB else []
    return [*certificate.table.quasi_identifiers, *sensitive, *certificate.table.kept]


def check_exact(path: Path, certificate: Certificate, original: Original | None, check: Check) -> Found | None:
    """Check the published table, the file beside it and the promise; None if figures cannot be compared."""
    is_perturbed = certificate.scheme.name == PERTURB
    read = _read(path, certificate, is_perturbed)
    if not check("readable", read is not None, f"{path.name} is not the table that the certificate describes."):
        return None
    assert read is not None
    values = SensitiveValues.of(certificate)
    counts = list(certificate.prior_counts.values())
    is_prior = len(counts) > 1 and min(counts) > 0 and sum(counts) == read.rows
    if not check("prior", is_prior, "the prior of the certificate is not of a table of as many rows."):
        return None
    model = likeness_of(promised_model(certificate), certificate.scheme.name)
    promise = FittedPromise(model, promised_axis(certificate, model))
    is_safe = certificate.release.spreadsheet_safe
    if is_perturbed:
        judged = _check_perturbed(path.parent, read.values, values, promise, check, is_safe)
    else:
        judged = _check_withheld(path.parent, values, promise, check, is_safe)
    if judged is None:
        return None
    check("promise", judged.verdict.holds, f"a published value breaks the promise: {wording(model)}.")
    matched = None
    if original is not None:
        matched = match_exact(lambda: _batches(path, certificate), original, certificate, read.rows)
        check_original(matched, certificate, check, "quasi-identifiers")
    return Found(
        model=model,
        verdict=judged.verdict,
        audit=judged.audit,
        counts=certificate.prior_counts,
        columns=read.columns,
        files={},
        is_exact=True,
        is_ground_known=values.is_ground_known,
        most_t=judged.audit.t_by_ground[str(Ground.EQUAL)],
        details=judged.details,
        original=() if matched is None else matched.columns,
    )


def check_original(matched: Matched, certificate: Certificate, check: Check, name: str) -> None:
    """Check that published rows are those of the original, and the prior that of its sensitive column."""
    n_rows = matched.n_unmatched
    check(
        name,
        n_rows == 0,
        f"the published rows are not those of this original table: {n_rows} rows of the two have no partner whose "
        "quasi-identifiers, sensitive value and kept columns fit.",
    )
    is_prior = matched.values == certificate.prior_counts
    check("original", is_prior, "the certificate's prior is not the sensitive column of this original table.")


@dataclass(frozen=True)
class Read:
    """What was read of a published table: its rows, its sensitive values, and the values of each quasi-identifier."""

    rows: int
    values: dict[str, int]
    columns: list[ColumnFound]


def _batches(path: Path, certificate: Certificate) -> Iterator[pl.DataFrame]:
    """The rows of a published table, as text where it is CSV."""
    table = scan_release(path, written_form(certificate, path))
    if table.collect_schema().names() != exact_columns(certificate):
        raise SchemaError("the columns are not those of the certificate.")
    yield from table.collect_batches(chunk_size=BATCH_ROWS)


def _read(path: Path, certificate: Certificate, has_values: bool) -> Read | None:
    """Read a published table; None if it does not have exactly the columns of the certificate, or no rows."""
    table = certificate.table
    values: dict[str, int] = {}
    n_rows = 0

    def quasi_identifiers() -> Iterator[pl.DataFrame]:
        nonlocal n_rows
        for batch in _batches(path, certificate):
            n_rows += batch.height
            if has_values:
                texts = value_texts(sensitive_column(batch, certificate))
                for text, count in texts.value_counts().iter_rows():
                    values[text] = values.get(text, 0) + count
            yield batch

    try:
        counted = count_each(quasi_identifiers(), table.quasi_identifiers)
        columns = [_read_column(found, Kind(column.kind)) for found, column in zip(counted, table.columns, strict=True)]
    except (*UNREADABLE, SchemaError):
        return None
    return Read(n_rows, values, columns) if n_rows else None


def _read_column(counted: Combinations, kind: Kind) -> ColumnFound:
    """The distinct values of a column with their rows; numbers and dates as the two ends of a range."""
    values = next(iter(counted.values.values()))
    shown: dict[Hashable, int] = {}
    n_missing = int(counted.count[0])
    for value, count in zip(comparable(values.slice(1), kind).to_list(), counted.count[1:].tolist(), strict=True):
        if value is None:
            n_missing += count
        else:
            key = (value, value) if kind.is_ordered else value
            shown[key] = shown.get(key, 0) + count
    if ROOT in shown:
        raise SchemaError("'*' is no value of an exact column.")
    return ColumnFound(shown, 0, n_missing, None)


def _check_perturbed(
    folder: Path, seen: dict[str, int], values: SensitiveValues, promise: FittedPromise, check: Check, is_safe: bool
) -> Judged | None:
    """What the matrix keeps; None if the release is not one that can be judged."""
    try:
        transition = read_transition(folder / TRANSITION_FILE, values.labels, is_safe)
    except (OSError, ValueError):
        transition = None
    if not check("transition", transition is not None, f"{TRANSITION_FILE} is not a matrix of the values."):
        return None
    assert transition is not None
    labels, counts = values.labels, values.counts
    if not check("sensitive values", set(seen) <= set(labels), "there are sensitive values that the matrix lacks."):
        return None
    drawn = np.array([seen.get(label, 0) for label in labels], dtype=np.int64)
    is_plausible = are_plausible(drawn, counts @ transition.probabilities, np.full(len(drawn), counts.sum()))
    check("draws", is_plausible, "the sensitive values do not look as if they were drawn with the matrix.")
    on_axis = Transition(transition.units[np.ix_(values.order, values.order)])
    audit = measure_perturbed(on_axis, counts[values.order], values.axis)
    verdict = judge_transition(promise.model, transition, counts, promise.axis)
    return Judged(verdict, audit, retention_figures(transition, counts))


def _check_withheld(
    folder: Path, values: SensitiveValues, promise: FittedPromise, check: Check, is_safe: bool
) -> Judged | None:
    """What rows without sensitive values keep; None if the file of their distribution is not true."""
    try:
        told = read_distribution(folder / SENSITIVE_FILE, is_safe)
    except (OSError, ValueError):
        told = None
    is_true = told == dict(zip(values.labels, values.counts.tolist(), strict=True))
    if not check("distribution", is_true, f"{SENSITIVE_FILE} is not the prior that the certificate tells."):
        return None
    audit = measure_withheld(values.counts[values.order], values.axis)
    return Judged(judge_withheld(values.counts, promise.model, promise.axis), audit, {})
