"""Parse a predicate, or a whole SELECT COUNT(*), into boxes that do not overlap.

Missing values follow SQL: a comparison with one is neither true nor false. So neither `age < 30` nor `NOT age < 30`
selects a row without an age; `age IS NULL` does.

The text is read once from left to right, without recursion. So no predicate is too long or too deep for Python, and the
time grows with the length alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from betalike.errors import QueryError, suggestion
from betalike.queries.boxes import Box, intersect, unite
from betalike.queries.columns import Literal, QueryColumn
from betalike.queries.tokens import LIST, MOST_NESTED, NUMBER, TEXT, Tokens, shortened, too_deep
from betalike.queries.value_sets import ValueSet

SUPPORTED = "=, <>, <, <=, >, >=, BETWEEN, IN, IS NULL, AND, OR and NOT on columns and constants"
_TURNED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}  # each comparison with its sides exchanged
_OTHER_WORDS = {"==": ("=", False), "<>": ("=", True), "!=": ("=", True)}  # the same, or the opposite
_OPERATORS = {*_TURNED, *_OTHER_WORDS, "IS", "IN", "BETWEEN", "NOT"}
_CONSTANTS = {"TRUE", "FALSE", "NULL"}
_ENDS = {"OR", ")", ";"}  # of a comparison; AND also ends one, except within BETWEEN
SET_OPERATORS = {"UNION", "INTERSECT", "EXCEPT"}
CLAUSES = {"GROUP", "HAVING", "WINDOW", "QUALIFY", "ORDER", "LIMIT", "OFFSET", "FETCH", "FOR"}
JOINS = {"JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "ASOF", "LATERAL", "ON", "USING"}
_COUNT = ["COUNT", "(", "*", ")"]
_FOLLOWING = CLAUSES | SET_OPERATORS


def parse(text: str, columns: Mapping[str, QueryColumn]) -> Sequence[Box]:
    """Return the boxes of a predicate; the counts of the boxes add up to the predicate's count."""
    tokens = Tokens.of(text)
    if not len(tokens):
        raise QueryError("the predicate is empty; write one such as: age BETWEEN 30 AND 40.")
    start = _find_condition(tokens)
    return [{}] if start is None else _Reader(tokens, columns).read(start)


@dataclass
class _Group:
    """The content of a pair of parentheses: terms joined by OR, each made of parts joined by AND."""

    is_negated: bool
    terms: list[list[Sequence[Box]]] = field(default_factory=lambda: [[]])

    def boxes(self) -> Sequence[Box]:
        """Return the boxes where the group is true, or where it is false if it is negated."""
        within, over = (unite, intersect) if self.is_negated else (intersect, unite)
        return over([within(term) for term in self.terms])


@dataclass(frozen=True)
class _Comparison:
    """Where a comparison starts, has its operator and ends, and its text for messages."""

    first: int
    operator: int
    end: int
    piece: str


