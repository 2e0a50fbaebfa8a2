"""Looking at published tables from outside: an audit of any of them, and the check of a release of betalike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from betalike.engines.coding import code_sensitive, value_texts
from betalike.engines.combinations import count_combinations
from betalike.engines.engine import Layout, Recount
from betalike.engines.exact_rows import check_labels
from betalike.engines.recounting import recount, recount_distinct
from betalike.engines.sensitive import counts_of_part, join_columns, label_values
from betalike.engines.streams import scan_release, scan_written, written_names
from betalike.errors import CertificateError, GuaranteeError, InputError, SchemaError
from betalike.io.spreadsheet import formula_columns_of, is_formula
from betalike.measures.audit import Audit, measure, put_together
from betalike.promises import DisclosureForLikeness, Model, Verdict, for_audit
from betalike.promises.distances import Ground
from betalike.promises.verdict import wording, worst_verdict
from betalike.release.certificate import (
    FILE_NAME,
    Certificate,
    PublishedFile,
    decode_certificate,
    protected_columns,
    read_content,
    written_form,
)
from betalike.release.certify import summary_of
from betalike.release.checks import (
    COMPANIONS,
    UNREADABLE,
    Check,
    SensitiveValues,
    check_exact,
    check_original,
    is_exact,
)
from betalike.release.files import are_lines_even, check_files
from betalike.release.original_rows import Original, match_generalized, original_columns
from betalike.release.promise import promised_axis, promised_model
from betalike.release.published_labels import check_column
from betalike.release.rebuilding import Found, compare
from betalike.release.rebuilt_columns import read_labels
from betalike.release.signatures import NOT_SIGNED, UNSIGNED, Signed, check_signature
from betalike.runtime.arrays import Ints
from betalike.table.axis import Axis
from betalike.table.cells import ClassCounts
from betalike.table.schema import Attribute, Kind, check_columns

Prior = dict[str, int]
OTHER_VALUES = "the sensitive values are not those of the certificate."
WRONG_FIGURES = "the certificate says what its files do not show"
CLASSES_AT_ONCE = 500_000  # of a release that are counted in one turn


@dataclass(frozen=True)
class AuditReport:
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
class VerifyReport:
    """Every check of a release folder, with whether it passed, and what it is that was checked."""

    certificate: Certificate | None
    checks: dict[str, bool]
    explanations: tuple[str, ...]
    not_checked: tuple[str, ...] = ()
    signature: str = NOT_SIGNED

    @property
    def holds(self) -> bool:
        """Whether every check passed."""
        return all(self.checks.values())

    @property
    def verified(self) -> dict[str, Any]:
        """What the certificate promises, so that a reader sees what was checked."""
        return {} if self.certificate is None else summary_of(self.certificate, self.signature)

    def to_dict(self) -> dict[str, Any]:
        """The content of `verify --json`."""
        return {
            "holds": self.holds,
            "checks": self.checks,
            "explanations": list(self.explanations),
            "verified": self.verified,
            "not_checked": list(self.not_checked),
        }


def prior_from_column(column: pl.Series) -> tuple[str, Prior]:
    """How often each sensitive value occurs in the original table."""
    check_labels(column.to_frame())
    texts = value_texts(column)
    return "original", dict(texts.value_counts().iter_rows())


def prior_from_certificate(certificate: Certificate, sensitive: str) -> tuple[str, Prior]:
    """How often each sensitive value occurs, as a certificate tells."""
    refuse_exact(certificate)
    columns = certificate.table.sensitive_columns
    if sensitive in columns:
        return "certificate", counts_of_part(certificate.prior_counts, columns.index(sensitive))
    if certificate.table.sensitive != sensitive or columns:
        raise CertificateError(f"the certificate is for the sensitive column '{certificate.table.sensitive}'.")
    return "certificate", dict(certificate.prior_counts)


def refuse_exact(certificate: Certificate | None) -> None:
    """Refuse to measure the classes of a release that keeps its promise without any."""
    if certificate is not None and is_exact(certificate):
        raise CertificateError(
            f"this is a release by the scheme '{certificate.scheme.name}', which keeps its promise without classes, so "
            "an audit of classes says nothing about it. Check it with: betalike verify DIR."
        )


def audit_frame(
    frame: pl.DataFrame,
    quasi_identifiers: list[str],
    sensitive: Attribute,
    prior: tuple[str, Prior] | None,
    model: Model | DisclosureForLikeness | None,
) -> AuditReport:
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
    used = [*(name for group in names for name in group), sensitive.name]
    check_columns(used, frame.columns)
    check_labels(frame.select(used))
    warnings: list[str] = []
    if prior is None:
        prior = ("published", prior_from_column(frame[sensitive.name])[1])
        warnings.append("the prior was taken from the published table itself; give the original or its certificate.")
    source, counts = prior
    texts = value_texts(frame[sensitive.name])
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
    return AuditReport(audit, source, labels[audit.worst.value], verdict, tuple(warnings), promise)


def published_columns(name: str, columns: Sequence[str]) -> list[str]:
    """The published column of a quasi-identifier, or the two of its bounds."""
    bounds = [f"{name}_low", f"{name}_high"]
    if name not in columns and all(bound in columns for bound in bounds):
        return bounds
    return [name]


def verify_folder(
    folder: Path,
    open_original: Callable[[Sequence[str]], AbstractContextManager[Iterator[pl.DataFrame]]] | None,
    signed_by: str | Path | None,
) -> VerifyReport:
    """Check a release folder; what is signed are the bytes of the certificate that was read."""
    if folder.is_file():
        raise CertificateError(f"'{folder}' is a file; name the folder of the release, which holds certificate.json.")
    content = read_content(folder)
    certificate = decode_certificate(content, folder / FILE_NAME, is_strict=True)
    signature = check_signature(folder, content, None if signed_by is None else Path(signed_by))
    if open_original is None:
        return check_release(folder, certificate, None, signature)
    return check_release(folder, certificate, partial(open_original, original_columns(certificate)), signature)


def check_release(
    folder: Path,
    certificate: Certificate,
    original: Original | None,
    signature: Signed = UNSIGNED,
) -> VerifyReport:
    """Check a release against its certificate, from its files alone, and against the original if it is given."""
    checks: dict[str, bool] = {}
    explanations: list[str] = []

    def check(name: str, passed: bool, explanation: str) -> bool:
        checks[name] = checks.get(name, True) and passed
        if not passed:
            explanations.append(explanation)
        return passed

    model = promised_model(certificate)
    if signature.passed is not None:
        check("signature", signature.passed, signature.explanation)
    found, not_checked = None, list(signature.not_checked)
    files = check_files(folder, certificate, COMPANIONS.get(certificate.scheme.name), check)
    has_prior = check("prior", bool(certificate.prior_counts), "the certificate has no prior.")
    are_columns = check("columns", _are_columns(certificate), "the certificate contradicts itself on its columns.")
    if files is not None and has_prior and are_columns:
        path = folder / files.published
        if path.suffix == ".csv" and not are_lines_even(path):
            check("readable", False, f"{path.name} has lines with more or fewer cells than its header.")
        elif is_exact(certificate):
            found = check_exact(path, certificate, original, check)
        else:
            found = _check_promise(path, certificate, model, original, check)
    if found is not None and files is not None:
        rows = files.rows(found.audit.rows, len(found.counts))
        listed = {name: PublishedFile(digest, rows.get(name, -1)) for name, digest in files.digests.items()}
        compared = compare(certificate, replace(found, files=listed, formulas=_formulas(path, certificate)))
        check("figures", not compared.wrong, f"{WRONG_FIGURES}: {', '.join(compared.wrong)}.")
        not_checked += compared.not_checked
    return VerifyReport(certificate, checks, tuple(explanations), tuple(not_checked), signature.words)


def _formulas(path: Path, certificate: Certificate) -> tuple[str, ...]:
    """Columns with cells that a spreadsheet would run; those of a spreadsheet-safe file are read as they are."""
    found = set() if path.suffix == ".parquet" else formula_columns_of(path)
    is_shown = is_exact(certificate) and not certificate.release.spreadsheet_safe
    if is_shown and any(map(is_formula, certificate.prior_counts)):
        found.add(certificate.table.sensitive)
    return tuple(sorted(found))


def _are_columns(certificate: Certificate) -> bool:
    """Whether a certificate describes each quasi-identifier, and so that it can be read."""
    columns = certificate.table.columns
    try:
        for column in columns:
            check_column(column)
    except (ValueError, OverflowError, InputError):
        return False
    return bool(columns) and [column.name for column in columns] == certificate.table.quasi_identifiers


def _check_promise(
    path: Path, certificate: Certificate, model: Model, original: Original | None, check: Check
) -> Found | None:
    """Count the published table again; None if its figures cannot be compared."""
    counts = np.array(list(certificate.prior_counts.values()), dtype=np.int64)
    if counts.min() <= 0:  # classes cannot be judged by it
        check("sensitive values", False, OTHER_VALUES)
        return None
    values, axis = SensitiveValues.of(certificate), promised_axis(certificate, model)
    n_turns = _turns(path, certificate)
    turns = []
    shown: list[Counter[str | None]] = [Counter() for _ in certificate.table.columns]
    for turn in range(n_turns):
        counted = _count_published(path, certificate, turn, n_turns)
        if counted is None:
            check("readable", False, f"{path.name} is not the table that the certificate describes.")
            return None
        turns.append(_look_at_classes(counted, values, counts, model, axis))
        for labels, of_classes in zip(shown, counted.labels, strict=True):
            for label, size in zip(of_classes, counted.classes.sizes.tolist(), strict=True):
                labels[label] += size
    check("readable", True, "")
    is_known = not any(turn.n_unknown for turn in turns)
    is_permutation = is_known and np.array_equal(sum(turn.value_counts for turn in turns), counts)
    if not check("sensitive values", is_permutation, OTHER_VALUES):
        return None
    groups = label_groups(certificate)
    try:
        facts = zip(certificate.table.columns, shown, groups, strict=True)
        columns = [read_labels(column, labels, len(group) == 2) for column, labels, group in facts]
    except (ValueError, OverflowError):
        check("labels", False, "a published label is no value, range or node of its column.")
        return None
    check("labels", True, "")
    verdict = worst_verdict([turn.verdict for turn in turns])
    check("promise", verdict.holds, f"a class breaks the promise: {wording(model)}.")
    audit = put_together([turn.audit for turn in turns]) if n_turns > 1 else turns[0].audit
    matched = None
    if original is not None:
        matched = match_generalized(lambda: _scan(path, certificate), groups, original, certificate)
        check_original(matched, certificate, check, "rows")
    return Found(
        model=model,
        verdict=verdict,
        audit=audit,
        counts=certificate.prior_counts,
        columns=columns,
        files={},
        is_exact=False,
        is_ground_known=values.is_ground_known,
        most_t=audit.t_by_ground[str(Ground.EQUAL)],
        original=() if matched is None else matched.columns,
    )


def _turns(path: Path, certificate: Certificate) -> int:
    """In how many turns to count; a certificate that claims more classes than rows is not believed."""
    n_classes = certificate.release.classes or 1
    if n_classes <= CLASSES_AT_ONCE:
        return 1
    try:
        n_rows = int(
            scan_release(path, written_form(certificate, path)).select(pl.len()).collect(engine="streaming").item()
        )
    except UNREADABLE:  # which is reported when it is counted
        return 1
    return max(-(-min(n_classes, n_rows) // CLASSES_AT_ONCE), 1)


@dataclass(frozen=True)
class _Turn:
    """What some of the classes of a release show."""

    n_unknown: int
    value_counts: Ints
    verdict: Verdict
    audit: Audit


def _look_at_classes(counted: Recount, values: SensitiveValues, counts: Ints, model: Model, axis: Axis) -> _Turn:
    classes = counted.classes
    place = np.argsort(values.order)  # of the values on the axis, for distances between them
    placed = ClassCounts.of(classes.ec, place[classes.value], classes.count, classes.n_values)
    return _Turn(
        counted.n_unknown,
        classes.value_counts,
        model.judge(classes, counts, axis),
        measure(placed, counts[values.order], values.axis),
    )


def label_groups(certificate: Certificate) -> list[list[str]]:
    """Return the published columns of each quasi-identifier: two for a range, if the layout is of bounds."""
    is_bounds = certificate.release.layout == Layout.BOUNDS
    return [
        [f"{column.name}_low", f"{column.name}_high"] if is_bounds and Kind(column.kind).is_ordered else [column.name]
        for column in certificate.table.columns
    ]


def _scan(path: Path, certificate: Certificate) -> Iterator[pl.DataFrame]:
    """The rows of a published table, all cells as text or whole numbers."""
    labels = [name for group in label_groups(certificate) for name in group]
    names = [*labels, *protected_columns(certificate), *certificate.table.kept]
    return scan_written(path, written_form(certificate, path), dict.fromkeys(names, pl.String))


def _count_published(path: Path, certificate: Certificate, turn: int, n_turns: int) -> Recount | None:
    """Count some of the classes of a published table; None if it does not have the columns of the certificate."""
    table, form = certificate.table, written_form(certificate, path)
    try:
        names = label_groups(certificate)
        flat, sensitive = [name for group in names for name in group], protected_columns(certificate)
        if [*flat, *sensitive, *table.kept] != written_names(path, form):
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
    except (*UNREADABLE, GuaranteeError):
        return None
