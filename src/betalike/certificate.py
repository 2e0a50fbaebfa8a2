"""The certificate: what was promised, what was measured on the written files, and what the files are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from betalike.errors import CertificateError

FILE_NAME = "certificate.json"


class Tool(msgspec.Struct, frozen=True):
    """What made the release."""

    name: str
    version: str


class Promise(msgspec.Struct, frozen=True):
    """The promise and how near the worst class, or the most telling published value, comes to it."""

    model: str
    beta: float | None
    k: int
    holds: bool
    worst_gain: float
    worst_ratio: float
    parameters: dict[str, bool | float | str | list[str]] = {}
    hierarchy: list[list[str]] = []
    caps: dict[str, str] = {}


class Scheme(msgspec.Struct, frozen=True):
    """The scheme that made the release."""

    name: str
    details: dict[str, Any] = {}


class Column(msgspec.Struct, frozen=True):
    """How a quasi-identifier was generalized; with it, anybody can compute the loss and answer queries from labels."""

    name: str
    kind: str
    weight: float
    domain: tuple[str, str] | None = None
    leaves: int | None = None
    leaves_under: dict[str, int] = {}
    hierarchy: list[list[str]] = []
    has_missing: bool = False


class TableFacts(msgspec.Struct, frozen=True):
    """The table that was published, without any of its cells."""

    rows: int
    quasi_identifiers: list[str]
    sensitive: str
    kept: list[str]
    columns: list[Column]
    sensitive_columns: list[str] = []


class ReleaseFacts(msgspec.Struct, frozen=True):
    """What was published, counted from what was written; classes formed with the same labels are one class there.

    Null where rows stay exact and no classes are formed.
    """

    rows: int
    classes: int | None
    formed_classes: int | None
    smallest_class: int | None
    average_loss: float
    loss: dict[str, float]
    layout: str
    spreadsheet_safe: bool = False


class Levels(msgspec.Struct, frozen=True):
    """What the release reaches under other promises; null where it is infinite, or needs classes and there are none."""

    k: int | None
    distinct_l: int | None
    l: float  # noqa: E741 - the name that everybody uses
    average_l: float | None
    t: float
    average_t: float | None
    t_ground: str
    basic_beta: float | None
    enhanced_beta: float | None
    delta: float | None


class PublishedFile(msgspec.Struct, frozen=True):
    """A file of the release."""

    sha256: str
    rows: int


class Certificate(msgspec.Struct, frozen=True):
    """Everything that a reader needs to check a release; no seed, no path, no original cell."""

    tool: Tool
    promise: Promise
    scheme: Scheme
    table: TableFacts
    release: ReleaseFacts
    also: Levels
    prior: dict[str, float]
    prior_counts: dict[str, int]
    randomness: str
    files: dict[str, PublishedFile]
    seconds: dict[str, float]
    warnings: list[str] = []

    def to_dict(self) -> dict[str, Any]:
        """The certificate as plain Python values, in the form of the file."""
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return plain

    def to_json(self) -> bytes:
        """The content of certificate.json."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


def certificate_from_dict(content: Mapping[str, Any]) -> Certificate:
    """A certificate from plain Python values."""
    try:
        return msgspec.convert(dict(content), Certificate)
    except msgspec.ValidationError as error:
        raise CertificateError(f"this is not a certificate that this version of betalike reads: {error}.") from error


def published_name(certificate: Certificate) -> str | None:
    """The published table of a release: a file, or a folder of files."""
    names = [Path(name).parts[0] for name in certificate.files if name.startswith("published.")]
    return names[0] if names else None


def protected_columns(certificate: Certificate) -> list[str]:
    """The sensitive columns of a release; mostly one."""
    return certificate.table.sensitive_columns or [certificate.table.sensitive]


def rows_told(certificate: Certificate) -> dict[str, int]:
    """How many rows each table of a release has; the files of a folder count together."""
    rows: dict[str, int] = {}
    for name, facts in certificate.files.items():
        table = Path(name).parts[0]
        rows[table] = rows.get(table, 0) + facts.rows
    return rows


def file_of(folder: Path, name: str) -> Path:
    """Where a file that a certificate names is; never outside the folder, whatever the name."""
    parts = Path(name).parts
    is_part = len(parts) == 2 and parts[0] == "published.parquet" and parts[1] not in ("..", ".")
    return folder / parts[0] / parts[1] if is_part else folder / Path(name).name


def read_certificate(path: Path) -> Certificate:
    """Read a certificate from its file or from the folder of its release."""
    path = path / FILE_NAME if path.is_dir() else path
    try:
        return msgspec.json.decode(path.read_bytes(), type=Certificate)
    except FileNotFoundError as error:
        raise CertificateError(
            f"there is no certificate '{path}'; without it this is not a release of ours."
        ) from error
    except OSError as error:
        raise CertificateError(f"the certificate '{path}' cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CertificateError(
            f"'{path}' is not a certificate that this version of betalike reads: {error}."
        ) from error
