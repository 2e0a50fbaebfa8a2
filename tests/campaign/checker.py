"""Checks a written release against the table that went in, from the files alone."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from . import exact_rows, figures
from .jobs import Column, Job
from .labels import Cover, Label, Scale
from .matching import unmatched
from .outcome import Outcome
from .people import check_people, check_unnamed
from .promises import Promise, judge
from .reading import ORDERED, read, read_table
from .statement import check_statement
from .value_ranges import with_ranges

COMPANIONS = {"perturb": ["transition.csv"], "baseline": ["sensitive.csv"]}
SIGNED = b"betalike certificate, version 1\0"
Row = tuple[tuple[Label, ...], Any, tuple[Any, ...]]  # labels, sensitive value, kept cells


def check_release(job: Job, folder: Path, outcome: Outcome) -> None:
    """Note everything that is wrong with a release."""
    certificate = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    _check_files(job, folder, certificate, outcome)
    check_unnamed(folder, outcome)
    try:
        header, cells = read_table(folder / f"published.{job.form}")
        job = with_ranges(job, certificate, outcome)
    except (ValueError, KeyError) as error:
        outcome.expect(False, "label", f"a file or a range cannot be read ({type(error).__name__})")
        return
    if not outcome.expect(header == expected_header(job), "file", "other columns than those named"):
        return
    if not outcome.expect(len(cells) == job.n_rows, "rows", f"{len(cells)} rows of {job.n_rows}"):
        return
    try:
        check_statement(job, certificate, header, cells, outcome)
        if job.is_exact:
            exact_rows.check(job, folder, certificate, header, cells, outcome)
        else:
            _check_classes(job, certificate, split_rows(job, cells), outcome)
    except (ValueError, KeyError, AssertionError) as error:
        outcome.expect(False, "label", f"a cell or figure cannot be read ({type(error).__name__})")


def _check_files(job: Job, folder: Path, certificate: dict[str, Any], outcome: Outcome) -> None:
    """Exactly the files of a release, with their digests and rows."""
    names = sorted([f"published.{job.form}", *COMPANIONS.get(job.scheme, [])])
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    if job.engine == "spark":  # the table is a folder of parts
        names = [name for name in found if name.startswith(f"{names[0]}/")] + names[1:]
    further = ["certificate.json", *(["certificate.sig"] if job.is_signed else [])]
    outcome.expect(found == sorted([*names, *further]), "file", "other files in the folder")
    if job.is_signed and "certificate.sig" in found:
        outcome.expect(is_signed(folder), "file", "a signature that is none")
    outcome.expect(sorted(certificate["files"]) == names, "figure", "files")
    for name, facts in certificate["files"].items():
        digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        outcome.expect(facts["sha256"] == digest, "figure", "a digest")
        is_whole = name.startswith("published") and "/" not in name  # read below; parts of it are read here
        n_rows = job.n_rows if is_whole else len(read_table(folder / name)[1])
        outcome.expect(facts["rows"] == n_rows and len(facts) == 2, "figure", "rows of a file")


def is_signed(folder: Path) -> bool:
    """Whether the certificate is signed by the key that is named beside it."""
    signed = json.loads((folder / "certificate.sig").read_text(encoding="utf-8"))
    public = base64.b64decode(signed["public_key"])
    if signed["algorithm"] != "ed25519" or len(signed) != 4:
        return False
    try:
        content = SIGNED + (folder / "certificate.json").read_bytes()
        Ed25519PublicKey.from_public_bytes(public).verify(base64.b64decode(signed["signature"]), content)
    except InvalidSignature:
        return False
    return True


def expected_header(job: Job) -> list[str]:
    """The published columns in their order."""
    names = [column.name for column in job.columns]
    secrets = [] if job.scheme == "baseline" else [column.name for column in job.secrets]
    return [*names, *secrets, *(column.name for column in job.kept)]


def protected(job: Job, column: Column, text: str | None) -> Any:
    """What a published cell of a sensitive or kept column stands for."""
    is_text = job.is_text or column.kind not in ORDERED
    return text if text is None or is_text else read(column.kind, text)


def split_rows(job: Job, cells: Sequence[Sequence[str | None]]) -> list[Row]:
    """Labels, sensitive value and kept cells of each published row."""
    rows: list[Row] = []
    for line in cells:
        labels, rest = line[: len(job.columns)], list(line[len(job.columns) :])
        secrets = tuple(protected(job, column, rest.pop(0)) for column in job.secrets)
        kept = tuple(protected(job, column, rest.pop(0)) for column in job.kept)
        rows.append((tuple(labels), secrets if len(secrets) > 1 else secrets[0], kept))
    return rows


def original_rows(job: Job) -> list[tuple[tuple[Any, ...], Any, tuple[Any, ...]]]:
    """The same of the table: values, sensitive value, kept cells."""
    points = zip(*(column.keys for column in job.columns), strict=True)
    secrets = list(zip(*(job.protected_keys(column) for column in job.secrets), strict=True))
    values = secrets if len(job.secrets) > 1 else [value for (value,) in secrets]
    kept = zip(*(job.protected_keys(column) for column in job.kept), strict=True) if job.kept else [()] * job.n_rows
    return list(zip(points, values, kept, strict=True))


def _check_classes(job: Job, certificate: dict[str, Any], rows: list[Row], outcome: Outcome) -> None:
    before = original_rows(job)
    is_kept = Counter((value, kept) for _, value, kept in rows) == Counter((value, kept) for _, value, kept in before)
    if not outcome.expect(is_kept, "rows", "sensitive values or kept cells are not conserved"):
        return
    scales = [Scale(column) for column in job.columns]
    covers = [{label: scale.cover(label) for label in {row[0][i] for row in rows}} for i, scale in enumerate(scales)]
    is_proper = all(cover.is_proper for of_column in covers for cover in of_column.values())
    outcome.expect(is_proper, "label", "a label is no value, range or node of its column")
    fitting = _check_matching(scales, covers, rows, before, outcome)
    numbers = {labels: number for number, labels in enumerate(dict.fromkeys(row[0] for row in rows))}
    code = job.truth.code
    matrix = np.zeros((len(numbers), len(code)), dtype=np.int64)
    for labels, value, _ in rows:
        matrix[numbers[labels], code[value]] += 1
    promise = fitted(job, certificate, outcome)
    judged = judge(matrix, job.truth.secret, promise)
    outcome.bounds += judged.compared
    outcome.expect(judged.broken == 0, "promise", f"{judged.broken} bounds of {promise.model} broken")
    figures.check_classes(job, certificate, scales, covers, list(numbers), matrix, judged, outcome)
    needs: dict[Any, int] = Counter((numbers[labels], (value, kept)) for labels, value, kept in rows)
    around = {group: sorted({numbers[labels] for labels in found}) for group, found in fitting.items()}
    candidates = [around[row] for row in before]
    check_people(job, certificate, promise, [row[1:] for row in before], candidates, needs, outcome)


def _check_matching(
    scales: list[Scale],
    covers: list[dict[Label, Cover]],
    rows: list[Row],
    before: list[tuple[tuple[Any, ...], Any, tuple[Any, ...]]],
    outcome: Outcome,
) -> dict[Any, list[tuple[Label, ...]]]:
    """Published rows go one to one to original rows with the same sensitive value whose values their labels cover.

    Returns the labels of published rows that each original row fits.
    """
    groups = list(Counter(before).items())
    having: list[list[int]] = [[0] * len(scale.values) for scale in scales]  # groups with each value, as bits
    of_rest: dict[Any, int] = {}
    for number, ((point, value, kept), _) in enumerate(groups):
        for i, scale in enumerate(scales):
            having[i][scale.place[point[i]]] |= 1 << number
        of_rest[value, kept] = of_rest.get((value, kept), 0) | 1 << number
    under = [
        {label: _union(having[i], cover.bits) for label, cover in of_column.items()}
        for i, of_column in enumerate(covers)
    ]
    demands = Counter(rows)
    allowed = []
    for labels, value, kept in demands:
        bits = of_rest[value, kept]
        for i, label in enumerate(labels):
            bits &= under[i][label]
        allowed.append(bits)
    missing = unmatched([n for _, n in groups], list(demands.values()), allowed)
    outcome.expect(missing == 0, "label", f"{missing} rows match no original row")
    fitting: dict[Any, list[tuple[Label, ...]]] = {row: [] for row, _ in groups}
    for (labels, _, _), bits in zip(demands, allowed, strict=True):
        while bits:
            fitting[groups[(bits & -bits).bit_length() - 1][0]].append(labels)
            bits &= bits - 1
    return fitting


def _union(having: list[int], bits: int) -> int:
    found = 0
    for place, groups in enumerate(having):
        if bits >> place & 1:
            found |= groups
    return found


def fitted(job: Job, certificate: dict[str, Any], outcome: Outcome) -> Promise:
    """The promise as the certificate must state it, with what was left to the table decided."""
    promise, told = job.promise, certificate["promise"]
    parameters = dict(promise.parameters)
    if promise.model == "delta-disclosure" and promise.beta is not None:
        parameters["delta"] = told["parameters"]["delta"]
        figures.check_delta(job, parameters["delta"], outcome)
    if promise.is_likeness and (parameters.get("groups") or parameters.get("width")):
        parameters.setdefault("with_values", False)
    if job.truth.secret.codes is not None:
        parameters["columns"] = list(job.truth.secret.columns)
    beta = None if promise.model == "delta-disclosure" else promise.beta
    outcome.expect(told["parameters"] == parameters, "figure", "promise.parameters")
    outcome.expect(told["beta"] == beta and told["k"] == promise.k, "figure", "promise.beta or promise.k")
    outcome.expect(told["model"] == figures.full_name(job), "figure", "promise.model")
    return Promise(promise.model, beta, promise.k, parameters, promise.cap)
