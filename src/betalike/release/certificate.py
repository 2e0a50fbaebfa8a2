"""The certificate: what was promised, what was measured on the written files, and what the files are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec

from betalike.engines.engine import Format
from betalike.errors import CertificateError
from betalike.promises.parameters import LARGEST_COUNT
from betalike.table.schema import DateOrder, Kind

FILE_NAME = "certificate.json"
LONGEST_LINE = 120  # of a list of texts or numbers
TABLES = ("csv", "parquet", "xlsx", "sav", "dta")  # how the name of a published table ends
EARLIER = ("spreadsheet_safe", "layout")  # of `release` in certificates of version 0.2; they say nothing any more
RELEASED = re.compile(
    rf"published\.({'|'.join(TABLES)})|transition\.csv|sensitive\.csv|published\.parquet/[\w-][\w.-]{{,200}}"
)
Whole = Annotated[int, msgspec.Meta(ge=-LARGEST_COUNT, le=LARGEST_COUNT)]
KINDS = frozenset(Kind) - {Kind.NUMERIC}  # a release has one of the kinds of numbers


class Tool(msgspec.Struct, frozen=True):
    """What made the release."""

    name: str
    version: str


class PromiseFacts(msgspec.Struct, frozen=True):
    """The promise and how near the worst class, or the published value that gives away most, comes to it."""

    model: str
    beta: float | None
    k: Whole
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


class ColumnFacts(msgspec.Struct, frozen=True):
    """How a quasi-identifier was generalized: enough to compute the loss and to answer queries from labels."""

    name: str
    kind: str
    weight: float
    domain: tuple[str, str] | None = None
    leaves: Whole | None = None
    leaves_under: dict[str, Whole] = {}
    hierarchy: list[list[str]] = []
    has_missing: bool = False
    round: str | None = None
    bottom: str | None = None
    top: str | None = None
    dates: DateOrder | None = None  # in the original, where that is not clear


class BinnedFacts(msgspec.Struct, frozen=True):
    """A sensitive column whose values were replaced with ranges of about as many rows each."""

    name: str
    kind: str
    dates: DateOrder | None = None


class TableFacts(msgspec.Struct, frozen=True):
    """The table that was published, without any of its cells."""

    rows: Whole
    quasi_identifiers: list[str]
    sensitive: str
    kept: list[str]
    columns: list[ColumnFacts]
    sensitive_columns: list[str] = []
    binned: list[BinnedFacts] = []


class ReleaseFacts(msgspec.Struct, frozen=True):
    """What was published, counted from what was written; classes with the same labels count as one.

    Null if rows stay exact and no classes are formed.
    """

    rows: Whole
    classes: Whole | None
    formed_classes: Whole | None
    smallest_class: Whole | None
    average_loss: float
    loss: dict[str, float]


class Levels(msgspec.Struct, frozen=True):
    """What the release reaches under every promise: figures of an `Audit`, by the same names.

    Null where a figure is infinite, or needs classes and there are none.
    """

    k: Whole | None
    distinct_l: Whole | None
    l: float  # noqa: E741 - the name that everybody uses
    average_l: float | None
    t: float
    average_t: float | None
    t_ground: str
    basic_beta: float | None
    enhanced_beta: float | None
    delta: float | None


class RiskFacts(msgspec.Struct, frozen=True):
    """Risks of the people in the release, by the names of `Risk`; null where they need classes and there are none."""

    surest_guess: float
    near_promise: Whole | None
    prosecutor_maximum: float | None
    prosecutor_average: float | None
    above: dict[str, float] | None
    unique: float | None


class PeopleRiskFacts(msgspec.Struct, frozen=True):
    """Risks in people, by the names of `PeopleRisk`."""

    surest_guess: float
    prosecutor_maximum: float
    prosecutor_average: float
    above: dict[str, float]
    unique: float


class PeopleFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was counted in people, if a column names the person of each row; only the original table can show it.

    `prior_counts` says how many people have each value in one of their rows, so they may add up to more than `people`.
    """

    column: str
    people: Whole
    holds: bool
    worst_gain: float
    smallest_class: Whole
    prior_counts: dict[str, Whole]
    caps: dict[str, str] = {}
    risk: PeopleRiskFacts


class KeptFacts(msgspec.Struct, frozen=True):
    """How many rows share their kept cells with no other row: these alone, and these with what their class shows."""

    singled_out: Whole
    singled_out_with_classes: Whole


class PublishedFile(msgspec.Struct, frozen=True):
    """A file of the release."""

    sha256: str
    rows: Whole


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a reader needs to check a release; no seed, no path, no original cell."""

    tool: Tool
    promise: PromiseFacts
    scheme: Scheme
    table: TableFacts
    release: ReleaseFacts
    also: Levels
    risk: RiskFacts
    prior: dict[str, float]
    prior_counts: dict[str, Whole]
    randomness: str
    files: dict[str, PublishedFile]
    seconds: dict[str, float]
    people: PeopleFacts | None = None
    kept: KeptFacts | None = None  # null if no column is kept; a certificate of an earlier version has none
    warnings: list[str] = []

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, in the form of the file."""
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return plain

    def to_json(self) -> bytes:
        """Return the content of certificate.json: a short list of texts or numbers is on one line."""
        return "".join(_lines(self.to_dict(), "\n")).encode() + b"\n"


