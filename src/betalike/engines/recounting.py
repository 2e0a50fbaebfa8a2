"""Counting a published table again: rows with the same labels are a class, no matter which tool wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from betalike.engines.combinations import Combinations, count_combinations
from betalike.engines.engine import Recount
from betalike.engines.sensitive import label_joined
from betalike.errors import GuaranteeError
from betalike.table.cells import ClassCounts, fold


def recount(
    batches: Iterable[pl.DataFrame], names: Sequence[str], sensitive: Sequence[str], values: Sequence[str]
) -> Recount:
    """Count the classes of published rows batch by batch; `names` are the quasi-identifiers."""
    return recount_combinations(count_combinations(batches, [*names, *sensitive]), names, sensitive, values)


def as_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame with all cells as text; repeated texts stay as they are."""
    types = frame.schema
    return frame.with_columns(pl.col(name).cast(pl.String) for name in types if types[name] != pl.Categorical)


def recount_combinations(
    counted: Combinations, names: Sequence[str], sensitive: Sequence[str], values: Sequence[str]
) -> Recount:
    """Count classes from the distinct rows of a release, whose last columns are the sensitive ones."""
    if not len(counted.count):
        raise GuaranteeError("no rows were written. Nothing was published.")
    numbers = counted.numbers
    labels, values_shown = numbers[: -len(sensitive)], numbers[-len(sensitive) :]
    first_of_class, ec = fold(labels, [int(column.max()) + 1 for column in labels])
    first, inverse = fold(values_shown, [int(column.max()) + 1 for column in values_shown])
    place = {label: i for i, label in enumerate(values)}
    shown = label_joined(counted.rows(first, sensitive), sensitive)
    number = np.array([place.get(label, -1) for label in shown])[inverse]
    published = counted.rows(first_of_class, names)
    return Recount(
        classes=ClassCounts.of(ec, np.maximum(number, 0), counted.count, len(values)),
        labels=[published[name].cast(pl.String) for name in names],
        n_unknown=int(counted.count[number < 0].sum()),
    )
