"""Cells of a table that has more of them than memory: numbers and dates are put together in bins, by quantiles.

A coarse cell tells where about its rows lie. A plan on coarse cells hands rows out to sets; the labels of a set are
decided later, from the rows themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import polars as pl

from betalike.engines.cells import make_cells
from betalike.engines.coding import (
    ValueCodes,
    code_quasi_identifier,
    declared_domain,
    empty_to_missing,
    kind_of,
    ordered_numbers,
    outside_domain,
    too_far_apart,
)
from betalike.engines.combinations import EACH_ROW, Dictionary, Tally
from betalike.engines.sensitive import DistinctColumn, SensitiveCodes, SensitiveValues, code_sensitive_columns
from betalike.errors import InputError
from betalike.runtime.arrays import Ids
from betalike.table.axis import Axis, OrderedAxis
from betalike.table.cells import Cells
from betalike.table.exact_numbers import Number
from betalike.table.schema import Attribute, Kind, Schema

MOST_BINS = 4096
FEW_VALUES = 16  # a column with no more of them is left as it is


class Bins:
    """A column of numbers or dates, in bins that can be made wider; 0 is a missing value."""

    def __init__(self, attribute: Attribute, kind: Kind, sample: pl.Series) -> None:
        numbers = sample.drop_nulls().cast(pl.Float64)  # bins need no exact edges, only the same ones for all rows
        values = numbers.unique().sort().to_numpy()
        if len(values) > MOST_BINS:
            values = np.unique(np.quantile(numbers.to_numpy(), np.linspace(0, 1, MOST_BINS)[1:-1]))
        self.attribute, self.kind, self.edges = attribute, kind, values
        self.low: Number = math.inf
        self.high: Number = -math.inf
        self.shift = 0

    @property
    def size(self) -> int:
        """Above the numbers of all bins."""
        return (len(self.edges) >> self.shift) + 2

    def number(self, column: pl.Series) -> Ids:
        """The bin of each row; the least and the greatest value are remembered."""
        numbers = ordered_numbers(column, self.kind)
        low, high = least_and_greatest(numbers)
        self.low, self.high = min(self.low, low), max(self.high, high)
        places = np.searchsorted(self.edges, numbers.cast(pl.Float64).fill_null(0).to_numpy(), "right") >> self.shift
        return np.where(numbers.is_null().to_numpy(), 0, places + 1).astype(np.int32)

    def axis(self, used: Ids, has_missing: bool) -> OrderedAxis:
        """The axis of the bins that are used, each in the place of its middle."""
        if self.kind is Kind.REAL and not math.isfinite(float(self.high) - float(self.low)):
            raise too_far_apart(self.attribute.name)
        declared = declared_domain(self.attribute, self.kind)
        if declared is not None and (declared[0] > self.low or declared[1] < self.high):
            raise outside_domain(self.attribute)
        edges = np.concatenate([[float(self.low)], self.edges, [float(self.high)]])
        bins = used[used > 0].astype(np.int64) - 1
        starts = edges[np.minimum(bins << self.shift, len(edges) - 1)]
        ends = edges[np.minimum((bins + 1) << self.shift, len(edges) - 1)]
        middles = np.clip(starts / 2 + ends / 2, float(self.low), float(self.high))
        domain, is_declared = declared or (self.low, self.high), declared is not None
        return OrderedAxis(self.attribute.name, self.kind, middles, domain, has_missing, is_declared)


def least_and_greatest(numbers: pl.Series) -> tuple[Number, Number]:
    """The ends of some exact numbers, such that those of none do not count."""
    low, high = numbers.min(), numbers.max()
    if low is None:
        return math.inf, -math.inf
    assert isinstance(low, Number)
    assert isinstance(high, Number)
    return low, high


class BinnedColumn(Protocol):
    """A column whose values are numbered; 0 is a missing value."""

    @property
    def size(self) -> int:
        """Above all numbers."""
        ...

    def number(self, column: pl.Series) -> Ids:
        """The number of each row's value."""
        ...


@runtime_checkable
class Listed(BinnedColumn, Protocol):
    """A column whose numbers stand for one value each."""

    @property
    def values(self) -> pl.Series:
        """The values by their numbers; the first is missing."""
        ...


@dataclass(frozen=True)
class Coarse:
    """A table in coarse cells, and what finds the cell of a row."""

    cells: Cells
    sensitive: SensitiveValues
    value_codes: SensitiveCodes
    columns: dict[str, BinnedColumn]
    tally: Tally
    cell_of: Ids

    def find(self, batch: pl.DataFrame) -> Ids:
        """The cell of each row of a batch."""
        numbers = [column.number(batch[name]) for name, column in self.columns.items()]
        return np.asarray(self.cell_of[self.tally.find(numbers)])


