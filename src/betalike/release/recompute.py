"""Build the certificate of a release again from its files, and compare the two field by field.

What the certificate says about the release is counted again. What only its owner can know, such as a declared domain,
must at least agree with the files, and is listed as not checked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from betalike.measures.loss import Loss, average_loss
from betalike.measures.risk import THRESHOLDS
from betalike.promises import Model
from betalike.promises.distances import Ground
from betalike.promises.parameters import LARGEST_COUNT
from betalike.release.binned_values import ranges_of
from betalike.release.certificate import (
    Certificate,
    ColumnFacts,
    Levels,
    PeopleFacts,
    PeopleRiskFacts,
    PublishedFile,
    Scheme,
    Tool,
)
from betalike.release.certify import SEEDED, certify
from betalike.release.promise import promised_axis
from betalike.release.published_labels import (
    CodedOriginal,
    ShownColumn,
    read_domain,
    read_rounding,
    tree_of,
)
from betalike.release.recount import Recounted
from betalike.release.verify import ClassLabels, Figures, PeopleFigures, loss_of_labels
from betalike.schemes import SCHEMES
from betalike.schemes.mondrian import AttributeRule
from betalike.schemes.perturbation import DrawingRule
from betalike.schemes.sabre import Redistribution
from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.table.cells import ValueCounts
from betalike.table.exact_numbers import as_numbers
from betalike.table.hierarchy import ROOT, Hierarchy
from betalike.table.rounded_axis import rounded_like
from betalike.table.rounding import Ends
from betalike.table.schema import Kind

ANYWHERE = (-math.inf, math.inf)
UNKNOWN = "none that betalike has"
RULES = tuple(DrawingRule)
VERSION = re.compile(r"\d{1,9}(\.\d{1,9}){,4}((a|b|rc|\.dev|\.post|\+)[\w.]{,20})?", re.ASCII)
STEPS = {"load", "count", "plan", "assign", "write", "verify", "publish"}
COUNTED = {"buckets", "leaves"}  # numbers among a scheme's details
CHOSEN = {
    "attribute": tuple(AttributeRule),
    "second_try": (True, False),
    "strict": (True, False),
    "redistribution": tuple(Redistribution),
}
OF_BUREL, OF_MONDRIAN = frozenset({"buckets", "leaves"}), frozenset({"attribute", "second_try"})
DETAILS = {  # of each scheme
    **dict.fromkeys(("burel", "burel+split"), OF_BUREL),
    **dict.fromkeys(("lmondrian", "dmondrian", "tmondrian", "mondrian"), OF_MONDRIAN),
    "whole": frozenset({"strict"}),
    "sabre": frozenset({"redistribution", "buckets"}),
}


def recompute(
    claimed: Certificate,
    found: Recounted,
    model: Model,
    files: dict[str, PublishedFile],
    formulas: Sequence[str],
    originals: Sequence[CodedOriginal | None],
    people: PeopleFigures | None = None,
) -> tuple[Certificate, list[str]]:
    """Return the certificate that follows from the files of a release, and the fields that the files cannot show."""
    is_exact, audit = found.sizes is None, found.audit
    facts = list(zip(claimed.table.columns, found.columns, originals or [None] * len(found.columns), strict=True))
    columns = [know_column(column, shown, is_exact, original) for column, shown, original in facts]
    weights = tuple(c.weight if math.isfinite(c.weight) and c.weight >= 0 else 1.0 for c in claimed.table.columns)
    labels, counts = list(claimed.prior_counts), np.array(list(claimed.prior_counts.values()), dtype=np.int64)
    table = ValueCounts(tuple(c.axis for c in columns), promised_axis(claimed, model), weights, counts)
    classes = None if found.sizes is None else ClassLabels(found.sizes, [{*shown.names} for shown in found.columns])
    loss, is_kept_told = _loss(claimed, columns, weights), claimed.kept is not None or not _is_before_kept(claimed)
    singled_out = found.singled_out if is_kept_told else None
    rebuilt = certify(
        Figures(found.verdict, audit, loss, classes, people=people, singled_out=singled_out),
        table,
        labels,
        model,
        scheme=_scheme(claimed.scheme, is_exact, found.details),
        formed_classes=_formed_classes(claimed, audit.classes, audit.rows),
        kept=claimed.table.kept,
        is_seeded=claimed.randomness == SEEDED,
        formulas=formulas,
        files=files,
        seconds={step: _nearest(seconds, 0.0, math.inf) for step, seconds in claimed.seconds.items() if step in STEPS},
        people=_possible_people(claimed, found),
        binned=[facts for facts in claimed.table.binned if facts.name in ranges_of(claimed)],
    )
    also, not_checked = _levels(claimed, rebuilt, found)
    pairs = zip(rebuilt.table.columns, columns, strict=True)
    described = [msgspec.structs.replace(column, leaves=known.leaves) for column, known in pairs]
    version = claimed.tool.version if VERSION.fullmatch(claimed.tool.version) else UNKNOWN
    rebuilt = msgspec.structs.replace(
        rebuilt,
        tool=Tool("betalike", version),
        table=msgspec.structs.replace(rebuilt.table, columns=described),
        also=also,
    )
    if found.singled_out is not None and singled_out is None:
        not_checked.append("kept")
    unknown = ["people"] if claimed.people is not None and people is None else []
    return rebuilt, [*_not_checked(columns), *not_checked, *unknown, *_known_to_owner(is_exact, found), "tool.version"]


def _is_before_kept(claimed: Certificate) -> bool:
    """Return whether a version made a certificate whose certificates do not say what kept columns single out."""
    version = claimed.tool.version
    return bool(VERSION.fullmatch(version)) and tuple(map(int, version.split(".")[:2])) < (0, 3)


def _possible_people(claimed: Certificate, found: Recounted) -> PeopleFacts | None:
    """Return what a certificate says about people, which the files do not show; where it is impossible, the nearest."""
    people, k, beta = claimed.people, claimed.promise.k, claimed.promise.beta
    if people is None or found.audit.k is None:
        return None
    number = _nearest(people.people, max(people.prior_counts.values(), default=1), found.audit.rows)
    smallest = _nearest(people.smallest_class, k, min(found.audit.k, number))
    return PeopleFacts(
        column=people.column,
        people=number,
        holds=True,
        worst_gain=_nearest(people.worst_gain, -1.0, math.inf if beta is None else beta),
        smallest_class=smallest,
        prior_counts={
            label: _nearest(people.prior_counts.get(label), 1, min(count, number))
            for label, count in claimed.prior_counts.items()
        },
        caps=people.caps if claimed.promise.caps else {},
        risk=_possible_risk(people.risk, smallest, number),
    )


def _possible_risk(claimed: PeopleRiskFacts, smallest: int, people: int) -> PeopleRiskFacts:
    """Return risks that are possible with `smallest` people in the smallest class: as claimed, or the nearest."""
    greatest, at_least_one = 1 / max(smallest, 1), 1 / max(people, 1)

    def share(of: float | None, is_possible: bool) -> float:
        """Return a share of the people; if there may be any, it is at least one of them."""
        return float(_nearest(of, at_least_one, 1.0)) if is_possible else 0.0

    names = {f"{threshold:g}": threshold for threshold in THRESHOLDS}
    above = {name: share(claimed.above.get(name), greatest > threshold) for name, threshold in names.items()}
    return PeopleRiskFacts(
        surest_guess=share(claimed.surest_guess, True),
        prosecutor_maximum=greatest,
        prosecutor_average=_nearest(claimed.prosecutor_average, at_least_one, greatest),
        above=above,
        unique=share(claimed.unique, smallest <= 1),
    )


@dataclass(frozen=True)
class KnownColumn:
    """What is known about a column: its axis, its number of leaves, and bounds on its loss.

    `not_checked` names the facts that only its owner knows.
    """

    axis: Axis
    least_loss: float
    most_loss: float
    leaves: int | None = None
    not_checked: tuple[str, ...] = ()


def _not_checked(columns: Sequence[KnownColumn]) -> list[str]:
    fields = [f"table.columns.{known.axis.name}.{name}" for known in columns for name in known.not_checked]
    return fields + [f"release.loss.{known.axis.name}" for known in columns if known.least_loss != known.most_loss]


def _known_to_owner(is_exact: bool, found: Recounted) -> list[str]:
    always = ["scheme.name", "randomness", "seconds"]
    if not is_exact:
        return ["table.columns.weight", "scheme.details", "release.formed_classes", *always]
    return always if found.details else ["table.sensitive", *always]  # the baseline does not publish the column


def _loss(claimed: Certificate, columns: Sequence[KnownColumn], weights: Sequence[float]) -> Loss:
    """Return the loss of each column: the claimed one if it is possible, else the nearest that is."""
    names = [known.axis.name for known in columns]
    losses = [_nearest(claimed.release.loss.get(c.axis.name), c.least_loss, c.most_loss) for c in columns]
    with np.errstate(all="ignore"):  # absurd weights
        return average_loss(names, np.array([losses], dtype=np.float64), np.ones(1), weights)


def _levels(claimed: Certificate, rebuilt: Certificate, found: Recounted) -> tuple[Levels, list[str]]:
    """Return the levels reached; t only within bounds if the certificate does not give the distances."""
    if found.is_ground_known:
        return rebuilt.also, []
    most = found.audit.t_by_ground[str(Ground.EQUAL)]  # equal distances are the longest
    least = most / max(len(claimed.prior_counts) - 1, 1) if claimed.also.t_ground == "ordered" else 0.0
    t = _nearest(claimed.also.t, least, most)
    average = rebuilt.also.average_t and _nearest(claimed.also.average_t, 0.0, t)
    also = msgspec.structs.replace(rebuilt.also, t=t, average_t=average, t_ground=claimed.also.t_ground)
    return also, ["also.t", *([] if found.audit.classes is None else ["also.average_t"])]


def _scheme(claimed: Scheme, is_exact: bool, figures: Mapping[str, float]) -> Scheme:
    """Return the scheme with the details it may have, and None for those it needs but does not have."""
    name = claimed.name if claimed.name in SCHEMES else UNKNOWN
    if is_exact:
        rule = claimed.details.get("rule")
        return Scheme(name, {**({"rule": rule if rule in RULES else None} if figures else {}), **figures})
    needed = DETAILS.get(name, frozenset())
    details: dict[str, Any] = dict.fromkeys(needed)
    for key, value in claimed.details.items():
        is_number = key in COUNTED and type(value) is int and 0 < value <= LARGEST_COUNT
        is_choice = key in CHOSEN and type(value) in (bool, str) and value in CHOSEN[key]
        if key in needed and (is_number or is_choice):
            details[key] = value
    return Scheme(name, details)


def _formed_classes(claimed: Certificate, n_classes: int | None, n_rows: int) -> int | None:
    """Return how many classes were formed: at least as many as differ in their labels."""
    return None if n_classes is None else int(_nearest(claimed.release.formed_classes, n_classes, n_rows))


def _nearest(claimed: Any, least: float, most: float) -> Any:
    """Return a claimed figure if it lies between two bounds, up to rounding, else the nearer bound."""
    if claimed is None or not math.isfinite(claimed):
        return least
    return claimed if least - 1e-12 <= claimed <= most + 1e-9 * abs(most) + 1e-12 else min(max(claimed, least), most)


def differing_fields(claimed: Certificate, rebuilt: Certificate) -> list[str]:
    """Return the dotted names of the fields in which two certificates differ."""
    one, other, absent = dict(_fields(claimed)), dict(_fields(rebuilt)), object()
    return [name for name in one | other if not is_same(one.get(name, absent), other.get(name, absent))]


def _fields(struct: msgspec.Struct, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield every field of a certificate by its dotted name; entries of lists and mappings of structs one by one."""
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        if isinstance(value, msgspec.Struct):
            yield from _fields(value, f"{prefix}{name}.")
        elif isinstance(value, dict) and name in ("files", "loss"):
            yield f"{prefix}{name}", sorted(value)
            for key, entry in value.items():
                if isinstance(entry, msgspec.Struct):
                    yield from _fields(entry, f"{prefix}{name}.{key}.")
                else:
                    yield f"{prefix}{name}.{key}", entry
        elif name == "columns":
            for number, entry in enumerate(value):
                yield from _fields(entry, f"{prefix}{name}.{entry.name}.{number}.")
        else:
            yield f"{prefix}{name}", value


