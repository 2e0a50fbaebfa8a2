"""Arguments of the Python functions, which users give in several forms, brought to one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from betalike.errors import ParameterError, SchemaError, suggestion
from betalike.io.hierarchies import choose_hierarchies
from betalike.promises.parameters import choose
from betalike.table.joint import JOINED
from betalike.table.schema import Attribute, DateOrder, Kind, Role, RoundEnds, Schema

MOST_BINS = 10_000


def make_schema(
    quasi_identifiers: Sequence[str],
    sensitive: str | Sequence[str],
    hierarchies: str | Path | Mapping[str, Any] | None,
    kinds: Mapping[str, str] | None,
    domains: Mapping[str, tuple[Any, Any]] | None,
    weights: Mapping[str, float] | None,
    keep: Sequence[str],
    is_missing_value: bool,
    ends: Mapping[str, Mapping[str, Any] | None] | None = None,
    person: str | None = None,
    dates: str | None = None,
    bins: Mapping[str, int] | None = None,
) -> Schema:
    """Combine what the user said about each column; `ends` has what is said about `round`, `bottom` and `top`."""
    if isinstance(quasi_identifiers, str):
        raise ParameterError("quasi_identifiers must be a list of column names, not one text.")
    protected = [sensitive] if isinstance(sensitive, str) else list(sensitive)
    if not protected:
        raise ParameterError("no sensitive column is named; name the column to protect.")
    named = [*quasi_identifiers, *protected]
    typed = {column: choose(Kind, kind, f"type of '{column}'") for column, kind in (kinds or {}).items()}
    domains, weights = domains or {}, weights or {}
    order = None if dates is None else choose(DateOrder, dates, "order of dates")
    is_folder = isinstance(hierarchies, str | Path)  # it may contain hierarchies of columns that are numbers here
    ordered = {column for column, kind in typed.items() if kind.is_ordered and is_folder}
    trees = choose_hierarchies(hierarchies, [column for column in named if column not in ordered])
    _check_named("types", typed, named)
    _check_named("domains", domains, named)
    _check_named("weights", weights, quasi_identifiers)
    _check_bins(bins or {}, protected)
    asked = {option: given for option, given in (ends or {}).items() if given}
    for option, given in asked.items():
        _check_named(option, given, quasi_identifiers)

    def attribute(column: str, role: Role) -> Attribute:
        domain = domains.get(column)
        pair = None if domain is None else (domain[0], domain[1])
        wish = {option: given[column] for option, given in asked.items() if column in given}
        rounded = RoundEnds(**wish) if wish else None
        weight = float(weights.get(column, 1.0))
        ranges = (bins or {}).get(column)
        return Attribute(column, role, typed.get(column), pair, trees.get(column), weight, rounded, order, ranges)

    parts = tuple(attribute(column, Role.SENSITIVE) for column in protected)
    return Schema(
        tuple(attribute(column, Role.QUASI_IDENTIFIER) for column in quasi_identifiers),
        parts[0] if len(parts) == 1 else Attribute(JOINED.join(protected), Role.SENSITIVE),
        tuple(Attribute(column, Role.KEPT) for column in keep),
        is_missing_value,
        parts if len(parts) > 1 else (),
        None if person is None else Attribute(person, Role.PERSON),
    )


def _check_bins(bins: Mapping[str, int], sensitive: Sequence[str]) -> None:
    _check_named("bins", bins, sensitive)
    for column, number in bins.items():
        if not isinstance(number, int) or isinstance(number, bool) or not 2 <= number <= MOST_BINS:
            raise ParameterError(f"bins of '{column}' is {number}; it must be a whole number from 2 to {MOST_BINS}.")


def _check_named(option: str, given: Mapping[str, Any], named: Sequence[str]) -> None:
    for column in given:
        if column not in named:
            raise SchemaError(
                f"{option} has '{column}', which is not one of the columns named: {', '.join(named)}."
                f"{suggestion(column, named)}"
            )


def check_one_sensitive(sensitive: object, done: str) -> None:
    """Refuse several sensitive columns where only one is allowed."""
    if not isinstance(sensitive, str):
        raise ParameterError(f"sensitive columns are {done} one at a time: name one column, not a list.")


def missing_is_value(choice: str) -> bool:
    """Return whether a missing sensitive value is published as a separate value."""
    if choice not in ("error", "value"):
        raise ParameterError(f"missing_sensitive is '{choice}'; it must be 'error' or 'value'.")
    return choice == "value"
