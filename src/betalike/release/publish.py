"""From a job to a verified release: make its rows, write them, count again what was written, and only then publish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from betalike.engines.engine import Engine, ExactRecount, Format, Layout, PartsRecount, Recount
from betalike.io.spreadsheet import is_formula
from betalike.promises import Transition
from betalike.release.certificate import FILE_NAME, Certificate, PublishedFile
from betalike.release.certify import Particulars, certify
from betalike.release.drafts import Draft, Job, PerturbedDraft, make_draft
from betalike.release.folder import check_free, sha256_of, staged
from betalike.release.signatures import SIGNATURE_FILE, Sign
from betalike.release.verification import Verified
from betalike.runtime.progress import Stopwatch

__all__ = [
    "Engine",
    "ExactRecount",
    "Format",
    "Job",
    "Layout",
    "PartsRecount",
    "Published",
    "Recount",
    "Stopwatch",
    "Verified",
    "publish_in_memory",
    "publish_to_folder",
    "written_form",
]


@dataclass(frozen=True)
class Published:
    """A published release: its rows, its proof, its certificate, and the matrix that it was perturbed with, if any."""

    rows: Any
    verified: Verified
    certificate: Certificate
    transition: Transition | None = None


def written_form(certificate: Certificate, path: Path) -> Format:
    """The form of the published file of a release."""
    if path.suffix == ".parquet":
        return Format.PARQUET
    return Format.SPREADSHEET if certificate.release.spreadsheet_safe else Format.CSV


def publish_in_memory(engine: Engine, job: Job, watch: Stopwatch) -> Published:
    """Make and verify a release that stays in memory."""
    draft = make_draft(engine, job, watch)
    with watch.step("verify"):
        verified = draft.verify(None, None)
    return _published(draft, verified, engine, job, {}, watch)


def publish_to_folder(
    engine: Engine,
    job: Job,
    folder: Path,
    force: bool,
    watch: Stopwatch,
    inputs: Sequence[Path] = (),
    sign: Sign | None = None,
) -> Published:
    """Make a release, write it under a temporary name, verify what was written, sign it, and move it into place.

    None of the files that are read for it, the `inputs`, is replaced.
    """
    check_free(folder, force, inputs)
    draft = make_draft(engine, job, watch)
    name = f"published.{job.form.ending}"
    with staged(folder, lambda: check_free(folder, force, inputs)) as staging:
        with watch.step("write"):
            formulas = engine.write(draft.rows, staging / name, job.form)
            companions = draft.write_companions(staging)
            if companions and not job.form.is_safe and any(map(is_formula, engine.sensitive_labels)):
                formulas.append(draft.outline.sensitive.name)
        with watch.step("verify"):
            verified = draft.verify(staging, staging / name)
            rows = {**engine.rows_of_files(staging / name, verified.audit.rows), **companions}
            files = {file: PublishedFile(sha256_of(staging / file), n_rows) for file, n_rows in rows.items()}
        published = _published(draft, verified, engine, job, files, watch, tuple(sorted({*formulas})))
        content = published.certificate.to_json()
        if sign is not None:
            (staging / SIGNATURE_FILE).write_bytes(sign(content))
        (staging / FILE_NAME).write_bytes(content)
        watch.progress.start("publish")
    return published


def _published(
    draft: Draft,
    verified: Verified,
    engine: Engine,
    job: Job,
    files: dict[str, PublishedFile],
    watch: Stopwatch,
    formulas: tuple[str, ...] = (),
) -> Published:
    is_seeded = job.scheme.randomness.is_seeded
    particulars = Particulars(
        job.scheme.name,
        draft.model,
        is_seeded,
        job.layout,
        job.kept,
        is_spreadsheet_safe=job.form.is_safe,
        formulas=formulas,
        **draft.details,
    )
    labels = engine.sensitive_labels
    certificate = certify(verified, draft.outline, labels, particulars, files, dict(watch.seconds))
    transition = draft.perturbing.transition if isinstance(draft, PerturbedDraft) else None
    return Published(draft.rows, verified, certificate, transition)
