"""Cells from counts: every engine brings its counts into this form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from betalike.engines.coding import code_quasi_identifier
from betalike.engines.combinations import Combinations
from betalike.engines.sensitive import DistinctColumn, SensitiveValues, code_sensitive_columns
from betalike.runtime.arrays import Ids, Ints
from betalike.table.axis import Axis
from betalike.table.cells import Cells, ValueCounts, fold
from betalike.table.schema import Schema


@dataclass(frozen=True)
class Coded:
    """Cells, the sensitive values, and the cell of each distinct combination of columns."""

    cells: Cells
    sensitive: SensitiveValues
    cell_of: Ids


@dataclass(frozen=True)
class CodedMargins:
    """Value counts, the sensitive values, and the code of each distinct sensitive combination."""

    counts: ValueCounts
    sensitive: SensitiveValues
    code_of: Ids


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
    cell_of_point, point = fold(list(corners.T), sizes)
    value = codes[-1][entry_of_cell].astype(np.int32)
    return Cells(tuple(axes), sensitive, schema.weights, corners[cell_of_point], point, value, total), cell_of


def code_combinations(combinations: Combinations, schema: Schema) -> Coded:
    """Return cells from the distinct combinations of a table's quasi-identifiers and its sensitive columns."""
    columns = [_present(combinations, place) for place in range(len(combinations.numbers))]
    n_axes, axes, codes = len(schema.quasi_identifiers), [], []
    for column, attribute in zip(columns, schema.quasi_identifiers, strict=False):
        axis, code = code_quasi_identifier(column.values, attribute, column.counts)
        axes.append(axis)
        codes.append(code[column.places])
    sensitive, code, _ = code_sensitive_columns(columns[n_axes:], schema)
    cells, cell_of = make_cells(schema, axes, sensitive.axis, [*codes, code], combinations.count)
    return Coded(cells, sensitive, cell_of)


def code_margins(columns: Sequence[Combinations], sensitive: Combinations, schema: Schema) -> CodedMargins:
    """Return value counts from the values of each quasi-identifier and the combinations of the sensitive columns."""
    axes = []
    for combinations, attribute in zip(columns, schema.quasi_identifiers, strict=True):
        column = _present(combinations, 0)
        axes.append(code_quasi_identifier(column.values, attribute, column.counts)[0])
    parts = [_present(sensitive, place) for place in range(len(sensitive.numbers))]
    values, code, _ = code_sensitive_columns(parts, schema)
    counts = np.bincount(code, sensitive.count, values.axis.size).astype(np.int64)
    return CodedMargins(ValueCounts(tuple(axes), values.axis, schema.weights, counts), values, code.astype(np.int32))


def _present(combinations: Combinations, place: int) -> DistinctColumn:
    """Return the values of a column that occur; its missing value is first, if a row has it."""
    name, values = list(combinations.values.items())[place]
    counts, numbers = combinations.count_of(place), combinations.numbers[place]
    if counts[0] == 0:  # every row has a value
        return DistinctColumn(values.slice(1).alias(name), counts[1:], numbers - np.int32(1))
    return DistinctColumn(values.alias(name), counts, numbers)
