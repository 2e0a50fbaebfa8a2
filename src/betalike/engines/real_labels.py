"""Labels of real numbers, many at a time: the same texts that `OrderedAxis` writes, and the same numbers read back."""

from __future__ import annotations

import numpy as np
import polars as pl

from betalike.runtime.arrays import Bools, Floats, Ints
from betalike.table.axis import Axis, OrderedAxis
from betalike.table.exact_numbers import format_values
from betalike.table.hierarchy import ROOT
from betalike.table.schema import Kind

# Between these, Polars and Python write the same digits; beyond them, exponents in different ways.
LEAST, MOST = 1e-4, 1e16


def has_real_labels(axis: Axis) -> bool:
    """Whether an axis has plain ranges of real numbers, without round ends."""
    return type(axis) is OrderedAxis and axis.kind is Kind.REAL and axis.values.dtype == np.float64


def write_reals(axis: OrderedAxis, low: Ints, high: Ints) -> pl.Series:
    """Return the labels of ranges of codes, as `axis.labels` does."""
    n_values = len(axis.values)
    values = np.append(axis.values, np.nan)  # a placeholder for the code of missing values
    is_missing, is_mixed = low == n_values, axis.is_mixed(low, high)
    ends = pl.DataFrame([_texts(values[low]).alias("low"), _texts(values[high]).alias("high")])
    labels = ends.select(
        pl.when(pl.lit(pl.Series(is_missing)))
        .then(None)
        .when(pl.lit(pl.Series(is_mixed)))
        .then(pl.lit(ROOT))
        .when(pl.lit(pl.Series(low == high)))
        .then("low")
        .otherwise(pl.concat_str(pl.lit("["), "low", pl.lit(", "), "high", pl.lit("]")))
        .alias(axis.name)
    )
    return labels.to_series()


def _texts(numbers: Floats) -> pl.Series:
    texts = pl.Series(numbers).cast(pl.String)
    size = np.abs(numbers)
    others = np.flatnonzero(~((size >= LEAST) & (size < MOST)))
    if not len(others):
        return texts
    return texts.scatter(pl.Series(others), format_values(numbers[others].tolist(), Kind.REAL))


def read_reals(labels: pl.Series) -> tuple[Bools, Floats, Floats] | None:
    """Return which labels are numbers or ranges, and their two ends; None if some are neither, nor `*` or missing."""
    is_shown = (labels != ROOT).fill_null(False)
    inside = labels.filter(is_shown).str.strip_prefix("[").str.strip_suffix("]")
    texts = inside.str.splitn(", ", 2).struct.unnest()
    low = texts.to_series(0).cast(pl.Float64, strict=False)
    high = texts.to_series(1).fill_null(texts.to_series(0)).cast(pl.Float64, strict=False)
    if low.null_count() or high.null_count():
        return None
    return is_shown.to_numpy(), low.to_numpy(), high.to_numpy()
