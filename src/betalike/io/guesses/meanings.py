"""What each column is, guessed from names and figures, with the reason in words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from betalike.io.guesses.profiles import ColumnProfile, Shape
from betalike.io.guesses.vocabulary import (
    IDENTIFYING,
    PRIVATE,
    NameHint,
    names_a_feature,
    names_a_measure,
    names_a_person,
    names_nothing_but_a_person,
)
from betalike.table.schema import Kind

FEW_ROWS = 30  # in smaller tables, values that differ in most rows say little
KEY_SIZE = 30  # mean number of rows of a key, at most
SEVERAL = 1.05  # mean number of rows per value from which values repeat
LONG = 6  # words of a free text
EXACT_PLACES = 3  # of a coordinate in degrees
PEOPLE_PER_ROW = 20  # whom a sampling weight stands for on average, at least
MOST_KEYS = 10  # columns that are tried as keys
MOST_OTHERS = 12  # columns that may agree, where no name says which are personal
Followers = Callable[[str, Collection[str]], set[str]]


class Meaning(StrEnum):
    """What a column is."""

    IDENTIFIER = "identifier"
    PERSON_KEY = "person key"
    HOUSEHOLD_KEY = "household key"
    SAMPLING_WEIGHT = "sampling weight"
    FREE_TEXT = "free text"
    QUASI_IDENTIFIER = "quasi-identifier"
    COULD_BE_SENSITIVE = "could be sensitive"
    UNUSABLE = "unusable"


OPEN = (Meaning.QUASI_IDENTIFIER, Meaning.COULD_BE_SENSITIVE)  # what may be published
IDENTIFYING_SHAPES = (
    Shape.EMAIL,
    Shape.PHONE,
    Shape.NETWORK,
    Shape.UUID,
    Shape.OFFICIAL,
    Shape.ACCOUNT,
    Shape.LINK,
    Shape.STREET,
    Shape.POINT,
)


@dataclass(frozen=True)
class Guess:
    """What a column is, and why."""

    meaning: Meaning
    reason: str


@dataclass(frozen=True)
class Surroundings:
    """The columns beside a key: those about a person, those about a place, and what else others may know."""

    personal: set[str]
    places: set[str]
    plain: set[str]


def guess_meanings(columns: Sequence[ColumnProfile], followers: Followers) -> list[Guess]:
    """Guess what each column is; `followers` finds which of other columns agree in rows with the same value of one."""
    has_measures = any(names_a_measure(column.name) for column in columns)
    guesses = {column.name: _guess_alone(column, has_measures) for column in columns}
    personal = {column.name for column in columns if column.suggests((NameHint.PERSONAL, NameHint.PERSON_NAME))}
    places = {
        column.name for column in columns if column.suggests((NameHint.PLACE, NameHint.ADDRESS, NameHint.COORDINATE))
    }
    plain = {name for name, guess in guesses.items() if guess.meaning is Meaning.QUASI_IDENTIFIER}
    surroundings = Surroundings(personal, places, plain)
    candidates = [column for column in columns if _may_be_key(column, guesses[column.name])]
    for column in sorted(candidates, key=lambda column: -column.values)[:MOST_KEYS]:
        guesses[column.name] = _guess_key(column, guesses[column.name], surroundings, followers)
    chosen = _with_one_person_key(columns, [guesses[column.name] for column in columns])
    return _guess_in_people(columns, chosen, followers)


def _guess_alone(column: ColumnProfile, has_measures: bool) -> Guess:
    """Guess from the column's own name and figures, and whether some column is named like a measure of bodies."""
    rules: tuple[Callable[[ColumnProfile], Guess | None], ...] = (
        _unusable,
        _by_shape,
        _by_identifying_name,
        _coordinate,
        _household,
        partial(_weight, has_measures=has_measures),
        _text,
        _by_values,
        _by_private_name,
    )
    for rule in rules:
        guess = rule(column)
        if guess is not None:
            return guess
    if column.hint is NameHint.WEIGHT and column.mean is not None and not names_a_measure(column.name):
        return Guess(Meaning.QUASI_IDENTIFIER, "its name suggests a weight; if it is a sampling weight, make it unused")
    if column.hint in (None, NameHint.SAMPLING, NameHint.WEIGHT, NameHint.TEXT):
        return Guess(Meaning.QUASI_IDENTIFIER, "others may know it; check it")
    return Guess(Meaning.QUASI_IDENTIFIER, f"its name suggests {column.hint}")