class _Reader:
    """Reader of a predicate; it pushes each NOT down to the comparisons."""

    def __init__(self, tokens: Tokens, columns: Mapping[str, QueryColumn]) -> None:
        self.tokens = tokens
        self.columns = columns

    def read(self, place: int) -> Sequence[Box]:
        """Return the boxes of the condition that starts at a place."""
        tokens = self.tokens
        groups, n_nots = [_Group(is_negated=False)], 0
        while True:
            if tokens.mark(place) == "NOT":
                place, n_nots = place + 1, n_nots + 1
                if n_nots > MOST_NESTED:
                    raise too_deep()
                continue
            is_negated = groups[-1].is_negated is not bool(n_nots % 2)
            n_nots = 0
            if tokens.mark(place) == "(" and self._is_end(tokens.closing[place] + 1):
                groups.append(_Group(is_negated))
                place += 1
                continue
            end = self._find_end(place)
            groups[-1].terms[-1].append(self._read_part(place, end, is_negated))
            place = end
            while tokens.mark(place) == ")":
                boxes = groups.pop().boxes()
                groups[-1].terms[-1].append(boxes)
                place += 1
            if tokens.mark(place) not in ("AND", "OR"):
                _check_end(tokens, place)
                return groups[0].boxes()
            if tokens.mark(place) == "OR":
                groups[-1].terms.append([])
            place += 1

    def _is_end(self, place: int) -> bool:
        """Whether a condition may end before this place."""
        mark = self.tokens.mark(place)
        return place >= len(self.tokens) or mark == "AND" or mark in _ENDS or mark in _FOLLOWING

    def _find_end(self, first: int) -> int:
        """Return the place after a comparison, which includes what is in parentheses."""
        tokens, place, is_between = self.tokens, first, False
        while place < len(tokens):
            mark = tokens.marks[place]
            if mark == "AND" and is_between:
                is_between = False
            elif mark == "AND" or mark in _ENDS or (mark in _FOLLOWING and place > first):
                break
            is_between = is_between or mark == "BETWEEN"
            place = tokens.closing.get(place, place) + 1
        if place == first:
            raise tokens.unreadable(first)
        return place

    def _read_part(self, first: int, end: int, is_negated: bool) -> list[Box]:
        """Return the boxes where a comparison is true, or where it is false if it is negated."""
        tokens, place = self.tokens, first
        while place < end and tokens.marks[place] not in _OPERATORS:
            place = tokens.closing.get(place, place) + 1
        if place >= end:
            if end == first + 1 and tokens.mark(first) in ("TRUE", "FALSE"):
                return [{}] if (tokens.mark(first) == "TRUE") is not is_negated else []
            if end > first + 1 and all(tokens.is_name(i) for i in range(first, end)):
                raise tokens.unreadable(first + 1)
            raise self._unsupported(first, end)
        name, values = self._read_comparison(_Comparison(first, place, end, tokens.shown(first, end)), is_negated)
        return [] if values.is_empty else [{name: values}]

    def _read_comparison(self, part: _Comparison, is_negated: bool) -> tuple[str, ValueSet]:
        tokens, operator = self.tokens, part.operator
        mark = tokens.marks[operator]
        if mark == "NOT":
            is_negated = not is_negated
            operator += 1
            mark = tokens.mark(operator)
        if mark == "IS":
            return self._read_is(part, is_negated)
        if mark == "BETWEEN":
            column = self._column(part.first, part.operator, part)
            values = self._read_between(column, operator + 1, part)
        elif mark == "IN":
            column = self._column(part.first, part.operator, part)
            values = column.equal_any(self._list(operator + 1, part))
        elif mark not in ("IS", "NOT") and mark in _OPERATORS and operator == part.operator:
            sign, is_not = _OTHER_WORDS.get(mark, (mark, False))
            is_negated = is_negated is not is_not
            left, right = (part.first, operator), (operator + 1, part.end)
            if not self._is_column(*left) and self._is_column(*right):
                left, right, sign = right, left, _TURNED[sign]
            column = self._column(*left, part)
            values = column.compare(sign, self._literal(*right, part))
        else:
            raise self._unsupported(part.first, part.end)
        return column.name, values.others() if is_negated else values

    def _read_is(self, part: _Comparison, is_negated: bool) -> tuple[str, ValueSet]:
        column = self._column(part.first, part.operator, part)
        asked = self.tokens.marks[part.operator + 1 : part.end]
        if asked not in (["NULL"], ["NOT", "NULL"]):
            raise self._unsupported(part.first, part.end)
        present = ValueSet.present(column.is_discrete)
        return column.name, present if is_negated is not (len(asked) == 2) else present.complement()

    def _read_between(self, column: QueryColumn, place: int, part: _Comparison) -> ValueSet:
        if self.tokens.mark(place) in ("SYMMETRIC", "ASYMMETRIC"):
            raise self._unsupported(part.first, part.end)
        middle = place
        while middle < part.end and self.tokens.marks[middle] != "AND":
            middle = self.tokens.closing.get(middle, middle) + 1
        if middle >= part.end:
            raise self.tokens.unreadable(part.end)
        low, high = self._literal(place, middle, part), self._literal(middle + 1, part.end, part)
        return column.compare(">=", low) & column.compare("<=", high)

    def _list(self, place: int, part: _Comparison) -> list[Literal]:
        """Return the constants of a list in parentheses."""
        tokens, end = self.tokens, part.end - 1
        if place == end and tokens.kinds[place] == LIST:
            return [Literal(text, is_number, part.piece) for text, is_number in tokens.items(place)]
        if tokens.closing.get(place) != end or end == place + 1 or tokens.marks[place + 1] == "SELECT":
            raise self._unsupported(part.first, part.end)
        literals = []  # a single constant, or constants with signs, parentheses or comments
        while place < end:
            first = place = place + 1
            while place < end and tokens.marks[place] != ",":
                place = tokens.closing.get(place, place) + 1
            literals.append(self._literal(first, place, part))
        return literals

    def _is_column(self, first: int, end: int) -> bool:
        """Whether some tokens are a name, or names joined by dots."""
        tokens = self.tokens
        is_named = end > first and all(tokens.is_name(place) for place in range(first, end, 2))
        is_dotted = set(tokens.marks[first + 1 : end : 2]) <= {"."} and (end - first) % 2 == 1
        return is_named and is_dotted and tokens.marks[end - 1] not in _CONSTANTS

    def _column(self, first: int, end: int, part: _Comparison) -> QueryColumn:
        tokens = self.tokens
        if first >= end:
            raise tokens.unreadable(first)
        if not self._is_column(first, end):
            shown = tokens.shown(first, end)
            raise QueryError(f"in '{part.piece}': '{shown}' is not a column. Supported: {SUPPORTED}.")
        name = tokens.content(end - 1)
        if name in self.columns:
            return self.columns[name]
        alike = [known for known in self.columns if known.lower() == name.lower()]
        if len(alike) == 1:  # SQL ignores case
            return self.columns[alike[0]]
        raise QueryError(
            f"in '{part.piece}': the release has no column '{shortened(name)}' to query. It has: "
            f"{', '.join(self.columns)}.{suggestion(name, self.columns)}"
        )

    def _literal(self, first: int, end: int, part: _Comparison) -> Literal:
        """Return the constant that some tokens form; signs and parentheses around it are allowed."""
        tokens, start, is_minus = self.tokens, first, False
        while first < end - 1:
            if tokens.marks[first] in ("-", "+"):
                is_minus = is_minus is not (tokens.marks[first] == "-")
            elif tokens.closing.get(first) == end - 1:
                end -= 1
            else:
                break
            first += 1
        if first >= end:
            raise tokens.unreadable(end)
        kind, mark = tokens.kinds[first], tokens.marks[first]
        if end == first + 1:
            if kind == NUMBER:
                number = tokens.content(first)
                return Literal(number if not is_minus else _negative(number), True, part.piece)
            if kind == TEXT and not is_minus:
                return Literal(tokens.content(first), False, part.piece)
            if mark in ("TRUE", "FALSE") and not is_minus:
                return Literal(mark.lower(), False, part.piece)
        hint = " Use IS NULL." if mark == "NULL" else ""
        raise QueryError(f"in '{part.piece}': '{tokens.shown(start, end)}' is not a number or a text.{hint}")

    def _unsupported(self, first: int, end: int) -> QueryError:
        return QueryError(f"'{self.tokens.shown(first, end)}' is not supported. Supported: {SUPPORTED}.")


