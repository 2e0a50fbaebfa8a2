"""Publish a table in seven steps: count, plan, assign, write, verify, certify, and move into place.

Nothing is moved into place before it was verified as written. `release.routes` has what differs between schemes and
engines.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from betalike.engines.engine import Engine
from betalike.engines.streams import rows_of_files
from betalike.promises import fit
from betalike.release.certificate import FILE_NAME, BinnedFacts, Certificate, PublishedFile, Scheme
from betalike.release.certify import certify
from betalike.release.folder import check_free, sha256_of, staged
from betalike.release.routes import Draft, Job, route_of
from betalike.release.signatures import SIGNATURE_FILE, Sign
from betalike.release.verify import Verified
from betalike.runtime.progress import Stopwatch
from betalike.schemes import Perturbing, compile_kernels

__all__ = ["Job", "Published", "publish"]


@dataclass(frozen=True)
class Published:
    """A release that was verified and certified, and is in its folder if it has one."""

    rows: Any
    verified: Verified
    certificate: Certificate
    perturbing: Perturbing | None = None


def publish(
    engine: Engine,
    job: Job,
    watch: Stopwatch,
    folder: Path | None = None,
    force: bool = False,
    inputs: Sequence[Path] = (),
    sign: Sign | None = None,
) -> Published:
    """Publish a table to a folder, or in memory if there is none.

    With `force`, an older release in the folder is replaced. The `inputs`, files that are read, never are.
    """
    compile_kernels(job.scheme)
    with watch.step("count"):
        route = route_of(engine, job)  # which depends on how many cells there are
        table = route.count()
        promise = fit(job.model, table.value_counts, table.sensitive)
    with watch.step("plan"):
        plan = route.plan(table, promise, watch.progress)
    with watch.step("assign"):
        rows, trace = route.rows_of(plan, promise)
    draft = Draft(table, promise, plan, rows, trace)
    with _staging(folder, force, inputs) as staging:
        path, formulas, n_rows = None, set[str](), dict[str, int]()
        if staging is not None:
            path = staging / f"published.{job.form.ending}"
            with watch.step("write"):
                formulas, n_rows = route.write(draft, path)
        with watch.step("verify"):
            verified = route.count_singled_out(draft, path, route.verify(draft, path))
            files = {} if path is None else _describe_files(path, rows_of_files(path, verified.audit.rows) | n_rows)
        details, formed_classes = route.details(draft)
        certificate = certify(
            verified,
            table,
            engine.sensitive_labels,
            promise,
            scheme=Scheme(job.scheme.name, details),
            formed_classes=formed_classes,
            kept=job.kept,
            is_seeded=job.scheme.randomness.is_seeded,
            formulas=sorted(formulas),
            files=files,
            seconds=dict(watch.seconds),
            binned=[BinnedFacts(name, each.kind, each.dates) for name, each in engine.ranges.items()],
        )
        if staging is not None:
            _write_certificate(staging, certificate, sign)
            watch.progress.start("publish")
    return Published(rows, verified, certificate, plan if isinstance(plan, Perturbing) else None)


@contextlib.contextmanager
def _staging(folder: Path | None, force: bool, inputs: Sequence[Path]) -> Iterator[Path | None]:
    """Give a folder to write into, which is moved into place at the end; None for a release in memory."""
    if folder is None:
        yield None
        return
    check_free(folder, force, inputs)
    with staged(folder, lambda: check_free(folder, force, inputs)) as staging:
        yield staging


def _describe_files(path: Path, n_rows: dict[str, int]) -> dict[str, PublishedFile]:
    return {name: PublishedFile(sha256_of(path.parent / name), rows) for name, rows in n_rows.items()}


def _write_certificate(staging: Path, certificate: Certificate, sign: Sign | None) -> None:
    content = certificate.to_json()
    if sign is not None:
        (staging / SIGNATURE_FILE).write_bytes(sign(content))
    (staging / FILE_NAME).write_bytes(content)
