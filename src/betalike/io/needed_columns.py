"""Which columns of a table are copied: those that are named, and no others."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from betalike.io.guesses.vocabulary import is_person_key
from betalike.table.hierarchy_recipes import Auto, Recipe, make_recipe
from betalike.table.schema import check_columns


@dataclass(frozen=True)
class NeededColumns:
    """The columns of a table that are copied.

    Unless they are `optional`, the table must have all of them; optional ones may be missing. With `has_keys`, columns
    that are named like the key of a person are copied too, with a random number in the place of each key. So a warning
    can say how often keys repeat.
    """

    names: Sequence[str]
    is_optional: bool = False
    has_keys: bool = False
    seed: int = field(default_factory=lambda: secrets.randbits(64))

    def choose(self, columns: Sequence[str]) -> list[str]:
        """Return the columns to copy, in the order of the table; all, if none of the optional ones is there."""
        if not self.is_optional:
            check_columns(self.names, columns)
        return [name for name in columns if name in self.names or self._is_key(name)] or list(columns)

    def take(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the columns of a frame that are copied."""
        chosen = frame.select(self.choose(frame.columns))
        hidden = [name for name in chosen.columns if name not in self.names and self._is_key(name)]
        return chosen.with_columns(
            pl.when(pl.col(name).is_not_null()).then(pl.col(name).hash(self.seed)).alias(name) for name in hidden
        )

    def _is_key(self, name: str) -> bool:
        return self.has_keys and is_person_key(name)


Needs = Callable[[Mapping[str, Any]], NeededColumns | None]  # what the arguments of a function need; None for all


def all_columns(arguments: Mapping[str, Any]) -> None:
    """Need all columns of a table."""
    return


def published_columns(arguments: Mapping[str, Any]) -> NeededColumns:
    """Need the columns that are published, or tried, and those that hierarchies are built with."""
    lists = [arguments.get(name) for name in ("quasi_identifiers", "sensitive", "keep", "person", "consider")]
    names = [*_flat(lists), *_compared(arguments.get("hierarchies"))]
    is_warned = "keep" in arguments and arguments.get("person") is None
    return NeededColumns(list(dict.fromkeys(names)), has_keys=is_warned)


def built_columns(arguments: Mapping[str, Any]) -> NeededColumns:
    """Need the column whose hierarchy is built, and those that rows are compared by."""
    column = str(arguments["column"])
    return NeededColumns([column, *_compared({column: arguments.get("recipe")})])


def counted_columns(arguments: Mapping[str, Any]) -> NeededColumns:
    """Need the columns whose values are counted."""
    return NeededColumns(list(arguments["columns"]))


def _flat(given: Iterable[Any]) -> list[str]:
    listed = ([each] if isinstance(each, str) else each or () for each in given)
    return [name for names in listed for name in names if isinstance(name, str)]


def _compared(hierarchies: Any) -> list[str]:
    """Return the columns that the builder 'auto' is to compare rows by."""
    if not isinstance(hierarchies, Mapping):
        return []
    recipes = [
        given if isinstance(given, Recipe) else make_recipe(given, column)
        for column, given in hierarchies.items()
        if isinstance(given, Recipe | Mapping)
    ]
    named = (recipe.columns for recipe in recipes if isinstance(recipe, Auto))
    return [name for columns in named if isinstance(columns, tuple) for name in columns]