def _unusable(column: ColumnProfile) -> Guess | None:
    if column.is_nested:
        return Guess(Meaning.UNUSABLE, "its values are nested or binary, and a release has no place for them")
    return Guess(Meaning.UNUSABLE, "it has no value in any row") if column.present == 0 else None


def _by_shape(column: ColumnProfile) -> Guess | None:
    if column.shape in IDENTIFYING_SHAPES and not _has_few_values(column):
        return Guess(Meaning.IDENTIFIER, f"its values look like {column.shape}")
    return None


def _by_identifying_name(column: ColumnProfile) -> Guess | None:
    if not column.suggests(IDENTIFYING) or _has_few_values(column) or column.kind in (Kind.DATE, Kind.DATETIME):
        return None
    if column.hint is NameHint.RECORD and NameHint.UNIT in column.hints and column.rows_per_value > SEVERAL:
        return None  # school_id: a key of something other than a person
    if names_a_feature(column.name) and column.rows_per_value > 2:
        return None
    return Guess(Meaning.IDENTIFIER, f"its name suggests {column.hint}")


def _coordinate(column: ColumnProfile) -> Guess | None:
    """Take exact coordinates for an address: three places are a hundred metres, and a pair of them is a home."""
    if not column.suggests((NameHint.COORDINATE,)) or _has_few_values(column):
        return None
    if column.places < EXACT_PLACES and column.values <= column.present / 2:
        return None
    return Guess(Meaning.IDENTIFIER, "coordinates as exact as an address; round them if others may know the region")


def _household(column: ColumnProfile) -> Guess | None:
    if column.hint is NameHint.HOUSEHOLD and column.kind is not Kind.REAL and not _has_few_values(column):
        repeated = "" if column.rows_per_value < SEVERAL else ", and its values repeat"
        return Guess(Meaning.HOUSEHOLD_KEY, f"its name suggests {column.hint}{repeated}")
    return None


def _weight(column: ColumnProfile, has_measures: bool) -> Guess | None:
    """Know a sampling weight from the weight of a person or a thing; beside a height or a unit there is the latter."""
    if column.mean is None or names_a_measure(column.name) or names_a_feature(column.name):
        return None
    if column.hint is NameHint.SAMPLING:
        return Guess(Meaning.SAMPLING_WEIGHT, f"its name suggests {column.hint}")
    is_normed = 0.5 < column.mean < 2 and column.kind is not Kind.INTEGER
    is_of_many = column.mean * column.present > PEOPLE_PER_ROW * column.rows
    is_plain = column.hints == (NameHint.WEIGHT,) and not has_measures and not _has_few_values(column)
    if is_plain and (is_normed or is_of_many):
        return Guess(Meaning.SAMPLING_WEIGHT, "its name and the size of its numbers suggest a sampling weight")
    return None


def _text(column: ColumnProfile) -> Guess | None:
    is_varied = column.values > column.present / 4
    if column.words >= LONG and is_varied and column.kind is Kind.CATEGORICAL:
        return Guess(Meaning.FREE_TEXT, f"texts of {column.words:.0f} words on average, most of them different")
    if column.hint is NameHint.TEXT and column.words >= 2 and is_varied:
        return Guess(Meaning.FREE_TEXT, f"its name suggests {column.hint}, and most texts are different")
    return None


def _by_values(column: ColumnProfile) -> Guess | None:
    share, is_named, is_large = column.values / column.present, bool(column.hints), column.rows >= FEW_ROWS
    if column.is_sequence and is_large:
        return Guess(Meaning.IDENTIFIER, "whole numbers without gaps, each in one row: they number the rows")
    is_text = column.kind is Kind.CATEGORICAL and column.shape not in (Shape.MOMENT, Shape.NUMBER)
    if is_text and names_nothing_but_a_person(column.name) and not _has_few_values(column):
        return Guess(Meaning.IDENTIFIER, "its name is a word for a person, and it has many values")
    if is_text and column.rows >= 10 and share > (0.5 if is_large and not is_named else 0.9):
        return Guess(Meaning.IDENTIFIER, "text that differs in most rows identifies people")
    is_code = column.kind in (Kind.INTEGER, Kind.CATEGORICAL) and (column.code_length or 0) >= 5
    if is_code and column.shape is not Shape.MOMENT and is_large and share > 0.9 and not is_named:
        return Guess(Meaning.IDENTIFIER, "codes of one length that differ in nearly all rows identify people")
    return None


