"""The table of an audit: a frame, a file, a release folder, or what `publish` returned."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from betalike.errors import FileError
from betalike.io.copies import is_folder
from betalike.io.tables import Frame, is_path, read_text
from betalike.queries.release import Release, read_release_text
from betalike.release.audit import refuse_exact
from betalike.release.certificate import FILE_NAME, AnyCertificate, Certificate, read_if_certified
from betalike.release.folder import holds_release


@dataclass(frozen=True)
class AuditedTable:
    """A published table as text, its own certificate if it has one, and one that gives the prior."""

    frame: pl.DataFrame
    own: Certificate | None
    known: AnyCertificate | None


def read_audited(table: Frame, known: AnyCertificate | None, has_original: bool, delimiter: str | None) -> AuditedTable:
    """Read the table of an audit; refuse a release without classes."""
    own = None
    if isinstance(table, Release):
        own = table.facts
        if known is None and not has_original:
            known = own
        table = table.frame
    if is_path(table) and (Path(table) / FILE_NAME).is_file():
        own = read_if_certified(Path(table))
    elif is_path(table) and is_folder(table) and not holds_release(Path(table)):
        raise FileError(f"'{table}' is a folder without a release; name a file, or a folder that holds one.")
    refuse_exact(own)
    frame = read_release_text(table, known) if is_path(table) else None
    return AuditedTable(read_text(table, None, (), delimiter) if frame is None else frame, own, known)
