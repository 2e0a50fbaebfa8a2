"""Looking at published tables from outside: an audit of any of them, and the check of a release of ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.axis import OrderedAxis, parse_values
from betalike.certificate import (
    Certificate,
    Column,
    file_of,
    protected_columns,
    published_name,
    read_certificate,
    rows_told,
)
from betalike.engines.coding import code_sensitive
from betalike.engines.combinations import count_combinations
from betalike.engines.joint import counts_of_part, join_columns
from betalike.engines.memory import label_values, recount, recount_distinct
from betalike.engines.streams import scan_release, scan_written, written_names
from betalike.errors import CertificateError, GuaranteeError, SchemaError
from betalike.hierarchy import ROOT
from betalike.measures import Audit, measure, put_together
from betalike.models import DisclosureForLikeness, Model, Verdict, for_audit
from betalike.models.verdict import wording, worst_verdict
from betalike.promises_told import promised_axis, promised_model
from betalike.publication import Format, Recount, written_form
from betalike.release_checks import Check, Values, check_exact, is_exact, is_same, look_at
from betalike.release_folder import sha256_of
from betalike.schema import Attribute, Kind, check_columns
from betalike.table import ClassCounts

Ints = NDArray[np.int64]
Prior = dict[str, int]
OTHER_VALUES = "the sensitive values are not those that the certificate tells."
CLASSES_AT_ONCE = 500_000  # of a release that are counted in one turn


@dataclass(frozen=True)
class Audited:
    """The levels a published table reaches, the source of the prior, and the verdict on a promise if one was named."""

    audit: Audit
    prior_source: str
    worst_value: str
    verdict: Verdict | None
    warnings: tuple[str, ...]
    promise: str | None = None

    @property
    def holds(self) -> bool | None:
        """Whether the named promise is kept; None if none was named."""
        return None if self.verdict is None else self.verdict.holds

    def to_dict(self) -> dict[str, Any]:
        """The content of `audit --json`."""
        audit = self.audit
        return {
            "rows": audit.rows,
            "classes": audit.classes,
            "k": audit.k,
            "distinct_l": audit.distinct_l,
            "l": audit.l,
            "average_l": audit.average_l,
            "t": audit.t,
            "average_t": audit.average_t,
            "t_ground": str(audit.ground),
            "t_by_ground": audit.t_by_ground,
            "jensen_shannon": audit.jensen_shannon,
            "kullback_leibler": audit.kullback_leibler,
            "basic_beta": audit.basic_beta,
            "enhanced_beta": audit.enhanced_beta,
            "delta": audit.delta,
            "promise": self.promise,
            "holds": self.holds,
            "worst": {
                "size": audit.worst.size,
                "value": self.worst_value,
                "p": audit.worst.prior,
                "q": audit.worst.posterior,
            },
            "prior": self.prior_source,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True)
class Checked:
    """Every check of a release folder, with whether it passed."""

    certificate: Certificate
    checks: dict[str, bool]
    explanations: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether every check passed."""
        return all(self.checks.values())

    def to_dict(self) -> dict[str, Any]:
        """The content of `verify --json`."""
        return {"holds": self.holds, "checks": self.checks, "explanations": list(self.explanations)}


def prior_from_column(column: pl.Series) -> tuple[str, Prior]:
    """How often each sensitive value occurs in the original table."""
    texts = column.cast(pl.String).fill_null("")
    return "original", dict(texts.value_counts().iter_rows())


def prior_from_certificate(certificate: Certificate, sensitive: str) -> tuple[str, Prior]:
    """How often each sensitive value occurs, as a certificate tells."""
    _refuse_exact(certificate)
    columns = certificate.table.sensitive_columns
    if sensitive in columns:
        return "certificate", counts_of_part(certificate.prior_counts, columns.index(sensitive))
    if certificate.table.sensitive != sensitive or columns:
        raise CertificateError(f"the certificate is for the sensitive column '{certificate.table.sensitive}'.")
    return "certificate", dict(certificate.prior_counts)


def refuse_exact(folder: Path) -> None:
    """Refuse to measure the classes of a release that keeps its promise without any, if this folder holds one."""
    try:
        certificate = read_certificate(folder)
    except CertificateError:
        return  # a table can be measured whatever lies beside it
    _refuse_exact(certificate)


