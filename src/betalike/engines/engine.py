"""What an engine does for a release: count cells, make rows, write them, and recount what was written.

Engines differ in how they count and carry rows. What they counted becomes cells here, in one way for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from betalike.engines.cells import Coded, code_combinations, code_values
from betalike.engines.combinations import Combinations
from betalike.engines.sensitive import SensitiveValues
from betalike.errors import ParameterError
from betalike.io.column_types import TypeGuess
from betalike.runtime.arrays import Ids, Ints
from betalike.runtime.randomness import Randomness
from betalike.table.cells import Cells, ClassCounts, Plan, ValueCounts
from betalike.table.schema import Schema
from betalike.table.value_ranges import ValueRanges

NO_PEOPLE = (
    "a person column is named, and people are counted on one machine only, not on Spark. Take --engine local, which "
    "reads large tables in batches, or leave the person column out."
)


class DrawsLabels(Protocol):
    """Draws the published labels of rows; these are the sensitive values themselves where `labels` is None."""

    @property
    def labels(self) -> list[str] | None:
        """The labels to publish, by their codes."""
        ...

    def __call__(self, values: Ids, first_row: int) -> Ids:
        """Return the codes to publish for consecutive rows, given their values and the number of the first row."""
        ...


@dataclass(frozen=True)
class Recount:
    """A published table, recounted: its classes, and their labels per quasi-identifier."""

    classes: ClassCounts
    labels: list[pl.Series]  # texts, one for each class
    n_unknown: int


@dataclass(frozen=True)
class SingledOut:
    """How many rows share their kept cells with no other row: these alone, and these with the labels of their class.

    Rows without classes have their quasi-identifiers in the place of labels.
    """

    alone: int
    with_classes: int


@dataclass(frozen=True)
class ExactRecount:
    """A release with exact quasi-identifiers, compared with the table row by row.

    `moves` says how many rows of each sensitive value (rows) were published with each label (columns); None where the
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
    EXCEL = "xlsx"
    SPSS = "sav"
    STATA = "dta"

    @property
    def ending(self) -> str:
        """How the name of the published file ends."""
        return str(self)

    @property
    def is_csv(self) -> bool:
        """Whether the file is text."""
        return self is Format.CSV

    @property
    def is_held(self) -> bool:
        """Whether all rows are written, and read, at once."""
        return self in (Format.EXCEL, Format.SPSS, Format.STATA)


class Engine(ABC):
    """Counts, makes, writes and recounts the rows of a table."""

    ranges: Mapping[str, ValueRanges]  # that take the place of sensitive values

    def __init__(self, schema: Schema) -> None:
        self.schema, self.ranges = schema, {}
        self._names = [*schema.quasi_identifier_names, *schema.sensitive_columns]
        self._kept = [attribute.name for attribute in schema.kept]

    @abstractmethod
    def _count_combinations(self) -> Combinations:
        """Count the distinct combinations of quasi-identifiers and sensitive columns; refuse more than memory holds."""

    @abstractmethod
    def _count_columns(self) -> tuple[list[Combinations], Combinations]:
        """Count the values of each quasi-identifier by itself, and the combinations of the sensitive columns."""

    @cached_property
    def _counted(self) -> Coded:
        return code_combinations(self._count_combinations(), self.schema)

    @cached_property
    def _values(self) -> tuple[ValueCounts, SensitiveValues, dict[str, TypeGuess]]:
        return code_values(*self._count_columns(), self.schema)

    def count_cells(self) -> Cells:
        """Fold the table into cells."""
        return self._counted.cells

    def count_values(self) -> ValueCounts:
        """Count the sensitive values alone."""
        return self._values[0]

    @property
    def _sensitive(self) -> SensitiveValues:
        return self._values[1] if "_values" in self.__dict__ else self._counted.sensitive

    @property
    def sensitive_labels(self) -> list[str]:
        """The sensitive values as text, for a certificate; a missing value is the empty text."""
        return self._sensitive.labels

    @property
    def types(self) -> Mapping[str, TypeGuess]:
        """What each quasi-identifier was taken for, and why."""
        return self._values[2] if "_values" in self.__dict__ else self._counted.types

    @abstractmethod
    def first_rows(self, n_rows: int) -> pl.DataFrame:
        """Return the first rows of the table, at most `n_rows`, with all columns that are read."""

    def read_rows(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield columns of the table, batch by batch; an engine whose rows are elsewhere refuses."""
        raise ParameterError(NO_PEOPLE)

    def assign_rows(self, plan: Plan, randomness: Randomness) -> Ids:
        """Return a class for each row of the table, at random among those that its cell was planned for."""
        raise ParameterError(NO_PEOPLE)

    def reread(self, release: Any, path: Path | None, form: Format) -> Iterator[pl.DataFrame]:
        """Yield the rows of a release as they were written, or as they are where there is no file."""
        raise ParameterError(NO_PEOPLE)

    @abstractmethod
    def generalize(self, plan: Plan, randomness: Randomness) -> Any:
        """Return the release in random order: labels of each row's class, the sensitive value, the kept columns.

        Every row gets a class at random among those that its cell was planned for.
        """

    @abstractmethod
    def publish_exactly(self, draw: DrawsLabels | None, randomness: Randomness) -> tuple[Any, Any]:
        """Return the rows as they are, in random order, and a trace to find them again in the table.

        Sensitive values are drawn again, each row with its own number, or left out where there is no draw.
        """

    @abstractmethod
    def write(self, release: Any, path: Path, form: Format) -> list[str]:
        """Write the release to a file, and return the columns with cells that a spreadsheet would run as formulas."""

    @abstractmethod
    def give_back(self, release: Any, path: Path | None, form: Format) -> Callable[[], Any]:
        """Return how to get a finished release as a frame: its rows, or a lazy frame of files with too many rows."""

    @abstractmethod
    def recount(self, release: Any, path: Path | None, form: Format) -> Recount:
        """Recount a release from the file alone, or as it is where there is none."""

    @abstractmethod
    def count_singled_out(
        self, release: Any, path: Path | None, form: Format, labels: Sequence[str], n_rows: int
    ) -> SingledOut:
        """Count the rows that the kept columns single out, by themselves and with the columns of labels."""

    @abstractmethod
    def compare_exactly(self, release: Any, trace: Any, path: Path | None, form: Format) -> ExactRecount:
        """Compare exact rows with the table, as they were written, or as they are where there is no file."""
