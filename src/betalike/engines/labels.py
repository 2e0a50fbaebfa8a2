"""The published columns of quasi-identifiers: a label for each range."""

from __future__ import annotations

import polars as pl

from betalike.engines.real_labels import has_real_labels, write_reals
from betalike.table.axis import OrderedAxis
from betalike.table.cells import Plan


def label_series(plan: Plan) -> list[pl.Series]:
    """Return the published columns of the quasi-identifiers, with one entry for each class."""
    return [label_texts(plan, place) for place in range(len(plan.cells.axes))]


def label_texts(plan: Plan, place: int) -> pl.Series:
    """Return the labels of each class on one axis."""
    axis = plan.cells.axes[place]
    if isinstance(axis, OrderedAxis) and has_real_labels(axis):
        return write_reals(axis, *plan.box_sides(place))
    return pl.Series(axis.name, plan.labels(place), dtype=pl.String)
