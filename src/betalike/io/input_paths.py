"""Which files a release is made from, so that none of them is replaced by it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import polars as pl

from betalike.errors import BetalikeError, FileError
from betalike.io.sources import is_standard_input
from betalike.io.tables import table_files

STANDARD_INPUT = Path("/dev/stdin")  # the file that a shell gave as standard input has an identity too


def input_files(table: Any, hierarchies: str | Path | Mapping[str, Any] | None = None) -> list[Path]:
    """The files that a table and its hierarchies are read from; none for a frame that is in memory."""
    return [*_files_of_table(table), *_files_of_hierarchies(hierarchies)]


def check_not_replaced(path: Path, inputs: Iterable[Path]) -> None:
    """Refuse to write a file over one that is read."""
    lost = shared_file(inputs, [path])
    if lost is not None:
        raise FileError(f"'{path}' would be replaced, but it is also read: it is '{lost}'. Name another file.")


def _files_of_table(table: Any) -> list[Path]:
    if is_standard_input(table):
        return [STANDARD_INPUT]
    if isinstance(table, str | Path):
        with contextlib.suppress(BetalikeError, OSError):  # what is wrong with it, reading it will say
            return table_files(table)
        return []
    if isinstance(table, pl.LazyFrame):
        return _files_of_plan(table)
    if type(table).__module__.startswith("pyspark.sql") and hasattr(table, "inputFiles"):
        with contextlib.suppress(Exception):  # a cluster that does not answer says so when the table is read
            return [Path(unquote(urlparse(address).path)) for address in table.inputFiles()]
    return []


def _files_of_plan(table: pl.LazyFrame) -> list[Path]:
    """The files that a lazy frame scans, as its plan shows them; of a long list, all in the same folders."""
    with contextlib.suppress(pl.exceptions.PolarsError, OSError):
        files: list[Path] = []
        for sources in re.findall(r"SCAN \[(.*)\]", table.explain(optimized=False)):
            shown = [Path(source) for source in sources.split(", ") if not source.startswith("...")]
            files += shown
            if "... " in sources:
                files += [file for folder in {path.parent for path in shown} for file in folder.glob("*")]
        return files
    return []


def _files_of_hierarchies(given: str | Path | Mapping[str, Any] | None) -> list[Path]:
    if isinstance(given, str | Path):
        folder = Path(given)
        return list(folder.glob("*")) if folder.is_dir() else []
    return [Path(tree) for tree in (given or {}).values() if isinstance(tree, str | Path)]


def shared_file(inputs: Iterable[Path], replaced: Iterable[Path]) -> Path | None:
    """The first input that is one of the files to be replaced, under whatever name: links count as what they show."""
    taken = {identity for path in replaced if (identity := _identity(path)) is not None}
    return next((path for path in inputs if taken and _identity(path) in taken), None)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:  # it is not there, or a link that leads nowhere
        return None
    return found.st_dev, found.st_ino
