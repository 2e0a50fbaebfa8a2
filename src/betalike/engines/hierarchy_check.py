"""Check hierarchy files against a table: which columns they are for, and which values have no leaf in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from betalike.engines.recipes import count_values
from betalike.errors import FileError, InputError, short_traceback
from betalike.io.foreign_tables import SourceOptions, takes_tables
from betalike.io.hierarchies import read_hierarchy
from betalike.io.tables import Frame, column_names
from betalike.runtime.display import Row, Shown


@dataclass(frozen=True)
class CheckedFile:
    """What a hierarchy file is for, and how well it fits.

    `problem` says why the file cannot be read; `column` is None for a file that fits no column of the table.
    """

    file: str
    column: str | None
    leaves: int | None = None
    values: int | None = None
    values_without_leaf: int | None = None
    rows_without_leaf: int | None = None
    problem: str | None = None

    @property
    def is_right(self) -> bool:
        """Whether the file can be used as it is."""
        return self.column is not None and self.problem is None and not self.values_without_leaf


@dataclass(frozen=True, repr=False)
class HierarchyReport(Shown):
    """How a folder's hierarchy files fit a table."""

    files: tuple[CheckedFile, ...]

    @property
    def holds(self) -> bool:
        """Whether every file fits a column and covers all its values."""
        return all(file.is_right for file in self.files)

    def _summary(self) -> Row:
        return {"files": len(self.files), "all fit": self.holds}

    def _parts(self) -> list[Row]:
        return [vars(file) for file in self.files]

    def to_dict(self) -> dict[str, object]:
        """Return the content of `hierarchy check --json`."""
        return {"holds": self.holds, "files": [vars(file) for file in self.files]}


@short_traceback
@takes_tables("table")
def check_hierarchies(
    hierarchies: str | Path,
    table: Frame,
    *,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    **source: Unpack[SourceOptions],
) -> HierarchyReport:
    """Check a hierarchy file, or all files of a folder, against a table: each is named after its column.

    The report names files that fit no column, and counts values that have no leaf.
    """
    path = Path(hierarchies)
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    if not files:
        raise FileError(f"there is no hierarchy in '{path}': no file ends with .csv. Check the path.")
    names = set(column_names(table, delimiter))
    counts = count_values(table, [file.stem for file in files if file.stem in names], missing, delimiter)
    return HierarchyReport(tuple(_check(file, counts.get(file.stem)) for file in files))


def _check(file: Path, counts: dict[str, int] | None) -> CheckedFile:
    column = None if counts is None else file.stem
    try:
        leaves = set(read_hierarchy(file).leaves)
    except InputError as error:
        return CheckedFile(file.name, column, problem=str(error))
    if counts is None:
        return CheckedFile(file.name, None, len(leaves))
    open_values = [value for value in counts if value not in leaves]
    n_rows = sum(counts[value] for value in open_values)
    return CheckedFile(file.name, column, len(leaves), len(counts), len(open_values), n_rows)
