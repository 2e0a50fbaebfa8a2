"""The columns: role in the release, type, domain, hierarchy and weight of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from betalike.errors import ParameterError, SchemaError, suggestion
from betalike.table.hierarchy import Hierarchy

MOST_WEIGHT = 1e100  # so that sums of weights stay finite


class Role(StrEnum):
    """What happens to a column. A column without a role is left out of the release."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    KEPT = "kept"
    PERSON = "person"  # whose row it is; never published
    UNUSED = "unused"


class Kind(StrEnum):
    """The type of a column, which determines how its values are generalized."""

    NUMERIC = "numeric"  # integer, decimal or real, whichever the column holds
    INTEGER = "integer"
    DECIMAL = "decimal"
    REAL = "real"
    DATE = "date"
    DATETIME = "datetime"
    MONTH = "month"  # of a year: 2010-03
    CATEGORICAL = "categorical"

    @property
    def is_ordered(self) -> bool:
        """Whether values are generalized to ranges (Eq. 2) rather than along a hierarchy (Eq. 3)."""
        return self is not Kind.CATEGORICAL

    @property
    def is_number(self) -> bool:
        """Whether values are numbers, not dates."""
        return self in (Kind.INTEGER, Kind.DECIMAL, Kind.REAL)


class DateOrder(StrEnum):
    """What comes first in dates such as 03/04/1980."""

    DMY = "dmy"
    MDY = "mdy"


@dataclass(frozen=True)
class RoundEnds:
    """How the ends of a column's ranges are rounded, as the user gave it; `table.rounding` reads it."""

    round: Any = None
    bottom: Any = None
    top: Any = None


@dataclass(frozen=True)
class Attribute:
    """One column; a kind or domain of None is inferred from the table."""

    name: str
    role: Role
    kind: Kind | None = None
    domain: tuple[Any, Any] | None = None
    hierarchy: Hierarchy | None = None
    weight: float = 1.0
    round_ends: RoundEnds | None = None
    dates: DateOrder | None = None  # where the values do not show what comes first
    bins: Any = None  # of a sensitive column: how many ranges take the place of its values, or these ranges

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= MOST_WEIGHT:
            raise ParameterError(
                f"the weight of '{self.name}' is {self.weight}; it must be a number from 0 to {MOST_WEIGHT:g}."
            )
        if self.kind is not None and self.kind.is_ordered and self.hierarchy is not None:
            raise SchemaError(
                f"the column '{self.name}' is of type {self.kind} and has a hierarchy; it can have only one of them. "
                "Make it categorical, or leave the hierarchy out."
            )
        if self.round_ends is not None and self.hierarchy is not None:
            raise SchemaError(
                f"the column '{self.name}' has a hierarchy, so round, bottom and top have no meaning for it. Leave the "
                "hierarchy out, or put the groups into it: {intervals = [5], bottom = 18, top = 90}."
            )


@dataclass(frozen=True)
class Schema:
    """The columns that a release is made from."""

    quasi_identifiers: tuple[Attribute, ...]
    sensitive: Attribute
    kept: tuple[Attribute, ...] = field(default=())
    sensitive_missing_is_value: bool = False
    parts: tuple[Attribute, ...] = ()  # several sensitive columns; `sensitive` then stands for all of them
    person: Attribute | None = None  # the column that names the person of each row, if a person may have several
    keeps_forms: bool = False  # whether quasi-identifiers are published as their file writes them: 1.10, not 1.1

    def __post_init__(self) -> None:
        if not self.quasi_identifiers:
            raise SchemaError("no quasi-identifier is named; name at least one column that others could know.")
        seen: dict[str, Role] = {}
        named = (*self.quasi_identifiers, *(self.parts or (self.sensitive,)), *self.kept)
        for attribute in (*named, *(() if self.person is None else (self.person,))):
            if attribute.name in seen:
                raise SchemaError(
                    f"the column '{attribute.name}' is named twice, as {seen[attribute.name]} and as "
                    f"{attribute.role}. Give each column one role."
                )
            seen[attribute.name] = attribute.role
        if sum(self.weights) <= 0:
            raise ParameterError("the weights of the quasi-identifiers are all 0; at least one must be greater.")

    @property
    def weights(self) -> tuple[float, ...]:
        """Weights of the quasi-identifiers as given; `loss` divides them by their sum. Paper: Eq. 4, w_i."""
        return tuple(attribute.weight for attribute in self.quasi_identifiers)

    @property
    def quasi_identifier_names(self) -> tuple[str, ...]:
        """The quasi-identifiers, in the order of the release."""
        return tuple(attribute.name for attribute in self.quasi_identifiers)

    @property
    def is_rounded(self) -> bool:
        """Whether the ends of some ranges are rounded."""
        return any(attribute.round_ends is not None for attribute in self.quasi_identifiers)

    @property
    def names(self) -> tuple[str, ...]:
        """Every column that is read from the table."""
        further = (*self.kept, *(() if self.person is None else (self.person,)))
        return (*self.quasi_identifier_names, *self.sensitive_columns, *(a.name for a in further))

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """The sensitive columns; mostly one."""
        return tuple(attribute.name for attribute in self.parts) or (self.sensitive.name,)

    def check_columns(self, columns: Sequence[str]) -> None:
        """Raise an error if the table lacks one of the columns, or if a CSV header cannot hold a name."""
        check_columns(self.names, columns)
        for name in self.names:
            if any(sign in name for sign in '"\r\n'):
                raise SchemaError(f"the column name {name!r} holds a quote or a line break; rename the column.")


def check_columns(names: Sequence[str], columns: Sequence[str]) -> None:
    """Raise an error for columns that the table does not have, and suggest the likeliest one meant.

    Unless most columns are found, the table's names are not shown: the header may really be the first person's row.
    """
    absent = [name for name in names if name not in columns]
    if not absent:
        return
    if 2 * len(absent) >= len(set(names)):
        others = f", nor {len(absent) - 1} more of the columns named" if len(absent) > 1 else ""
        counted = f"{len(columns)} columns" if len(columns) != 1 else "1 column (does it use another delimiter?)"
        raise SchemaError(
            f"the table has no column '{absent[0]}'{others}. It has {counted}. Does it have a header line with the "
            "names?"
        )
    shown = ", ".join(columns[:30]) + (", ..." if len(columns) > 30 else "")
    raise SchemaError(f"the table has no column '{absent[0]}'. It has: {shown}.{suggestion(absent[0], columns)}")


def text_columns(schema: Schema) -> set[str]:
    """Return the columns of a CSV file that are read as text."""
    exact = (Kind.CATEGORICAL, Kind.DECIMAL)  # a float would lose digits of a decimal
    is_text = {a.name for a in schema.quasi_identifiers if a.hierarchy is not None or a.kind in exact}
    further = (*schema.kept, *(() if schema.person is None else (schema.person,)))
    return {*is_text, *schema.sensitive_columns, *(attribute.name for attribute in further)}


def columns_with_forms(schema: Schema) -> tuple[str, ...]:
    """Return the columns of a CSV file that are read as text if they hold real numbers, which 1.10 and 1e3 are."""
    return schema.quasi_identifier_names if schema.keeps_forms else ()
