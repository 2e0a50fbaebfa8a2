"""Codes that stand for a missing value, such as NA and -9: the same in every kind of table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

import polars as pl

MOST_ZEROS = 6  # after the point of a code that is written as a decimal number
WHOLE = re.compile(r"[+-]?\d+")
Table = TypeVar("Table", pl.DataFrame, pl.LazyFrame)


def code_texts(missing: Sequence[str]) -> list[str]:
    """Return the texts that a table may hold for some codes: -9 may also be written as -9.0 or -9,00.

    >>> code_texts(["NA", "-9"])[:5]
    ['NA', '-9', '-9.0', '-9,0', '-9.00']
    """
    ends = ["", *(sign + "0" * n for n in range(1, MOST_ZEROS + 1) for sign in ".,")]
    return [code + end for code in missing for end in (ends if WHOLE.fullmatch(code) else [""])]


def code_numbers(missing: Sequence[str]) -> pl.Series:
    """Return the codes that are numbers."""
    return pl.Series(missing, dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls()


def without_codes(table: Table, missing: Sequence[str]) -> Table:
    """Return a table with missing values in the place of codes: numbers by value, all else by text."""
    if not missing:
        return table
    texts = code_texts(missing)
    numbers = code_numbers(missing)
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
