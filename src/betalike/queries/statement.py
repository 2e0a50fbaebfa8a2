"""Where the condition of a query is: the whole text, or what follows WHERE in a SELECT COUNT(*)."""

from __future__ import annotations

from betalike.errors import QueryError
from betalike.queries.words import Words, shortened

SET_OPERATORS = {"UNION", "INTERSECT", "EXCEPT"}
CLAUSES = {"GROUP", "HAVING", "WINDOW", "QUALIFY", "ORDER", "LIMIT", "OFFSET", "FETCH", "FOR"}
JOINS = {"JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "ASOF", "LATERAL", "ON", "USING"}
_COUNT = ["COUNT", "(", "*", ")"]


def find_condition(words: Words) -> int | None:
    """Return the place where the condition starts; None if a SELECT has none."""
    if words.mark(0) != "SELECT":
        return 0
    place = _skip_alias(words, 1 + len(_COUNT))
    if words.marks[1 : 1 + len(_COUNT)] != _COUNT or not _is_end(words, place, "FROM", "WHERE"):
        end = next((i for i in range(1, len(words)) if _is_end(words, i, "FROM", "WHERE")), len(words))
        raise QueryError(f"'{words.shown(0, end)}' is not supported: only SELECT COUNT(*) is.")
    if words.mark(place) == "FROM":
        place = _skip_table(words, place)
    if words.mark(place) == "WHERE":
        return place + 1
    check_end(words, place)
    return None


def check_end(words: Words, place: int) -> None:
    """Raise an error unless a query ends at a place, where its condition or its table does."""
    if all(mark == ";" for mark in words.marks[place:]):
        return
    if words.mark(place) == ";" or words.mark(place) in SET_OPERATORS:
        raise QueryError(f"'{shortened(words.source)}' is not one predicate or one SELECT COUNT(*) FROM ... WHERE ....")
    raise QueryError(
        f"'{words.shown(place, len(words))}' is not supported: only SELECT COUNT(*) FROM ... WHERE ... is."
    )


def _skip_table(words: Words, first: int) -> int:
    """Return the place after the one table of a FROM."""
    place = first + 1
    while words.is_name(place) and words.mark(place + 1) == ".":
        place += 2
    if not words.is_name(place) or words.mark(place + 1) == "(":
        raise QueryError(
            f"'{words.shown(first, len(words))}' is not supported: name one table; any name stands for the release."
        )
    return _skip_alias(words, place + 1)


def _skip_alias(words: Words, place: int) -> int:
    """Return the place after a second name, if there is one."""
    if words.mark(place) == "AS":
        return place + 2 if words.is_name(place + 1) else place
    is_keyword = words.mark(place) in CLAUSES | SET_OPERATORS | JOINS | {"FROM", "WHERE"}
    return place + 1 if words.is_name(place) and not is_keyword else place


def _is_end(words: Words, place: int, *keywords: str) -> bool:
    """Whether a part of a statement ends at a place: at a keyword, or because nothing follows but a semicolon."""
    return place >= len(words) or words.mark(place) in (";", *keywords, *CLAUSES, *SET_OPERATORS)
