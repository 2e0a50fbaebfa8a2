"""Copies of tables that betalike makes to read them several times, and where each of them came from."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from betalike.errors import FileError
from betalike.runtime.scratch import private_folder

PART_ROWS = 500_000  # rows of a copy that are gathered before they are written
ValueLabels = Mapping[str, Mapping[Any, str]]  # of coded columns: what each code means


@dataclass(frozen=True)
class Origin:
    """Where a copy came from: its name in messages, its files, and what a specification says to read it again."""

    shown: str
    files: tuple[Path, ...] = ()
    specified: Mapping[str, Any] = field(default_factory=dict)
    delimiter: str | None = None  # of a copy in CSV
    value_labels: ValueLabels = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)  # of the source, those that were not copied too


_origins: dict[Path, Origin] = {}


def origin_of(table: Any) -> Origin | None:
    """Return where a copy, or a file of one, came from; None for everything else."""
    if not isinstance(table, str | Path):
        return None
    path = Path(table)
    return _origins.get(path) or _origins.get(path.parent)


def is_folder(path: str | Path) -> bool:
    """Return whether a path is a folder of the user, and not a copy in several files."""
    return Path(path).is_dir() and origin_of(path) is None


@contextlib.contextmanager
def remembered(path: Path, origin: Origin) -> Iterator[Path]:
    """Yield the path of a copy, and remember meanwhile where it came from."""
    _origins[path] = origin
    try:
        yield path
    finally:
        del _origins[path]


@contextlib.contextmanager
def copied(frames: Iterable[pl.DataFrame], origin: Origin) -> Iterator[Path]:
    """Write frames to a folder that only this user can open, and yield it; it is gone at the end."""
    with private_folder(Path(tempfile.gettempdir())) as folder:
        try:
            for number, part in enumerate(gathered(frames, PART_ROWS)):
                part.write_ipc(folder / f"part-{number:05}.arrow")
        except OSError as error:
            raise FileError(f"{origin.shown} cannot be copied to '{folder.parent}': {error.strerror}.") from None
        with remembered(folder, origin):
            yield folder


@contextlib.contextmanager
def copied_as_text(frame: pl.DataFrame, origin: Origin) -> Iterator[Path]:
    """Write a frame of text as CSV, so that its types are found as those of a CSV file, and yield its folder."""
    names = ",".join(f'"{name.replace(chr(34), chr(34) * 2)}"' for name in frame.columns)
    missing = '""' if frame.width == 1 else ""
    with private_folder(Path(tempfile.gettempdir())) as folder:
        try:
            with (folder / "table.csv").open("wb") as file:
                file.write(f"{names}\n".encode())
                frame.write_csv(file, include_header=False, null_value=missing)
        except OSError as error:
            raise FileError(f"{origin.shown} cannot be copied to '{folder.parent}': {error.strerror}.") from None
        with remembered(folder, origin):
            yield folder


def gathered(frames: Iterable[pl.DataFrame], n_rows: int) -> Iterator[pl.DataFrame]:
    """Put small frames together, to as many rows as a file has."""
    held: list[pl.DataFrame] = []
    for frame in frames:
        held.append(frame)
        if sum(each.height for each in held) >= n_rows:
            yield pl.concat(held)
            held = []
    if held:
        yield pl.concat(held)
