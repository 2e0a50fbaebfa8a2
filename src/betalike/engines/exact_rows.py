"""Reading back rows that were published exactly, and comparing them with the table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from betalike.engines.coding import codes_of_values
from betalike.engines.engine import Format
from betalike.errors import SchemaError
from betalike.io.frames import check_years
from betalike.io.spreadsheet import restore_columns
from betalike.runtime.arrays import Ids, Ints
from betalike.table.kernels import count_pairs


@dataclass(frozen=True)
class Written:
    """A table as it was written, a column at a time where the format allows it."""

    columns: list[str]
    height: int
    column: Callable[[str], pl.Series]


def open_written(release: pl.DataFrame, path: Path | None, form: Format, as_text: Collection[str]) -> Written:
    """What was written, in the types of the release where CSV can tell them; the release itself if no file is."""
    if path is not None and form is Format.PARQUET:
        height = pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()
        return Written(
            pl.scan_parquet(path, glob=False).collect_schema().names(), height, lambda name: _read_column(path, name)
        )
    if path is not None:
        types: dict[str, Any] = {
            name: dtype if is_plain_number(dtype) and name not in as_text else pl.String
            for name, dtype in release.schema.items()
        }
        release = pl.read_csv(path, schema_overrides=types, glob=False)
        release = restore_columns(release) if form.is_safe else release
    return Written(release.columns, release.height, release.get_column)


def count_changed(written: pl.Series, original: pl.Series) -> int:
    """In how many rows two columns differ; texts alone are compared where CSV knows no type, and '' is missing."""
    if written.dtype != original.dtype or not is_plain_number(original.dtype):
        written, original = (as_plain_text(column) for column in (written, original))
    return int(written.ne_missing(original).sum())


def count_moves(values: Ids, published: pl.Series, labels: Sequence[str]) -> tuple[Ints, int]:
    """How many rows of each value were published as each, and how many as something that is no value."""
    if published.dtype in (pl.Categorical, pl.Enum):
        published = published.cast(pl.String)
    number = {label: i for i, label in enumerate(labels)}
    distinct = published.unique().drop_nulls()
    numbers = np.array([number.get(text, -1) for text in distinct.cast(pl.String)], dtype=np.int32)
    places = codes_of_values(published, distinct, numbers, missing=number.get("", -1))
    return count_pairs(values, places, len(labels)), int((places < 0).sum())


def _read_column(path: Path, name: str) -> pl.Series:
    return pl.read_parquet(path, columns=[name], glob=False).to_series().rechunk()


def has_no_text(dtype: pl.DataType) -> bool:
    """Whether a CSV file has no place for values of this type."""
    return dtype.is_nested() or dtype in (pl.Binary, pl.Object) or isinstance(dtype, pl.BaseExtension)


def check_labels(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame; refuse columns without a text to compare, and dates outside the years 1 to 9999."""
    for name, dtype in frame.schema.items():
        if has_no_text(dtype) or dtype == pl.Duration:
            raise SchemaError(
                f"the column '{name}' is of type {dtype.base_type()}, which cannot be compared as text. Convert it to "
                "text first."
            )
    return check_years(frame)


def check_csv_types(types: Mapping[str, pl.DataType]) -> None:
    """Refuse columns whose values a CSV file cannot hold."""
    for name, dtype in types.items():
        if has_no_text(dtype):
            raise SchemaError(
                f"the column '{name}' is of type {dtype.base_type()}, which a CSV file cannot hold. Publish to Parquet "
                "(--format parquet), convert the column to text, or leave it out."
            )


def is_plain_number(dtype: pl.DataType) -> bool:
    """Whether a CSV file can tell values of this type."""
    return (dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128)) or dtype.is_float()


def as_plain_text(column: pl.Series) -> pl.Series:
    """A column as a CSV file shows it; empty text is missing."""
    text = column.dt.to_string("iso") if column.dtype == pl.Duration else column.cast(pl.String)
    return text.set((text == "").fill_null(False), None)
