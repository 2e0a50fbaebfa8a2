"""Audit any published table, made by betalike or not: rows with the same quasi-identifiers are a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from betalike.engines.coding import code_sensitive, value_texts
from betalike.engines.recounting import as_texts, recount
from betalike.engines.sensitive import counts_of_part
from betalike.engines.streams import check_labels
from betalike.errors import CertificateError, SchemaError
from betalike.measures.audit import Audit, measure
from betalike.measures.diversity import alpha, entropy_l, recursive_c
from betalike.measures.risk import THRESHOLDS, PeopleRisk, Risk, measure_risk
from betalike.promises import Model, Verdict
from betalike.promises.people import PeopleVerdict
from betalike.promises.verdict import wording
from betalike.release.audit_people import AuditedValues, Persons
from betalike.release.certificate import Certificate
from betalike.release.recount import is_exact
from betalike.runtime.display import Row, Shown
from betalike.table.schema import Attribute, check_columns

Prior = dict[str, int]


@dataclass(frozen=True, repr=False)
class AuditReport(Shown):
    """The levels a published table reaches, the source of the prior, and the verdict on a promise if one was named."""

    audit: Audit
    prior_source: str
    worst_value: str
    verdict: Verdict | None
    warnings: tuple[str, ...]
    promise: str | None = None
    risk: Risk | None = None
    diversity: dict[str, float | None] = field(default_factory=dict)
    people: PeopleVerdict | None = None
    people_risk: PeopleRisk | None = None

    @property
    def holds(self) -> bool | None:
        """Whether the named promise is kept, in people too if they were counted; None if none was named."""
        if self.verdict is None:
            return None
        return self.verdict.holds and (self.people is None or self.people.holds)

    def _summary(self) -> Row:
        shown = {name: getattr(self.audit, name) for name in ("rows", "classes", "k", "l", "t", "basic_beta", "delta")}
        return {**shown, "promise": self.promise, "holds": self.holds, "prior": self.prior_source}

    def _people(self) -> dict[str, Any]:
        """Return what was counted in people; a gain is None (infinite) for a value that the prior lacks."""
        assert self.people is not None
        assert self.people_risk is not None
        gain = self.people.worst_gain
        return {
            "people": self.people.n_people,
            "k": self.people.smallest_class,
            "basic_beta": gain if np.isfinite(gain) else None,
            "holds": None if self.verdict is None else self.people.holds,
            "risk": self.people_risk.to_dict(),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the content of `audit --json`."""
        worst = self.audit.worst
        return {
            **{name: level for name, level in vars(self.audit).items() if name != "worst"},
            **self.diversity,
            "risk": None if self.risk is None else self.risk.to_dict(),
            "people": None if self.people is None else self._people(),
            "promise": self.promise,
            "holds": self.holds,
            "near_promise": None if self.verdict is None else self.verdict.near_rows,
            "worst": {"size": worst.size, "value": self.worst_value, "p": worst.prior, "q": worst.posterior},
            "prior": self.prior_source,
            "warnings": list(self.warnings),
        }


def prior_from_column(column: pl.Series) -> tuple[str, Prior]:
    """Return how often each sensitive value occurs in the original table."""
    check_labels(column.to_frame())
    texts = value_texts(column)
    return "original", dict(texts.value_counts().iter_rows())


def prior_from_certificate(certificate: Certificate, sensitive: str) -> tuple[str, Prior]:
    """Return how often each sensitive value occurs, from a certificate."""
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
    model: Model | None,
    population: int | None = None,
    persons: Persons | None = None,
    thresholds: Sequence[float] = THRESHOLDS,
) -> AuditReport:
    """Measure a published frame."""
    if not quasi_identifiers:
        raise SchemaError("no quasi-identifier is named; name the columns that others could know.")
    if sensitive.name in quasi_identifiers:
        raise SchemaError(
            f"the column '{sensitive.name}' is named as quasi-identifier and as sensitive. Choose one role."
        )
    doubled = [name for name in quasi_identifiers if quasi_identifiers.count(name) > 1]
    if doubled:
        raise SchemaError(f"the quasi-identifier '{doubled[0]}' is named twice. Name each column once.")
    used = [*quasi_identifiers, sensitive.name]
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
    labels = value_texts(values).to_list()
    prior_counts = np.array([counts.get(label, 0) for label in labels], dtype=np.int64)
    counted = recount([as_texts(frame.with_columns(texts).select(used))], quasi_identifiers, [sensitive.name], labels)
    audit = measure(counted.classes, prior_counts, axis)
    verdict = promise = people = fitted = people_risk = None
    if model is not None:
        fitted = model.settle(prior_counts, axis)
        verdict, promise = fitted.judge(counted.classes, prior_counts, axis), wording(fitted)
    if persons is not None:
        people, people_risk = persons.judge(
            frame, quasi_identifiers, AuditedValues(sensitive.name, labels, axis), fitted, thresholds
        )
    classes = counted.classes
    diversity = {
        "entropy_l": entropy_l(classes),
        "recursive_c": recursive_c(classes, audit.distinct_l or 1),
        "alpha": alpha(classes),
    }
    risk = measure_risk(classes.sizes, population, thresholds)
    worst = labels[audit.worst.value]
    return AuditReport(audit, source, worst, verdict, tuple(warnings), promise, risk, diversity, people, people_risk)
