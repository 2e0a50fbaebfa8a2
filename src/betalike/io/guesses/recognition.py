"""What the columns of a table are: guesses that `describe` shows, and that `publish` refuses to publish columns by."""

from __future__ import annotations

import functools
from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from betalike.errors import SchemaError
from betalike.io.column_types import stored_kind
from betalike.io.guesses.identification import EXACT_ROWS, Identification, hash_column, measure
from betalike.io.guesses.keys import find_followers
from betalike.io.guesses.meanings import Guess, guess_meanings
from betalike.io.guesses.profiles import ColumnProfile, profile_column
from betalike.io.guesses.roles import ROLES
from betalike.io.typed_frames import TypedFrame, read_types
from betalike.table.schema import Role

PLAIN = r"^-?(0|[1-9]\d{0,14})(\.\d{1,15})?$"  # how most numbers are written in a CSV file
EXAMINED_ROWS = EXACT_ROWS  # of a table that is published; a larger one is not held in memory


@dataclass(frozen=True)
class Recognized:
    """The columns of a table in the types that they show, with their figures and what each is."""

    read: TypedFrame
    figures: list[Identification]
    profiles: list[ColumnProfile]
    guesses: list[Guess]


def recognize(frame: pl.DataFrame) -> Recognized:
    """Guess what each column of a table is."""
    read = read_types(frame)
    typed = read.frame
    figures = [measure([column.name], hash_column(column)) for column in typed.iter_columns()]
    profiles = [
        profile_column(column, stored_kind(column.dtype), found.distinct)
        for column, found in zip(typed.iter_columns(), figures, strict=True)
    ]
    guesses = guess_meanings(profiles, functools.partial(find_followers, typed))
    return Recognized(read, figures, profiles, guesses)


def refuse_kept_identifiers(frame: pl.DataFrame, kept: Collection[str]) -> None:
    """Refuse to publish columns as they are that identify people or households; the other columns help to see that."""
    recognized = recognize(frame.with_columns(map(_as_numbers, frame.select(pl.col(pl.String)))))
    found = {
        profile.name: guess
        for profile, guess in zip(recognized.profiles, recognized.guesses, strict=True)
        if profile.name in kept and ROLES[guess.meaning] in (Role.IDENTIFIER, Role.PERSON)
    }
    if found:
        named = "; ".join(f"'{name}' ({guess.meaning}: {guess.reason})" for name, guess in found.items())
        are = (
            "a column that identifies people or households is"
            if len(found) == 1
            else "columns that identify people or households are"
        )
        it = "it" if len(found) == 1 else "them"
        raise SchemaError(
            f"{are} to be published unchanged: {named}. Leave {it} out of the kept columns (--keep), or publish {it} "
            "on purpose: --keep-identifiers (in Python and in a specification keep_identifiers)."
        )


def _as_numbers(texts: pl.Series) -> pl.Series:
    """Return plain numbers as numbers: types are found much faster than from their texts, and are the same."""
    if not texts.str.contains(PLAIN).all(ignore_nulls=True):
        return texts
    return texts.cast(pl.Float64 if texts.str.contains(".", literal=True).any() else pl.Int64)
