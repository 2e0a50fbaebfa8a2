"""The published columns of quasi-identifiers: one label for each range, or its two bounds."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.engines.engine import Layout
from betalike.engines.real_labels import has_real_labels, write_reals
from betalike.errors import SchemaError
from betalike.io.column_types import MOST_DIGITS
from betalike.table.axis import Axis, Bound, OrderedAxis
from betalike.table.cells import Plan
from betalike.table.schema import Kind, Schema


def label_series(plan: Plan, layout: Layout) -> list[pl.Series]:
    """Return the published columns of the quasi-identifiers, with one entry for each class."""
    axes: Sequence[Axis] = plan.cells.axes
    if layout is Layout.LABELS:
        return [label_texts(plan, place) for place in range(len(axes))]
    return [column for i, axis in enumerate(axes) for column in bound_series(axis, *plan.box_sides(i))]


def label_texts(plan: Plan, place: int) -> pl.Series:
    """Return the labels of each class on one axis."""
    axis = plan.cells.axes[place]
    if isinstance(axis, OrderedAxis) and has_real_labels(axis):
        return write_reals(axis, *plan.box_sides(place))
    return pl.Series(axis.name, plan.labels(place), dtype=pl.String)


def bound_series(axis: Axis, low: NDArray[np.int64], high: NDArray[np.int64]) -> list[pl.Series]:
    """Return the bounds of each class on one axis as two columns; its labels if it has no order."""
    if isinstance(axis, OrderedAxis):
        if axis.domain[0] == axis.domain[1] and axis.is_mixed(low, high).any():
            raise SchemaError(
                f"the column '{axis.name}' has one value and missing ones, which look the same as two bounds. "
                "Publish with the layout 'labels', or declare a wider domain."
            )
        lows, highs = axis.bounds(low, high)
        dtype = _bound_type(axis, [*lows, *highs])
        sides = ((f"{axis.name}_low", lows), (f"{axis.name}_high", highs))
        return [pl.Series(name, _typed_bounds(side, axis, dtype), dtype) for name, side in sides]
    return [pl.Series(axis.name, axis.labels(low, high), dtype=pl.String)]


def label_columns(axes: Sequence[Axis], layout: Layout) -> list[list[str]]:
    """Return the published columns of each quasi-identifier."""
    is_two = [layout is Layout.BOUNDS and isinstance(axis, OrderedAxis) for axis in axes]
    return [
        [f"{axis.name}_low", f"{axis.name}_high"] if two else [axis.name]
        for axis, two in zip(axes, is_two, strict=True)
    ]


def label_names(axes: Sequence[Axis], layout: Layout) -> list[str]:
    """Return the published columns of all quasi-identifiers."""
    return [name for group in label_columns(axes, layout) for name in group]


def check_distinct_names(schema: Schema, axes: Sequence[Axis], layout: Layout) -> None:
    """Refuse a release with two columns of one name."""
    published = label_names(axes, layout)
    others = [*schema.sensitive_columns, *(attribute.name for attribute in schema.kept)]
    doubled = {name for name in published if (published + others).count(name) > 1}
    if doubled:
        raise SchemaError(
            f"the release would have two columns named '{min(doubled)}'. Rename one in the table, or publish with "
            "the layout 'labels'."
        )


def _bound_type(axis: OrderedAxis, bounds: Sequence[Bound]) -> pl.DataType:
    """Return a type for two columns of bounds that keeps all digits and that other libraries can read.

    It follows from the domain, so that all parts of a table have the same.
    """
    kind, (low, high) = axis.kind, axis.domain
    if kind is Kind.REAL or not kind.is_number:
        return pl.Float64() if kind is Kind.REAL else pl.String()
    if kind is Kind.INTEGER and low >= -(2**63) and high < 2**63:
        return pl.Int64()
    if kind is Kind.INTEGER and low >= 0 and high < 2**64:
        return pl.UInt64()
    if kind is Kind.INTEGER and 10**MOST_DIGITS <= max(-low, high) < 2**127:
        return pl.Int128()
    exponents = [int(end.as_tuple().exponent) for end in (*bounds, low, high) if isinstance(end, Decimal)]
    places = max(-min(exponents, default=0), 0)
    if places > MOST_DIGITS or max(-low, high) >= 10 ** (
        MOST_DIGITS - places
    ):  # a domain that no type of numbers holds
        return pl.String()
    return pl.Decimal(MOST_DIGITS, places)


def _typed_bounds(bounds: Sequence[Bound], axis: OrderedAxis, dtype: pl.DataType) -> list[Any]:
    if dtype.is_decimal():
        return [None if bound is None else Decimal(bound) for bound in bounds]
    if dtype == pl.String and axis.kind.is_number:
        return [None if bound is None else format(bound, "f" if isinstance(bound, Decimal) else "") for bound in bounds]
    return [*bounds]