def _refuse_exact(certificate: Certificate) -> None:
    if is_exact(certificate):
        raise CertificateError(
            f"this is a release by the scheme '{certificate.scheme.name}', which keeps its promise without classes, so "
            "an audit of classes tells nothing of it. Check it with: betalike verify DIR."
        )


def audit_frame(
    frame: pl.DataFrame,
    quasi_identifiers: list[str],
    sensitive: Attribute,
    prior: tuple[str, Prior] | None,
    model: Model | DisclosureForLikeness | None,
) -> Audited:
    """Measure a published frame; columns `x_low` and `x_high` stand for a quasi-identifier `x`."""
    if not quasi_identifiers:
        raise SchemaError("no quasi-identifier is named; name the columns that others could know.")
    if sensitive.name in quasi_identifiers:
        raise SchemaError(
            f"the column '{sensitive.name}' is named as quasi-identifier and as sensitive. Choose one role."
        )
    doubled = [name for name in quasi_identifiers if quasi_identifiers.count(name) > 1]
    if doubled:
        raise SchemaError(f"the quasi-identifier '{doubled[0]}' is named twice. Name each column once.")
    names = [published_columns(name, frame.columns) for name in quasi_identifiers]
    check_columns([*(name for group in names for name in group), sensitive.name], frame.columns)
    warnings: list[str] = []
    if prior is None:
        prior = ("published", prior_from_column(frame[sensitive.name])[1])
        warnings.append("the prior was taken from the published table itself; give the original or its certificate.")
    source, counts = prior
    texts = frame[sensitive.name].cast(pl.String).fill_null("")
    everything = pl.Series(sensitive.name, [*counts, *(set(texts.unique()) - set(counts))], dtype=pl.String)
    axis, _, values = code_sensitive(everything, sensitive, missing_is_value=True)
    labels = label_values(values)
    prior_counts = np.array([counts.get(label, 0) for label in labels], dtype=np.int64)
    counted = recount(frame.with_columns(texts), names, sensitive.name, labels)
    audit = measure(counted.classes, prior_counts, axis)
    verdict = promise = None
    if model is not None:
        fitted = for_audit(model, prior_counts, axis)
        verdict, promise = fitted.judge(counted.classes, prior_counts, axis), wording(fitted)
    return Audited(audit, source, labels[audit.worst.value], verdict, tuple(warnings), promise)


def published_columns(name: str, columns: Sequence[str]) -> list[str]:
    """The published column of a quasi-identifier, or the two of its bounds."""
    bounds = [f"{name}_low", f"{name}_high"]
    if name not in columns and all(bound in columns for bound in bounds):
        return bounds
    return [name]


def check_release(folder: Path, certificate: Certificate, original: Iterable[pl.DataFrame] | None) -> Checked:
    """Check a release against its certificate, from its files alone, and against the original if it is given."""
    checks: dict[str, bool] = {}
    explanations: list[str] = []

    def check(name: str, passed: bool, explanation: str) -> bool:
        checks[name] = passed
        if not passed:
            explanations.append(explanation)
        return passed

    model = promised_model(certificate)
    for name, facts in certificate.files.items():
        path = file_of(folder, name)
        if not check(f"{name} exists", path.is_file(), f"{name} is missing."):
            continue
        is_unchanged = sha256_of(path) == facts.sha256
        check(f"{name} digest", is_unchanged, f"{name} was changed after it was published: its digest differs.")
    published = published_name(certificate)
    if not check("prior", bool(certificate.prior_counts), "the certificate does not tell the prior."):
        return Checked(certificate, checks, tuple(explanations))
    if published is None or not (folder / published).exists():
        check("published", False, "there is no published table to check.")
        return Checked(certificate, checks, tuple(explanations))
    parts = {name for name in certificate.files if Path(name).parts[0] == published}
    is_folder = (folder / published).is_dir()
    found = {f"{published}/{path.name}" for path in (folder / published).glob("*")} if is_folder else {published}
    if found != parts:
        check("files", False, f"{published} has other files than the certificate tells.")
        return Checked(certificate, checks, tuple(explanations))
    exact = is_exact(certificate)
    seen = None if original is None else look_at(original, certificate, True, has_quasi_identifiers=exact)
    if exact:
        check_exact(folder, published, certificate, seen, check)
    else:
        _check_promise(folder / published, certificate, model, check)
    if seen is not None:
        is_permutation = seen.values == certificate.prior_counts
        check("original", is_permutation, "the certificate's prior is not the sensitive column of this original table.")
    return Checked(certificate, checks, tuple(explanations))


