"""Change a plan so that its classes keep the promise in people too: the step between planning and making rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from betalike.engines.engine import Engine
from betalike.engines.labels import label_series
from betalike.errors import InternalError, ParameterError
from betalike.promises import Model
from betalike.promises.rule import Rule
from betalike.promises.sets import Sets
from betalike.release.certify import describe_columns
from betalike.release.people import ShownRows, people_of
from betalike.release.person_rows import PersonColumns, PersonRows
from betalike.runtime.arrays import Ids, Ints
from betalike.runtime.randomness import Randomness
from betalike.schemes.people import merge_for_people
from betalike.table.axis import Axis
from betalike.table.cells import Plan
from betalike.table.schema import Schema


def person_columns(schema: Schema) -> PersonColumns:
    """Return the columns that people are counted with, of a schema that names a person column."""
    assert schema.person is not None
    kept = [attribute.name for attribute in schema.kept]
    return PersonColumns(schema.quasi_identifier_names, schema.sensitive_columns, kept, schema.person.name)


@dataclass(frozen=True)
class PeopleStep:
    """The people of a table, and what a promise demands of the people of a class."""

    table: PersonRows
    sets: Sets
    rule: Rule

    @staticmethod
    def of(table: PersonRows, promise: Model, sensitive: Axis) -> PeopleStep:
        """Return the demands on people; refuse a promise that cannot be counted in people."""
        sets = promise.sets(len(table.labels), sensitive)
        held = table.held(sets)
        if promise.k > held.n_people:
            raise ParameterError(
                f"k is {promise.k}, but the table is about only {held.n_people} people. Choose a smaller k."
            )
        return PeopleStep(table, sets, promise.rule_in_people(held.totals, held.n_people))

    def keep(self, plan: Plan, engine: Engine, randomness: Randomness) -> Plan:
        """Merge classes until all keep the promise in people.

        Rows are matched to classes again after every merging, because wider labels cover more rows.
        """
        if self.table.columns.kept:
            plan = replace(plan, row_classes=engine.assign_rows(plan, randomness))
        while True:
            plan, shown = self._shown(plan, engine)
            facts = describe_columns([{label for label in of if label is not None} for of in shown.labels], plan.cells)
            placed = people_of(self.table, shown, facts)
            if placed is None:
                raise InternalError("the rows of a plan are not those of the table.")
            number = merge_for_people(plan, placed.held(self.sets), self.rule)
            if int(number.max()) + 1 == plan.n_classes:
                return plan
            plan = plan.join(number)

    def _shown(self, plan: Plan, engine: Engine) -> tuple[Plan, ShownRows]:
        """Return the plan with one class for all rows with the same labels, and the rows that it publishes."""
        labels = [of.to_list() for of in label_series(plan)]
        plan = plan.join(_number_alike(labels))
        labels = [of.to_list() for of in label_series(plan)]
        if plan.row_classes is None:
            counts = plan.class_counts
            present = np.unique(self.table.value)  # the group of a value, where no column is kept
            return plan, ShownRows(labels, counts.ec, np.searchsorted(present, counts.value), counts.count)
        group = self.table.group[self._combination(engine)]
        return plan, ShownRows(labels, plan.row_classes, group, np.ones(len(group), dtype=np.int64))

    def _combination(self, engine: Engine) -> Ids:
        """Return the place of each row of the table among its distinct rows."""
        return np.concatenate([self.table.find(batch) for batch in engine.read_rows(self.table.columns.names)])


def _number_alike(labels: list[list[str | None]]) -> Ints:
    """Number the distinct combinations of labels."""
    number: dict[tuple[str | None, ...], int] = {}
    return np.array([number.setdefault(of_class, len(number)) for of_class in zip(*labels, strict=True)])
