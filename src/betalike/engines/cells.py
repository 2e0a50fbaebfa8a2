"""Cells from counts: every engine brings its counts into this form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.engines.coding import code_quasi_identifier, read_as
from betalike.engines.combinations import Combinations
from betalike.engines.many_cells import RoundedColumn
from betalike.engines.sensitive import DistinctColumn, SensitiveValues, code_sensitive_columns
from betalike.io.column_types import TypeGuess
from betalike.runtime.arrays import Ids, Ints
from betalike.table.axis import Axis
from betalike.table.cells import Cells, ValueCounts, fold
from betalike.table.schema import Attribute, Schema


@dataclass(frozen=True)
class Coded:
    """A table in cells: its distinct combinations of columns, the cell of each, and the sensitive values."""

    combinations: Combinations
    cells: Cells
    cell_of: Ids
    sensitive: SensitiveValues
    types: Mapping[str, TypeGuess]  # of the quasi-identifiers

    def find(self, batch: pl.DataFrame) -> Ids:
        """Return the cell of each row of a batch."""
        return self.cell_of[self.combinations.find(batch)]


def make_cells(
    schema: Schema,
    axes: Sequence[Axis],
    sensitive: Axis,
    codes: Sequence[NDArray[np.integer]],
    count: Ints | None = None,
) -> tuple[Cells, Ids]:
    """Fold codes of the quasi-identifiers and the sensitive attribute into cells; also return the cell of each entry.

    An entry is one row, or stands for `count` rows.
    """
    sizes = [axis.size for axis in axes]
    entry_of_cell, cell_of = fold(codes, [*sizes, sensitive.size])
    total = np.bincount(cell_of, count, minlength=len(entry_of_cell)).astype(np.int64)
    corners = np.column_stack([column[entry_of_cell] for column in codes[:-1]]).astype(np.int32)
    is_new = np.ones(len(corners), dtype=bool)  # cells are in the order of their points
    is_new[1:] = (corners[1:] != corners[:-1]).any(axis=1)
    cell_of_point, point = np.flatnonzero(is_new), (np.cumsum(is_new) - 1).astype(np.int32)
    value = codes[-1][entry_of_cell].astype(np.int32)
    return Cells(tuple(axes), sensitive, schema.weights, corners[cell_of_point], point, value, total), cell_of


def code_combinations(combinations: Combinations, schema: Schema) -> Coded:
    """Return cells from the distinct combinations of a table's quasi-identifiers and its sensitive columns."""
    n_axes, axes, codes, types = len(schema.quasi_identifiers), [], [], {}
    for place, attribute in enumerate(schema.quasi_identifiers):
        axis, code, types[attribute.name] = _code_column(combinations, place, attribute)
        axes.append(axis)
        codes.append(code)
    sensitive, code = _code_sensitive(combinations, n_axes, schema)
    cells, cell_of = make_cells(schema, axes, sensitive.axis, [*codes, code], combinations.count)
    return Coded(combinations, cells, cell_of, sensitive, types)


def code_values(
    columns: Sequence[Combinations], sensitive: Combinations, schema: Schema
) -> tuple[ValueCounts, SensitiveValues, dict[str, TypeGuess]]:
    """Return value counts from the values of each quasi-identifier and the combinations of the sensitive columns.

    Also return the types of the quasi-identifiers.
    """
    pairs = zip(columns, schema.quasi_identifiers, strict=True)
    coded = [_code_column(combinations, 0, attribute) for combinations, attribute in pairs]
    axes, types = tuple(axis for axis, _, _ in coded), {axis.name: taken for axis, _, taken in coded}
    values, code = _code_sensitive(sensitive, 0, schema)
    counts = np.bincount(code, sensitive.count, values.axis.size).astype(np.int64)
    return ValueCounts(axes, values.axis, schema.weights, counts), values, types


def _code_column(
    combinations: Combinations, place: int, attribute: Attribute
) -> tuple[Axis, NDArray[np.integer], TypeGuess]:
    """Return the axis of a quasi-identifier, its code in each combination, and what it was taken for."""
    column, present = combinations.columns[attribute.name], _present(combinations, place)
    axis: Axis
    if isinstance(column, RoundedColumn):
        taken = column.taken
        axis, code = column.code(present.values)
    else:
        taken = read_as(present.values, attribute, present.counts)
        axis, code = code_quasi_identifier(present.values, attribute, present.counts, taken)
    return axis, code[present.places], taken


def _code_sensitive(combinations: Combinations, first: int, schema: Schema) -> tuple[SensitiveValues, Ids]:
    columns = [_present(combinations, place) for place in range(first, len(combinations.numbers))]
    return code_sensitive_columns(columns, schema)


def _present(combinations: Combinations, place: int) -> DistinctColumn:
    """Return the values of a column that occur; the missing value is first, if a row has it."""
    name, values = list(combinations.values.items())[place]
    counts = combinations.count_of(place)
    used = np.flatnonzero(counts)
    number_of = np.zeros(len(counts), dtype=np.int32)
    number_of[used] = np.arange(len(used), dtype=np.int32)
    return DistinctColumn(
        values.gather(pl.Series(used)).alias(name), counts[used], number_of[combinations.numbers[place]]
    )
