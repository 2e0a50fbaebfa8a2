"""What a certificate states beyond figures of classes: its fields, the promise, the scheme, seconds and warnings."""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .jobs import Column, Job
from .outcome import Outcome
from .promises import cap_of, promised_sets
from .reading import is_run

FIELDS = {
    "": [
        *("tool", "promise", "scheme", "table", "release", "also", "risk", "prior", "prior_counts"),
        *("randomness", "files", "seconds", "people", "kept", "warnings"),
    ],
    "tool": ["name", "version"],
    "promise": [
        *("model", "beta", "k", "holds", "worst_gain", "worst_ratio"),
        *("parameters", "hierarchy", "caps"),
    ],
    "scheme": ["name", "details"],
    "table": ["rows", "quasi_identifiers", "sensitive", "kept", "columns", "sensitive_columns", "binned"],
    "release": [
        *("rows", "classes", "formed_classes", "smallest_class"),
        *("average_loss", "loss"),
    ],
    "also": ["k", "distinct_l", "l", "average_l", "t", "average_t", "t_ground", "basic_beta", "enhanced_beta", "delta"],
}
STEPS = {"load", "count", "plan", "assign", "write", "verify"}
MONDRIANS = ("lmondrian", "dmondrian", "tmondrian", "mondrian")


def check_statement(
    job: Job,
    certificate: dict[str, Any],
    header: Sequence[str],
    cells: Sequence[Sequence[str | None]],
    outcome: Outcome,
) -> None:
    """Check everything that follows from the job, or from the published text."""
    for name, fields in FIELDS.items():
        part = certificate if not name else certificate[name]
        outcome.expect(list(part) == fields, "figure", f"names under {name or 'the certificate'}")
    tool, seconds = certificate["tool"], certificate["seconds"]
    is_tool = tool["name"] == "betalike" and re.fullmatch(r"\d+\.\d+\.\d+[.\w]*", tool["version"]) is not None
    outcome.expect(is_tool, "figure", "tool")
    is_timed = {*seconds} == STEPS and all(math.isfinite(s) and s >= 0 for s in seconds.values())
    outcome.expect(is_timed, "figure", "seconds")
    _check_promise(job, certificate["promise"], outcome)
    if not job.is_exact:
        _check_details(job, certificate, outcome)
    for column, told in zip(job.columns, certificate["table"]["columns"], strict=True):
        outcome.expect(_is_order(job, column, told["dates"]), "figure", "columns.dates")
    single = _check_kept(job, certificate["kept"], cells, outcome)
    _check_warnings(job, certificate["warnings"], header, cells, single, outcome)


def _check_promise(job: Job, told: dict[str, Any], outcome: Outcome) -> None:
    """The hierarchy of promised groups or distances, and the caps of a function."""
    promise, secret = job.promise, job.truth.secret
    is_along = bool(promise.parameters.get("groups")) or promise.parameters.get("ground") == "hierarchical"
    paths = [list(path) for path in secret.paths or () if path] if is_along else []
    outcome.expect(sorted(told["hierarchy"]) == sorted(paths), "figure", "promise.hierarchy")
    caps = {}
    if promise.cap is not None:
        totals = {int(secret.counts[values].sum()) for values in promised_sets(secret, promise)} - {0}
        caps = {str(total): cap_of(total, secret.n_rows, promise).value for total in totals}
    outcome.expect({n: Fraction(cap) for n, cap in told["caps"].items()} == caps, "figure", "promise.caps")