def _by_private_name(column: ColumnProfile) -> Guess | None:
    if column.suggests(PRIVATE):
        return Guess(Meaning.COULD_BE_SENSITIVE, f"its name suggests {column.hint}")
    return None


def _has_few_values(column: ColumnProfile) -> bool:
    """Return whether a column has far fewer values than rows, as a kind or a state has.

    Names of people repeat (all of a class may be called Anna or Ben), so for them only two values are few.
    """
    is_name = column.suggests((NameHint.PERSON_NAME, NameHint.ADDRESS))
    return column.values < min(3 if is_name else 20, column.present / 2)


def _may_be_key(column: ColumnProfile, guess: Guess) -> bool:
    """Return whether values repeat as those of a key do."""
    if guess.meaning is Meaning.IDENTIFIER:
        return column.rows_per_value >= SEVERAL
    is_open = guess.meaning is Meaning.QUASI_IDENTIFIER and not column.hints
    is_code = column.kind in (Kind.INTEGER, Kind.CATEGORICAL)
    return is_open and is_code and column.values >= 20 and SEVERAL <= column.rows_per_value <= KEY_SIZE


def _guess_key(column: ColumnProfile, guess: Guess, beside: Surroundings, followers: Followers) -> Guess:
    """Guess whether values that repeat are keys of people, of households, or neither."""
    personal, places = beside.personal - {column.name}, beside.places - {column.name}
    plain = set(sorted(beside.plain - {column.name})[:MOST_OTHERS])
    agreeing = followers(column.name, personal | places | (set() if personal else plain))
    repeated = f"each value is in {column.rows_per_value:.1f} rows on average"
    is_like_person = not personal and len(agreeing & plain) >= max(2, len(plain) / 2)
    if agreeing & personal or is_like_person:
        shown = agreeing & personal or agreeing & plain
        return Guess(Meaning.PERSON_KEY, f"{repeated}, and these agree in {_listed(shown)}")
    if guess.meaning is Meaning.IDENTIFIER:
        is_number = column.hint in (NameHint.RECORD, NameHint.ACCOUNT, NameHint.OFFICIAL)
        is_person = is_number and names_a_person(column.name)
        return Guess(Meaning.PERSON_KEY, f"its name suggests a person, and {repeated}") if is_person else guess
    if personal and agreeing & places:
        return Guess(Meaning.HOUSEHOLD_KEY, f"{repeated}, and these agree in {_listed(agreeing & places)}")
    return guess


def _listed(names: set[str]) -> str:
    ordered = sorted(names)
    return ", ".join(ordered[:3]) + (" and others" if len(ordered) > 3 else "")


def _with_one_person_key(columns: Sequence[ColumnProfile], guesses: list[Guess]) -> list[Guess]:
    """Let the column with most values be the person key; others like it are identifiers."""
    keys = [place for place, guess in enumerate(guesses) if guess.meaning is Meaning.PERSON_KEY]
    if len(keys) < 2:
        return guesses
    best = max(keys, key=lambda place: (columns[place].suggests((NameHint.RECORD,)), columns[place].values))
    return [
        Guess(Meaning.IDENTIFIER, f"it identifies people: {guess.reason}") if place in keys and place != best else guess
        for place, guess in enumerate(guesses)
    ]


def _guess_in_people(columns: Sequence[ColumnProfile], guesses: list[Guess], followers: Followers) -> list[Guess]:
    """Guess again what others may know, counted in people: rows of one person all have the same name."""
    key = next((place for place, guess in enumerate(guesses) if guess.meaning is Meaning.PERSON_KEY), None)
    if key is None:
        return guesses
    known = {column.name for column, guess in zip(columns, guesses, strict=True) if guess.meaning in OPEN}
    personal = followers(columns[key].name, known)
    people = columns[key].values
    again = list(guesses)
    for place, column in enumerate(columns):
        if column.name in personal:
            once = replace(column, rows=people, missing=people * column.missing // column.rows)
            again[place] = _by_identifying_name(once) or _coordinate(once) or _by_values(once) or guesses[place]
    return again
