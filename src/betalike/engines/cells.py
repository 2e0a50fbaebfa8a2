"""Cells from codes: what every engine brings its counts to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.engines.coding import code_quasi_identifier, code_sensitive
from betalike.engines.combinations import Combinations
from betalike.runtime.arrays import Ids, Ints
from betalike.table.axis import Axis
from betalike.table.cells import Cells, ValueCounts, fold
from betalike.table.schema import Schema


@dataclass(frozen=True)
class Coded:
    """Cells, the value that each sensitive code is published as, and the cell of each row or combination."""

    cells: Cells
    published: pl.Series
    cell_of: Ids


def make_cells(
    schema: Schema,
    axes: Sequence[Axis],
    sensitive: Axis,
    codes: Sequence[NDArray[np.integer]],
    count: Ints | None = None,
) -> tuple[Cells, Ids]:
    """Fold codes of the quasi-identifiers and the sensitive attribute into cells; also the cell of each entry.

    Entries are rows, or stand for as many as `count` tells.
    """
    sizes = [axis.size for axis in axes]
    entry_of_cell, cell_of = fold(codes, [*sizes, sensitive.size])
    total = np.bincount(cell_of, count, minlength=len(entry_of_cell)).astype(np.int64)
    corners = np.column_stack([column[entry_of_cell] for column in codes[:-1]]).astype(np.int32)
    cell_of_point, point = fold(list(corners.T), sizes)
    value = codes[-1][entry_of_cell].astype(np.int32)
    return Cells(tuple(axes), sensitive, schema.weights, corners[cell_of_point], point, value, total), cell_of


def code_combinations(combinations: Combinations, schema: Schema) -> Coded:
    """Cells from the distinct combinations of a table's quasi-identifiers and its sensitive column."""
    axes, codes = [], []
    for place, attribute in enumerate(schema.quasi_identifiers):
        values, counts, numbers = _present(combinations, place)
        axis, code = code_quasi_identifier(values, attribute, counts)
        axes.append(axis)
        codes.append(code[numbers])
    sensitive, code, published = _code_sensitive(combinations, schema)
    cells, cell_of = make_cells(schema, axes, sensitive, [*codes, code], combinations.count)
    return Coded(cells, published, cell_of)


def code_margins(columns: Sequence[Combinations], schema: Schema) -> tuple[ValueCounts, Ids, pl.Series]:
    """ValueCounts from the values of each column by itself; the code of each sensitive value, and what is published."""
    axes = []
    for combinations, attribute in zip(columns[:-1], schema.quasi_identifiers, strict=True):
        values, counts, _ = _present(combinations, 0)
        axes.append(code_quasi_identifier(values, attribute, counts)[0])
    sensitive, code, published = _code_sensitive(columns[-1], schema)
    value_counts = np.bincount(code, columns[-1].count, sensitive.size).astype(np.int64)
    return ValueCounts(tuple(axes), sensitive, schema.weights, value_counts), code.astype(np.int32), published


def _code_sensitive(combinations: Combinations, schema: Schema) -> tuple[Axis, NDArray[np.integer], pl.Series]:
    values, counts, numbers = _present(combinations, len(combinations.numbers) - 1)
    axis, code, published = code_sensitive(values, schema.sensitive, schema.sensitive_missing_is_value, counts)
    return axis, code[numbers], published


def _present(combinations: Combinations, place: int) -> tuple[pl.Series, Ints, Ids]:
    """The values of a column that occur, how many rows have each, and the place of each combination's value."""
    name, values = list(combinations.values.items())[place]
    counts = combinations.count_of(place)
    numbers = combinations.numbers[place]
    if counts[0] == 0:  # no row lacks a value
        return values.slice(1).alias(name), counts[1:], numbers - np.int32(1)
    return values.alias(name), counts, numbers
