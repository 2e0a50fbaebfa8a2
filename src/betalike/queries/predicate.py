"""From the text of a predicate, or of a whole SELECT COUNT(*), to boxes that do not overlap.

SQL's rule for missing values holds: a comparison with one is neither true nor false, so neither `age < 30` nor
`NOT age < 30` selects a row without an age; `age IS NULL` does.

The text is read once from left to right. Nothing here calls itself, so that neither a long predicate nor a deep one
meets a limit of Python's, and the time grows with the length alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from betalike.errors import QueryError, suggestion
from betalike.queries.boxes import Box, intersect, unite
from betalike.queries.columns import Comparator, Literal, QueryColumn
from betalike.queries.statement import CLAUSES, SET_OPERATORS, check_end, find_condition
from betalike.queries.values import ValueSet
from betalike.queries.words import LIST, MOST_NESTED, NUMBER, TEXT, Words, shortened, too_deep

SUPPORTED = "=, <>, <, <=, >, >=, BETWEEN, IN, IS NULL, AND, OR and NOT on columns and constants"
_COMPARISONS = {
    "=": (Comparator.EQUAL, False),
    "==": (Comparator.EQUAL, False),
    "<>": (Comparator.EQUAL, True),
    "!=": (Comparator.EQUAL, True),
    "<": (Comparator.LESS, False),
    "<=": (Comparator.AT_MOST, False),
    ">": (Comparator.GREATER, False),
    ">=": (Comparator.AT_LEAST, False),
}
_TURNED = {
    Comparator.LESS: Comparator.GREATER,
    Comparator.AT_MOST: Comparator.AT_LEAST,
    Comparator.GREATER: Comparator.LESS,
    Comparator.AT_LEAST: Comparator.AT_MOST,
}
_OPERATORS = {*_COMPARISONS, "IS", "IN", "BETWEEN", "NOT"}
_CONSTANTS = {"TRUE", "FALSE", "NULL"}
_ENDS = {"OR", ")", ";"}  # of a comparison; so is AND, except that of BETWEEN
_FOLLOWING = CLAUSES | SET_OPERATORS


def parse(text: str, columns: Mapping[str, QueryColumn]) -> Sequence[Box]:
    """The boxes of a predicate; their counts add up to the predicate's."""
    words = Words.of(text)
    if not len(words):
        raise QueryError("the predicate is empty; write one such as: age BETWEEN 30 AND 40.")
    start = find_condition(words)
    return [{}] if start is None else _Reader(words, columns).read(start)


@dataclass
class _Group:
    """What stands between two parentheses: terms joined by OR, each of which is parts joined by AND."""

    is_negated: bool
    terms: list[list[Sequence[Box]]] = field(default_factory=lambda: [[]])

    def boxes(self) -> Sequence[Box]:
        """The boxes where the group is true, or, negated, where it is false."""
        within, over = (unite, intersect) if self.is_negated else (intersect, unite)
        return over([within(term) for term in self.terms])


@dataclass(frozen=True)
class _Comparison:
    """Where a comparison starts, where its operator is and where it has ended; and its text, for messages."""

    first: int
    operator: int
    end: int
    piece: str


