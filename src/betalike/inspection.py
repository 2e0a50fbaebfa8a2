"""Looking at published tables from outside: an audit of any of them, and the check of a release of ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.certificate import Certificate
from betalike.engines.coding import code_sensitive
from betalike.engines.memory import label_values, read_release, recount
from betalike.errors import CertificateError, SchemaError
from betalike.measures import Audit, measure
from betalike.models import Form, Likeness, Verdict
from betalike.publication import Format
from betalike.release_folder import sha256_of
from betalike.schema import Attribute, check_column

Ints = NDArray[np.int64]
Prior = dict[str, int]


@dataclass(frozen=True)
class Audited:
    """The levels a published table reaches, the source of the prior, and the verdict on a promise if one was named."""

    audit: Audit
    prior_source: str
    worst_value: str
    verdict: Verdict | None
    warnings: tuple[str, ...]

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
            "basic_beta": audit.basic_beta,
            "enhanced_beta": audit.enhanced_beta,
            "delta": audit.delta,
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
    if certificate.table.sensitive != sensitive:
        raise CertificateError(f"the certificate is for the sensitive column '{certificate.table.sensitive}'.")
    return "certificate", dict(certificate.prior_counts)


def audit_frame(
    frame: pl.DataFrame,
    quasi_identifiers: list[str],
    sensitive: Attribute,
    prior: tuple[str, Prior] | None,
    model: Likeness | None,
) -> Audited:
    """Measure a published frame; columns `x_low` and `x_high` stand for a quasi-identifier `x`."""
    if not quasi_identifiers:
        raise SchemaError("no quasi-identifier is named; name the columns that others could know.")
    if sensitive.name in quasi_identifiers:
        raise SchemaError(
            f"the column '{sensitive.name}' is named as quasi-identifier and as sensitive. Choose one role."
        )
    names = [_published_columns(name, frame.columns) for name in quasi_identifiers]
    check_column(sensitive.name, frame.columns)
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
    verdict = None if model is None else model.judge(counted.classes, prior_counts)
    return Audited(audit, source, labels[audit.worst.value], verdict, tuple(warnings))


def _published_columns(name: str, columns: Sequence[str]) -> list[str]:
    bounds = [f"{name}_low", f"{name}_high"]
    if name not in columns and all(bound in columns for bound in bounds):
        return bounds
    check_column(name, columns)
    return [name]


def check_release(folder: Path, certificate: Certificate, original: pl.Series | None) -> Checked:
    """Check a release against its certificate, from its files alone, and against the original if it is given."""
    checks: dict[str, bool] = {}
    explanations: list[str] = []

    def check(name: str, passed: bool, explanation: str) -> bool:
        checks[name] = passed
        if not passed:
            explanations.append(explanation)
        return passed

    for name, facts in certificate.files.items():
        path = folder / Path(name).name
        if not check(f"{name} exists", path.is_file(), f"{name} is missing."):
            continue
        is_same = sha256_of(path) == facts.sha256
        check(f"{name} digest", is_same, f"{name} was changed after it was published: its digest differs.")
    published = next((name for name in certificate.files if name.startswith("published.")), None)
    if published is None or not (folder / published).is_file():
        check("published", False, "there is no published table to check.")
        return Checked(certificate, checks, tuple(explanations))
    _check_promise(folder / published, certificate, check)
    if original is not None:
        _, counts = prior_from_column(original)
        is_permutation = counts == certificate.prior_counts
        check("original", is_permutation, "the certificate's prior is not the sensitive column of this original table.")
    return Checked(certificate, checks, tuple(explanations))


def _check_promise(path: Path, certificate: Certificate, check: Any) -> None:
    table, promise = certificate.table, certificate.promise
    form = Format.PARQUET if path.suffix == ".parquet" else Format.CSV
    try:
        columns = pl.read_parquet_schema(path) if form is Format.PARQUET else pl.read_csv(path, n_rows=0).columns
        names = [_published_columns(name, list(columns)) for name in table.quasi_identifiers]
        frame = read_release(path, form, [*(name for group in names for name in group), table.sensitive])
    except (pl.exceptions.PolarsError, OSError, SchemaError):
        check("readable", False, f"{path.name} cannot be read as a release.")
        return
    labels = list(certificate.prior_counts)
    counted = recount(frame, names, table.sensitive, labels)
    counts = np.array(list(certificate.prior_counts.values()), dtype=np.int64)
    is_permutation = counted.n_unknown == 0 and np.array_equal(counted.classes.value_counts, counts)
    check("sensitive values", is_permutation, "the sensitive values are not those that the certificate tells.")
    if not is_permutation:
        return
    form_name = promise.model.removesuffix("-likeness")
    verdict = Likeness(promise.beta, Form(form_name), promise.k).judge(counted.classes, counts)
    check("promise", verdict.holds, f"a class breaks the promise of beta {promise.beta} (k {promise.k}).")
    is_told = len(counted.classes.sizes) == certificate.release.classes and np.isclose(
        verdict.worst_gain, promise.worst_gain
    )
    check("figures", bool(is_told), "classes or worst gain are not as the certificate tells.")
