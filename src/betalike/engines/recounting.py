"""Counting a published table again: rows with the same labels are a class, no matter which tool wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from betalike.engines.combinations import count_combinations
from betalike.engines.engine import Format, Recount
from betalike.engines.sensitive import join_columns
from betalike.errors import GuaranteeError
from betalike.io.spreadsheet import restore_columns
from betalike.runtime.arrays import Ids, Ints
from betalike.table.cells import ClassCounts, fold
from betalike.table.joint import JOINED


def read_release(path: Path, form: Format, columns: Sequence[str]) -> pl.DataFrame:
    """Read columns of a release as text, repeated texts once."""
    if form is Format.PARQUET:
        return pl.scan_parquet(path, glob=False).select(_as_repeated_text(columns)).collect(engine="streaming")
    types = dict.fromkeys(columns, pl.Categorical)
    frame = pl.read_csv(path, columns=list(columns), schema_overrides=types, glob=False)
    return restore_columns(frame) if form.is_safe else frame


def _as_repeated_text(columns: Sequence[str]) -> list[pl.Expr]:
    return [pl.col(name).cast(pl.String).cast(pl.Categorical) for name in columns]


def recount(frame: pl.DataFrame, names: Sequence[Sequence[str]], sensitive: str, values: Sequence[str]) -> Recount:
    """Count the classes of a published frame in memory."""
    columns = [*(name for group in names for name in group), sensitive]
    types = frame.select(columns).schema
    texts = [pl.col(name) if types[name] == pl.Categorical else pl.col(name).cast(pl.String) for name in columns]
    return recount_combinations([frame.select(texts)], names, [sensitive], values)


def recount_combinations(
    batches: Iterable[pl.DataFrame], names: Sequence[Sequence[str]], sensitive: Sequence[str], values: Sequence[str]
) -> Recount:
    """Count the classes of published rows, whose columns are text, batch by batch."""
    counted = count_combinations(batches, [*(name for group in names for name in group), *sensitive])
    if not len(counted.count):
        raise GuaranteeError("no rows were written. Nothing was published.")
    rows, numbers = counted.frame, counted.numbers
    if len(sensitive) > 1:
        parts = numbers[-len(sensitive) :]
        _, joint = fold(parts, [int(part.max()) + 1 for part in parts])
        rows, numbers = join_columns(rows, sensitive, JOINED), [*numbers[: -len(sensitive)], joint]
    return recount_distinct(rows, numbers, counted.count, names, values)


def recount_distinct(
    rows: pl.DataFrame, codes: Sequence[Ids], count: Ints, names: Sequence[Sequence[str]], values: Sequence[str]
) -> Recount:
    """Count classes from the distinct rows of a release; the sensitive column is last, `codes` number its texts."""
    first_of_class, ec = fold(codes[:-1], [int(column.max()) + 1 for column in codes[:-1]])
    value = _value_numbers(rows.to_series(rows.width - 1), codes[-1], values)
    published = rows[first_of_class]
    return Recount(
        classes=ClassCounts.of(ec, np.maximum(value, 0), count, len(values)),
        labels=[_group_labels(published.select(group)) for group in names],
        n_unknown=int(count[value < 0].sum()),
    )


def _value_numbers(column: pl.Series, codes: Ids, values: Sequence[str]) -> Ints:
    """Return the number of each sensitive value in a list of them, -1 for one that is not there."""
    number = {value: i for i, value in enumerate(values)}
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    texts = column.gather(first).cast(pl.String).fill_null("")
    return np.array([number.get(text, -1) for text in texts], dtype=np.int64)[inverse]


def _group_labels(published: pl.DataFrame) -> list[str | None]:
    """Return the labels of one quasi-identifier, one for each class; two bounds are joined to a range."""
    if published.width == 1:
        return published.to_series().cast(pl.String).to_list()
    lows, highs = (published[name].cast(pl.String).to_list() for name in published.columns)
    return [low if low == high else f"[{low}, {high}]" for low, high in zip(lows, highs, strict=True)]
