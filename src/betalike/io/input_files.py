"""Which files a table and its hierarchies are read from, so that no output replaces one of them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import polars as pl

from betalike.errors import BetalikeError, FileError
from betalike.io.addresses import is_address, parse_address
from betalike.io.copies import origin_of
from betalike.io.sources import REDIRECTED, is_standard_input, table_files


def input_files(table: Any, hierarchies: str | Path | Mapping[str, Any] | None = None) -> list[Path]:
    """Return the files that a table and its hierarchies are read from; a frame in memory has none."""
    return [*_files_of_table(table), *_files_of_hierarchies(hierarchies)]


def check_not_replaced(path: Path, inputs: Iterable[Path]) -> None:
    """Refuse to write a file over one that is read."""
    lost = shared_file(inputs, [path])
    if lost is not None:
        raise FileError(f"'{path}' would be replaced, but it is also read: it is '{lost}'. Name another file.")


def _files_of_table(table: Any) -> list[Path]:
    origin = origin_of(table)
    if origin is not None:
        return list(origin.files)
    if is_standard_input(table):
        return [REDIRECTED]
    if isinstance(table, str | Path):
        with contextlib.suppress(BetalikeError, OSError):  # reading the table reports the error
            if is_address(table):
                return list(parse_address(table).files)
            return table_files(table)
    elif isinstance(table, pl.LazyFrame):
        return _files_of_plan(table)
    elif type(table).__module__.startswith("pyspark.sql") and hasattr(table, "inputFiles"):
        with contextlib.suppress(Exception):  # reading the table reports the error
            return [Path(unquote(urlparse(address).path)) for address in table.inputFiles()]
    return []


def _files_of_plan(table: pl.LazyFrame) -> list[Path]:
    """Return the files in the plan of a lazy frame; if the plan shortens the list, all files of their folders."""
    files: list[Path] = []
    with contextlib.suppress(pl.exceptions.PolarsError, OSError):
        for sources in re.findall(r"SCAN \[(.*)\]", table.explain(optimized=False)):
            shown = [Path(source) for source in sources.split(", ") if not source.startswith("...")]
            files += shown
            if "... " in sources:
                files += [file for folder in {path.parent for path in shown} for file in folder.glob("*")]
    return files


def _files_of_hierarchies(given: str | Path | Mapping[str, Any] | None) -> list[Path]:
    if isinstance(given, str | Path):
        folder = Path(given)
        return list(folder.glob("*")) if folder.is_dir() else []
    return [Path(tree) for tree in (given or {}).values() if isinstance(tree, str | Path)]


def shared_file(inputs: Iterable[Path], replaced: Iterable[Path]) -> Path | None:
    """Return the first input that is one of the files to be replaced, also through a link."""
    taken = {identity for path in replaced if (identity := _identity(path)) is not None}
    return next((path for path in inputs if taken and _identity(path) in taken), None)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:  # the file does not exist, or the link is broken
        return None
    return found.st_dev, found.st_ino