def _check_promise(path: Path, certificate: Certificate, model: Model, check: Check) -> None:
    """Count the published table anew and compare everything that the certificate tells of it."""
    counts = np.array(list(certificate.prior_counts.values()), dtype=np.int64)
    if counts.min() <= 0:  # classes cannot be judged by it
        check("sensitive values", False, OTHER_VALUES)
        return
    n_turns = _turns(path, certificate.release.classes or 1)
    turns = []
    for turn in range(n_turns):
        counted = _count_published(path, certificate, turn, n_turns)
        if counted is None:
            check("readable", False, f"{path.name} is not the table that the certificate tells of.")
            return
        turns.append(_look_at_classes(counted, certificate, counts, model))
    check("readable", True, "")
    is_known = not any(turn.n_unknown for turn in turns)
    is_permutation = is_known and np.array_equal(sum(turn.value_counts for turn in turns), counts)
    if not check("sensitive values", is_permutation, OTHER_VALUES):
        return
    verdict = worst_verdict([turn.verdict for turn in turns])
    check("promise", verdict.holds, f"a class breaks the promise: {wording(model)}.")
    audit = put_together([turn.audit for turn in turns]) if n_turns > 1 else turns[0].audit
    losses = {name: sum(turn.losses[name] for turn in turns) / audit.rows for name in turns[0].losses}
    told = _figures_told(certificate, axis_is_known=str(audit.ground) == certificate.also.t_ground)
    found = _figures_found(certificate, verdict, audit, losses, counts)
    wrong = [name for name, value in told.items() if not is_same(value, found[name])]
    check("figures", not wrong, f"the certificate's figures are not those of the table: {', '.join(wrong)}.")


