"""Build the certificate of a release from its figures, when it is published and again when it is verified."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

import betalike
from betalike.errors import InternalError
from betalike.measures.risk import measure_risk
from betalike.promises import Closeness, Likeness, Model
from betalike.promises.distances import Ground
from betalike.promises.monotone import Cap
from betalike.promises.sets import Nodes
from betalike.promises.verdict import wording_of
from betalike.release.certificate import (
    BinnedFacts,
    Certificate,
    ColumnFacts,
    KeptFacts,
    Levels,
    PeopleFacts,
    PeopleRiskFacts,
    PromiseFacts,
    PublishedFile,
    ReleaseFacts,
    RiskFacts,
    Scheme,
    TableFacts,
    Tool,
)
from betalike.release.verify import Figures, PeopleFigures
from betalike.runtime.arrays import Ints
from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.table.cells import TableSummary
from betalike.table.joint import JointAxis
from betalike.table.rounded_axis import RoundedAxis

SEEDED = "seeded: for experiments, not for release"
ONCE = "the promise is for one release: anyone who has two releases of a table can combine them, so publish it once"
OPERATING_SYSTEM = "operating system"
FORMULAS = "columns with cells that a spreadsheet would run as formulas; the format xlsx prevents that"
UNPROTECTED = "columns published as they are, unprotected"
PEOPLE = (
    "the promise is kept in people too; the release does not name them, so only its owner can check that, with the "
    "original table"
)
EXACT_ROWS = "quasi-identifiers are published exactly, so there is no identity anonymity: a person's row can be found"


def certify(
    figures: Figures,
    table: TableSummary,
    sensitive_labels: Sequence[str],
    model: Model,
    *,
    scheme: Scheme,
    formed_classes: int | None,
    kept: Sequence[str],
    is_seeded: bool,
    formulas: Sequence[str],
    files: dict[str, PublishedFile],
    seconds: dict[str, float],
    people: PeopleFacts | None = None,
    binned: Sequence[BinnedFacts] = (),
) -> Certificate:
    """Build the certificate of a release; everything in it was verified, or given by the user.

    What it says about `people` comes from the figures, or is given where the original table is not at hand.
    """
    if figures.people is not None:
        people = _describe_people(figures.people, sensitive_labels)
    audit, verdict = figures.audit, figures.verdict
    singled_out, shown = figures.singled_out, ", ".join(kept)
    kept_facts = None if singled_out is None else KeptFacts(singled_out.alone, singled_out.with_classes)
    if kept_facts is not None:
        shown += f"; {singled_out_words(kept_facts, audit.rows, figures.classes is None)}"
    present = [i for i, count in enumerate(table.value_counts) if count]
    counts = {sensitive_labels[i]: int(table.value_counts[i]) for i in present}
    return Certificate(
        tool=Tool("betalike", betalike.__version__),
        promise=PromiseFacts(
            model=model.name,
            beta=None if model.beta is None else float(model.beta),
            k=1 if figures.classes is None else model.k,
            holds=verdict.holds,
            worst_gain=verdict.worst_gain,
            worst_ratio=verdict.worst_ratio,
            parameters=dict(model.parameters),
            hierarchy=_promised_hierarchy(model, table, sensitive_labels),
            caps=_promised_caps(model, table.sensitive, table.value_counts),
        ),
        scheme=scheme,
        table=TableFacts(
            rows=table.n_rows,
            quasi_identifiers=[axis.name for axis in table.axes],
            sensitive=table.sensitive.name,
            kept=list(kept),
            columns=describe_columns(None if figures.classes is None else figures.classes.shown, table),
            sensitive_columns=list(table.sensitive.columns) if isinstance(table.sensitive, JointAxis) else [],
            binned=list(binned),
        ),
        release=ReleaseFacts(
            rows=audit.rows,
            classes=audit.classes,
            formed_classes=formed_classes,
            smallest_class=audit.k,
            average_loss=figures.loss.average,
            loss=figures.loss.per_attribute,
        ),
        also=Levels(*(getattr(audit, name) for name in Levels.__struct_fields__)),
        risk=_risk(figures),
        prior={label: count / table.n_rows for label, count in counts.items()},
        prior_counts=counts,
        randomness=SEEDED if is_seeded else OPERATING_SYSTEM,
        files=files,
        seconds=seconds,
        people=people,
        kept=kept_facts,
        warnings=_warnings(figures.classes is None, people is not None, is_seeded, shown, formulas),
    )


def singled_out_words(kept: KeptFacts, n_rows: int, is_exact: bool) -> str:
    """Say how many rows the kept columns single out."""
    beside = "quasi-identifiers" if is_exact else "classes"
    if kept.singled_out_with_classes == 0:
        return f"even with the {beside} they single out none of the {n_rows:,} rows"
    return (
        f"together with the {beside} they single out {kept.singled_out_with_classes:,} of {n_rows:,} rows, by "
        f"themselves {kept.singled_out:,}"
    )


def _describe_people(people: PeopleFigures, labels: Sequence[str]) -> PeopleFacts:
    """Describe what was counted in people, and the caps if they follow from a function."""
    verdict, model = people.verdict, people.promise
    caps = {}
    if isinstance(model, Likeness) and isinstance(model.cap, Cap):
        caps = _list_caps(model.cap, people.totals, verdict.n_people)
    return PeopleFacts(
        column=people.column,
        people=verdict.n_people,
        holds=verdict.holds,
        worst_gain=verdict.worst_gain,
        smallest_class=verdict.smallest_class,
        prior_counts={label: int(count) for label, count in zip(labels, people.value_counts, strict=True) if count},
        caps=caps,
        risk=PeopleRiskFacts(**people.risk.to_dict()),
    )


def _risk(figures: Figures) -> RiskFacts:
    """Return the risks of a release, from the sizes of its classes and the highest share of a value in one."""
    guess = 1 / figures.audit.l
    if figures.classes is None:
        return RiskFacts(guess, None, None, None, None, None)
    risk = measure_risk(figures.classes.sizes).to_dict()
    shown = {name: risk[name] for name in ("prosecutor_maximum", "prosecutor_average", "above", "unique")}
    return RiskFacts(surest_guess=guess, near_promise=figures.verdict.near_rows, **shown)


def _promised_hierarchy(model: Model, table: TableSummary, labels: Sequence[str]) -> list[list[str]]:
    """Return the tree of the values that occur, if the promise is about distances along it or about its nodes."""
    axis = table.sensitive
    is_near = isinstance(model, Closeness) and model.ground is Ground.HIERARCHICAL
    is_grouped = isinstance(model, Likeness) and isinstance(model.span, Nodes)
    if not ((is_near or is_grouped) and isinstance(axis, HierarchyAxis)):
        return []
    leaves = zip(labels, axis.hierarchy.paths, table.value_counts, strict=False)  # a missing value is in no path
    return [[label, *path[1:]] for label, path, count in leaves if count]


def _promised_caps(model: Model, sensitive: Axis, counts: Ints) -> dict[str, str]:
    """Return the caps by count, if they follow from a function, which a certificate cannot hold."""
    if not isinstance(model, Likeness) or not isinstance(model.cap, Cap):
        return {}
    return _list_caps(model.cap, model.span.sets(sensitive, len(counts)).totals(counts), int(counts.sum()))


def _list_caps(cap: Cap, totals: Ints, number: int) -> dict[str, str]:
    return {str(count): str(cap.at(count, number)) for count in sorted({*totals.tolist()} - {0})}


def _warnings(is_exact: bool, has_people: bool, is_seeded: bool, kept: str, formulas: Sequence[str]) -> list[str]:
    """Return what a reader must know about a release."""
    warnings = [ONCE]
    if has_people:
        warnings.append(PEOPLE)
    if is_exact:
        warnings.append(EXACT_ROWS)
    if is_seeded:
        warnings.append(SEEDED)
    if kept:
        warnings.append(f"{UNPROTECTED}: {kept}")
    if formulas:
        warnings.append(f"{FORMULAS}: {', '.join(formulas)}")
    return warnings


def summary_of(certificate: Certificate, signature: str) -> dict[str, Any]:
    """Return what a release promises and how it was made, in words and figures that a receiver should see."""
    promise, table, release = certificate.promise, certificate.table, certificate.release
    return {
        "promise": wording_of(promise.model, promise.beta, promise.k, promise.parameters),
        "model": promise.model,
        "beta": promise.beta,
        "k": promise.k,
        "scheme": certificate.scheme.name,
        "rows": release.rows,
        "classes": release.classes,
        "quasi_identifiers": table.quasi_identifiers,
        "sensitive": table.sensitive_columns or [table.sensitive],
        "kept": table.kept,
        "seeded": certificate.randomness != OPERATING_SYSTEM,
        "average_loss": release.average_loss,
        "surest_guess": 1 / certificate.also.l if certificate.also.l else None,
        "average_risk": None if release.classes is None else release.classes / release.rows,
        "signature": signature,
        "warnings": certificate.warnings,
    }


def describe_columns(labels: Sequence[set[str]] | None, table: TableSummary) -> list[ColumnFacts]:
    """Describe the quasi-identifiers: what their owner declared and what the published labels show.

    There are no labels if values are published as they are.
    """
    columns = zip(table.axes, table.weights, strict=True)
    if labels is None:
        return [_describe_column(axis, weight, None) for axis, weight in columns]
    return [_describe_column(axis, weight, shown) for (axis, weight), shown in zip(columns, labels, strict=True)]


def _describe_column(axis: Axis, weight: float, shown: set[str] | None) -> ColumnFacts:
    """Describe one quasi-identifier; `shown` is None if every value is published as it is."""
    facts = ColumnFacts(axis.name, str(axis.kind), weight, has_missing=axis.has_missing)
    if isinstance(axis, OrderedAxis):
        if isinstance(axis, RoundedAxis):
            facts = msgspec.structs.replace(
                facts, **dict(zip(("round", "bottom", "top"), axis.rounding.texts, strict=True))
            )
        is_known = shown is None or axis.is_domain_declared or _shows_domain(axis, shown)
        return msgspec.structs.replace(facts, domain=axis.domain_texts if is_known else None, dates=axis.dates)
    if not isinstance(axis, HierarchyAxis):
        raise InternalError(f"the axis of '{axis.name}' is of an unknown kind.")
    tree, labels = axis.hierarchy, shown or set()  # if values are exact, every leaf is published anyway
    nodes = [i for i in range(tree.n_leaves, tree.root) if tree.labels[i] in labels]
    under = tree.n_leaves_under(np.array(nodes, dtype=np.int64)).tolist()
    return msgspec.structs.replace(
        facts,
        leaves=axis.size,
        leaves_under={tree.labels[i]: n for i, n in zip(nodes, under, strict=True)},
        hierarchy=[list(path) for path in tree.paths if axis.is_declared or path[0] in labels],
    )


def _shows_domain(axis: OrderedAxis, shown: set[str]) -> bool:
    """Whether labels show both ends of a domain, in any form of a number: 1e-05 is also 0.00001."""
    ends = [meaning for meaning in axis.meanings([*shown]) if isinstance(meaning, tuple)]
    return any(low == axis.domain[0] for low, _ in ends) and any(high == axis.domain[1] for _, high in ends)