def _check_details(job: Job, certificate: dict[str, Any], outcome: Outcome) -> None:
    """The options that a scheme was run with, and numbers that can only be bounded."""
    details, release = dict(certificate["scheme"]["details"]), certificate["release"]
    outcome.expect(release["classes"] <= release["formed_classes"] <= job.n_rows, "figure", "release.formed_classes")
    buckets, leaves = details.pop("buckets", 0), details.pop("leaves", 0)
    has_buckets = job.scheme in ("burel", "burel+split", "sabre")
    outcome.expect((1 <= buckets <= len(job.truth.keys)) if has_buckets else buckets == 0, "figure", "details.buckets")
    has_leaves = job.scheme in ("burel", "burel+split")
    outcome.expect((1 <= leaves <= job.n_rows) if has_leaves else leaves == 0, "figure", "scheme.details.leaves")
    expected: dict[str, Any] = {}
    if job.scheme in MONDRIANS:
        expected = {"attribute": "widest", "second_try": True, **job.options}
    elif job.scheme == "whole":
        expected = {"strict": job.options.get("strict", False)}
    elif job.scheme == "sabre":
        expected = {"redistribution": "space", **job.options}
    outcome.expect(details == expected, "figure", "scheme.details")


def _is_order(job: Job, column: Column, told: str | None) -> bool:
    """Whether the order of dates is that of the table; it may be left out where both orders read the same."""
    if job.dates is None or column.kind != "date" or not any(column.cells):
        return told is None
    days = [cell for cell in column.cells if isinstance(cell, datetime.date)]
    return told == job.dates or (told is None and all(day.day == day.month for day in days))


def _check_kept(
    job: Job, told: dict[str, int] | None, cells: Sequence[Sequence[str | None]], outcome: Outcome
) -> tuple[int, int]:
    """How many rows the kept columns single out: alone, and with all that is published but the sensitive columns."""
    if not job.kept:
        outcome.expect(told is None, "figure", "kept")
        return 0, 0
    n_secrets = 0 if job.scheme == "baseline" else len(job.secrets)
    first = len(cells[0]) - len(job.kept)
    plain = [[cell or None for cell in row] for row in cells]
    alone = Counter(tuple(row[first:]) for row in plain)
    both = Counter((*row[: first - n_secrets], *row[first:]) for row in plain)
    single = tuple(sum(n == 1 for n in counted.values()) for counted in (alone, both))
    truth = dict(zip(("singled_out", "singled_out_with_classes"), single, strict=True))
    outcome.expect(told == truth, "figure", "kept")
    return single


def _check_warnings(
    job: Job,
    told: Sequence[str],
    header: Sequence[str],
    cells: Sequence[Sequence[str | None]],
    single: tuple[int, int],
    outcome: Outcome,
) -> None:
    """Every warning that a reader needs, with the right columns, and no other."""
    run = set()
    if job.form == "csv":
        run = {name for name, column in zip(header, zip(*cells, strict=True), strict=True) if any(map(is_run, column))}
    if job.is_exact and len(job.secrets) == 1 and any(map(_is_run_value, job.truth.keys)):
        run.add(job.secrets[0].name)  # in the file beside the table
    names, beside = ", ".join(column.name for column in job.kept), "quasi-identifiers" if job.is_exact else "classes"
    n_rows, (alone, both) = f"{len(cells):,}", single
    kept = f"together with the {beside} they single out {both:,} of {n_rows} rows, by themselves {alone:,}"
    kept = f"{names}; {kept if both else f'even with the {beside} they single out none of the {n_rows} rows'}"
    expected = [
        (True, "the promise is for one release", ""),
        (job.person is not None, "the promise is kept in people too", ""),
        (job.is_exact, "quasi-identifiers are published exactly", ""),
        (job.is_seeded, "seeded", ""),
        (bool(job.kept), "columns published as they are, unprotected: ", kept),
        (bool(run), "columns with cells that a spreadsheet would run", f": {', '.join(sorted(run))}"),
    ]
    wanted = [(begin, end) for is_due, begin, end in expected if is_due]
    is_right = len(told) == len(wanted) and all(
        text.startswith(begin) and text.endswith(end) for text, (begin, end) in zip(told, wanted, strict=True)
    )
    outcome.expect(is_right, "figure", "warnings")


def _is_run_value(key: Any) -> bool:
    return isinstance(key, str) and is_run(key)
