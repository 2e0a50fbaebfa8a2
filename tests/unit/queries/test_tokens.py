"""The words of a query: which there are, where, and what cannot be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.errors import QueryError
from betalike.queries.tokens import MOST_NESTED, Tokens


def read(text: str) -> list[tuple[str, str]]:
    tokens = Tokens.of(text)
    return [(kind, tokens.content(place)) for place, kind in enumerate(tokens.kinds)]


SEVERAL = ["sign (", "number 1", "sign )"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        (" -- nothing\n /* at\n all */ ", []),
        ("-1.5e+3 .5 5. 0x1", ["number -1.5e+3", "number .5", "number 5.", "sign 0", "word x1"]),
        ("5abc", ["sign 5", "word abc"]),
        ("5--3", ["number 5"]),
        ("'it''s' ''", ["text it's", "text "]),
        ("DATE '2024-01-31' 'x' :: timestamp", ["text 2024-01-31", "text x"]),
        ("cast ( '1 -- 2' AS datetime )", ["text 1 -- 2"]),
        ("CAST('x' AS TEXT)", ["word CAST", "sign (", "text x", "word AS", "word TEXT", "sign )"]),
        ('"a ""b"" --" x.größe', ['name a "b" --', "word x", "sign .", "word größe"]),
        ("a<>b!=c", ["word a", "sign <>", "word b", "sign !=", "word c"]),
        ("(1, 'a)') (1) (1,)", ["list (1, 'a)')", *SEVERAL, *SEVERAL[:2], "sign ,", "sign )"]),
        ("1<=a==>", ["number 1", "sign <=", "word a", "sign ==", "sign >"]),
    ],
)
def test_words_are_found(text: str, found: list[str]) -> None:
    assert [f"{kind} {content}" for kind, content in read(text)] == found


def test_a_list_of_constants_is_one_word() -> None:
    tokens = Tokens.of("x IN (1,-2.5 , 'it''s',\nDATE '2024-01-31', '', 'a, b)', .5e3) AND (1, y)")
    assert tokens.kinds[2:4] == ["list", "word"]
    assert tokens.items(2) == [
        ("1", True),
        ("-2.5", True),
        ("it's", False),
        ("2024-01-31", False),
        ("", False),
        ("a, b)", False),
        (".5e3", True),
    ]
    assert tokens.closing == {4: 8}


def test_keywords_are_marked_in_capitals_and_quoted_names_are_no_keywords() -> None:
    dotless = "\u0131N"  # the capital of its first letter is I
    assert Tokens.of(f"and \"and\" 'and' {dotless}").marks == ["AND", "", "", dotless]


@pytest.mark.parametrize("text", ["'", '"', "a = 'b''", "/* a", "(", ")", "(()", "())", "''''' = 1"])
def test_what_is_not_closed_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="cannot be read near"):
        Tokens.of(text)


def test_parentheses_may_be_nested_so_deep_and_no_deeper() -> None:
    closing = Tokens.of("(" * MOST_NESTED + ")" * MOST_NESTED).closing
    assert closing == {place: 2 * MOST_NESTED - 1 - place for place in range(MOST_NESTED)}
    with pytest.raises(QueryError, match="more than 1,000 deep"):
        Tokens.of("(" * (MOST_NESTED + 1) + ")" * (MOST_NESTED + 1))


@given(
    st.lists(st.sampled_from(["(", ")", "a", "'(", "' ", '"', "--", "\n", "/*", "*/", "-", "1", ",", ".", " ", "date"]))
)
def test_every_character_is_in_a_word_or_between_words(pieces: list[str]) -> None:
    text = "".join(pieces)
    try:
        tokens = Tokens.of(text)
    except QueryError:
        return
    gaps = zip([0, *tokens.ends], [*tokens.starts, len(text)], strict=True)
    between = [text[end:start].strip() for end, start in gaps]
    assert all(not gap or gap.startswith(("--", "/*")) for gap in between)
    assert all(tokens.marks[opened] + tokens.marks[closed] == "()" for opened, closed in tokens.closing.items())


@given(st.text(st.sampled_from("'\" a\\")))
def test_a_text_in_quotation_marks_is_read_as_it_was(text: str) -> None:
    quoted = "'" + text.replace("'", "''") + "'"
    named = '"' + text.replace('"', '""') + '"'
    assert read(f"{quoted} {named}") == [("text", text), ("name", text)]
