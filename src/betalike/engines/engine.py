"""What an engine does for a release: count, assign, generalize, write, and recount what was written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from betalike.runtime.arrays import Ids, Ints
from betalike.runtime.randomness import Randomness
from betalike.table.cells import Cells, ClassCounts, Plan, ValueCounts

Draw = Callable[[Ids, int], Ids]  # sensitive codes of rows and the number of the first one; the codes to publish


class Layout(StrEnum):
    """How a range is written: one label `[30, 45]`, or two columns `age_low` and `age_high`."""

    LABELS = "labels"
    BOUNDS = "bounds"


@dataclass(frozen=True)
class Recount:
    """A published table, recounted: its classes, and their labels per quasi-identifier."""

    classes: ClassCounts
    labels: list[list[str | None]]
    n_unknown: int


@dataclass(frozen=True)
class PartsRecount:
    """A published table, recounted in parts; after the last one, whether its rows are those that were made."""

    parts: Iterable[Recount]
    is_as_made: Callable[[], bool]


@dataclass(frozen=True)
class ExactRecount:
    """A release with exact quasi-identifiers, compared with the table row by row.

    `moves` says how many rows of each sensitive value (rows) were published as each value (columns); None where the
    sensitive column was left out.
    """

    n_rows: int
    n_changed: int
    n_unknown: int = 0
    moves: Ints | None = None


class Format(StrEnum):
    """The file format of a release."""

    CSV = "csv"
    PARQUET = "parquet"
    SPREADSHEET = "spreadsheet-safe csv"

    @property
    def ending(self) -> str:
        """How the name of the published file ends."""
        return "parquet" if self is Format.PARQUET else "csv"

    @property
    def is_safe(self) -> bool:
        """Whether no cell is run by a spreadsheet."""
        return self is Format.SPREADSHEET


@dataclass(frozen=True)
class Assignment:
    """A plan, and the randomness with which rows get their class and their place."""

    plan: Plan
    randomness: Randomness


class Engine(Protocol):
    """Counts, assigns, writes and recounts the rows of a table."""

    @property
    def sensitive_labels(self) -> list[str]:
        """The published form of each sensitive code."""
        ...

    def count_cells(self) -> Cells:
        """Fold the table into cells; into coarse ones if there are more than fit in memory."""
        ...

    @property
    def is_coarse(self) -> bool:
        """Whether the cells are coarse, so that the labels of classes are known only from their rows."""
        ...

    def assign(self, plan: Plan, randomness: Randomness) -> Any:
        """Give every row a class, at random within its cell."""
        ...

    def generalize(self, assignment: Any, layout: Layout) -> Any:
        """Return the rows of the release."""
        ...

    def count_values(self) -> ValueCounts:
        """Count the sensitive values alone."""
        ...

    def publish_exactly(self, draw: Draw | None, randomness: Randomness) -> tuple[Any, Any]:
        """Return the rows as they are, in random order, and what finds them again in the table.

        Sensitive values are drawn again, each row with its own number, or left out where there is no draw.
        """
        ...

    def write(self, release: Any, path: Path, form: Format) -> list[str]:
        """Write the release to a file, and return the columns with cells that a spreadsheet would run as formulas."""
        ...

    def give_back(self, release: Any, path: Path | None, form: Format) -> Any:
        """Return a finished release as a frame: its rows, or a lazy frame of the files where they are too many."""
        ...

    def rows_of_files(self, path: Path, n_rows: int) -> dict[str, int]:
        """Return the files that a release of `n_rows` rows was written to, and how many rows each has."""
        ...

    def read_back(self, path: Path, form: Format, layout: Layout) -> Recount:
        """Count a written release again, from the file alone."""
        ...

    def count_again(self, release: Any, layout: Layout) -> Recount:
        """Count a release again that was not written to a file."""
        ...

    def compare_exactly(self, release: Any, trace: Any, path: Path | None, form: Format) -> ExactRecount:
        """Compare exact rows with the table, as they were written, or as they are where there is no file."""
        ...


class PartingEngine(Engine, Protocol):
    """An engine that can publish a table in parts, each on its own."""

    @property
    def part_rows(self) -> int:
        """About how many rows a part may have."""
        ...

    def publish_parts(
        self, sets: Plan, refine: Callable[[Cells], Plan] | None, layout: Layout, randomness: Randomness
    ) -> tuple[Any, Any]:
        """Return the rows of all sets, split further or as they are, and what was seen of them meanwhile."""
        ...

    def read_parts(self, release: Any, trace: Any, path: Path | None, form: Format, layout: Layout) -> PartsRecount:
        """Count a release again part by part, from the files, or as it is where there are none."""
        ...
