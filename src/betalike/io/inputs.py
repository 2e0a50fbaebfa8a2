"""What users say of a table, in whichever form, brought to one: its schema, its rows, choices by their names."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import polars as pl

from betalike.errors import ParameterError, SchemaError, suggestion
from betalike.io.damage import NOT_TO_ITS_END, check_read_whole, damage_refused
from betalike.io.frames import to_polars
from betalike.io.hierarchies import read_hierarchies, read_hierarchy
from betalike.io.sources import is_standard_input, standard_input
from betalike.io.tables import ScannedTable, load, scan_table
from betalike.io.years import check_years
from betalike.table.hierarchy import Hierarchy
from betalike.table.joint import JOINED
from betalike.table.schema import Attribute, Kind, Role, Schema, text_columns

Frame = Any  # a pandas, Polars or PyArrow frame, a DuckDB relation, or the path of a file
BATCH_ROWS = 1_000_000
Choice = TypeVar("Choice", bound=StrEnum)
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def make_schema(
    quasi_identifiers: Sequence[str],
    sensitive: str | Sequence[str],
    hierarchies: str | Path | Mapping[str, Any] | None,
    kinds: Mapping[str, str] | None,
    domains: Mapping[str, tuple[Any, Any]] | None,
    weights: Mapping[str, float] | None,
    keep: Sequence[str],
    is_missing_value: bool,
) -> Schema:
    """Bring together what the user said about each column."""
    if isinstance(quasi_identifiers, str):
        raise ParameterError("quasi_identifiers must be a list of column names, not one text.")
    protected = [sensitive] if isinstance(sensitive, str) else list(sensitive)
    if not protected:
        raise ParameterError("no sensitive column is named; name the column to protect.")
    named = [*quasi_identifiers, *protected]
    typed = {column: choose(Kind, kind, f"type of '{column}'") for column, kind in (kinds or {}).items()}
    is_folder = isinstance(hierarchies, str | Path)  # it may hold hierarchies of columns that are numbers here
    ordered = {column for column, kind in typed.items() if kind.is_ordered and is_folder}
    trees = choose_hierarchies(hierarchies, [column for column in named if column not in ordered])
    for option, given in (("types", typed), ("domains", domains or {})):
        _check_named(option, given, named)
    _check_named("weights", weights or {}, quasi_identifiers)

    def attribute(column: str, role: Role) -> Attribute:
        domain = (domains or {}).get(column)
        return Attribute(
            column,
            role,
            typed.get(column),
            (domain[0], domain[1]) if domain is not None else None,
            trees.get(column),
            float((weights or {}).get(column, 1.0)),
        )

    parts = tuple(attribute(column, Role.SENSITIVE) for column in protected)
    return Schema(
        tuple(attribute(column, Role.QUASI_IDENTIFIER) for column in quasi_identifiers),
        parts[0] if len(parts) == 1 else Attribute(JOINED.join(protected), Role.SENSITIVE),
        tuple(Attribute(column, Role.KEPT) for column in keep),
        is_missing_value,
        parts if len(parts) > 1 else (),
    )


def check_one_sensitive(sensitive: object, done: str) -> None:
    """Refuse several sensitive columns where one is taken at a time."""
    if not isinstance(sensitive, str):
        raise ParameterError(f"sensitive columns are {done} one at a time: name one column, not a list.")


def _check_named(option: str, given: Mapping[str, Any], named: Sequence[str]) -> None:
    for column in given:
        if column not in named:
            raise SchemaError(
                f"{option} has '{column}', which is not one of the columns named: {', '.join(named)}."
                f"{suggestion(column, named)}"
            )


def choose_hierarchies(given: str | Path | Mapping[str, Any] | None, columns: Sequence[str]) -> dict[str, Hierarchy]:
    """The hierarchies of some columns, from a folder or a mapping."""
    if given is None:
        return {}
    if isinstance(given, str | Path):
        return read_hierarchies(given, columns)
    return {column: _hierarchy(column, tree) for column, tree in given.items() if column in columns}


def _hierarchy(column: str, given: Any) -> Hierarchy:
    """The hierarchy of a column, from itself, its file or its rows."""
    if isinstance(given, str | Path):
        return read_hierarchy(given)
    return given if isinstance(given, Hierarchy) else Hierarchy.from_rows(given, f"the hierarchy of '{column}'")


def missing_is_value(choice: str) -> bool:
    """Whether a missing sensitive value is published as a value of its own."""
    if choice not in ("error", "value"):
        raise ParameterError(f"missing_sensitive is '{choice}'; it must be 'error' or 'value'.")
    return choice == "value"


def choose(choices: type[Choice], given: str, what: str) -> Choice:
    """One of some choices by its name."""
    try:
        return choices(given)
    except ValueError as error:
        known = [str(choice) for choice in choices]
        raise ParameterError(
            f"the {what} is '{given}'; it must be one of: {', '.join(known)}.{suggestion(str(given), known)}"
        ) from error


def is_path(table: Frame) -> bool:
    """Whether a table is given by the path of its file."""
    return isinstance(table, str | Path)


def takes_standard_input(
    *names: str,
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Let one of the named arguments be `-`: standard input is kept, and its path given instead."""

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def called(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            given = signature.bind(*args, **kwargs)
            dashes = [name for name in names if is_standard_input(given.arguments.get(name))]
            if not dashes:
                return function(*args, **kwargs)
            if len(dashes) > 1:
                raise ParameterError(f"standard input (-) is one table, not {' and '.join(dashes)}.")
            with standard_input() as path:
                given.arguments[dashes[0]] = path
                return function(*given.args, **given.kwargs)

        return called

    return decorate


def read(
    table: Frame, schema: Schema, missing: Sequence[str], delimiter: str | None, memory: int | None = None
) -> pl.DataFrame:
    """The columns of the schema; what is published as it is, or coded by its text, is read as text."""
    if not is_path(table):
        return to_polars(table, schema.names)
    return load(table, schema.names, text_columns(schema), missing, delimiter, memory)


def read_text(
    table: Frame, columns: Sequence[str] | None, missing: Sequence[str], delimiter: str | None
) -> pl.DataFrame:
    """A published table, or one column of the original, with all its cells as text."""
    if not is_path(table):
        return to_polars(table, columns)
    path = Path(table)
    if path.is_dir():
        path = next((path / name for name in ("published.csv", "published.parquet") if (path / name).exists()), path)
    return load(path, columns, None, missing, delimiter)


@contextlib.contextmanager
def text_in_batches(
    table: Frame, columns: Sequence[str], missing: Sequence[str], delimiter: str | None
) -> Iterator[Iterator[pl.DataFrame]]:
    """Columns of an original table that need not fit in memory, with all cells as text."""
    if not is_path(table):
        yield iter([to_polars(table, columns)])
        return
    yield _batches(scan_table(table, columns, None, missing, delimiter))


def _batches(table: ScannedTable) -> Iterator[pl.DataFrame]:
    n_seen = 0
    with damage_refused(NOT_TO_ITS_END):
        for batch in table.rows.collect_batches(chunk_size=BATCH_ROWS):
            n_seen += batch.height
            yield check_years(batch)
    check_read_whole(n_seen, table.n_rows)
    table.check()
