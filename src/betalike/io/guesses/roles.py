"""The role of each column in a first specification: one sensitive column, and nothing that names a person."""

from __future__ import annotations

import re
from collections.abc import Sequence

from betalike.io.guesses.meanings import Guess, Meaning
from betalike.io.guesses.profiles import ColumnProfile
from betalike.io.guesses.vocabulary import PRIVATE, split_name
from betalike.table.schema import Kind, Role

STRONG = re.compile(
    r"diagnos|disease|illness|\bhiv\b|cancer|salar|income|\bwage|\bearn|religi|orientation|krank|maladie|enfermedad|"
    r"malattia|einkommen|gehalt|salaire|revenu|sueldo|reddito|stipendio|inkomen|doenca|ziekte"
)
ROLES = {
    Meaning.IDENTIFIER: Role.IDENTIFIER,
    Meaning.PERSON_KEY: Role.PERSON,
    Meaning.HOUSEHOLD_KEY: Role.IDENTIFIER,
    Meaning.SAMPLING_WEIGHT: Role.UNUSED,
    Meaning.FREE_TEXT: Role.UNUSED,
    Meaning.QUASI_IDENTIFIER: Role.QUASI_IDENTIFIER,
    Meaning.COULD_BE_SENSITIVE: Role.UNUSED,
    Meaning.UNUSABLE: Role.UNUSED,
}


def choose_meanings(columns: Sequence[ColumnProfile], guesses: Sequence[Guess]) -> list[Guess]:
    """Let one column be sensitive though no name suggests it, because a release needs one."""
    chosen = list(guesses)
    if any(guess.meaning is Meaning.COULD_BE_SENSITIVE for guess in guesses):
        return chosen
    known = [place for place, guess in enumerate(guesses) if guess.meaning is Meaning.QUASI_IDENTIFIER]
    fit = [place for place in known if 2 <= columns[place].values <= max(columns[place].present // 2, 2)]
    unlike = [place for place in fit if not columns[place].hints]
    if fit:
        reason = "a guess: no name suggests something private, and this is the last suitable column; check it"
        chosen[(unlike or fit)[-1]] = Guess(Meaning.COULD_BE_SENSITIVE, reason)
    return chosen


def choose_roles(columns: Sequence[ColumnProfile], guesses: Sequence[Guess]) -> list[tuple[Role, str]]:
    """Return the role of each column with its reason; of those that could be sensitive, only one gets that role."""
    private = [place for place, guess in enumerate(guesses) if guess.meaning is Meaning.COULD_BE_SENSITIVE]
    main = min(private, key=lambda place: (_unfitness(columns[place]), place)) if private else None
    roles = []
    for place, guess in enumerate(guesses):
        if place == main:
            roles.append((Role.SENSITIVE, f"could be sensitive: {guess.reason}"))
        elif guess.meaning is Meaning.COULD_BE_SENSITIVE:
            reason = f"could be sensitive: {guess.reason}; left out unless you make it sensitive too"
            roles.append((Role.UNUSED, reason))
        else:
            has_gaps = guess.meaning is Meaning.PERSON_KEY and columns[place].missing > 0  # every row needs a person
            is_plain = guess.meaning in (Meaning.IDENTIFIER, Meaning.QUASI_IDENTIFIER)
            reason = guess.reason if is_plain else f"{guess.meaning}: {guess.reason}"
            roles.append((Role.IDENTIFIER if has_gaps else ROLES[guess.meaning], reason))
    return roles


def _unfitness(column: ColumnProfile) -> tuple[bool, bool, bool, int]:
    """Return how unfit a column is to be the sensitive one: the least is the best."""
    is_constant = column.values < 2
    is_scattered = column.values > column.present / 2 and column.kind is Kind.CATEGORICAL
    kind = PRIVATE.index(column.hint) if column.hint in PRIVATE else len(PRIVATE)
    return is_constant or is_scattered, not STRONG.search(split_name(column.name)), column.values == 2, kind