def is_same(claimed: object, found: object) -> bool:
    """Whether two figures agree, up to rounding."""
    if isinstance(claimed, float) and isinstance(found, float):
        return bool(np.isclose(claimed, found, rtol=1e-9, atol=1e-12))
    if isinstance(claimed, dict) and isinstance(found, dict):
        return claimed.keys() == found.keys() and all(is_same(claimed[key], found[key]) for key in claimed)
    return type(claimed) is type(found) and claimed == found


def know_column(
    claimed: ColumnFacts, shown: ShownColumn, is_exact: bool, original: CodedOriginal | None
) -> KnownColumn:
    """Return what is known about a column from its labels and the original; the certificate fills the gaps."""
    has_missing, is_hidden = _has_missing(claimed, shown, is_exact, original)
    know = _know_numbers if Kind(claimed.kind).is_ordered else _know_categories
    known = know(claimed, shown, is_exact, original, has_missing)
    return replace(known, not_checked=(*known.not_checked, "has_missing")) if is_hidden else known


def _has_missing(
    claimed: ColumnFacts, shown: ShownColumn, is_exact: bool, original: CodedOriginal | None
) -> tuple[bool, bool]:
    """Return whether values are missing, and whether only the certificate says so.

    Missing values are seen, or hidden in a label that stands for everything; a `*` of numbers always hides one.
    """
    if original is not None:
        return original.has_missing, False
    is_coded = claimed.bottom is not None and claimed.top is not None  # so that `*` may be all present values
    if shown.labels.get(None) or (shown.n_root and Kind(claimed.kind).is_ordered and not is_coded):
        return True, False
    is_hidden = shown.n_root > 0 and not is_exact
    return claimed.has_missing and is_hidden, is_hidden


