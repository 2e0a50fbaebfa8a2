"""What the engines share: cells and value counts from the distinct combinations of a table's columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

from betalike.engines.cells import Coded, CodedMargins, code_combinations, code_margins
from betalike.engines.coarse import Coarse
from betalike.engines.combinations import Combinations, TooManyError
from betalike.engines.engine import Assignment, Layout
from betalike.engines.labels import label_columns
from betalike.engines.sensitive import SensitiveValues
from betalike.runtime.randomness import Randomness
from betalike.table.cells import Cells, Plan, ValueCounts
from betalike.table.schema import Schema


class CountingEngine(ABC):
    """Turns what an engine counts into cells; an engine says how it counts."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._names = [*schema.quasi_identifier_names, *schema.sensitive_columns]
        self._kept = [attribute.name for attribute in schema.kept]

    @abstractmethod
    def _count_combinations(self) -> Combinations:
        """Count the distinct combinations of quasi-identifiers and sensitive columns, or raise TooManyError."""

    @abstractmethod
    def _count_coarsely(self) -> Coarse:
        """Count coarse cells."""

    @abstractmethod
    def _count_columns(self) -> tuple[list[Combinations], Combinations]:
        """Count the values of each quasi-identifier by itself, and the combinations of the sensitive columns."""

    @cached_property
    def _combinations(self) -> Combinations:
        return self._count_combinations()

    @cached_property
    def _counted(self) -> Coded | Coarse:
        try:
            return code_combinations(self._combinations, self.schema)
        except TooManyError:
            return self._count_coarsely()

    @cached_property
    def _columns(self) -> tuple[list[Combinations], Combinations]:
        return self._count_columns()

    @cached_property
    def _margins(self) -> CodedMargins:
        return code_margins(*self._columns, self.schema)

    @property
    def is_coarse(self) -> bool:
        """Whether the cells are coarse."""
        return isinstance(self._counted, Coarse)

    def count_cells(self) -> Cells:
        """Fold the table into cells; into coarse ones if there are more than fit in memory."""
        return self._counted.cells

    def count_values(self) -> ValueCounts:
        """Count the sensitive values alone."""
        return self._margins.counts

    @property
    def _sensitive(self) -> SensitiveValues:
        return self._margins.sensitive if "_margins" in self.__dict__ else self._counted.sensitive

    @property
    def sensitive_labels(self) -> list[str]:
        """The sensitive values as text, for a certificate; a missing value is the empty text."""
        return self._sensitive.labels

    def assign(self, plan: Plan, randomness: Randomness) -> Assignment:
        """Rows get their class when they are made."""
        return Assignment(plan, randomness)

    def _label_names(self, layout: Layout) -> list[str]:
        return [name for group in label_columns(self.count_cells().axes, layout) for name in group]
