"""The files of a release folder: those that its certificate lists, and no others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from betalike.certificate import FILE_NAME, Certificate, file_of, published_name
from betalike.engines.streams import rows_of_files
from betalike.release_folder import sha256_of
from betalike.signatures import SIGNATURE_FILE

Check = Callable[[str, bool, str], bool]
# What may lie in the folder although no certificate lists it: notes for readers, and what systems leave behind.
NOTES = re.compile(r"(readme|license|licence|notice|copying|citation)(\.(md|txt|rst|html|pdf|cff))?", re.IGNORECASE)
LEFT_BY_SYSTEMS = {".gitignore", ".gitattributes", ".gitkeep", ".DS_Store", "Thumbs.db", "desktop.ini", "report.html"}
STAGING = re.compile(r"\..*\.betalike-[0-9a-f]{8}-\d+-[0-9a-f]{8}")  # of a publication that goes on, or was killed
MOST_NAMED = 5


@dataclass(frozen=True)
class Files:
    """The published table of a release and the digests of its files."""

    folder: Path
    published: str
    digests: dict[str, str]

    def rows(self, n_rows: int, n_values: int) -> dict[str, int]:
        """Return how many rows each file has; the files beside the table have a row for each sensitive value."""
        of_table = rows_of_files(self.folder / self.published, n_rows)
        return {name: of_table.get(name, n_values) for name in self.digests}


def check_files(folder: Path, certificate: Certificate, companion: str | None, check: Check) -> Files | None:
    """Check that the listed files are there, unchanged, and that no others are; None without a table to count.

    `companion` is the file that a release of this scheme has beside its table.
    """
    digests: dict[str, str] = {}
    for name, facts in certificate.files.items():
        path = file_of(folder, name)
        if not check(f"{name[:80]} exists", path is not None and path.is_file(), f"{name[:80]!r} is missing."):
            continue
        assert path is not None
        digests[name] = sha256_of(path)
        is_unchanged = digests[name] == facts.sha256
        check(f"{name} digest", is_unchanged, f"{name} was changed after it was published: its digest differs.")
    unlisted = sorted(set(_unlisted(folder, certificate)))
    named = ", ".join(unlisted[:MOST_NAMED]) + (", ..." if len(unlisted) > MOST_NAMED else "")
    check("files", not unlisted, f"the folder has files that the certificate does not list: {named}.")
    published = published_name(certificate)
    tables = {name.split("/")[0] for name in certificate.files if name.startswith("published.")}
    others = [name for name in certificate.files if not name.startswith("published.")]
    check(
        "files", others == [companion][: companion is not None], "the files are not those of a release of its scheme."
    )
    if published is None or len(tables) > 1 or not (folder / published).exists():
        check("published", False, "there is no published table to check, or more than one.")
        return None
    if set(digests) != set(certificate.files) or any(name.startswith(published) for name in unlisted):
        return None  # what would be counted is not what is listed
    return Files(folder, published, digests)


def _unlisted(folder: Path, certificate: Certificate) -> Iterator[str]:
    """The files below a folder that are no part of the release; of a large folder that is none, only its name."""
    for path in folder.iterdir():
        name = path.name
        if name in (FILE_NAME, SIGNATURE_FILE) and path.is_file():
            continue
        if path.is_dir() and not path.is_symlink():
            if STAGING.fullmatch(name):
                continue
            below = {f"{name}/{part.relative_to(path).as_posix()}": part for part in path.rglob("*")}
            yield from (part for part, at in below.items() if part not in certificate.files and not at.is_dir())
        elif name not in certificate.files and not (NOTES.fullmatch(name) or name in LEFT_BY_SYSTEMS):
            yield name
