"""Audit a published table in people: persons from a column of the table, or from the original that it was made from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from betalike.errors import ParameterError, SchemaError
from betalike.measures.risk import THRESHOLDS, PeopleRisk, measure_people_risk
from betalike.promises import Model
from betalike.promises.people import PeopleVerdict, judge_in_people
from betalike.promises.sets import Sets
from betalike.release.certificate import Certificate, protected_columns
from betalike.release.people import PlacedRows, people_of, read_shown, sets_of_values
from betalike.release.person_rows import PersonColumns, PersonRows
from betalike.table.axis import Axis
from betalike.table.cells import fold


@dataclass(frozen=True)
class AuditedValues:
    """The sensitive column of an audit: its values as text, and their axis."""

    column: str
    labels: list[str]
    axis: Axis


@dataclass(frozen=True)
class Persons:
    """The column that names persons, and where it is: in the published table, or in the original, which `read` reads.

    A release by betalike has a certificate, with which its rows are found in the original.
    """

    column: str
    read: Callable[[Sequence[str]], pl.DataFrame] | None
    certificate: Certificate | None

    def judge(
        self,
        frame: pl.DataFrame,
        names: Sequence[str],
        values: AuditedValues,
        model: Model | None,
        thresholds: Sequence[float] = THRESHOLDS,
    ) -> tuple[PeopleVerdict, PeopleRisk]:
        """Measure the classes of a published table and their risks in people; judge them if a promise is named."""
        sets = Sets.singletons(len(values.labels)) if model is None else model.sets(len(values.labels), values.axis)
        guessed = sets_of_values(values.axis, len(values.labels))
        if self.column not in frame.columns:
            placed = self._find(frame, names, values)
            return judge_in_people(model, placed.held(sets)), measure_people_risk(placed.held(guessed), thresholds)
        rows = self._rows(frame, names, values)
        numbers = rows.rows.numbers[: len(names)]
        _, ec = fold(numbers, [int(column.max()) + 1 for column in numbers])
        placed = PlacedRows(ec, rows.person, rows.value, len(values.labels))
        held, risk = placed.held(sets), measure_people_risk(placed.held(guessed), thresholds)
        if self.read is None:
            return judge_in_people(model, held), risk
        original = self._rows(self.read([values.column, self.column]), [], values)
        return judge_in_people(model, held, original.held(sets)), risk

    def _rows(self, frame: pl.DataFrame, names: Sequence[str], values: AuditedValues) -> PersonRows:
        return PersonRows.read([frame], PersonColumns(names, [values.column], [], self.column), values.labels)

    def _find(self, frame: pl.DataFrame, names: Sequence[str], values: AuditedValues) -> PlacedRows:
        """Find the rows of a release in the original, which names persons."""
        certificate = self.certificate
        if self.read is None or certificate is None:
            raise ParameterError(
                f"the published table has no column '{self.column}', so its people cannot be counted. Name a column of "
                "it, or audit a release folder of betalike along with the original table that names persons."
            )
        table = certificate.table
        if table.quasi_identifiers != [*names] or protected_columns(certificate) != [values.column]:
            raise ParameterError(
                "people are counted with all quasi-identifiers and the one sensitive column of the release; name "
                "these, in their order. For several sensitive columns take: betalike verify DIR --original TABLE."
            )
        columns = PersonColumns(table.quasi_identifiers, [values.column], table.kept, self.column)
        rows = PersonRows.read([self.read(columns.names)], columns, values.labels)
        shown = read_shown([frame], names, rows)
        placed = None if shown is None else people_of(rows, shown, table.columns)
        if placed is None:
            raise SchemaError("the published rows are not those of this original table, so people cannot be counted.")
        return placed