def _lines(plain: Any, margin: str) -> Iterator[str]:
    """Yield the pieces of a JSON document; `margin` begins a line."""
    is_deep = isinstance(plain, dict) or (isinstance(plain, list) and any(isinstance(e, list | dict) for e in plain))
    whole = "" if is_deep and plain else json.dumps(plain, ensure_ascii=False)
    if whole and not (isinstance(plain, list) and len(plain) > 1 and len(whole) > LONGEST_LINE):
        yield whole
        return
    is_named = isinstance(plain, dict)
    names = [f"{json.dumps(name, ensure_ascii=False)}: " for name in plain] if is_named else [""] * len(plain)
    yield "{" if is_named else "["
    for number, (name, entry) in enumerate(zip(names, plain.values() if is_named else plain, strict=True)):
        yield f"{',' if number else ''}{margin}  {name}"
        yield from _lines(entry, f"{margin}  ")
    yield margin + ("}" if is_named else "]")


AnyCertificate = Certificate | str | Path | Mapping[str, Any]  # as it was read, its file, or its content


def _checked(certificate: Certificate, is_strict: bool = False) -> Certificate:
    """Refuse what cannot be read: columns named twice or not at all, too many rows, unknown kinds.

    A strict check allows values without rows and columns without facts, so that `verify` can report what else is wrong.
    """
    table = certificate.table
    if not table.quasi_identifiers:
        raise ValueError("it names no quasi-identifiers")
    if len({*table.quasi_identifiers, table.sensitive}) <= len(table.quasi_identifiers):
        raise ValueError("it names a column twice")
    if not is_strict and [column.name for column in table.columns] != table.quasi_identifiers:
        raise ValueError("the columns that it describes are not the quasi-identifiers")
    if sum(map(abs, certificate.prior_counts.values())) > LARGEST_COUNT:
        raise ValueError("the sensitive values have more rows than can be counted")
    if not is_strict and min(certificate.prior_counts.values(), default=0) < 1:
        raise ValueError("a sensitive value has no rows, or there is none")
    for column in certificate.table.columns:
        if column.kind not in KINDS:
            raise ValueError("a column is of a kind that does not exist")
        if column.dates is not None and column.kind not in (Kind.DATE, Kind.DATETIME):
            raise ValueError("a column has an order of dates, but no dates")
    return certificate


def published_name(certificate: Certificate) -> str | None:
    """Return the name of the published table: a file, or a folder of files."""
    names = [Path(name).parts[0] for name in certificate.files if name.startswith("published.")]
    return names[0] if names else None


def written_form(certificate: Certificate, path: Path) -> Format:
    """Return the file format of the published table."""
    if path.suffix == ".csv":
        return Format.CSV
    return Format(path.suffix.removeprefix("."))


def protected_columns(certificate: Certificate) -> list[str]:
    """Return the sensitive columns of a release; mostly one."""
    return certificate.table.sensitive_columns or [certificate.table.sensitive]


def file_of(folder: Path, name: str) -> Path | None:
    """Return the path of a file that a certificate names; None for a name that no release has."""
    return folder / name if RELEASED.fullmatch(name) else None


def read_certificate(path: Path) -> Certificate:
    """Read a certificate from its file or from the folder of its release."""
    return decode_certificate(read_content(path), path)


def read_if_certified(folder: Path) -> Certificate | None:
    """Read the certificate of a folder; None if it has none that can be read."""
    try:
        return read_certificate(folder)
    except CertificateError:
        return None


def read_content(path: Path) -> bytes:
    """Read the bytes of a certificate's file, as they are signed."""
    path = path / FILE_NAME if path.is_dir() else path
    try:
        if path.exists() and not path.is_file():
            raise CertificateError(f"the certificate '{path}' is not a regular file.")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise CertificateError(
            f"there is no certificate '{path}'; without it this is not a betalike release."
        ) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise CertificateError(f"the certificate '{path}' cannot be read: {reason}.") from error


def decode_certificate(content: bytes, path: Path | str, is_strict: bool = False) -> Certificate:
    """Return the certificate in a file; a name that occurs twice is an error, because readers could differ.

    A later version may say more. Readers ignore that; `is_strict` refuses it: a check must not overlook anything.
    """
    try:
        certificate = msgspec.json.decode(content, type=Certificate)
        plain = json.loads(content, object_pairs_hook=_once)
        _leave_out_earlier(plain["release"])
        if is_strict and (unknown := next(_unknown_names(plain, certificate.to_dict()), None)) is not None:
            raise ValueError(f"it has a field {unknown[:80]!r}, which this version cannot check")
        return _checked(certificate, is_strict)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise CertificateError(
            f"'{path}' is not a certificate that this version of betalike reads: {reason}."
        ) from error


def _leave_out_earlier(release: dict[str, Any]) -> None:
    """Leave out fields of version 0.2; refuse a table that it wrote in a form that is not read any more."""
    if release.get("spreadsheet_safe"):
        raise ValueError("version 0.2 changed cells of its table for spreadsheets; verify it with that version")
    if release.get("layout", "labels") != "labels":
        raise ValueError("version 0.2 wrote each range of its table in two columns; verify it with that version")
    for name in EARLIER:
        release.pop(name, None)


def _unknown_names(plain: object, known: object) -> Iterator[str]:
    """Yield the names in a certificate's file that are not in the certificate that was read from it."""
    if isinstance(plain, dict) and isinstance(known, dict):
        for name, value in plain.items():
            if name not in known:
                yield name
            else:
                yield from _unknown_names(value, known[name])
    elif isinstance(plain, list) and isinstance(known, list):
        for value, other in zip(plain, known, strict=True):
            yield from _unknown_names(value, other)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) < len(pairs):
        raise ValueError("a name occurs twice in it")
    return names


def choose_certificate(given: AnyCertificate) -> Certificate:
    """Return a certificate from its file or its content."""
    if isinstance(given, Certificate):
        return given
    if isinstance(given, str | Path):
        return read_certificate(Path(given))
    try:
        return decode_certificate(msgspec.json.encode(dict(given)), "the mapping")
    except (TypeError, ValueError) as error:  # what no certificate holds
        raise CertificateError(f"the mapping is not a certificate: {error}.") from error
