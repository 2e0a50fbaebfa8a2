"""Counts of a table that has more cells than memory: numbers and dates are put together in bins, by quantiles.

A coarse cell says about where its rows lie. A plan on coarse cells assigns rows to sets; the labels of a set are
decided later, from the rows themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
import polars as pl

from betalike.engines.coding import domain_of, empty_to_missing, ordered_numbers, settle_type
from betalike.engines.combinations import EACH_ROW, Combinations, NumberedColumn, Tally, number_rows
from betalike.engines.dictionary import Dictionary
from betalike.errors import InputError
from betalike.io.column_types import Seen, TypeGuess, see
from betalike.runtime.arrays import Ids, Ints
from betalike.table.axis import OrderedAxis
from betalike.table.exact_numbers import Number
from betalike.table.rounded_axis import rounded_like
from betalike.table.rounding import make_rounding
from betalike.table.schema import Attribute, Kind, Schema

MOST_BINS = 4096
FEW_VALUES = 16  # a column with no more of them is left as it is


class Bins:
    """A column of numbers or dates, in bins that can be made wider; 0 is a missing value."""

    def __init__(self, attribute: Attribute, taken: TypeGuess, sample: pl.Series) -> None:
        numbers = sample.drop_nulls().cast(pl.Float64)  # bins need no exact edges, only the same ones for all rows
        values = numbers.unique().sort().to_numpy()
        if len(values) > MOST_BINS:
            values = np.unique(np.quantile(numbers.to_numpy(), np.linspace(0, 1, MOST_BINS)[1:-1]))
        self.attribute, self.taken, self.edges = attribute, taken, values
        self.low: Number = math.inf
        self.high: Number = -math.inf
        self.shift = 0

    @property
    def kind(self) -> Kind:
        """The type of the values."""
        return self.taken.kind

    @property
    def size(self) -> int:
        """One more than the greatest number of a bin."""
        return (len(self.edges) >> self.shift) + 2

    def number(self, column: pl.Series) -> Ids:
        """Return the bin of each row, and remember the least and the greatest value."""
        numbers = ordered_numbers(column, self.kind, self.taken.dates)
        low, high = numbers.min(), numbers.max()
        if low is not None:
            assert isinstance(low, Number)
            assert isinstance(high, Number)
            self.low, self.high = min(self.low, low), max(self.high, high)
        places = np.searchsorted(self.edges, numbers.cast(pl.Float64).fill_null(0).to_numpy(), "right") >> self.shift
        return np.where(numbers.is_null().to_numpy(), 0, places + 1).astype(np.int32)

    @property
    def values(self) -> pl.Series:
        """The middle of each bin; the first is missing."""
        edges = np.concatenate([[float(self.low)], self.edges, [float(self.high)]])
        ends = edges[np.minimum(np.arange(self.size) << self.shift, len(edges) - 1)]
        middles = np.clip(ends[:-1] / 2 + ends[1:] / 2, float(self.low), float(self.high))
        return pl.Series([None, *middles], dtype=pl.Float64)

    def code(self, middles: pl.Series) -> tuple[OrderedAxis, Ints]:
        """Return the axis of the bins that are used, and the code of each; the missing value is first, if there."""
        name, has_missing = self.attribute.name, middles.null_count() > 0
        domain, is_declared = domain_of(self.attribute, self.kind, (self.low, self.high), lambda *_: "")
        numbers = middles.drop_nulls().to_numpy()
        axis = OrderedAxis(name, self.kind, numbers, domain, has_missing, is_declared, self.taken.dates)
        rounding = make_rounding(name, self.kind, self.attribute.round_ends)
        if rounding is not None:
            axis = rounded_like(axis, numbers, numbers, rounding)
        return axis, np.roll(np.arange(len(middles)), 1) if has_missing else np.arange(len(middles))


def see_rows(rows: pl.DataFrame, schema: Schema) -> dict[str, Seen]:
    """Return what is seen of the quasi-identifiers in some rows."""
    seen = {}
    for name in schema.quasi_identifier_names:
        column = rows[name]
        if column.dtype == pl.String:  # many texts repeat
            counted = column.to_frame().group_by(name).len("rows")
            seen[name] = see(counted[name], counted["rows"].cast(pl.Int64).to_numpy())
        else:
            seen[name] = see(column)
    return seen


def make_bins(schema: Schema, sample: pl.DataFrame, seen: Mapping[str, Seen]) -> dict[str, NumberedColumn]:
    """Return how each column is numbered: numbers and dates of many values in bins, everything else value by value.

    `seen` is what all rows show of each column.
    """
    columns: dict[str, NumberedColumn] = {}
    for attribute in schema.quasi_identifiers:
        name, column = attribute.name, empty_to_missing(sample[attribute.name])
        taken = settle_type(seen[name], column.dtype, attribute)
        is_coarse = taken.kind is not Kind.CATEGORICAL and column.n_unique() > FEW_VALUES
        numbers = ordered_numbers(column, taken.kind, taken.dates) if is_coarse else column
        columns[name] = Bins(attribute, taken, numbers) if is_coarse else Dictionary()
    return {**columns, **{name: Dictionary() for name in schema.sensitive_columns}}


def count_coarsely(batches: Iterable[pl.DataFrame], columns: Mapping[str, NumberedColumn], most: int) -> Combinations:
    """Count at most `most` coarse combinations: whenever there are more, the bins of one column are made wider."""
    tally = Tally(len(columns))
    for batch in batches:
        rows = number_rows(batch, columns)
        while True:
            try:
                tally.add(rows, [column.size for column in columns.values()], EACH_ROW)
                break
            except OverflowError:  # more values than fit into a key
                tally, rows = _widen(columns, tally, rows)
        while len(tally) > most:
            tally, _ = _widen(columns, tally, [])
    return Combinations(columns, tally.numbers, tally.total)


def _widen(columns: Mapping[str, NumberedColumn], tally: Tally, rows: list[Ids]) -> tuple[Tally, list[Ids]]:
    """Widen the bins of the column with most bins; return what was counted, and rows yet to be counted, in these."""
    widest = widen(columns, len(tally))
    wider = Tally(len(columns))
    counted = [_halve(column) if place == widest else column for place, column in enumerate(tally.numbers)]
    if len(tally):
        wider.add(counted, [column.size for column in columns.values()], tally.total)
    return wider, [_halve(column) if place == widest else column for place, column in enumerate(rows)]


def widen(columns: Mapping[str, NumberedColumn], n_cells: int) -> int:
    """Make the bins of the column with most bins wider, and return its place."""
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
