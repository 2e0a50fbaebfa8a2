"""Hierarchies from recipes: the values of a table's columns are counted once, and each recipe builds its tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import polars as pl

from betalike.engines.coding import category_texts, empty_to_missing
from betalike.errors import HierarchyError, ParameterError, SchemaError, short_traceback
from betalike.io.column_types import guess_type, see
from betalike.io.foreign_tables import SourceOptions, takes_tables
from betalike.io.needed_columns import built_columns
from betalike.io.tables import Frame, text_in_batches
from betalike.io.text_values import parse_moments, with_points
from betalike.promises.parameters import choose
from betalike.runtime.arrays import Ints
from betalike.table.hierarchy import Hierarchy
from betalike.table.hierarchy_recipes import Auto, DateLevel, Dates, Intervals, Recipe, make_recipe
from betalike.table.schema import DateOrder, Kind
from betalike.table.value_clusters import cluster

MOST_GROUPS = 32  # of rows that are compared by one column
Hierarchies = str | Path | Mapping[str, Any] | None


def recipes_in(hierarchies: Hierarchies) -> dict[str, Recipe]:
    """Return the columns whose hierarchy is given as a recipe, such as `{"prefix": [3, 1]}`."""
    if not isinstance(hierarchies, Mapping):
        return {}
    recipes: dict[str, Recipe] = {}
    for column, given in hierarchies.items():
        if isinstance(given, Recipe):
            recipes[column] = given
        elif isinstance(given, Mapping):
            recipes[column] = make_recipe(given, column)
    return recipes


def with_built(
    hierarchies: Hierarchies,
    table: Frame,
    quasi_identifiers: Sequence[str],
    sensitive: str | Sequence[str],
    missing: Sequence[str],
    delimiter: str | None,
    person: str | None = None,
    dates: str | None = None,
) -> Hierarchies:
    """Return hierarchies with a tree for each recipe of a column that is to be published."""
    named = [*quasi_identifiers, *([sensitive] if isinstance(sensitive, str) else sensitive)]
    recipes = {column: recipe for column, recipe in recipes_in(hierarchies).items() if column in named}
    if not recipes:
        return hierarchies
    assert isinstance(hierarchies, Mapping)
    return {**hierarchies, **build_recipes(recipes, table, quasi_identifiers, missing, delimiter, person, dates)}


@short_traceback
@takes_tables("table", needs=built_columns)
def build_hierarchy(
    table: Frame,
    column: str,
    recipe: Mapping[str, Any] | Recipe,
    *,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    dates: str | None = None,
    **source: Unpack[SourceOptions],
) -> Hierarchy:
    """Build the hierarchy of a column from its values, by a recipe such as {"prefix": [3, 1]}.

    `dates` is "dmy" or "mdy": what comes first in dates such as 03/04/1980, where the values do not show it.
    """
    recipes = recipes_in({column: recipe})
    if not recipes:
        raise ParameterError(f"the recipe of '{column}' must be a mapping such as {{'prefix': [3, 1]}}.")
    return build_recipes(recipes, table, (), missing, delimiter, dates=dates)[column]


def build_recipes(
    recipes: Mapping[str, Recipe],
    table: Frame,
    quasi_identifiers: Sequence[str],
    missing: Sequence[str],
    delimiter: str | None,
    person: str | None = None,
    dates: str | None = None,
) -> dict[str, Hierarchy]:
    """Build the trees of some columns from the values of a table; `person` names whose rows they are."""
    compared = {column: _compared(column, recipe, quasi_identifiers) for column, recipe in recipes.items()}
    persons = [] if person is None else [person]
    wanted = list(dict.fromkeys([*recipes, *(name for names in compared.values() for name in names), *persons]))
    counted: dict[tuple[str, ...], list[pl.DataFrame]] = {}
    for batch in text_in_batches(table, wanted, missing, delimiter):
        for column in recipes:
            for pair in [(column,), *((column, other) for other in [*compared[column], *persons])]:
                counted.setdefault(pair, []).append(batch.group_by(pair).len("rows"))
    built = {}
    for column, recipe in recipes.items():
        counts = _by_text(counted[column,], column)
        if not counts.height:
            raise HierarchyError(f"the column '{column}' has no values to build a hierarchy from.")
        if isinstance(recipe, Auto):
            profiles = [_profiles(counted[column, other], column, other, counts) for other in compared[column]]
            people = counts["rows"] if person is None else _count_people(counted[column, person], column, counts)
            built[column] = cluster(counts[column].to_list(), np.hstack(profiles), people.cast(pl.Int64).to_numpy())
        else:
            built[column] = build_from_counts(recipe, dict(counts.iter_rows()), column, dates)
    return built


def build_from_counts(recipe: Recipe, counts: Mapping[str, int], column: str, dates: str | None = None) -> Hierarchy:
    """Build a tree from counted values; dates and numbers may have any form that the rule for types knows."""
    assert not isinstance(recipe, Auto)  # which needs more than counts
    if not isinstance(recipe, Dates | Intervals):
        return recipe.build(counts)
    texts = pl.Series(column, list(counts), dtype=pl.String)
    if isinstance(recipe, Intervals):
        return recipe.build(counts, dict(zip(counts, with_points(texts), strict=True)), column)
    guess = guess_type(see(texts), None if dates is None else choose(DateOrder, dates, "order of dates"))
    if guess.is_ambiguous:
        raise SchemaError(
            f"the column '{column}' holds dates such as DD/MM/YYYY or MM/DD/YYYY, and its values do not show which. "
            "Say it with --dates dmy or --dates mdy (Python: dates='dmy')."
        )
    if guess.kind is Kind.MONTH:
        return _without_days(recipe, column).build(counts, {text: f"{text.strip()}-01" for text in counts}, column)
    days = parse_moments(texts, guess.dates or DateOrder.DMY).dt.date().cast(pl.String)
    return recipe.build(counts, dict(zip(counts, days.fill_null(texts), strict=True)), column)


def _without_days(recipe: Dates, column: str) -> Dates:
    levels = tuple(level for level in recipe.levels if level is not DateLevel.DAY)
    if not levels:
        raise ParameterError(f"the column '{column}' holds months, which have no level day. Name another level.")
    return Dates(levels)


@takes_tables("table", needs=built_columns)
def count_column(
    table: Frame, column: str, *, missing: Sequence[str], delimiter: str | None, **source: Unpack[SourceOptions]
) -> dict[str, int]:
    """Count the rows of each value of a column, as the text that is published."""
    return count_values(table, [column], missing, delimiter)[column]


def count_values(
    table: Frame, columns: Sequence[str], missing: Sequence[str], delimiter: str | None
) -> dict[str, dict[str, int]]:
    """Count the rows of each value of some columns, as the text that is published."""
    if not columns:
        return {}
    counted: dict[str, list[pl.DataFrame]] = {column: [] for column in columns}
    for batch in text_in_batches(table, columns, missing, delimiter):
        for column, counts in counted.items():
            counts.append(batch.group_by(column).len("rows"))
    return {column: dict(_by_text(counts, column).iter_rows()) for column, counts in counted.items()}


def _compared(column: str, recipe: Recipe, quasi_identifiers: Sequence[str]) -> list[str]:
    """Return the columns by which the builder 'auto' compares rows; none for other builders."""
    if not isinstance(recipe, Auto):
        return []
    named = recipe.columns if isinstance(recipe.columns, tuple) else quasi_identifiers
    others = [name for name in named if name != column]
    if not others:
        raise ParameterError(
            f"the builder 'auto' of '{column}' has no other column to compare rows by. Name some: "
            "auto = [COLUMN, ...] (--by COLUMN on the command line)."
        )
    return others


def _by_text(counted: Sequence[pl.DataFrame], column: str) -> pl.DataFrame:
    """Return the values of a column as the text that is published, each with its rows; missing values are left out."""
    try:
        together = pl.concat(counted)
    except pl.exceptions.PolarsError:  # its message may show cells
        raise SchemaError(f"the column '{column}' has values of different types in different files.") from None
    values = empty_to_missing(together[column])
    texts = together.with_columns(category_texts(values).alias(column)).drop_nulls(column)
    keys = [name for name in texts.columns if name != "rows"]
    return texts.group_by(keys).agg(pl.col("rows").sum()).sort(keys)


def _count_people(counted: Sequence[pl.DataFrame], column: str, values: pl.DataFrame) -> pl.Series:
    """Count the people with each value; rows that name no person count for nobody."""
    pairs = _by_text(counted, column).drop_nulls()
    people = pairs.group_by(column).agg(pl.len().alias("people"))
    return values.join(people, on=column, how="left", maintain_order="left")["people"].fill_null(0)


def _profiles(counted: Sequence[pl.DataFrame], column: str, other: str, values: pl.DataFrame) -> Ints:
    """Count the rows of each value (rows of the result) by what they have in another column, in few groups."""
    pairs = _by_text(counted, column)
    total = pairs.group_by(other).agg(pl.col("rows").sum())
    numbers = total[other].cast(pl.String).cast(pl.Float64, strict=False)
    if numbers.null_count() == total[other].null_count():
        total = total.with_columns(numbers.alias("number")).sort("number", nulls_last=True)
        place = total["rows"].cum_sum() * MOST_GROUPS // (pl.Series([total["rows"].sum()]) + 1)
        total = total.with_columns(place.clip(0, MOST_GROUPS - 1).alias("group"))
    else:
        total = total.sort("rows", other, descending=[True, False]).with_row_index("group")
        total = total.with_columns(pl.col("group").clip(0, MOST_GROUPS - 1))
    grouped = pairs.join(total.select(other, "group"), on=other, nulls_equal=True)
    rows = {text: i for i, text in enumerate(values[column])}
    counts = np.zeros((len(rows), MOST_GROUPS), dtype=np.int64)
    places = grouped[column].replace_strict(rows, return_dtype=pl.Int64).to_numpy()
    np.add.at(counts, (places, grouped["group"].to_numpy()), grouped["rows"].to_numpy())
    return counts
