"""One part of a table, published on its own: its exact rows are coded, split into classes, and labelled.

The part was planned on coarse cells, so that it keeps the promise as a whole; the classes that it is split into keep
it with the caps of the whole table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from betalike.engines.cells import make_cells
from betalike.engines.coding import code_quasi_identifier
from betalike.engines.engine import Refine
from betalike.engines.labels import label_series
from betalike.engines.sensitive import SensitiveValues
from betalike.io.column_types import TypeGuess
from betalike.runtime.arrays import Ids, Ints
from betalike.runtime.randomness import Randomness
from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.table.cells import Cells, Plan, fold, shuffled_slots
from betalike.table.kernels import assign_slots
from betalike.table.schema import Kind, Schema


@dataclass(frozen=True)
class PartPublisher:
    """Publishes a part wherever its rows are, with the axes of the table, its prior, and how to split."""

    schema: Schema
    axes: tuple[Axis, ...]
    sensitive: SensitiveValues
    table_counts: Ints
    refine: Refine | None  # without it, parts are classes already

    def __call__(self, rows: pl.DataFrame, sets: Ids | None, randomness: Randomness) -> tuple[pl.DataFrame, int]:
        """Return the published rows of some rows of the table, and how many classes; `sets` are classes, if given."""
        coded = [self._code(rows[a.name], i) for i, a in enumerate(self.schema.quasi_identifiers)]
        values = self.sensitive.code(rows)
        axes = [axis for axis, _ in coded]
        cells, cell = make_cells(self.schema, axes, self.sensitive.axis, [*(codes for _, codes in coded), values])
        cells = replace(cells, table_counts=self.table_counts)
        if sets is None:
            assert self.refine is not None
            plan = self.refine(cells)
            ec = assign_slots(cell, *shuffled_slots(plan, randomness))
        else:
            plan, ec = _as_planned(cells, cell, sets)
        columns = [column.gather(pl.Series(ec)) for column in label_series(plan)]
        kept = [rows[attribute.name] for attribute in self.schema.kept]
        shown = [column.gather(pl.Series(values)) for column in self.sensitive.shown]
        return pl.DataFrame([*columns, *shown, *kept]), plan.n_classes

    def _code(self, column: pl.Series, place: int) -> tuple[Axis, Ids]:
        """Return the codes of a column on the axis of the table; for numbers and dates, on an axis of the part."""
        attribute, axis = self.schema.quasi_identifiers[place], self.axes[place]
        if isinstance(axis, HierarchyAxis):
            known = replace(attribute, kind=Kind.CATEGORICAL, hierarchy=axis.hierarchy)
            taken = TypeGuess(Kind.CATEGORICAL, "as in the whole table")
            return axis, code_quasi_identifier(column, known, taken=taken)[1].astype(np.int32)
        assert isinstance(axis, OrderedAxis)
        taken = TypeGuess(axis.kind, "as in the whole table", axis.dates)
        found, codes = code_quasi_identifier(column, replace(attribute, domain=None), taken=taken)
        assert isinstance(found, OrderedAxis)
        return replace(found, domain=axis.domain, is_domain_declared=axis.is_domain_declared), codes.astype(np.int32)


def _as_planned(cells: Cells, cell: Ids, sets: Ids) -> tuple[Plan, Ids]:
    """Return classes that are planned already, with new numbers."""
    _, ec = np.unique(sets, return_inverse=True)
    n_classes = int(ec.max()) + 1
    firsts, number = fold([cell, ec], [len(cells.count), n_classes])
    count = np.bincount(number, minlength=len(firsts)).astype(np.int64)
    return Plan(cells, cell[firsts], count, ec[firsts].astype(np.int32), n_classes), ec.astype(np.int32)
