"""The check of a release with exact quasi-identifiers against its certificate: a perturbed one, or the baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.axis import Axis
from betalike.certificate import Certificate, protected_columns, published_name, rows_told
from betalike.companion_files import SENSITIVE_FILE, TRANSITION_FILE, read_distribution, read_transition
from betalike.engines.coding import code_sensitive, comparable
from betalike.engines.joint import join_columns, joint_axis
from betalike.engines.streams import BATCH_ROWS, fingerprint, scan_release
from betalike.errors import SchemaError
from betalike.measures import Audit, measure_perturbed, measure_withheld
from betalike.models import (
    AnyLikeness,
    Transition,
    Verdict,
    any_likeness_of,
    judge_transition,
)
from betalike.models.verdict import wording
from betalike.promises_told import promised_axis, promised_model
from betalike.publication import written_form
from betalike.schema import Attribute, Kind, Role
from betalike.schemes import Baseline, Perturbation
from betalike.schemes.perturbation import retention_figures
from betalike.verification import are_plausible, judge_withheld

Ints = NDArray[np.int64]
Check = Callable[[str, bool, str], bool]  # a check's name, whether it passed, and what to say if not

PERTURB, BASELINE = Perturbation().name, Baseline().name


@dataclass(frozen=True)
class Judged:
    """What the files of a release show: the verdict, the levels, and the figures of the scheme."""

    verdict: Verdict
    audit: Audit
    details: dict[str, float]


@dataclass(frozen=True)
class Promise:
    """What was promised, and of which values, in the certificate's order."""

    model: AnyLikeness
    axis: Axis


@dataclass(frozen=True)
class Values:
    """The sensitive values of a certificate in the order of their axis, for distances between them."""

    labels: list[str]
    counts: Ints
    axis: Axis
    order: Ints  # places in the certificate

    @staticmethod
    def of(certificate: Certificate) -> Values:
        """The values that a certificate tells."""
        labels, columns = list(certificate.prior_counts), certificate.table.sensitive_columns
        name = certificate.table.sensitive
        counts = np.array(list(certificate.prior_counts.values()), dtype=np.int64)
        if columns:
            return Values(labels, counts, joint_axis(name, columns, labels), np.arange(len(labels)))
        column = pl.Series(name, labels, dtype=pl.String)
        axis, codes, _ = code_sensitive(column, Attribute(name, Role.SENSITIVE), missing_is_value=True)
        return Values(labels, counts, axis, np.argsort(codes))


def sensitive_column(frame: pl.DataFrame, certificate: Certificate) -> pl.Series:
    """The sensitive column of a table; where there are several, the labels of their combinations."""
    name, columns = certificate.table.sensitive, certificate.table.sensitive_columns
    return join_columns(frame, columns, name)[name] if columns else frame[name]


def is_exact(certificate: Certificate) -> bool:
    """Whether a release has exact quasi-identifiers, and so no classes."""
    return certificate.scheme.name in (PERTURB, BASELINE)


def check_exact(folder: Path, published: str, certificate: Certificate, original: Seen | None, check: Check) -> None:
    """Check the published table, the file beside it, the promise, and everything that the certificate tells of them."""
    table = certificate.table
    is_perturbed = certificate.scheme.name == PERTURB
    sensitive = protected_columns(certificate) if is_perturbed else []
    columns = [*table.quasi_identifiers, *sensitive, *table.kept]
    seen = _read(folder / published, columns, certificate, is_perturbed)
    if not check("readable", seen is not None, f"{published} is not the table that the certificate tells of."):
        return
    assert seen is not None
    values = Values.of(certificate)
    counts = list(certificate.prior_counts.values())
    is_prior = len(counts) > 1 and min(counts) > 0 and sum(counts) == seen.rows
    if not check("prior", is_prior, "the prior that the certificate tells is not of a table of as many rows."):
        return
    model = any_likeness_of(promised_model(certificate), certificate.scheme.name)
    promise = Promise(model, promised_axis(certificate, model))
    is_safe = certificate.release.spreadsheet_safe
    if is_perturbed:
        judged = _check_perturbed(folder, seen.values, values, promise, check, is_safe)
    else:
        judged = _check_withheld(folder, values, promise, check, is_safe)
    if judged is None:
        return
    check("promise", judged.verdict.holds, f"a published value breaks the promise: {wording(model)}.")
    told, found = _figures_told(certificate), _figures_found(certificate, judged, seen.rows, values)
    if str(judged.audit.ground) != certificate.also.t_ground:  # the sensitive values' hierarchy is not in the folder
        told.pop("also.t")
    wrong = [name for name, value in told.items() if not is_same(value, found[name])]
    check("figures", not wrong, f"the certificate's figures are not those of the release: {', '.join(wrong)}.")
    if original is not None:
        is_true = seen.fingerprint is not None and seen.fingerprint == original.fingerprint
        check("quasi-identifiers", is_true, "the quasi-identifiers are not those of this original table.")


