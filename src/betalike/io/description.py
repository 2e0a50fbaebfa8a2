"""A first specification of a table: guessed types and roles, each with its reason, never with a cell."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from betalike.errors import FileError, SchemaError
from betalike.io.column_types import TypeGuess
from betalike.io.copies import origin_of
from betalike.io.guesses.costs import PROPOSED_BINS, estimate_loss, even_bins
from betalike.io.guesses.identification import EXACT_ROWS, Identification, count_unique_people, find_worst, hash_column
from betalike.io.guesses.meanings import Guess, Meaning
from betalike.io.guesses.profiles import ColumnProfile
from betalike.io.guesses.recognition import recognize
from betalike.io.guesses.roles import choose_meanings, choose_roles
from betalike.io.guesses.vocabulary import NameHint, names_a_code
from betalike.io.hierarchies import write_new_file
from betalike.io.sources import shown_name, table_files
from betalike.io.specification_draft import draft_specification
from betalike.io.tables import CSV, is_path, kind_of, load
from betalike.runtime.arrays import Words
from betalike.runtime.display import Row, Shown
from betalike.table.schema import Kind, Role

CLEARLY = 1.5  # how much less loss bins must cost to be proposed


@dataclass(frozen=True)
class SensitiveCost:
    """What many values of a sensitive column cost: the estimated loss as they are, and in bins."""

    values: int
    loss: float
    bins: int
    binned_loss: float

    @property
    def wording(self) -> str:
        """Return the cost in words."""
        return (
            f"{self.values} values cost a loss of about {self.loss:.0%}; in {self.bins} bins about "
            f"{self.binned_loss:.0%}"
        )


@dataclass(frozen=True)
class ColumnGuess:
    """The guessed type and role of a column, with reasons and the figures they rest on."""

    name: str
    kind: Kind
    kind_reason: str
    role: Role
    role_reason: str
    meaning: Meaning
    distinct: int
    missing: int
    unique: float
    separation: float
    unique_people: float | None = None
    hierarchy: Path | None = None
    prefix: tuple[int, ...] = ()
    cost: SensitiveCost | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the guess as plain values."""
        return {
            "name": self.name,
            "type": str(self.kind),
            "type_reason": self.kind_reason,
            "role": str(self.role),
            "role_reason": self.role_reason,
            "meaning": str(self.meaning),
            "distinct": self.distinct,
            "missing": self.missing,
            "unique": self.unique,
            "separation": self.separation,
            "unique_people": self.unique_people,
            **({} if self.cost is None else {"cost": dataclasses.asdict(self.cost)}),
        }


@dataclass(frozen=True, repr=False)
class Description(Shown):
    """The guessed types and roles of a table's columns, and which of them identify rows."""

    rows: int
    columns: tuple[ColumnGuess, ...]
    table: Path | Mapping[str, Any] | None
    combinations: tuple[Identification, ...] = ()
    is_estimated: bool = False
    missing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def _summary(self) -> Row:
        return {"rows": self.rows, "columns": [column.name for column in self.columns]}

    def _parts(self) -> list[Row]:
        return [
            {
                "column": column.name,
                "type": str(column.kind),
                "role": str(column.role),
                "guess": str(column.meaning),
                "distinct": column.distinct,
                "unique": f"{column.unique:.1%}",
                "separation": f"{column.separation:.1%}",
                "reason": column.role_reason,
            }
            for column in self.columns
        ]

    def __repr__(self) -> str:
        parts = self._parts()
        rows = [list(map(str, row)) for row in ([*parts[0]], *(part.values() for part in parts))]
        widths = [max(map(len, texts)) for texts in zip(*rows, strict=True)]
        lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
        return "\n".join([f"<betalike.Description: rows {self.rows:,}, columns {len(self.columns):,}>", *lines])

    def to_dict(self) -> dict[str, object]:
        """Return the content of `describe --json`."""
        return {
            "rows": self.rows,
            "estimated": self.is_estimated,
            "columns": [column.to_dict() for column in self.columns],
            "combinations": [
                {**dataclasses.asdict(found), "columns": list(found.columns)} for found in self.combinations
            ],
        }

    def to_toml(self, folder: Path = Path()) -> str:
        """Return a release.toml to edit; paths in it are relative to the folder it will be in."""
        return draft_specification(self.rows, self.columns, self.table, self.missing, folder)


def load_described(path: str | Path, delimiter: str | None, missing: Sequence[str] = ()) -> pl.DataFrame:
    """Read a table to describe it; refuse a CSV file that seems to be split by another delimiter."""
    frame = load(path, missing=missing, delimiter=delimiter)
    is_csv = kind_of(table_files(path)[0]) == CSV
    if is_csv and delimiter is None and frame.width == 1 and _has_other_delimiter(frame.to_series()):
        raise FileError(
            f"{shown_name(Path(path))} seems to have one column, but all of its lines contain the same character "
            "equally often. If that is the delimiter, name it with --delimiter."
        )
    return frame


def _has_other_delimiter(column: pl.Series) -> bool:
    """Return whether some character occurs as often in each of the first cells as in the name."""
    cells = column.head(100).cast(pl.String).drop_nulls()
    found = {sign for sign in column.name if not sign.isalnum() and sign != "_"}
    return len(cells) > 0 and any(
        bool((cells.str.count_matches(sign, literal=True) == column.name.count(sign)).all()) for sign in found
    )


