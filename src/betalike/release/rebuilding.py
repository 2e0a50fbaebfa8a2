"""Build a certificate again from what the files of a release show, and compare the two field by field.

What a certificate says of the release is counted again. What only its owner can know, such as a declared domain, must
at least agree with the files, and is listed as not checked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from betalike.engines.engine import Layout
from betalike.measures.audit import Audit
from betalike.promises import Closeness, Likeness, Model, Verdict
from betalike.promises.sets import Nodes
from betalike.release.certificate import (
    MOST,
    Certificate,
    PromiseFacts,
    PublishedFile,
    ReleaseFacts,
    Scheme,
    TableFacts,
    Tool,
)
from betalike.release.certify import OPERATING_SYSTEM, SEEDED, levels_of, promised_caps, warnings_of
from betalike.release.promise import promised_axis
from betalike.release.published_labels import CodedOriginal
from betalike.release.rebuilt_columns import ColumnFound, Rebuilt, rebuild_column
from betalike.schemes import SCHEMES
from betalike.schemes.mondrian import AttributeRule
from betalike.schemes.sabre import Redistribution
from betalike.table.joint import JOINED

RULES = ("theorem-3", "best-retention")
VERSION = re.compile(r"\d{1,9}(\.\d{1,9}){,4}((a|b|rc|\.dev|\.post|\+)[\w.]{,20})?", re.ASCII)
STEPS = {"load", "count", "plan", "assign", "write", "verify", "publish"}
COUNTED = {"buckets", "leaves", "coarse_cells", "parts"}  # numbers among a scheme's details
CHOSEN = {
    "attribute": tuple(AttributeRule),
    "second_try": (True, False),
    "redistribution": tuple(Redistribution),
}
OF_BUREL, OF_MONDRIAN = frozenset({"buckets", "leaves"}), frozenset({"attribute", "second_try"})
DETAILS = {  # what each scheme says of itself
    **dict.fromkeys(("burel", "burel+split"), OF_BUREL),
    **dict.fromkeys(("lmondrian", "dmondrian", "tmondrian", "mondrian"), OF_MONDRIAN),
    "sabre": frozenset({"redistribution", "buckets"}),
}


@dataclass(frozen=True)
class Found:
    """What the files of a release show."""

    model: Model
    verdict: Verdict
    audit: Audit
    counts: dict[str, int]  # rows of each sensitive value in the table
    columns: Sequence[ColumnFound]
    files: dict[str, PublishedFile]
    is_exact: bool
    is_ground_known: bool  # whether distances between sensitive values follow from the certificate
    most_t: float  # with equal distances, which are the longest
    details: Mapping[str, float] = field(default_factory=dict)
    original: Sequence[CodedOriginal] = ()
    formulas: Sequence[str] = ()  # columns of a CSV file with cells that a spreadsheet would run


@dataclass(frozen=True)
class FigureComparison:
    """The fields of a certificate that the files contradict, and those that they neither prove nor contradict."""

    wrong: tuple[str, ...]
    not_checked: tuple[str, ...]


def compare(told: Certificate, found: Found) -> FigureComparison:
    """Compare a certificate with what its files show."""
    rebuilt, not_checked = _rebuild(told, found)
    ours, theirs = dict(_fields(told)), dict(_fields(rebuilt))
    names = [*ours, *(name for name in theirs if name not in ours)]
    absent = object()
    wrong = [name for name in names if not is_same(ours.get(name, absent), theirs.get(name, absent))]
    return FigureComparison(tuple(wrong), tuple(not_checked))


def _fields(struct: msgspec.Struct, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Every field of a certificate by its dotted name; entries of lists and mappings of structs one by one."""
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


def _rebuild(told: Certificate, found: Found) -> tuple[Certificate, list[str]]:
    audit = found.audit
    columns = [
        rebuild_column(column, shown, audit.rows, found.is_exact, found.original[i] if found.original else None)
        for i, (column, shown) in enumerate(zip(told.table.columns, found.columns, strict=True))
    ]
    not_checked = [f"table.columns.{column.told.name}.{name}" for column in columns for name in column.not_checked]
    losses = {column.told.name: _within(told.release.loss.get(column.told.name), column) for column in columns}
    not_checked += [f"release.loss.{c.told.name}" for c in columns if c.least_loss != c.most_loss]
    also, is_t_known = levels_of(audit), found.is_ground_known
    if not is_t_known:
        least = found.most_t / max(len(found.counts) - 1, 1) if told.also.t_ground == "ordered" else 0.0
        t = _clamp(told.also.t, least, found.most_t)
        average = also.average_t and _clamp(told.also.average_t, 0.0, t)
        also = msgspec.structs.replace(also, t=t, average_t=average, t_ground=told.also.t_ground)
        not_checked += ["also.t", *([] if audit.classes is None else ["also.average_t"])]
    if not found.is_exact:
        not_checked += ["table.columns.weight", "scheme.details", "release.formed_classes"]
    elif not found.details:  # the baseline does not publish the column
        not_checked.append("table.sensitive")
    rebuilt = Certificate(
        tool=Tool("betalike", told.tool.version if VERSION.fullmatch(told.tool.version) else "none that betalike has"),
        promise=_rebuild_promise(told, found),
        scheme=_rebuild_scheme(told, found),
        table=TableFacts(
            rows=audit.rows,
            quasi_identifiers=[column.told.name for column in columns],
            sensitive=JOINED.join(told.table.sensitive_columns) or told.table.sensitive,
            kept=told.table.kept,
            columns=[column.found for column in columns],
            sensitive_columns=told.table.sensitive_columns,
        ),
        release=_rebuild_release(told, found, losses),
        also=also,
        prior={label: count / audit.rows for label, count in found.counts.items()},
        prior_counts=found.counts,
        randomness=told.randomness if told.randomness in (SEEDED, OPERATING_SYSTEM) else OPERATING_SYSTEM,
        files=found.files,
        seconds={step: _clamp(seconds, 0.0, math.inf) for step, seconds in told.seconds.items() if step in STEPS},
        warnings=warnings_of(
            found.is_exact,
            told.randomness == SEEDED,
            told.table.kept,
            () if told.release.spreadsheet_safe else found.formulas,
        ),
    )
    return rebuilt, [*not_checked, "scheme.name", "randomness", "seconds", "tool.version"]


