"""Hierarchy files: one `<column>.csv` in a folder, `;` between levels, leaf first, `*` last (the format of ARX).

Files of other tools are read as they come: with commas or tabs, a header line, or another label for the root.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from betalike.errors import FileError
from betalike.io.text_encoding import decode_text
from betalike.table.hierarchy import ROOT, Hierarchy

DELIMITERS = (";", ",", "\t")


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
    folder = _existing(folder)
    paths = {column: folder / f"{column}.csv" for column in columns if "/" not in column}
    return {column: read_hierarchy(path) for column, path in paths.items() if os.path.lexists(path)}


def hierarchy_files(folder: str | Path) -> dict[str, Path]:
    """Return the file of each hierarchy in a folder, by the name of its column."""
    return {path.stem: path for path in sorted(_existing(folder).glob("*.csv"))}


def _existing(folder: str | Path) -> Path:
    folder = Path(folder)
    if not folder.is_dir():
        raise FileError(f"there is no folder '{folder}' with hierarchies. Check the path.")
    return folder


def warn_about_names(given: str | Path | Mapping[str, Any] | None, columns: Sequence[str]) -> list[str]:
    """Return a warning for each hierarchy that is not used, though its name differs little from that of a column."""
    if given is None:
        return []
    names = list(hierarchy_files(given) if isinstance(given, str | Path) else given)
    without = {_plain(column): column for column in columns if column not in names}
    return [
        f"the hierarchy '{name}' is not used, because no column has this name; if it is for the column "
        f"'{without[_plain(name)]}', rename it"
        for name in names
        if name not in columns and _plain(name) in without
    ]


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def read_hierarchy(path: str | Path) -> Hierarchy:
    """Read one hierarchy; errors name the file, the line and the value.

    A hierarchy is not a table: its levels are checked with their lines, and it needs no header.
    """
    path = Path(path)
    return Hierarchy.from_rows(_with_plain_root(_read_lines(path)), source=path.name)


def _read_lines(path: Path) -> list[list[str]]:
    """Return the cells of each line of a small CSV file, without spaces around them."""
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise FileError(f"the hierarchy '{path}' is not a regular file.")
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name cannot be the name of a file"
        raise FileError(f"the hierarchy '{path}' cannot be read: {reason}.") from error
    try:
        return [[cell.strip() for cell in row] for row in _split(decode_text(content, f"the hierarchy '{path}'"))]
    except csv.Error as error:
        raise FileError(
            f"the hierarchy '{path}' is not CSV with ';', ',' or tabs between levels, or a cell is longer than "
            f"{csv.field_size_limit():,} characters. Check its quotes."
        ) from error


def _split(text: str) -> list[list[str]]:
    """Return the lines of a file, split by the delimiter that fits best; of those that fit equally well, the first.

    Labels may hold other delimiters. So it counts first whether all lines but a header end with the root.
    """
    split = [list(csv.reader(io.StringIO(text, newline=""), delimiter=each)) for each in DELIMITERS]
    return max(split, key=_fitness)


def _fitness(lines: list[list[str]]) -> tuple[bool, bool, bool, int]:
    """Return how well lines fit a hierarchy: ends that are `*`, equal ends, equal numbers of cells, many cells."""
    filled = [line for line in lines if any(map(str.strip, line))]
    below = filled[1:] or filled
    if not below or min(map(len, below)) < 2:
        return False, False, False, len(filled[0]) if filled else 0
    ends = {line[-1].strip() for line in below}
    has_stars = all(end and not end.strip(ROOT) for end in ends)
    return has_stars, len(ends) == 1, len({*map(len, below)}) == 1, len(filled[0])


def _with_plain_root(rows: list[list[str]]) -> list[list[str]]:
    """Return the lines without a header, and with `*` as the root where all of them end with another label.

    The first line is a header if two others or more all end with another label, and it shares no label with them. A
    blank line is kept, so that errors name the right lines.
    """
    filled = [number for number, row in enumerate(rows) if row and any(row)]
    if len(filled) > 2 and rows[filled[0]][-1] != ROOT:
        first, others = rows[filled[0]], [rows[number] for number in filled[1:]]
        labels = {label for row in others for label in row}
        if len({row[-1] for row in others}) == 1 and len(first) == len(others[0]) and not labels & {*first}:
            rows = [[] if number == filled[0] else row for number, row in enumerate(rows)]
            filled = filled[1:]
    roots = {rows[number][-1] for number in filled}
    if len(roots) == 1 and roots != {ROOT} and all(len(rows[number]) > 1 for number in filled):
        rows = [[*row[:-1], ROOT] if row and any(row) else row for row in rows]
    return rows


def write_hierarchy(hierarchy: Hierarchy, path: Path, force: bool) -> None:
    """Write a hierarchy to a file; replace an existing one only with `force`."""
    write_new_file(path, hierarchy_text(hierarchy), force)


def hierarchy_text(hierarchy: Hierarchy) -> str:
    """Return a hierarchy in the form that `read_hierarchy` reads."""
    lines = io.StringIO(newline="")
    csv.writer(lines, delimiter=DELIMITERS[0], lineterminator="\n").writerows(hierarchy.paths)
    return lines.getvalue()


def read_groups(path: Path) -> dict[str, list[str]]:
    """Read a file with a label and a value in each line: the values of each label."""
    groups: dict[str, list[str]] = {}
    for number, row in enumerate(_read_lines(path), start=1):
        if row and any(row):
            if len(row) != 2 or not all(row):
                raise FileError(
                    f"'{path}', line {number} has {len(row)} cells, of which {sum(map(bool, row))} have text; every "
                    "line needs two: a label and a value."
                )
            groups.setdefault(row[0], []).append(row[1])
    return groups


def write_new_file(path: Path, content: str, force: bool) -> None:
    """Write a text file; replace an existing one only with `force`."""
    if path.exists() and not force:
        raise FileError(f"'{path}' exists already. Name another file, or replace it with --force.")
    try:
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise FileError(f"'{path}' cannot be written: {error.strerror}.") from error
