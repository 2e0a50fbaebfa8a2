"""Tokens of a query: its names, constants and signs, found in one pass over the text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from betalike.errors import QueryError

SHOWN = 60
MOST_NESTED = 1_000
NUMBER, TEXT, LIST, NAME, WORD, OPEN, SIGN = "number", "text", "list", "name", "word", "open", "sign"
_FLAGS = re.VERBOSE | re.IGNORECASE | re.DOTALL
_NUMBER = r"-?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:e[+-]?[0-9]++)?(?![\w.])"
_MOMENT = r"(?:DATE|DATETIME|TIMESTAMP)"
_QUOTED = r"'[^']*+(?:''[^']*+)*+'"
_CAST = rf"CAST\s*+\(\s*+{_QUOTED}\s*+AS\s++{_MOMENT}\s*+\)"
_ITEM = rf"(?:{_NUMBER}|{_QUOTED}|{_MOMENT}\s*+{_QUOTED})"
_WORD = re.compile(  # ++ and *+ never read a character twice, so the time grows with the length alone
    rf"""
    (?:\s++|--[^\n]*+|/\*.*?\*/)*+  # spaces and comments
    (?:
        (?P<number>{_NUMBER})
      | (?P<text>{_CAST}|{_MOMENT}\s*+{_QUOTED}|{_QUOTED}(?:\s*+::\s*+{_MOMENT}\b)?)
      | (?P<list>\(\s*+{_ITEM}(?:\s*+,\s*+{_ITEM})++\s*+\))
      | (?P<name>"[^"]*+(?:""[^"]*+)*+")
      | (?P<word>[^\W\d]\w*+)
      | (?P<open>'|"|/\*)
      | (?P<sign><>|!=|<=|>=|==|\S)
      | \Z
    )
    """,
    flags=_FLAGS,
)
_ITEMS = re.compile(_ITEM, flags=_FLAGS)


@dataclass(frozen=True)
class Tokens:
    """The tokens of a text: the kind of each, its keyword or sign, and where it starts and ends.

    A mark is a keyword in capitals or a sign; it is empty for quoted names and for constants. A list of constants in
    parentheses is a single token, because it may be long. `closing` maps each other open parenthesis to the one that
    closes it.
    """

    source: str
    kinds: list[str]
    marks: list[str]
    starts: list[int]
    ends: list[int]
    closing: dict[int, int]

    @staticmethod
    def of(source: str) -> Tokens:
        """Split a text into tokens and match its parentheses."""
        kinds, marks, starts, ends = [], [], [], []
        for match in _WORD.finditer(source):
            kind = match.lastgroup
            if kind is None:  # the end of the text
                break
            word, end = match[kind], match.end()
            kinds.append(kind)
            starts.append(end - len(word))
            ends.append(end)
            if kind == WORD and word.isascii():  # letters of other scripts may have ASCII capitals
                word = word.upper()
            marks.append(word if kind in (SIGN, WORD) else "")
            if kind == OPEN:
                break
        tokens = Tokens(source, kinds, marks, starts, ends, {})
        if kinds and kinds[-1] == OPEN:
            raise tokens.unreadable(len(tokens) - 1, " A quotation or a comment is not closed.")
        tokens._match_parentheses()
        return tokens

    def __len__(self) -> int:
        return len(self.kinds)

    def _match_parentheses(self) -> None:
        waiting: list[int] = []
        for place, mark in enumerate(self.marks):
            if mark == "(":
                waiting.append(place)
                if len(waiting) > MOST_NESTED:
                    raise too_deep()
            elif mark == ")":
                if not waiting:
                    raise self.unreadable(place)
                self.closing[waiting.pop()] = place
        if waiting:
            raise self.unreadable(len(self), " A parenthesis is not closed.")

    def mark(self, place: int) -> str:
        """Return the keyword or sign at a place; empty after the end."""
        return self.marks[place] if place < len(self) else ""

    def is_name(self, place: int) -> bool:
        """Whether the token at a place can be a name."""
        return place < len(self) and self.kinds[place] in (NAME, WORD)

    def content(self, place: int) -> str:
        """Return the token at a place without its quotation marks."""
        word = self.source[self.starts[place] : self.ends[place]]
        if self.kinds[place] == TEXT:
            return _unquoted(word)
        return word[1:-1].replace('""', '"') if self.kinds[place] == NAME else word

    def items(self, place: int) -> list[tuple[str, bool]]:
        """Return the constants of the list at a place, each with whether it is a number."""
        items = _ITEMS.findall(self.source, self.starts[place], self.ends[place])
        return [(_unquoted(item), False) if item[-1] == "'" else (item, True) for item in items]

    def shown(self, first: int, end: int) -> str:
        """Return some tokens as messages show them."""
        if first >= end:
            return ""
        return shortened(self.source[self.starts[first] : self.ends[end - 1]])

    def unreadable(self, place: int, reason: str = "") -> QueryError:
        """Return the error for a text that cannot be read at a place."""
        place = min(place, len(self) - 1)
        start, end = max(self.starts[place] - SHOWN // 2, 0), min(self.ends[place], self.starts[place] + SHOWN)
        near = shortened(self.source[start:end])
        return QueryError(f"the predicate cannot be read near '{near}'.{reason} Is it SQL, such as: age >= 30?")


def _unquoted(text: str) -> str:
    return text[text.index("'") + 1 : text.rindex("'")].replace("''", "'")


def shortened(text: str) -> str:
    """Return a text on one line, cut if it is long."""
    line = " ".join(text[: 20 * SHOWN].split())
    return line if len(line) <= SHOWN and len(text) <= 20 * SHOWN else line[:SHOWN] + " ..."


def too_deep() -> QueryError:
    """Return the error for parentheses, or NOTs, that are nested too deeply."""
    return QueryError(
        f"the predicate is nested too deeply: parentheses, or NOT after NOT, more than {MOST_NESTED:,} deep. Write it "
        "with fewer of them, or ask in several queries."
    )
