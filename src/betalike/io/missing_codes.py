"""Codes that stand for a missing value, such as NA and -9: the same in every kind of table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

import polars as pl

WHOLE = re.compile(r"[+-]?\d+")
Table = TypeVar("Table", pl.DataFrame, pl.LazyFrame)


def code_texts(missing: Sequence[str]) -> list[str]:
    """Return the texts that a table may hold for some codes: -9 may also be written as -9.0.

    >>> code_texts(["NA", "-9"])
    ['NA', '-9', '-9.0']
    """
    return [text for code in missing for text in ([code, f"{code}.0"] if WHOLE.fullmatch(code) else [code])]


def without_codes(table: Table, missing: Sequence[str]) -> Table:
    """Return a table with missing values in the place of codes: numbers by value, all else by text."""
    if not missing:
        return table
    texts = code_texts(missing)
    numbers = pl.Series(texts, dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls()
    changed = []
    for name, dtype in table.collect_schema().items():
        if dtype.is_nested() or dtype == pl.Binary:
            continue
        if dtype.is_numeric():
            codes = numbers.cast(dtype, strict=False).drop_nulls().unique()
            codes = codes.filter(codes.cast(pl.Float64).is_in(numbers.implode()))
            is_code = pl.col(name).is_in(codes.implode())
        else:
            is_code = pl.col(name).cast(pl.String).is_in(texts)
        changed.append(pl.when(~is_code).then(pl.col(name)).alias(name))  # null where a value is null, too
    return table.with_columns(changed)
