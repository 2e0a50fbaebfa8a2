"""Folders that the page may read from: a path outside of them does not exist for it, links resolved."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from betalike.errors import FileError

MOST_ENTRIES = 1000


@dataclass(frozen=True)
class Entry:
    """A file or folder that can be chosen."""

    name: str
    path: Path
    is_folder: bool
    size: int


class Folders:
    """The folders that were allowed when the server started."""

    def __init__(self, allowed: Sequence[Path]) -> None:
        self.allowed = [_existing(folder) for folder in allowed]

    def check(self, text: str | Path) -> Path:
        """Return a path with its links resolved; refuse one outside the allowed folders as one that is not there."""
        given = Path(text)
        is_whole = given.is_absolute() or str(text).startswith("~")
        path = _resolve(given if is_whole else self.allowed[0] / given)
        if not any(path.is_relative_to(folder) for folder in self.allowed):
            shown = ", ".join(f"'{folder}'" for folder in self.allowed)
            raise FileError(
                f"the path is outside the folders that this page may read: {shown}. Allow more with: "
                "betalike web --folder DIR."
            )
        return path

    def entries(self, folder: Path) -> list[Entry]:
        """List what can be chosen in a folder: folders first, nothing hidden, no link that leads outside."""
        try:
            found = sorted(os.scandir(folder), key=lambda entry: entry.name.lower())
        except OSError as error:
            raise FileError(f"the folder cannot be read: {error.strerror}.") from error
        entries = []
        for item in found:
            if item.name.startswith("."):
                continue
            try:
                item.name.encode()
                path = self.check(item.path)
                is_folder, is_file = path.is_dir(), path.is_file()
                size = path.stat().st_size
            except (FileError, OSError, UnicodeEncodeError):  # a name that is not UTF-8 cannot be shown
                continue
            if is_folder or is_file:
                entries.append(Entry(item.name, path, is_folder, size))
        return sorted(entries, key=lambda entry: not entry.is_folder)

    def parent(self, folder: Path) -> Path | None:
        """Return the folder above, if the page may read it."""
        above = folder.parent
        return above if any(above.is_relative_to(allowed) for allowed in self.allowed) and above != folder else None


def _existing(folder: Path) -> Path:
    """Resolve a folder that was given at the start, and name it if it is none."""
    try:
        path = _resolve(folder)
    except FileError as error:
        raise FileError(f"the page cannot read from '{folder}': {error}") from error
    if not path.is_dir():
        raise FileError(f"the page cannot read from '{folder}': it is not a folder. Name its folder with --folder.")
    return path


def _resolve(path: Path) -> Path:
    try:
        whole = path.expanduser().resolve(strict=True)
        str(whole).encode()  # a name that is not UTF-8 cannot be shown
    except FileNotFoundError as error:
        raise FileError("there is no such file or folder. Check the path.") from error
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: links in a circle, or no home folder
        raise FileError("the path cannot be followed. Check it.") from error
    return whole
