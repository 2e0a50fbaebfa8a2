"""Text cells that a spreadsheet would run as formulas."""

from __future__ import annotations

import re

import polars as pl

from betalike.io.categories import distinct_texts

BEGINNING = r"^[=+\-@\t\r\n＝＋－＠]"  # noqa: RUF001 - some spreadsheets treat the wide signs like the plain ones
NUMBER = r"^[+\-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+\-]?[0-9]+)?$|^[+\-]?inf$"
TEXTS = (pl.String, pl.Categorical, pl.Enum)


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet may run a text as a formula; plain numbers are not formulas.

    >>> [is_formula(text) for text in ("=1+1", "-2+3", "@SUM(A1)", "-2.5", "+1e3", "flu", "")]
    [True, True, True, False, False, False, False]
    """
    return re.match(BEGINNING, text) is not None and re.match(NUMBER.replace("$", r"\Z"), text) is None


def formula_columns(rows: pl.DataFrame | pl.LazyFrame) -> list[str]:
    """Return the columns with a name or a text cell that a spreadsheet may run."""
    if isinstance(rows, pl.LazyFrame):
        texts = rows.select(pl.col(TEXTS))
        found = texts.select(_are_formulas(pl.all().cast(pl.String)).any()).collect(engine="streaming")
        return [n for n in rows.collect_schema().names() if is_formula(n) or (n in found.columns and found[n].item())]
    return [column.name for column in rows if is_formula(column.name) or _has_formula(column)]


def _has_formula(column: pl.Series) -> bool:
    if column.dtype not in TEXTS:
        return False
    texts = column if column.dtype == pl.String else distinct_texts(column)
    return bool(texts.to_frame().select(_are_formulas(pl.first()).any()).item())


def _are_formulas(text: pl.Expr) -> pl.Expr:
    return (text.str.contains(BEGINNING) & ~text.str.contains(NUMBER)).fill_null(False)