def _rebuild_promise(told: Certificate, found: Found) -> PromiseFacts:
    model, verdict, promise = found.model, found.verdict, told.promise
    is_near = isinstance(model, Closeness) and str(model.ground) == "hierarchical"
    is_grouped = isinstance(model, Likeness) and isinstance(model.span, Nodes)
    counts = np.array(list(found.counts.values()), dtype=np.int64)
    return PromiseFacts(
        model=model.name,
        beta=None if model.beta is None else float(model.beta),
        k=1 if found.is_exact else model.k,
        holds=verdict.holds,
        worst_gain=verdict.worst_gain,
        worst_ratio=verdict.worst_ratio,
        parameters=dict(model.parameters),
        hierarchy=promise.hierarchy if is_near or is_grouped else [],
        caps=promised_caps(model, promised_axis(told, model), counts),
    )


def _rebuild_scheme(told: Certificate, found: Found) -> Scheme:
    name = told.scheme.name if told.scheme.name in SCHEMES else "none that betalike has"
    if not found.is_exact:
        return Scheme(name, _possible_details(name, told.scheme.details))
    rule = told.scheme.details.get("rule")
    return Scheme(name, {**({"rule": rule if rule in RULES else None} if found.details else {}), **found.details})


def _possible_details(name: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a scheme says of itself, with None where it says what it cannot."""
    needed = DETAILS.get(name, frozenset())
    details: dict[str, Any] = {} if "parts" in told else dict.fromkeys(needed)  # parts are split without a word
    for key, value in told.items():
        is_number = key in COUNTED and type(value) is int and 0 < value <= MOST
        is_choice = key in CHOSEN and type(value) in (bool, str) and value in CHOSEN[key]
        if key in needed | {"coarse_cells", "parts"} and (is_number or is_choice):
            details[key] = value
    return details


def _rebuild_release(told: Certificate, found: Found, losses: dict[str, float]) -> ReleaseFacts:
    release, audit = told.release, found.audit
    weights = np.array([column.weight for column in told.table.columns])
    with np.errstate(all="ignore"):  # weights that nobody would give
        average = float(np.array(list(losses.values())) @ (weights / weights.sum()))
    formed = None
    # Spark does not count the classes that it forms from coarse cells
    is_counted = release.formed_classes is not None or "coarse_cells" not in told.scheme.details
    if audit.classes is not None and is_counted:  # some of the classes that were formed may have the same labels
        formed = int(_clamp(release.formed_classes, audit.classes, audit.rows))
    is_two = [column.is_bounds for column in found.columns if column.is_bounds is not None]
    layout = Layout.BOUNDS if any(is_two) else Layout.LABELS
    return ReleaseFacts(
        rows=audit.rows,
        classes=audit.classes,
        formed_classes=formed,
        smallest_class=audit.k,
        average_loss=average,
        loss=losses,
        spreadsheet_safe=release.spreadsheet_safe and not found.formulas,
        layout=str(layout) if is_two else release.layout if release.layout in list(Layout) else str(layout),
    )


def _within(told: float | None, column: Rebuilt) -> float:
    """The loss that was told if it is possible, else the nearest that is."""
    return float(_clamp(told, column.least_loss, column.most_loss))


def _clamp(told: Any, least: float, most: float) -> Any:
    """What was told, if it lies between two bounds but for rounding, else the bound; what was not told is the least."""
    if told is None or not math.isfinite(told):
        return least
    return told if least - 1e-12 <= told <= most + 1e-9 * abs(most) + 1e-12 else min(max(told, least), most)


def is_same(told: object, found: object) -> bool:
    """Whether two figures agree, but for rounding."""
    if isinstance(told, float) and isinstance(found, float):
        return bool(np.isclose(told, found, rtol=1e-9, atol=1e-12))
    if isinstance(told, dict) and isinstance(found, dict):
        return told.keys() == found.keys() and all(is_same(told[key], found[key]) for key in told)
    return type(told) is type(found) and told == found