def specified_table(table: Any) -> Path | Mapping[str, Any] | None:
    """Return what a specification says to read a table again: its path, or more for a copy; None for a frame."""
    origin = origin_of(table)
    if origin is not None:
        return origin.specified or None
    return Path(table) if is_path(table) else None


def describe_frame(
    frame: pl.DataFrame,
    table: Path | Mapping[str, Any] | None,
    hierarchies: str | Path | None,
    missing: Sequence[str] = (),
    warnings: Sequence[str] = (),
) -> Description:
    """Guess the type and the role of each column, and measure which columns identify rows."""
    if frame.height == 0 or frame.width == 0:
        raise SchemaError("the table has no rows; there is nothing to describe.")
    recognized = recognize(frame)
    read, figures, profiles = recognized.read, recognized.figures, recognized.profiles
    frame = read.frame
    meanings = choose_meanings(profiles, recognized.guesses)
    roles = choose_roles(profiles, meanings)
    n_known = sum(role is Role.QUASI_IDENTIFIER for role, _ in roles)
    persons = _hash_persons(frame, [role for role, _ in roles])
    guesses = []
    for profile, found, guess, (role, reason) in zip(profiles, figures, meanings, roles, strict=True):
        path = Path(hierarchies, f"{profile.name}.csv") if hierarchies is not None else None
        has_tree = path is not None and path.is_file() and role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
        kind, kind_reason = (
            (Kind.CATEGORICAL, "it has a hierarchy") if has_tree else _choose_kind(profile, guess, read.types)
        )
        about = "about " if frame.height > EXACT_ROWS else ""
        counted = f"{about}{found.distinct} distinct values"
        counted += f", {profile.missing} missing" if profile.missing else ""
        guesses.append(
            ColumnGuess(
                profile.name,
                kind,
                f"{kind_reason}; {counted}",
                role,
                reason,
                guess.meaning,
                found.distinct,
                profile.missing,
                found.unique,
                found.separation,
                None if persons is None else count_unique_people(hash_column(frame[profile.name]), persons),
                path if has_tree else None,
                _choose_prefix(profile) if kind is Kind.CATEGORICAL else (),
                _measure_cost(frame[profile.name], kind, guess.meaning, n_known),
            )
        )
    known = {guess.name: guess.separation for guess in guesses if guess.role is Role.QUASI_IDENTIFIER}
    combinations = find_worst(frame, known, persons)
    return Description(
        frame.height,
        tuple(guesses),
        table,
        tuple(combinations),
        frame.height > EXACT_ROWS,
        tuple(dict.fromkeys([*missing, *read.missing])),
        tuple(warnings),
    )


def _hash_persons(frame: pl.DataFrame, roles: Sequence[Role]) -> Words | None:
    """Return a hash of whose row each is; None without a key of persons, or in a table too large to count people."""
    if Role.PERSON not in roles or frame.height > EXACT_ROWS:
        return None
    return hash_column(frame.to_series(roles.index(Role.PERSON)))


def _choose_kind(profile: ColumnProfile, guess: Guess, types: Mapping[str, TypeGuess]) -> tuple[Kind, str]:
    """Return the type of the values, but that of codes for whole numbers that are only names."""
    taken = types[profile.name]
    if taken.is_ambiguous or taken.kind in (Kind.DECIMAL, Kind.MONTH):  # in the frame they are text, floats or days
        return taken.kind, taken.reason
    is_amount = profile.suggests((NameHint.MONEY, NameHint.RESULT))
    if profile.kind is Kind.INTEGER and guess.meaning in (Meaning.QUASI_IDENTIFIER, Meaning.COULD_BE_SENSITIVE):
        if names_a_code(profile.name) and not is_amount:
            return Kind.CATEGORICAL, "its name suggests that its numbers are codes"
        if profile.values == 2:
            return Kind.CATEGORICAL, "two numbers, such as yes and no"
    return profile.kind, taken.reason


def _choose_prefix(profile: ColumnProfile) -> tuple[int, ...]:
    """Return lengths by which codes of places are grouped; nothing for other columns."""
    is_place = profile.suggests((NameHint.PLACE,)) and profile.code_length in (4, 5, 6) and profile.values > 20
    return (profile.code_length - 2, 1) if is_place and profile.code_length else ()


def _measure_cost(column: pl.Series, kind: Kind, meaning: Meaning, n_known: int) -> SensitiveCost | None:
    """Return what the values of a column cost as a sensitive one, where bins would make that clearly cheaper."""
    if meaning is not Meaning.COULD_BE_SENSITIVE or not kind.is_number:
        return None
    counts = column.drop_nulls().value_counts().to_series(1).to_numpy()
    if len(counts) <= PROPOSED_BINS:
        return None
    loss, binned = (estimate_loss(counted, n_known) for counted in (counts, even_bins(len(column))))
    return SensitiveCost(len(counts), loss, PROPOSED_BINS, binned) if loss > CLEARLY * binned else None


def write_description(description: Description, path: Path, force: bool) -> None:
    """Write a specification to a file; replace an existing one only with `force`."""
    write_new_file(path, description.to_toml(path.parent), force)