class _Reader:
    """Reads a predicate; NOT is carried in to the comparisons."""

    def __init__(self, words: Words, columns: Mapping[str, QueryColumn]) -> None:
        self.words = words
        self.columns = columns

    def read(self, place: int) -> Sequence[Box]:
        """The boxes of the condition that starts at a place."""
        words = self.words
        groups, n_nots = [_Group(is_negated=False)], 0
        while True:
            if words.mark(place) == "NOT":
                place, n_nots = place + 1, n_nots + 1
                if n_nots > MOST_NESTED:
                    raise too_deep()
                continue
            is_negated = groups[-1].is_negated is not bool(n_nots % 2)
            n_nots = 0
            if words.mark(place) == "(" and self._is_end(words.closing[place] + 1):
                groups.append(_Group(is_negated))
                place += 1
                continue
            end = self._find_end(place)
            groups[-1].terms[-1].append(self._read_part(place, end, is_negated))
            place = end
            while words.mark(place) == ")":
                boxes = groups.pop().boxes()
                groups[-1].terms[-1].append(boxes)
                place += 1
            if words.mark(place) not in ("AND", "OR"):
                check_end(words, place)
                return groups[0].boxes()
            if words.mark(place) == "OR":
                groups[-1].terms.append([])
            place += 1

    def _is_end(self, place: int) -> bool:
        """Whether a condition that ends before this place is complete."""
        mark = self.words.mark(place)
        return place >= len(self.words) or mark == "AND" or mark in _ENDS or mark in _FOLLOWING

    def _find_end(self, first: int) -> int:
        """Return the place after a comparison; what stands in parentheses is part of it."""
        words, place, is_between = self.words, first, False
        while place < len(words):
            mark = words.marks[place]
            if mark == "AND" and is_between:
                is_between = False
            elif mark == "AND" or mark in _ENDS or (mark in _FOLLOWING and place > first):
                break
            is_between = is_between or mark == "BETWEEN"
            place = words.closing.get(place, place) + 1
        if place == first:
            raise words.unreadable(first)
        return place

    def _read_part(self, first: int, end: int, is_negated: bool) -> list[Box]:
        """The boxes where a comparison is true, or, negated, where it is false."""
        words, place = self.words, first
        while place < end and words.marks[place] not in _OPERATORS:
            place = words.closing.get(place, place) + 1
        if place >= end:
            if end == first + 1 and words.mark(first) in ("TRUE", "FALSE"):
                return [{}] if (words.mark(first) == "TRUE") is not is_negated else []
            if end > first + 1 and all(words.is_name(i) for i in range(first, end)):
                raise words.unreadable(first + 1)
            raise self._unsupported(first, end)
        name, values = self._read_comparison(_Comparison(first, place, end, words.shown(first, end)), is_negated)
        return [] if values.is_empty else [{name: values}]

    def _read_comparison(self, part: _Comparison, is_negated: bool) -> tuple[str, ValueSet]:
        words, operator = self.words, part.operator
        mark = words.marks[operator]
        if mark == "NOT":
            is_negated = not is_negated
            operator += 1
            mark = words.mark(operator)
        if mark == "IS":
            return self._read_is(part, is_negated)
        if mark == "BETWEEN":
            column = self._column(part.first, part.operator, part)
            values = self._read_between(column, operator + 1, part)
        elif mark == "IN":
            column = self._column(part.first, part.operator, part)
            values = column.equal_any(self._list(operator + 1, part))
        elif mark in _COMPARISONS and operator == part.operator:
            comparison, is_not = _COMPARISONS[mark]
            is_negated = is_negated is not is_not
            left, right = (part.first, operator), (operator + 1, part.end)
            if not self._is_column(*left) and self._is_column(*right):
                left, right, comparison = right, left, _TURNED.get(comparison, comparison)
            column = self._column(*left, part)
            values = column.compare(comparison, self._literal(*right, part))
        else:
            raise self._unsupported(part.first, part.end)
        return column.name, values.others() if is_negated else values

    def _read_is(self, part: _Comparison, is_negated: bool) -> tuple[str, ValueSet]:
        column = self._column(part.first, part.operator, part)
        asked = self.words.marks[part.operator + 1 : part.end]
        if asked not in (["NULL"], ["NOT", "NULL"]):
            raise self._unsupported(part.first, part.end)
        present = ValueSet.present(column.is_discrete)
        return column.name, present if is_negated is not (len(asked) == 2) else present.complement()

    def _read_between(self, column: QueryColumn, place: int, part: _Comparison) -> ValueSet:
        if self.words.mark(place) in ("SYMMETRIC", "ASYMMETRIC"):
            raise self._unsupported(part.first, part.end)
        middle = place
        while middle < part.end and self.words.marks[middle] != "AND":
            middle = self.words.closing.get(middle, middle) + 1
        if middle >= part.end:
            raise self.words.unreadable(part.end)
        low, high = self._literal(place, middle, part), self._literal(middle + 1, part.end, part)
        return column.compare(Comparator.AT_LEAST, low) & column.compare(Comparator.AT_MOST, high)

    def _list(self, place: int, part: _Comparison) -> list[Literal]:
        """The constants of a list in parentheses."""
        words, end = self.words, part.end - 1
        if place == end and words.kinds[place] == LIST:
            return [Literal(text, is_number, part.piece) for text, is_number in words.items(place)]
        if words.closing.get(place) != end or end == place + 1 or words.marks[place + 1] == "SELECT":
            raise self._unsupported(part.first, part.end)
        literals = []  # of one constant alone, or with signs, parentheses or comments
        while place < end:
            first = place = place + 1
            while place < end and words.marks[place] != ",":
                place = words.closing.get(place, place) + 1
            literals.append(self._literal(first, place, part))
        return literals

    def _is_column(self, first: int, end: int) -> bool:
        """Whether a stretch is a name, or names with dots between them."""
        words = self.words
        is_named = end > first and all(words.is_name(place) for place in range(first, end, 2))
        is_dotted = set(words.marks[first + 1 : end : 2]) <= {"."} and (end - first) % 2 == 1
        return is_named and is_dotted and words.marks[end - 1] not in _CONSTANTS

    def _column(self, first: int, end: int, part: _Comparison) -> QueryColumn:
        words = self.words
        if first >= end:
            raise words.unreadable(first)
        if not self._is_column(first, end):
            raise QueryError(f"in '{part.piece}': '{words.shown(first, end)}' is not a column. There is: {SUPPORTED}.")
        name = words.content(end - 1)
        if name in self.columns:
            return self.columns[name]
        alike = [known for known in self.columns if known.lower() == name.lower()]
        if len(alike) == 1:  # SQL does not tell capitals from small letters
            return self.columns[alike[0]]
        raise QueryError(
            f"in '{part.piece}': the release answers for no column '{shortened(name)}'. It has: "
            f"{', '.join(self.columns)}.{suggestion(name, self.columns)}"
        )

    def _literal(self, first: int, end: int, part: _Comparison) -> Literal:
        """The constant that a stretch of words is; signs and parentheses around it are allowed."""
        words, start, is_minus = self.words, first, False
        while first < end - 1:
            if words.marks[first] in ("-", "+"):
                is_minus = is_minus is not (words.marks[first] == "-")
            elif words.closing.get(first) == end - 1:
                end -= 1
            else:
                break
            first += 1
        if first >= end:
            raise words.unreadable(end)
        kind, mark = words.kinds[first], words.marks[first]
        if end == first + 1:
            if kind == NUMBER:
                number = words.content(first)
                return Literal(number if not is_minus else _negative(number), True, part.piece)
            if kind == TEXT and not is_minus:
                return Literal(words.content(first), False, part.piece)
            if mark in ("TRUE", "FALSE") and not is_minus:
                return Literal(mark.lower(), False, part.piece)
        hint = " Use IS NULL." if mark == "NULL" else ""
        raise QueryError(f"in '{part.piece}': '{words.shown(start, end)}' is not a number or a text.{hint}")

    def _unsupported(self, first: int, end: int) -> QueryError:
        return QueryError(f"'{self.words.shown(first, end)}' is not supported; there is: {SUPPORTED}.")


def _negative(number: str) -> str:
    return number[1:] if number.startswith("-") else "-" + number