def _know_numbers(
    claimed: ColumnFacts, shown: ShownColumn, is_exact: bool, original: CodedOriginal | None, has_missing: bool
) -> KnownColumn:
    hull, domain, rounding = shown.hull, read_domain(claimed), None if is_exact else read_rounding(claimed)
    true = original.ends if original is not None else hull if is_exact else None
    if rounding is not None and true is not None:
        true = rounding.hull(true)
    known = None
    if domain is not None:
        known = domain if all(_is_inside(inner, domain) for inner in (hull, true)) else true or hull
    elif is_exact or (hull is not None and (hull == true or (true is None and not shown.n_root))):
        known = hull  # its ends are shown, so the certificate must have it
    kind, measured = Kind(claimed.kind), known or true
    of_owner = () if claimed.dates is None else ("dates",)
    is_known = known is not None
    axis = OrderedAxis(claimed.name, kind, as_numbers([]), measured or ANYWHERE, has_missing, is_known, claimed.dates)
    if rounding is not None:
        axis = rounded_like(axis, axis.values, axis.values, rounding)
    if is_exact:
        return KnownColumn(axis if measured else replace(axis, domain=(0, 0)), 0.0, 0.0, not_checked=of_owner)
    n_rows = sum(shown.labels.values())
    most = _loss_shown(replace(axis, domain=measured or hull or (0, 0)), shown)
    if measured is None and any(low < high for low, high in shown.ranges):  # the domain is wider than what is shown
        least = shown.n_root / n_rows
        return KnownColumn(axis, least, max(least, most - most * 1e-12), not_checked=("domain", *of_owner))
    is_declared = domain is not None and domain != (true or hull)  # wider than the values that are known
    return KnownColumn(axis, most, most, not_checked=(*(("domain",) if is_declared else ()), *of_owner))


