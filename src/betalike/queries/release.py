"""What `publish` returns: a verified release."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from betalike.engines.choice import EngineChoice
from betalike.engines.engine import Format
from betalike.engines.streams import scan_release
from betalike.errors import CertificateError, FileError, ParameterError
from betalike.io.frames import to_polars
from betalike.io.inputs import is_path
from betalike.queries.answer import Answer
from betalike.queries.open_release import OpenRelease, open_folder, open_frame
from betalike.release.certificate import (
    FILE_NAME,
    certificate_from_dict,
    choose_certificate,
    published_name,
    read_certificate,
    written_form,
)
from betalike.release.checks import is_exact
from betalike.release.verification import Verified


@dataclass(frozen=True)
class Release:
    """A verified release: `frame` is of the kind that came in, `certificate` is the content of certificate.json.

    `transition` is for the scheme perturb alone: the chance of each published value, given the original one. `engine`
    tells what carried the rows, and why. Out of core, `frame` is a lazy frame of what was written.
    """

    frame: Any
    certificate: dict[str, Any]
    folder: Path | None
    verified: Verified
    worst_value: str
    transition: dict[str, dict[str, float]] | None = None
    engine: EngineChoice | None = None

    def count(self, predicate: str, *, method: str | None = None, confidence: float = 0.95) -> Answer:
        """Estimate, from what is published alone, how many rows of the table satisfy a predicate."""
        return self._opened.count(predicate, method=method, confidence=confidence)

    @cached_property
    def _opened(self) -> OpenRelease:
        if self.folder is not None:
            return open_folder(self.folder, read_certificate(self.folder), {})
        matrix = None if self.transition is None else np.array([list(row.values()) for row in self.transition.values()])
        return open_frame(to_polars(self.frame), certificate_from_dict(self.certificate), {}, matrix)


def read_release_text(table: str | Path, certificate: str | Path | Mapping[str, Any] | None) -> pl.DataFrame | None:
    """The cells of a spreadsheet-safe release as they were before; None if the table is none, as far as is known.

    The certificate in the folder says so, or the given one. Such a file is read as it was written: its leading `'`
    could be taken for quotes.
    """
    path, facts = Path(table), None
    with contextlib.suppress(CertificateError):
        if (path / FILE_NAME).is_file():
            facts = read_certificate(path)
            path = path / (published_name(facts) or "")
    if facts is None and certificate is not None:
        facts = choose_certificate(certificate)
    if facts is None or not path.is_file() or not written_form(facts, path).is_safe:
        return None
    try:
        return scan_release(path, Format.SPREADSHEET).collect()
    except (pl.exceptions.PolarsError, OSError) as error:  # its message may show cells of the table
        raise FileError(f"'{path}' cannot be read as the CSV file of a release.") from error


def folder_of(release: Any) -> Path:
    """The folder of a release that is given by its path or by what `publish` returned."""
    if is_path(release):
        return Path(release)
    if not isinstance(release, Release):
        raise ParameterError(
            f"a release is given as {type(release).__name__}; name its folder, or pass what publish() returned."
        )
    if release.folder is None:
        raise ParameterError(
            "this release has no folder, for it was published without `out`: it stays in memory, where it was verified "
            "when it was made. Publish it with out=DIR, and pass the release or that folder."
        )
    return release.folder


def refuse_without_classes(release: Release) -> None:
    """Refuse to measure the classes of a release that keeps its promise without any."""
    if is_exact(certificate_from_dict(release.certificate)):
        raise CertificateError(
            f"this is a release by the scheme '{release.certificate['scheme']['name']}', which keeps its promise "
            "without classes, so an audit of classes says nothing about it. Check it with verify()."
        )
