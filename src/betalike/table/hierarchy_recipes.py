"""Recipes for hierarchies: prefixes, dates, intervals, rare values, groups. A recipe and a column's values make a tree.

A recipe is written the same way in a specification, on the command line and in Python: `{"prefix": [3, 1]}`.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar

from betalike.errors import HierarchyError, ParameterError, suggestion
from betalike.table.exact_numbers import exact_number
from betalike.table.hierarchy import ROOT, Hierarchy

MOST_WIDTHS = 32
OTHER = "other"
Counts = Mapping[str, int]  # the values of a column, and how many rows have each


@dataclass(frozen=True)
class Prefix:
    """Groups codes by their first characters, such as postcodes by three and by one: `02110`, `021*`, `0*`."""

    lengths: tuple[int, ...]
    name: ClassVar[str] = "prefix"

    def __post_init__(self) -> None:
        object.__setattr__(self, "lengths", _whole_numbers("prefix", "length", self.lengths))

    def build(self, counts: Counts) -> Hierarchy:
        """Return the tree over these values."""
        levels = [_starts(counts, length) for length in sorted(set(self.lengths), reverse=True)]
        return _tree(sorted(counts), levels, self.name)


def _starts(values: Counts, length: int) -> dict[str, str]:
    """Return the label of each value at one length: its start and `*`, or the value itself if no other is longer."""
    is_cut = {value[:length] for value in values if len(value) > length}
    return {value: f"{value[:length]}*" if value[:length] in is_cut else value for value in values}


class DateLevel(StrEnum):
    """How finely a level of a hierarchy of dates distinguishes them."""

    DAY = "day"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    DECADE = "decade"


_DATE_LABELS: dict[DateLevel, Callable[[datetime.date], str]] = {
    DateLevel.DAY: lambda day: day.isoformat(),
    DateLevel.MONTH: lambda day: f"{day.year:04}-{day.month:02}",
    DateLevel.QUARTER: lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    DateLevel.YEAR: lambda day: f"{day.year:04}",
    DateLevel.DECADE: lambda day: f"{day.year // 10 * 10:04}s",
}


@dataclass(frozen=True)
class Dates:
    """Groups dates, date-times or months by day, month, quarter, year and decade: `2021-03-05`, `2021-03`, `2021`."""

    levels: tuple[DateLevel, ...] = (DateLevel.MONTH, DateLevel.YEAR, DateLevel.DECADE)
    name: ClassVar[str] = "dates"

    def __post_init__(self) -> None:
        given = (self.levels,) if isinstance(self.levels, str) else tuple(self.levels)
        unknown = [level for level in given if level not in list(DateLevel)]
        if unknown or not given:
            raise ParameterError(
                f"dates has the level {unknown[0]!r}; a level is one of: {', '.join(DateLevel)}."
                if unknown
                else f"dates has no level; name some of: {', '.join(DateLevel)}."
            )
        object.__setattr__(self, "levels", tuple(level for level in DateLevel if level in given))

    def build(self, counts: Counts, plain: Mapping[str, str] | None = None, column: str | None = None) -> Hierarchy:
        """Return the tree over the dates of a column; `plain` has their ISO form, if they have another."""
        iso = plain or {}
        days = _parsed(
            counts,
            lambda text: datetime.datetime.fromisoformat(iso.get(text, text)).date(),
            "a date such as 2021-03-05",
            column,
        )
        levels = [{text: _DATE_LABELS[level](day) for text, day in days.items()} for level in self.levels]
        return _tree(sorted(counts, key=lambda text: (days[text], text)), levels, self.name)


@dataclass(frozen=True)
class Intervals:
    """Groups numbers by intervals that begin at round numbers: `37`, `[35, 39]`, `[30, 39]`.

    Values up to `bottom` and from `top` on are one group each, at every level: `<= 18`, `90+`.
    """

    widths: tuple[float, ...]
    bottom: float | None = None
    top: float | None = None
    name: ClassVar[str] = "intervals"

    def __post_init__(self) -> None:
        widths = tuple(self.widths) if isinstance(self.widths, Sequence) else (self.widths,)
        if not 0 < len(widths) <= MOST_WIDTHS or not all(_is_number(width) and width > 0 for width in widths):
            raise ParameterError(
                f"intervals has the widths {self.widths!r}; give 1 to {MOST_WIDTHS} numbers greater than 0, such as "
                "[5, 10, 20]."
            )
        widths = tuple(sorted(set(widths)))
        for narrow, wide in itertools.pairwise(widths):
            if (_exact(wide) / _exact(narrow)).denominator != 1:
                raise ParameterError(
                    f"intervals has the widths {narrow:g} and {wide:g}; each must be a multiple of the one before it, "
                    "such as 5, 10, 20, so that wide intervals consist of narrow ones."
                )
        for end in (self.bottom, self.top):
            if end is not None and not _is_number(end):
                raise ParameterError(f"intervals has the end {end!r}; bottom and top must be numbers.")
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            raise ParameterError(f"intervals has the bottom {self.bottom:g} and the top {self.top:g}; exchange them.")
        object.__setattr__(self, "widths", widths)

    def build(self, counts: Counts, plain: Mapping[str, str] | None = None, column: str | None = None) -> Hierarchy:
        """Return the tree over the numbers of a column; `plain` has them with points, if they have decimal commas."""
        pointed = plain or {}
        numbers = _parsed(counts, lambda text: _finite(pointed.get(text, text)), "a number", column)
        is_whole = all(number.denominator == 1 for number in (*numbers.values(), *map(_exact, self.widths)))
        levels = [
            {text: self._label(number, _exact(width), is_whole) for text, number in numbers.items()}
            for width in self.widths
        ]
        return _tree(sorted(counts, key=lambda text: (numbers[text], text)), levels, self.name)

    def _label(self, number: Fraction, width: Fraction, is_whole: bool) -> str:
        bottom = None if self.bottom is None else _exact(self.bottom)
        top = None if self.top is None else _exact(self.top)
        if bottom is not None and number <= bottom:
            return f"<= {_shown(bottom)}"
        if top is not None and number >= top:
            return f"{_shown(top)}+"
        low = number // width * width
        high = low + width
        begins_at_bottom = bottom is not None and low <= bottom
        low = low if bottom is None else max(low, bottom)
        high = high if top is None else min(high, top)
        if not is_whole:
            return f"{'(' if begins_at_bottom else '['}{_shown(low)}, {_shown(high)})"
        first, last = math.floor(low) + 1 if begins_at_bottom else math.ceil(low), math.ceil(high) - 1
        return f"[{first}, {last}]" if first < last else str(first)


@dataclass(frozen=True)
class Frequency:
    """Puts values that fewer than `least` rows have under `other`; a `least` below 1 is a share of the rows."""

    least: float
    name: ClassVar[str] = "frequency"

    def __post_init__(self) -> None:
        if not _is_number(self.least) or self.least <= 0:
            raise ParameterError(
                f"frequency is {self.least!r}; it must be a number of rows such as 50, or a share such as 0.01."
            )

    def build(self, counts: Counts) -> Hierarchy:
        """Return the tree over these values."""
        least = self.least if self.least >= 1 else self.least * sum(counts.values())
        other = _free_label(OTHER, counts)
        labels = {value: value if n >= least else other for value, n in counts.items()}
        return _tree(sorted(counts, key=lambda value: (labels[value] == other, value)), [labels], self.name)


@dataclass(frozen=True)
class Groups:
    """Groups values under labels: `{west = ["CA", "OR"], east = ["MA"]}`."""

    groups: Mapping[str, Sequence[str]]
    name: ClassVar[str] = "groups"

    def __post_init__(self) -> None:
        if not isinstance(self.groups, Mapping) or not self.groups:
            raise ParameterError('groups must be a table of labels and their values, such as {west = ["CA", "OR"]}.')
        seen: dict[str, str] = {}
        for label, values in self.groups.items():
            if isinstance(values, str) or not isinstance(values, Sequence) or not values:
                raise ParameterError(f"groups has no list of values for '{label}'; give one, such as ['CA', 'OR'].")
            for value in map(str, values):
                if seen.setdefault(value, label) != label:
                    raise HierarchyError(f"groups has the value '{value}' under '{seen[value]}' and '{label}'.")

    def build(self, counts: Counts) -> Hierarchy:
        """Return the tree over these values; each must be in a group."""
        group_of = {str(value): label for label, values in self.groups.items() for value in values}
        n_open = sum(value not in group_of for value in counts)
        if n_open:
            raise HierarchyError(
                f"groups covers {len(counts) - n_open} of {len(counts)} values of the column. Add the other {n_open} "
                "to a group."
            )
        return _tree([value for value in group_of if value in counts], [group_of], self.name)


@dataclass(frozen=True)
class Auto:
    """Groups values whose rows look alike in other columns: by default, in all other quasi-identifiers.

    The sensitive column is never used. `table.value_clusters` does the grouping.
    """

    columns: tuple[str, ...] | bool = True
    name: ClassVar[str] = "auto"

    def __post_init__(self) -> None:
        if isinstance(self.columns, Sequence) and not isinstance(self.columns, str) and self.columns:
            object.__setattr__(self, "columns", tuple(map(str, self.columns)))
        elif self.columns is not True:
            raise ParameterError(f"auto is {self.columns!r}; it must be true, or a list of columns to compare rows by.")


Recipe = Prefix | Dates | Intervals | Frequency | Groups | Auto
RECIPES: dict[str, type[Recipe]] = {kind.name: kind for kind in (Prefix, Dates, Intervals, Frequency, Groups, Auto)}


def make_recipe(given: Mapping[str, Any], column: str) -> Recipe:
    """Return the recipe that a table such as `{"prefix": [3, 1]}` names; further keys are its options."""
    names = [name for name in given if name in RECIPES]
    if len(names) != 1:
        first = next(iter(given), "")
        raise ParameterError(
            f"the hierarchy of '{column}' is a recipe with {len(names)} builders; name one of: {', '.join(RECIPES)}."
            f"{suggestion(str(first), RECIPES)}"
        )
    kind = RECIPES[names[0]]
    main, *further = [field.name for field in fields(kind)]
    options = {name: value for name, value in given.items() if name != names[0]}
    for option in options:
        if option not in further:
            known = ", ".join(further) or "none"
            raise ParameterError(
                f"the hierarchy of '{column}' has the option '{option}', which the builder '{names[0]}' does not "
                f"have; it has: {known}."
            )
    return kind(**{main: given[names[0]]}, **options)


def _tree(values: Sequence[str], levels: Sequence[Mapping[str, str]], builder: str) -> Hierarchy:
    if ROOT in values:
        raise HierarchyError(f"the builder '{builder}' cannot take '*' as a value; it is the label of the root.")
    rows = [(value, *(level[value] for level in levels), ROOT) for value in values]
    return Hierarchy.from_rows(rows, f"the hierarchy that the builder '{builder}' makes")


def _parsed(values: Counts, parse: Callable[[str], Any], wanted: str, column: str | None) -> dict[str, Any]:
    """Return each value parsed; refuse the column if any cannot be, without showing it."""
    parsed, n_bad = {}, 0
    for text in values:
        try:
            parsed[text] = parse(text)
        except (ValueError, OverflowError):
            n_bad += 1
    if n_bad:
        named = "" if column is None else f" '{column}'"
        raise HierarchyError(
            f"{n_bad} of {len(values)} values of the column{named} are not {wanted}. Declare texts that stand for "
            "missing values with --missing, or choose another builder."
        )
    return parsed


def _finite(text: str) -> Fraction:
    return Fraction(exact_number(text))


def _exact(number: float) -> Fraction:
    """Return a number as it is written: 0.1 is one tenth."""
    return Fraction(repr(number))


def _shown(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else repr(float(number))


def _is_number(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)


def _whole_numbers(builder: str, what: str, given: Any) -> tuple[int, ...]:
    numbers = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else (given,)
    if not numbers or not all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in numbers):
        raise ParameterError(f"{builder} has the {what}s {given!r}; give whole numbers of 1 or more, such as [3, 1].")
    return numbers


def _free_label(wanted: str, taken: Counts) -> str:
    """Return a label that is no value of the column."""
    while wanted in taken:
        wanted = f"{wanted} (rare)"
    return wanted