def _is_inside(inner: Ends | None, outer: Ends) -> bool:
    return inner is None or (outer[0] <= inner[0] and inner[1] <= outer[1])


def _know_categories(
    claimed: ColumnFacts, shown: ShownColumn, is_exact: bool, original: CodedOriginal | None, has_missing: bool
) -> KnownColumn:
    tree, names = tree_of(claimed), shown.names
    is_deep = tree is not None and any(len(path) > 2 for path in tree.paths)
    if tree is not None and (is_deep or claimed.leaves == tree.n_leaves + has_missing):  # a declared hierarchy
        axis = HierarchyAxis(claimed.name, tree, has_missing, is_declared=True)
        loss = 0.0 if is_exact else _loss_shown(axis, shown)
        is_declared = is_deep or tree.n_leaves > len(names)
        return KnownColumn(axis, loss, loss, axis.size, ("hierarchy",) if is_declared else ())
    # The hierarchy was made from the table's own values; those under `*` are not known.
    named = [path[0] for path in claimed.hierarchy]
    in_order = named if sorted(named) == sorted(names) else names
    axis = HierarchyAxis(claimed.name, Hierarchy.flat((not is_exact and in_order) or [ROOT * 2]), has_missing)
    loss = 0.0 if is_exact else _loss_shown(axis, shown)
    least, most = max(len(names), 1), max(len(names) + (0 if is_exact else shown.n_root), 1)
    if original is not None:
        least = most = max(original.n_values, 1)
    leaves = min(max((claimed.leaves or 0) - has_missing, least), most) + has_missing
    return KnownColumn(axis, loss, loss, leaves, ("leaves",) if least != most else ())


def _loss_shown(axis: Axis, shown: ShownColumn) -> float:
    with np.errstate(all="ignore"):  # numbers that are too far apart
        return loss_of_labels(axis, shown.labels)