def make_bins(schema: Schema, sample: pl.DataFrame) -> dict[str, BinnedColumn]:
    """How each column is coded: numbers and dates of many values in bins, everything else value by value."""
    columns: dict[str, BinnedColumn] = {}
    for attribute in schema.quasi_identifiers:
        column = empty_to_missing(sample[attribute.name])
        kind = kind_of(column, attribute)
        is_coarse = kind is not Kind.CATEGORICAL and column.n_unique() > FEW_VALUES
        numbers = ordered_numbers(column, kind) if is_coarse else column
        columns[attribute.name] = Bins(attribute, kind, numbers) if is_coarse else Dictionary()
    return {**columns, **{name: Dictionary() for name in schema.sensitive_columns}}


def count_coarsely(
    batches: Iterable[pl.DataFrame], columns: dict[str, BinnedColumn], schema: Schema, most: int
) -> Coarse:
    """Count coarse cells, up to so many: whenever there are more, the bins of one column are made wider."""
    tally = Tally(len(columns))
    for batch in batches:
        numbers = [column.number(batch[name]) for name, column in columns.items()]
        while True:
            try:
                tally.add(numbers, [column.size for column in columns.values()], EACH_ROW)
                break
            except OverflowError:  # more values than fit into a key
                tally, numbers = _widen(columns, tally, numbers)
        while len(tally) > most:
            tally, _ = _widen(columns, tally, [])
    return code_coarsely(columns, schema, tally)


def _widen(columns: dict[str, BinnedColumn], tally: Tally, rows: list[Ids]) -> tuple[Tally, list[Ids]]:
    """Make the bins of the column wider that has most; what was counted, and rows still to be counted, in these."""
    widest = widen(columns, len(tally))
    wider = Tally(len(columns))
    counted = [_halve(column) if place == widest else column for place, column in enumerate(tally.numbers)]
    if len(tally):
        wider.add(counted, [column.size for column in columns.values()], tally.total)
    return wider, [_halve(column) if place == widest else column for place, column in enumerate(rows)]


def widen(columns: dict[str, BinnedColumn], n_cells: int) -> int:
    """Make the bins of the column wider that has most; its place."""
    widest, bins = max(enumerate(columns.values()), key=lambda c: c[1].size if isinstance(c[1], Bins) else 0)
    if not isinstance(bins, Bins) or bins.size < 4:
        raise InputError(
            f"the table has more than {n_cells:,} distinct combinations of quasi-identifiers and sensitive value, "
            "and no numbers that could be put together. Allow more memory (--memory), or leave a column out."
        )
    bins.shift += 1
    return widest


def _halve(numbers: Ids) -> Ids:
    return np.where(numbers > 0, ((numbers - 1) >> 1) + 1, 0).astype(np.int32)


def code_coarsely(columns: dict[str, BinnedColumn], schema: Schema, tally: Tally) -> Coarse:
    """Cells from the counts of bins and values."""
    count, axes, codes = tally.total, list[Axis](), []
    for (_, column), numbers, attribute in zip(columns.items(), tally.numbers, schema.quasi_identifiers, strict=False):
        used, place = np.unique(numbers, return_inverse=True)
        if isinstance(column, Bins):
            has_missing = bool(used[0] == 0)
            axes.append(column.axis(used, has_missing))
            code = np.where(used == 0, len(used) - 1, np.arange(len(used)) - has_missing)  # missing ones come last
        else:
            assert isinstance(column, Listed)
            rows = np.bincount(place, count, len(used)).astype(np.int64)
            axis, code = code_quasi_identifier(column.values.gather(used).alias(attribute.name), attribute, rows)
            axes.append(axis)
        codes.append(code[place])
    names, parts = schema.sensitive_columns, []
    for name, numbers in zip(names, tally.numbers[-len(names) :], strict=True):
        used, place = np.unique(numbers, return_inverse=True)
        dictionary = columns[name]
        assert isinstance(dictionary, Listed)
        rows = np.bincount(place, count, len(used)).astype(np.int64)
        parts.append(DistinctColumn(dictionary.values.gather(used).alias(name), rows, place.astype(np.int32)))
    sensitive, code, of_values = code_sensitive_columns(parts, schema)
    cells, cell_of = make_cells(schema, axes, sensitive.axis, [*codes, code], count)
    value_codes = {
        name: ValueCodes.of(part.values, codes) for name, part, codes in zip(names, parts, of_values, strict=True)
    }
    return Coarse(cells, sensitive, SensitiveCodes(value_codes, sensitive.axis), columns, tally, cell_of)