def _turns(path: Path, n_classes: int) -> int:
    """In how many turns to count; a certificate that tells of more classes than rows is not believed."""
    if n_classes <= CLASSES_AT_ONCE:
        return 1
    try:
        n_rows = int(scan_release(path, _form_of(path)).select(pl.len()).collect(engine="streaming").item())
    except (pl.exceptions.PolarsError, OSError):  # which will be told when it is counted
        return 1
    return max(-(-min(n_classes, n_rows) // CLASSES_AT_ONCE), 1)


def _form_of(path: Path) -> Format:
    return Format.PARQUET if path.suffix == ".parquet" else Format.CSV


@dataclass(frozen=True)
class _Turn:
    """What some of the classes of a release show; losses are added up over their rows."""

    n_unknown: int
    value_counts: Ints
    verdict: Verdict
    audit: Audit
    losses: dict[str, float]


def _look_at_classes(counted: Recount, certificate: Certificate, counts: Ints, model: Model) -> _Turn:
    values, classes = Values.of(certificate), counted.classes
    place = np.argsort(values.order)  # of the values on the axis, for distances between them
    placed = ClassCounts.of(classes.ec, place[classes.value], classes.count, classes.n_values)
    columns = zip(certificate.table.columns, counted.labels, strict=False)
    losses = {column.name: _loss_from_labels(column, labels) for column, labels in columns}
    return _Turn(
        counted.n_unknown,
        classes.value_counts,
        model.judge(classes, counts, promised_axis(certificate, model)),
        measure(placed, counts[values.order], values.axis),
        {name: float(classes.sizes @ loss) for name, loss in losses.items() if loss is not None},
    )


def _count_published(path: Path, certificate: Certificate, turn: int, n_turns: int) -> Recount | None:
    """Count some of the classes of a published table; None if it has not the columns that the certificate tells."""
    table = certificate.table
    form = written_form(certificate, path)
    try:
        columns = written_names(path, form)
        names = [published_columns(name, columns) for name in table.quasi_identifiers]
        flat, sensitive = [name for group in names for name in group], protected_columns(certificate)
        if not names or sorted([*flat, *sensitive, *table.kept]) != sorted(columns):
            return None
        types = dict.fromkeys([*flat, *sensitive], pl.String)
        values = list(certificate.prior_counts)
        if table.sensitive_columns:
            frames = [frame.select(list(types)) for frame in scan_written(path, form, types)]
            frame = pl.concat(frames) if frames else pl.DataFrame(schema=types)
            return recount(join_columns(frame, sensitive, table.sensitive), names, table.sensitive, values)
        rows = scan_written(path, form, types)
        if n_turns > 1:
            rows = (batch.filter(batch.select(flat).hash_rows() % n_turns == turn) for batch in rows)
        counted = count_combinations(rows, list(types))
        if not len(counted.count):
            return None
        return recount_distinct(counted.frame, counted.numbers, counted.count, names, values)
    except (pl.exceptions.PolarsError, OSError, GuaranteeError):
        return None


def _figures_told(certificate: Certificate, axis_is_known: bool) -> dict[str, object]:
    release, also = certificate.release, certificate.also
    figures: dict[str, object] = {
        "promise.holds": certificate.promise.holds,
        "promise.worst_gain": certificate.promise.worst_gain,
        "promise.worst_ratio": certificate.promise.worst_ratio,
        "table.rows": certificate.table.rows,
        "release.rows": release.rows,
        "release.classes": release.classes,
        "release.smallest_class": release.smallest_class,
        "prior": certificate.prior,
    }
    levels = ("k", "distinct_l", "l", "average_l", "basic_beta", "enhanced_beta", "delta")
    figures |= {f"also.{name}": getattr(also, name) for name in levels}
    if axis_is_known:  # a hierarchy of the sensitive values is not in the certificate
        figures |= {"also.t": also.t, "also.average_t": also.average_t}
    figures |= {f"{name} rows": rows for name, rows in rows_told(certificate).items()}
    figures |= {f"release.loss.{name}": loss for name, loss in release.loss.items()}
    if all(column.domain is not None or column.leaves is not None for column in certificate.table.columns):
        figures["release.average_loss"] = release.average_loss
    return figures


def _figures_found(
    certificate: Certificate, verdict: Verdict, audit: Audit, known: dict[str, float], counts: Ints
) -> dict[str, object]:
    columns = certificate.table.columns
    found: dict[str, object] = {
        "promise.holds": verdict.holds,
        "promise.worst_gain": verdict.worst_gain,
        "promise.worst_ratio": verdict.worst_ratio,
        "table.rows": audit.rows,
        "release.rows": audit.rows,
        "release.classes": audit.classes,
        "release.smallest_class": audit.k,
        "prior": {name: count / counts.sum() for name, count in zip(certificate.prior_counts, counts, strict=True)},
    }
    levels = ("k", "distinct_l", "l", "average_l", "basic_beta", "enhanced_beta", "delta", "t", "average_t")
    found |= {f"also.{name}": getattr(audit, name) for name in levels}
    found |= {f"{name} rows": audit.rows for name in rows_told(certificate)}
    found |= {f"release.loss.{name}": known.get(name, told) for name, told in certificate.release.loss.items()}
    total = sum(column.weight for column in columns)
    found["release.average_loss"] = sum(known.get(c.name, 0.0) * c.weight for c in columns) / total if total else 0.0
    return found


def _loss_from_labels(column: Column, labels: Sequence[str | None]) -> NDArray[np.float64] | None:
    """Loss of each class on a quasi-identifier, from its labels and what the certificate tells; None if it cannot be.

    Paper: Eq. 2 and 3.
    """
    if column.leaves is not None:
        under = {**column.leaves_under, ROOT: column.leaves}
        return np.array([0.0 if label is None else under.get(label, 0) / column.leaves for label in labels])
    if column.domain is None:
        return None
    try:
        low, high = parse_values(column.domain, Kind(column.kind))
        axis = OrderedAxis(column.name, Kind(column.kind), np.zeros(0), (float(low), float(high)))
        return axis.label_losses(labels)
    except ValueError:
        return np.full(len(labels), np.nan)