@dataclass(frozen=True)
class Seen:
    """What was seen of a table that passed by: its rows, sensitive values, and what its quasi-identifiers add up to.

    Tables with the same quasi-identifiers have the same fingerprint, whatever the order of their rows; it is None where
    a cell is not of its column's kind.
    """

    rows: int
    values: dict[str, int]
    fingerprint: int | None


def look_at(
    batches: Iterable[pl.DataFrame], certificate: Certificate, has_values: bool, has_quasi_identifiers: bool
) -> Seen:
    """Look at a table in batches."""
    kinds = {column.name: Kind(column.kind) for column in certificate.table.columns} if has_quasi_identifiers else {}
    rows, values, total, is_comparable = 0, Counter[str](), 0, True
    for batch in batches:
        rows += batch.height
        if has_values:
            texts = sensitive_column(batch, certificate).cast(pl.String).fill_null("")
            values.update(dict(texts.value_counts().iter_rows()))
        try:
            alike = [comparable(batch[name], kind).rename(name) for name, kind in kinds.items()]
            total += fingerprint(pl.DataFrame(alike)) if alike else 0
        except SchemaError:
            is_comparable = False
    return Seen(rows, dict(values), total % 2**64 if is_comparable else None)


def _read(path: Path, columns: list[str], certificate: Certificate, has_values: bool) -> Seen | None:
    """A published table, as text where it is CSV; None if it does not have just these columns."""
    try:
        table = scan_release(path, written_form(certificate, path))
        if sorted(table.collect_schema().names()) != sorted(columns):
            return None
        batches = table.collect_batches(chunk_size=BATCH_ROWS)
        seen = look_at(batches, certificate, has_values, has_quasi_identifiers=True)
    except (pl.exceptions.PolarsError, OSError):
        return None
    return seen if seen.rows else None


def _check_perturbed(
    folder: Path, seen: dict[str, int], values: Values, promise: Promise, check: Check, is_safe: bool
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


def _check_withheld(folder: Path, values: Values, promise: Promise, check: Check, is_safe: bool) -> Judged | None:
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


LEVELS = ("k", "distinct_l", "l", "average_l", "t", "average_t", "basic_beta", "enhanced_beta", "delta")


def _figures_told(certificate: Certificate) -> dict[str, object]:
    promise, release = certificate.promise, certificate.release
    figures: dict[str, object] = {
        "promise.holds": promise.holds,
        "promise.k": promise.k,
        "promise.worst_gain": promise.worst_gain,
        "promise.worst_ratio": promise.worst_ratio,
        "table.rows": certificate.table.rows,
        "release.rows": release.rows,
        "release.classes": release.classes,
        "release.formed_classes": release.formed_classes,
        "release.smallest_class": release.smallest_class,
        "release.average_loss": release.average_loss,
        "release.loss": release.loss,
        "prior": certificate.prior,
        "files": rows_told(certificate),
        "scheme.details": {name: told for name, told in certificate.scheme.details.items() if name != "rule"},
    }
    return figures | {f"also.{name}": getattr(certificate.also, name) for name in LEVELS}


def _figures_found(certificate: Certificate, judged: Judged, n_rows: int, values: Values) -> dict[str, object]:
    verdict, companion = judged.verdict, TRANSITION_FILE if judged.details else SENSITIVE_FILE
    published = published_name(certificate) or ""
    shares = (values.counts / n_rows).tolist()
    figures: dict[str, object] = {
        "promise.holds": verdict.holds,
        "promise.k": 1,
        "promise.worst_gain": verdict.worst_gain,
        "promise.worst_ratio": verdict.worst_ratio,
        "table.rows": n_rows,
        "release.rows": n_rows,
        "release.classes": None,
        "release.formed_classes": None,
        "release.smallest_class": None,
        "release.average_loss": 0.0,
        "release.loss": dict.fromkeys(certificate.table.quasi_identifiers, 0.0),
        "prior": dict(zip(values.labels, shares, strict=True)),
        "files": {published: n_rows, companion: len(values.labels)},
        "scheme.details": judged.details,
    }
    return figures | {f"also.{name}": getattr(judged.audit, name) for name in LEVELS}


def is_same(told: object, found: object) -> bool:
    """Whether two figures agree, but for rounding."""
    if isinstance(told, float) and isinstance(found, float):
        return bool(np.isclose(told, found, rtol=1e-9, atol=1e-12))
    if isinstance(told, dict) and isinstance(found, dict):
        return told.keys() == found.keys() and all(is_same(told[key], found[key]) for key in told)
    return told == found
