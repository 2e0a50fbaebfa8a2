"""Rebuild the promise of a release from its certificate alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from betalike.engines.sensitive import joint_axis
from betalike.errors import CertificateError, InputError
from betalike.promises import (
    CertificateCap,
    Closeness,
    DisclosureForLikeness,
    Likeness,
    Model,
    make_model,
    of_each_column,
)
from betalike.promises.distances import Ground
from betalike.promises.likeness import TWO_SIDED
from betalike.promises.parameters import LIKENESS, PROMISES
from betalike.promises.sets import Columns, Nodes, Windows
from betalike.release.certificate import Certificate, PromiseFacts
from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.table.exact_numbers import parse_values
from betalike.table.hierarchy import Hierarchy
from betalike.table.joint import JOINED
from betalike.table.schema import Kind


def promised_model(certificate: Certificate) -> Model:
    """Return the promise of a certificate."""
    promise = certificate.promise
    try:
        model = _make(promise, sum(certificate.prior_counts.values()))
        if certificate.table.sensitive_columns and isinstance(model, Likeness):
            model = of_each_column(model, certificate.table.sensitive_columns)
    except (InputError, TypeError) as error:
        raise CertificateError(f"the certificate has an impossible promise: {error}") from error
    if model is None or isinstance(model, DisclosureForLikeness) or model.name != promise.model:
        raise CertificateError("the certificate has a promise that this version of betalike does not know.")
    if model.parameters.get("columns") != promise.parameters.get("columns"):
        raise CertificateError("the certificate's promise names other columns than its table.")
    return model


def promised_in_people(certificate: Certificate, model: Model) -> Model:
    """Return the promise as it is judged in people: caps that follow from a function are listed for them too."""
    if certificate.people is None or not isinstance(model, Likeness) or model.cap is None:
        return model
    return replace(model, cap=CertificateCap.of(certificate.people.caps, certificate.people.people))


def _make(promise: PromiseFacts, n_rows: int) -> Model | None:
    """Return the promise without its columns; None if its name is not known."""
    name = promise.model.removeprefix(TWO_SIDED).partition("-likeness")[0]
    parameters = {name: given for name, given in promise.parameters.items() if name != "columns"}
    if name == "capped":
        cap = CertificateCap.of(promise.caps, n_rows)
        return make_model(LIKENESS[0], promise.k, {"beta": promise.beta, "cap": cap, **parameters})
    return make_model(name, promise.k, {"beta": promise.beta, **parameters}) if name in PROMISES else None


def promised_axis(certificate: Certificate, model: Model) -> Axis:
    """Return the sensitive values in the certificate's order, with the distances or sets of the promise."""
    labels = list(certificate.prior_counts)
    name = JOINED.join(certificate.table.sensitive_columns) or certificate.table.sensitive
    span = model.span if isinstance(model, Likeness) else None
    ground = model.ground if isinstance(model, Closeness) else Ground.EQUAL
    if ground is None:
        raise CertificateError("the certificate promises t-closeness, but does not name the ground distance.")
    is_ordered = ground is Ground.ORDERED or isinstance(span, Windows)
    if is_ordered and not are_in_order(labels):
        raise CertificateError("the sensitive values in the certificate are not in the order that its distances need.")
    if isinstance(span, Columns):
        axis: Axis = joint_axis(name, span.columns, labels)
    elif isinstance(span, Nodes):
        axis = tree_axis(name, labels, certificate.promise.hierarchy)
    elif isinstance(span, Windows):
        axis = _number_axis(name, labels)
    elif ground is Ground.HIERARCHICAL:
        return tree_axis(name, labels, certificate.promise.hierarchy)
    else:
        return OrderedAxis(name, Kind.REAL, np.arange(len(labels)), (0.0, len(labels) - 1.0))
    try:
        span.check(axis)
    except InputError as error:
        raise CertificateError(f"the certificate has an impossible promise: {error}") from error
    return axis


def tree_axis(name: str, labels: list[str], rows: list[list[str]]) -> HierarchyAxis:
    """Return the axis of sensitive values along a certificate's hierarchy."""
    try:
        tree = Hierarchy.from_rows(rows, source="the certificate's hierarchy")
    except InputError as error:
        raise CertificateError(f"the hierarchy in the certificate is not one: {error}") from error
    has_missing = "" in labels
    if [*tree.leaves, *([""] if has_missing else [])] != labels:
        raise CertificateError("the hierarchy in the certificate does not have its sensitive values.")
    return HierarchyAxis(name, tree, has_missing, is_declared=True)


def _number_axis(name: str, labels: list[str]) -> OrderedAxis:
    """Return the axis of numbers, or of dates, which count days."""
    texts = [label for label in labels if label != ""]
    for kind in (Kind.REAL, Kind.DATE):
        try:
            numbers = parse_values(texts, kind)
        except ValueError:
            continue
        if len(numbers) and np.isfinite(numbers).all():
            return OrderedAxis(name, kind, numbers, (numbers[0], numbers[-1]), len(texts) < len(labels))
    raise CertificateError(
        "the certificate promises intervals, but its sensitive values are neither numbers nor dates."
    )


def are_in_order(labels: list[str]) -> bool:
    """Whether values ascend: numbers as numbers, dates as text, a missing one at the end."""
    texts = pl.Series(labels[:-1] if labels[-1:] == [""] else labels, dtype=pl.String)
    numbers = texts.cast(pl.Float64, strict=False)
    return bool(labels) and "" not in texts and bool((texts if numbers.null_count() else numbers).is_sorted())
