"""Sensitive columns in ranges: values are replaced before anything is counted, so that all else sees only labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from betalike.engines.coding import empty_to_missing, read_as
from betalike.engines.combinations import count_each
from betalike.engines.numbers import to_numbers
from betalike.errors import SchemaError
from betalike.io.tables import Source
from betalike.runtime.arrays import Ints
from betalike.table.schema import Attribute, DateOrder, Schema
from betalike.table.value_ranges import ValueRanges

OUTSIDE = "outside all ranges"  # which no certificate has


def bin_source(source: Source, schema: Schema) -> tuple[Source, dict[str, ValueRanges]]:
    """Return a table with ranges in the place of the sensitive values that are to be binned, and these ranges."""
    binned = [each for each in schema.parts or (schema.sensitive,) if each.bins is not None]
    if not binned:
        return source, {}
    names = [attribute.name for attribute in binned]
    ranges, changed = {}, []
    for attribute, counted in zip(binned, count_each(source.batches(names), names), strict=True):
        name = attribute.name
        values = counted.values[name].slice(1).alias(name)
        ranges[name] = (
            attribute.bins if isinstance(attribute.bins, ValueRanges) else _make(values, counted.count[1:], attribute)
        )
        labels = label_column(values, ranges[name])
        text = pl.col(name).cast(values.dtype)
        changed.append(text.replace_strict(values, labels, default=None, return_dtype=pl.String).alias(name))
    return replace(source, table=source.table.with_columns(changed)), ranges


def bin_counts(counts: Mapping[str, int], attribute: Attribute) -> dict[str, int]:
    """Return the rows of each range of a column, from the rows of each of its values; the empty text is missing."""
    known = {value: rows for value, rows in counts.items() if value}
    values = pl.Series(attribute.name, list(known), dtype=pl.String)
    rows = np.array(list(known.values()), dtype=np.int64)
    labels = label_column(values, _make(values, rows, attribute))
    summed = pl.DataFrame({"label": labels, "rows": rows}).group_by("label", maintain_order=True).sum()
    return dict(summed.iter_rows())


def _make(values: pl.Series, counts: Ints, attribute: Attribute) -> ValueRanges:
    """Make ranges of the distinct values of a column."""
    taken = read_as(values, attribute, counts)
    if not taken.kind.is_ordered:
        raise SchemaError(
            f"the column '{attribute.name}' is to be put into bins, but it holds no numbers or dates ({taken.reason}). "
            "Leave `bins` out, or name codes for missing values (--missing)."
        )
    numbers = to_numbers(empty_to_missing(values), taken.kind, attribute.name, counts, taken.dates or DateOrder.DMY)
    rows = pl.DataFrame({"number": numbers, "rows": counts}).drop_nulls().group_by("number").sum().sort("number")
    return ValueRanges.of_values(
        rows["number"].to_list(), rows["rows"].to_numpy(), attribute.bins, taken.kind, taken.dates
    )


def label_column(column: pl.Series, ranges: ValueRanges) -> pl.Series:
    """Return the label of each value's range; missing values stay missing."""
    numbers = to_numbers(empty_to_missing(column), ranges.kind, column.name, dates=ranges.dates or DateOrder.DMY)
    labels = [None if number is None else ranges.label_of(number) or OUTSIDE for number in numbers.to_list()]
    return pl.Series(column.name, labels, dtype=pl.String)


def label_rows(rows: pl.DataFrame, ranges: Mapping[str, ValueRanges]) -> pl.DataFrame:
    """Return rows with ranges in the place of the values of some columns."""
    return rows.with_columns(label_column(rows[name], each) for name, each in ranges.items() if name in rows.columns)
