"""Hierarchy files: one `<column>.csv` in a folder, `;` between levels, leaf first, `*` last (the format of ARX)."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from betalike.errors import FileError
from betalike.table.hierarchy import Hierarchy


def choose_hierarchies(given: str | Path | Mapping[str, Any] | None, columns: Sequence[str]) -> dict[str, Hierarchy]:
    """Return the hierarchies of some columns, from a folder or from a mapping of files, rows or hierarchies."""
    if given is None:
        return {}
    if isinstance(given, str | Path):
        return read_hierarchies(given, columns)
    return {column: _hierarchy(column, tree) for column, tree in given.items() if column in columns}


def _hierarchy(column: str, given: Any) -> Hierarchy:
    if isinstance(given, str | Path):
        return read_hierarchy(given)
    return given if isinstance(given, Hierarchy) else Hierarchy.from_rows(given, f"the hierarchy of '{column}'")


def read_hierarchies(folder: str | Path, columns: Sequence[str]) -> dict[str, Hierarchy]:
    """Read the hierarchies that a folder has for these columns."""
    folder = Path(folder)
    if not folder.is_dir():
        raise FileError(f"there is no folder '{folder}' with hierarchies. Check the path.")
    paths = {column: folder / f"{column}.csv" for column in columns if "/" not in column}
    return {column: read_hierarchy(path) for column, path in paths.items() if os.path.lexists(path)}


def read_hierarchy(path: str | Path) -> Hierarchy:
    """Read one hierarchy; errors name the file, the line and the value.

    A hierarchy is not a table: it has no header and one fixed delimiter, and its levels are checked with their lines.
    """
    path = Path(path)
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise FileError(f"the hierarchy '{path}' is not a regular file.")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"the hierarchy '{path}' cannot be read: it is not UTF-8 text.") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name cannot be the name of a file"
        raise FileError(f"the hierarchy '{path}' cannot be read: {reason}.") from error
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text, newline=""), delimiter=";")]
    except csv.Error as error:
        raise FileError(
            f"the hierarchy '{path}' is not CSV with ';' between levels, or a cell is longer than "
            f"{csv.field_size_limit():,} characters. Check its quotes."
        ) from error
    return Hierarchy.from_rows(rows, source=path.name)
