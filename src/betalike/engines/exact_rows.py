"""Reading back rows that were published exactly, and comparing them with the table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.publication import Format

Ints = NDArray[np.int64]


def read_exactly(release: pl.DataFrame, path: Path | None, form: Format, as_text: Collection[str]) -> pl.DataFrame:
    """The rows as they were written, in the types of the release where CSV can tell them; the rows if no file is."""
    if path is None:
        return release
    if form is Format.PARQUET:
        return pl.read_parquet(path)
    types: dict[str, Any] = {
        name: dtype if _is_plain_number(dtype) and name not in as_text else pl.String
        for name, dtype in release.schema.items()
    }
    return pl.read_csv(path, schema_overrides=types)


def count_changed(written: pl.Series, original: pl.Series) -> int:
    """In how many rows two columns differ; texts alone are compared where CSV knows no type, and '' is missing."""
    if written.dtype != original.dtype or not _is_plain_number(original.dtype):
        written, original = (_as_text(column) for column in (written, original))
    return int(written.ne_missing(original).sum())


def count_moves(values: NDArray[np.integer], published: pl.Series, labels: Sequence[str]) -> tuple[Ints, int]:
    """How many rows of each value were published as each, and how many as something that is no value."""
    pairs = pl.DataFrame({"value": values, "published": published}).group_by("value", "published").len()
    number = {label: i for i, label in enumerate(labels)}
    seen = [number.get(text, -1) for text in pairs["published"].cast(pl.String).fill_null("")]
    moves = np.zeros((len(labels), len(labels)), dtype=np.int64)
    n_unknown = 0
    for value, place, count in zip(pairs["value"], seen, pairs["len"], strict=True):
        if place < 0:
            n_unknown += count
        else:
            moves[value, place] += count
    return moves, n_unknown


def _is_plain_number(dtype: pl.DataType) -> bool:
    return (dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128)) or dtype.is_float()


def _as_text(column: pl.Series) -> pl.Series:
    text = column.cast(pl.String)
    return text.set((text == "").fill_null(False), None)
