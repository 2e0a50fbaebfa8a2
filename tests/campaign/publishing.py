"""Publishing a job through files with betalike, and asking betalike to verify it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import betalike

from .jobs import Column, Job
from .storing import make_table, source_options, standard_input

KEY, PUBLIC_KEY = "table.key", "table.key.pub"


def publish(job: Job, place: Path) -> tuple[Path, Any]:
    """Publish a job into a folder under a place; the folder and the table as it was given."""
    table = make_table(job, place)
    out = place / "release"
    if job.is_signed:
        _make_keys(place)
    with standard_input(job, place):
        betalike.publish(table, out=out, **arguments(job, place))
    return out, table


def _make_keys(place: Path) -> None:
    """Write a pair of keys, the private one for its owner alone."""
    key, pem = Ed25519PrivateKey.generate(), serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    (place / KEY).touch(0o600)
    (place / KEY).write_bytes(private)
    (place / PUBLIC_KEY).write_bytes(public)


def verify(job: Job, out: Path, table: Any) -> dict[str, bool]:
    """Each check of betalike's own verifier, with the original."""
    given: dict[str, Any] = {"missing": [job.missing_text] if job.missing_text else []}
    given["delimiter"] = job.delimiter if job.is_text else None
    given["signed_by"] = out.parent / PUBLIC_KEY if job.is_signed else None
    with standard_input(job, out.parent):
        return betalike.verify(out, original=table, **given, **source_options(job)).to_dict()["checks"]


def arguments(job: Job, place: Path) -> dict[str, Any]:
    """What `publish` is given besides the table."""
    promise, named = job.promise, [*job.columns, *job.secrets]
    trees = {column.name: column.tree for column in named if column.tree is not None}
    wishes: dict[str, Any] = {"beta": promise.beta, "k": promise.k, **promise.parameters}
    if promise.cap is not None:
        wishes["cap"] = promise.cap
    else:
        wishes["promise"] = promise.model
    return {
        "quasi_identifiers": [column.name for column in job.columns],
        "sensitive": [column.name for column in job.secrets] if len(job.secrets) > 1 else job.secrets[0].name,
        "keep": [column.name for column in job.kept],
        "keep_identifiers": True,
        "scheme": job.scheme,
        "options": job.options,
        "hierarchies": trees,
        "kinds": {column.name: kind for column in job.columns if (kind := _kind(job, column)) is not None},
        "domains": {c.name: _ends(c) for c in job.columns if c.domain is not None},
        **{word: _round_ends(job, word) for word in ("round", "bottom", "top")},
        "weights": {column.name: column.weight for column in job.columns},
        "missing": [job.missing_text] if job.missing_text else [],
        "missing_sensitive": "value" if any(None in column.cells for column in job.secrets) else "error",
        "format": job.form,
        "engine": "batches" if job.in_batches else job.engine,
        "memory": "512MB" if job.in_batches else None,
        "seed": job.seed if job.is_seeded else None,
        "delimiter": job.delimiter if job.is_text else None,
        "person": None if job.person is None else job.person.name,
        "bins": {} if job.bins is None else {job.secrets[0].name: job.bins},
        "dates": job.dates,
        "sign": place / KEY if job.is_signed else None,
        **source_options(job),
        **wishes,
    }


def _kind(job: Job, column: Column) -> str | None:
    """The kind, where values could be taken for another: text in a CSV file, whole numbers among reals."""
    if column.tree is not None:
        return None
    if column.is_categorical:
        return "categorical" if column.kind in ("text", "real") else None
    return column.kind


def _ends(column: Column) -> tuple[Any, Any]:
    assert column.domain is not None
    return tuple(str(end) for end in column.domain) if column.kind == "date" else column.domain


def _round_ends(job: Job, word: str) -> dict[str, Any]:
    found = {column.name: getattr(column.ends, word) for column in job.columns if column.ends is not None}
    return {name: value for name, value in found.items() if value is not None}
