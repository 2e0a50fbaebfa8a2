"""Build the certificate of a release again from its files, and compare the two field by field.

What a certificate says of the release is counted again. What only its owner can know, such as a declared domain, must
at least agree with the files, and is listed as not checked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from betalike.engines.engine import Layout
from betalike.measures.loss import Loss, average_loss
from betalike.promises import Model
from betalike.promises.distances import Ground
from betalike.release.certificate import MOST, Certificate, ColumnFacts, Levels, PublishedFile, Scheme, Tool
from betalike.release.certify import SEEDED, certify
from betalike.release.promise import promised_axis
from betalike.release.published_labels import CodedOriginal
from betalike.release.recompute_columns import KnownColumn, know_column
from betalike.release.recount import Found
from betalike.release.verify import Classes, Figures
from betalike.schemes import SCHEMES
from betalike.schemes.mondrian import AttributeRule
from betalike.schemes.sabre import Redistribution
from betalike.table.cells import ValueCounts

UNKNOWN = "none that betalike has"
RULES = ("theorem-3", "best-retention")
VERSION = re.compile(r"\d{1,9}(\.\d{1,9}){,4}((a|b|rc|\.dev|\.post|\+)[\w.]{,20})?", re.ASCII)
STEPS = {"load", "count", "plan", "assign", "write", "verify", "publish"}
COUNTED = {"buckets", "leaves", "coarse_cells", "parts"}  # numbers among a scheme's details
CHOSEN = {
    "attribute": tuple(AttributeRule),
    "second_try": (True, False),
    "strict": (True, False),
    "redistribution": tuple(Redistribution),
}
OF_BUREL, OF_MONDRIAN = frozenset({"buckets", "leaves"}), frozenset({"attribute", "second_try"})
DETAILS = {  # what each scheme says of itself
    **dict.fromkeys(("burel", "burel+split"), OF_BUREL),
    **dict.fromkeys(("lmondrian", "dmondrian", "tmondrian", "mondrian"), OF_MONDRIAN),
    "whole": frozenset({"strict"}),
    "sabre": frozenset({"redistribution", "buckets"}),
}


def recompute(
    claimed: Certificate,
    found: Found,
    model: Model,
    files: dict[str, PublishedFile],
    formulas: Sequence[str],
    originals: Sequence[CodedOriginal | None],
) -> tuple[Certificate, list[str]]:
    """Return the certificate that the files of a release have, and the names of the fields that they cannot show."""
    is_exact, audit, release = found.sizes is None, found.audit, claimed.release
    facts = list(zip(claimed.table.columns, found.columns, originals or [None] * len(found.columns), strict=True))
    columns = [know_column(column, shown, is_exact, original) for column, shown, original in facts]
    weights = tuple(c.weight if math.isfinite(c.weight) and c.weight >= 0 else 1.0 for c in claimed.table.columns)
    labels, counts = list(claimed.prior_counts), np.array(list(claimed.prior_counts.values()), dtype=np.int64)
    table = ValueCounts(tuple(c.axis for c in columns), promised_axis(claimed, model), weights, counts)
    classes = None if found.sizes is None else Classes(found.sizes, [{*shown.names} for shown in found.columns])
    rebuilt = certify(
        Figures(found.verdict, audit, _loss(claimed, columns, weights), classes),
        table,
        labels,
        model,
        scheme=_scheme(claimed.scheme, is_exact, found.details),
        formed_classes=_formed_classes(claimed, audit.classes, audit.rows),
        layout=_layout(claimed, found),
        kept=claimed.table.kept,
        is_safe=release.spreadsheet_safe and not formulas,
        is_seeded=claimed.randomness == SEEDED,
        formulas=() if release.spreadsheet_safe else formulas,
        files=files,
        seconds={step: _nearest(seconds, 0.0, math.inf) for step, seconds in claimed.seconds.items() if step in STEPS},
    )
    also, not_checked = _levels(claimed, rebuilt, found)
    described = [_with_leaves(column, known) for column, known in zip(rebuilt.table.columns, columns, strict=True)]
    version = claimed.tool.version if VERSION.fullmatch(claimed.tool.version) else UNKNOWN
    rebuilt = msgspec.structs.replace(
        rebuilt,
        tool=Tool("betalike", version),
        table=msgspec.structs.replace(rebuilt.table, columns=described),
        also=also,
    )
    return rebuilt, [*_not_checked(columns), *not_checked, *_known_to_owner(is_exact, found), "tool.version"]


def _not_checked(columns: Sequence[KnownColumn]) -> list[str]:
    fields = [f"table.columns.{known.axis.name}.{name}" for known in columns for name in known.not_checked]
    return fields + [f"release.loss.{known.axis.name}" for known in columns if known.least_loss != known.most_loss]


def _known_to_owner(is_exact: bool, found: Found) -> list[str]:
    always = ["scheme.name", "randomness", "seconds"]
    if not is_exact:
        return ["table.columns.weight", "scheme.details", "release.formed_classes", *always]
    return always if found.details else ["table.sensitive", *always]  # the baseline does not publish the column


def _with_leaves(column: ColumnFacts, known: KnownColumn) -> ColumnFacts:
    return msgspec.structs.replace(column, leaves=known.leaves)


def _loss(claimed: Certificate, columns: Sequence[KnownColumn], weights: Sequence[float]) -> Loss:
    """Return the loss of each column: the claimed one if it is possible, else the nearest that is."""
    names = [known.axis.name for known in columns]
    losses = [_nearest(claimed.release.loss.get(c.axis.name), c.least_loss, c.most_loss) for c in columns]
    with np.errstate(all="ignore"):  # weights that nobody would give
        return average_loss(names, np.array([losses], dtype=np.float64), np.ones(1), weights)


def _levels(claimed: Certificate, rebuilt: Certificate, found: Found) -> tuple[Levels, list[str]]:
    """Return the levels under other promises; t within bounds where the certificate does not show its distances."""
    if found.is_ground_known:
        return rebuilt.also, []
    most = found.audit.t_by_ground[str(Ground.EQUAL)]  # equal distances are the longest
    least = most / max(len(claimed.prior_counts) - 1, 1) if claimed.also.t_ground == "ordered" else 0.0
    t = _nearest(claimed.also.t, least, most)
    average = rebuilt.also.average_t and _nearest(claimed.also.average_t, 0.0, t)
    also = msgspec.structs.replace(rebuilt.also, t=t, average_t=average, t_ground=claimed.also.t_ground)
    return also, ["also.t", *([] if found.audit.classes is None else ["also.average_t"])]


def _scheme(claimed: Scheme, is_exact: bool, figures: Mapping[str, float]) -> Scheme:
    """Return the scheme with what it can say of itself, and None where it says what it cannot."""
    name = claimed.name if claimed.name in SCHEMES else UNKNOWN
    if is_exact:
        rule = claimed.details.get("rule")
        return Scheme(name, {**({"rule": rule if rule in RULES else None} if figures else {}), **figures})
    needed = DETAILS.get(name, frozenset())
    details: dict[str, Any] = {} if "parts" in claimed.details else dict.fromkeys(needed)  # parts say nothing
    for key, value in claimed.details.items():
        is_number = key in COUNTED and type(value) is int and 0 < value <= MOST
        is_choice = key in CHOSEN and type(value) in (bool, str) and value in CHOSEN[key]
        if key in needed | {"coarse_cells", "parts"} and (is_number or is_choice):
            details[key] = value
    return Scheme(name, details)


def _formed_classes(claimed: Certificate, n_classes: int | None, n_rows: int) -> int | None:
    """Return how many classes were formed: at least those that differ in their labels."""
    formed = claimed.release.formed_classes
    # Spark does not count the classes that it forms from coarse cells.
    if n_classes is None or (formed is None and "coarse_cells" in claimed.scheme.details):
        return None
    return int(_nearest(formed, n_classes, n_rows))


def _layout(claimed: Certificate, found: Found) -> str:
    """Return how ranges are written; without any, the layout that the certificate names."""
    is_two = [shown.is_bounds for shown in found.columns if shown.is_bounds is not None]
    if not is_two and claimed.release.layout in list(Layout):
        return claimed.release.layout
    return str(Layout.BOUNDS if any(is_two) else Layout.LABELS)


def _nearest(claimed: Any, least: float, most: float) -> Any:
    """Return a claimed figure if it lies between two bounds but for rounding, else the nearer bound."""
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
    """Whether two figures agree, but for rounding."""
    if isinstance(claimed, float) and isinstance(found, float):
        return bool(np.isclose(claimed, found, rtol=1e-9, atol=1e-12))
    if isinstance(claimed, dict) and isinstance(found, dict):
        return claimed.keys() == found.keys() and all(is_same(claimed[key], found[key]) for key in claimed)
    return type(claimed) is type(found) and claimed == found