def _find_condition(tokens: Tokens) -> int | None:
    """Return the place where the condition of a query starts; None if a SELECT has none."""
    if tokens.mark(0) != "SELECT":
        return 0
    place = _skip_alias(tokens, 1 + len(_COUNT))
    if tokens.marks[1 : 1 + len(_COUNT)] != _COUNT or not _is_part_end(tokens, place, "FROM", "WHERE"):
        end = next((i for i in range(1, len(tokens)) if _is_part_end(tokens, i, "FROM", "WHERE")), len(tokens))
        raise QueryError(f"'{tokens.shown(0, end)}' is not supported: only SELECT COUNT(*) is.")
    if tokens.mark(place) == "FROM":
        place = _skip_table(tokens, place)
    if tokens.mark(place) == "WHERE":
        return place + 1
    _check_end(tokens, place)
    return None


def _check_end(tokens: Tokens, place: int) -> None:
    """Raise an error unless the query ends at this place, after its condition or its table."""
    if all(mark == ";" for mark in tokens.marks[place:]):
        return
    if tokens.mark(place) == ";" or tokens.mark(place) in SET_OPERATORS:
        raise QueryError(
            f"'{shortened(tokens.source)}' is not one predicate or one SELECT COUNT(*) FROM ... WHERE ...."
        )
    raise QueryError(
        f"'{tokens.shown(place, len(tokens))}' is not supported: only SELECT COUNT(*) FROM ... WHERE ... is."
    )


def _skip_table(tokens: Tokens, first: int) -> int:
    """Return the place after the single table of a FROM."""
    place = first + 1
    while tokens.is_name(place) and tokens.mark(place + 1) == ".":
        place += 2
    if not tokens.is_name(place) or tokens.mark(place + 1) == "(":
        raise QueryError(
            f"'{tokens.shown(first, len(tokens))}' is not supported: name one table; any name stands for the release."
        )
    return _skip_alias(tokens, place + 1)


def _skip_alias(tokens: Tokens, place: int) -> int:
    """Return the place after an alias, if there is one."""
    if tokens.mark(place) == "AS":
        return place + 2 if tokens.is_name(place + 1) else place
    is_keyword = tokens.mark(place) in CLAUSES | SET_OPERATORS | JOINS | {"FROM", "WHERE"}
    return place + 1 if tokens.is_name(place) and not is_keyword else place


def _is_part_end(tokens: Tokens, place: int, *keywords: str) -> bool:
    """Whether a part of a statement ends here: at a keyword, or because only a semicolon follows."""
    return place >= len(tokens) or tokens.mark(place) in (";", *keywords, *CLAUSES, *SET_OPERATORS)


def _negative(number: str) -> str:
    return number[1:] if number.startswith("-") else "-" + number
