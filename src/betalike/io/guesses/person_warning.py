"""Warn where a column without a role looks like the key of persons with several rows: the promise then counts rows."""

from __future__ import annotations

import polars as pl

from betalike.io.guesses.vocabulary import is_person_key
from betalike.io.tables import Frame, is_path, names_at_a_glance, text_in_batches
from betalike.table.schema import Schema

REPEATED = 0.01  # least share of rows whose person has another row before


def warn_about_persons(table: Frame, schema: Schema, delimiter: str | None) -> list[str]:
    """Return a warning for each column whose name is that of a key of persons and whose values repeat.

    Quasi-identifiers and sensitive columns are none. Of a large table only the first rows are read.
    """
    named = {*schema.quasi_identifier_names, *schema.sensitive_columns}
    likely = [name for name in _names(table, delimiter) if name not in named and is_person_key(name)]
    warnings = []
    for name in likely:
        rows = next(iter(text_in_batches(table, [name], (), delimiter)), pl.DataFrame({name: []}))[name].drop_nulls()
        n_repeated = len(rows) - rows.n_unique()
        if n_repeated and n_repeated >= REPEATED * len(rows):
            warnings.append(
                f"the column '{name}' looks like a key of persons with several rows, {len(rows) / rows.n_unique():.1f} "
                "on average, and the promise counts rows; name it with --person (in Python person=) to keep the "
                "promise in people"
            )
    return warnings


def _names(table: Frame, delimiter: str | None) -> list[str]:
    """Return the names of a table's columns; frames are not converted for that, and files not read again."""
    if is_path(table):
        return names_at_a_glance(table, delimiter)
    if isinstance(table, pl.LazyFrame):
        return table.collect_schema().names()
    return [str(name) for name in getattr(table, "column_names", None) or table.columns]
