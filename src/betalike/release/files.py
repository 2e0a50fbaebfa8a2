"""The files of a release folder: those that its certificate lists, and no others."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from betalike.engines.streams import rows_of_files
from betalike.errors import BetalikeError
from betalike.io import parquet_parts, workbook_parts
from betalike.io.surplus import SurplusError
from betalike.release.certificate import FILE_NAME, Certificate, file_of, published_name
from betalike.release.folder import is_in_progress, sha256_of
from betalike.release.signatures import SIGNATURE_FILE

Check = Callable[[str, bool, str], bool]
# Files that the folder may hold although no certificate lists them: notes, and what systems leave behind.
NOTES = re.compile(r"(readme|license|licence|notice|copying|citation)(\.(md|txt|rst|html|pdf|cff))?", re.IGNORECASE)
LEFT_BY_SYSTEMS = {".gitignore", ".gitattributes", ".gitkeep", ".DS_Store", "Thumbs.db", "desktop.ini", "report.html"}
MOST_NAMED = 5
PARTS = {".xlsx": workbook_parts.check_parts, ".parquet": parquet_parts.check_parts}
UNREADABLE = (
    *(BetalikeError, zipfile.BadZipFile, zlib.error, pl.exceptions.PolarsError, pl.exceptions.PanicException),
    *(OSError, ValueError, LookupError, struct.error),
)
BLOCK = 2**20  # bytes of a CSV file that are read in one turn: more take longer, for want of memory at hand


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
    """Check that the listed files are there and unchanged, and no others; return None without a table to count.

    `companion` is the file that a release of this scheme has beside its table.
    """
    digests: dict[str, str] = {}
    for name, facts in certificate.files.items():
        path = file_of(folder, name)
        is_there = path is not None and path.is_file() and not path.is_symlink() and not path.parent.is_symlink()
        if not check(f"{name[:80]} exists", is_there, f"{name[:80]!r} is missing, or a link."):
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


def check_surplus(path: Path, check: Check) -> None:
    """Check that a published table has nothing that its reader does not show, where its format has places for it."""
    refuse = PARTS.get(path.suffix)
    if refuse is None:
        return
    words = ""
    try:
        refuse(path)
    except SurplusError as error:
        words = f"{path.name} has {error}. The original could hide there."
    except UNREADABLE:
        words = f"{path.name} cannot be read as a published table."
    check("surplus", not words, words)


def _unlisted(folder: Path, certificate: Certificate) -> Iterator[str]:
    """Yield the files and links below a folder that are not part of the release."""
    for path in folder.iterdir():
        name = path.name
        if path.is_symlink():  # its target is not in the folder and may change
            yield name
        elif path.is_dir():
            if is_in_progress(path, folder.name):
                continue
            below = {f"{name}/{part.relative_to(path).as_posix()}": part for part in path.rglob("*")}
            yield from (
                part
                for part, at in below.items()
                if part not in certificate.files and (at.is_symlink() or not at.is_dir())
            )
        elif name not in {FILE_NAME, SIGNATURE_FILE, *certificate.files} and not _is_note(name):
            yield name


def _is_note(name: str) -> bool:
    return bool(NOTES.fullmatch(name)) or name in LEFT_BY_SYSTEMS


def are_lines_even(path: Path) -> bool:
    """Whether every line of a CSV file has as many cells as the first; readers cut or fill other lines silently."""
    expected, n_cells, is_quoted, is_ended = -1, 0, False, True
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            signs = np.frombuffer(block, dtype=np.uint8)
            is_inside = (np.cumsum(signs == ord('"')) + is_quoted) % 2 == 1
            ends = np.flatnonzero((signs == ord("\n")) & ~is_inside)
            commas = np.flatnonzero((signs == ord(",")) & ~is_inside)
            before = np.searchsorted(commas, ends)
            of_lines = np.diff(before, prepend=0)
            if len(ends):
                of_lines[0] += n_cells
                expected = int(of_lines[0]) if expected < 0 else expected
                if (of_lines != expected).any():
                    return False
                n_cells = 0
            n_cells += len(commas) - (int(before[-1]) if len(ends) else 0)
            is_quoted, is_ended = bool(is_inside[-1]), block.endswith(b"\n")
    return not is_quoted and (is_ended or n_cells == expected)
