"""Escaping for spreadsheets: undone exactly, for single texts and for whole columns alike."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from betalike.io.spreadsheet import escape, escape_columns, formula_columns, is_formula, restore, restore_columns

TEXTS = st.text(st.sampled_from("=+-@'\t\r\n＝19.eE a|"), max_size=6)  # noqa: RUF001


@given(TEXTS)
def test_a_text_comes_back_and_is_not_run(text: str) -> None:
    assert restore(escape(text)) == text
    assert not is_formula(escape(text))
    try:
        is_number = bool(text) and float(text.replace("e", "e")) is not None and text.strip() == text
    except ValueError:
        is_number = False
    if text[:1] in {"=", "+", "-", "@", "\t", "\r"}:
        assert is_formula(text) is not is_number


@given(st.lists(st.one_of(st.none(), TEXTS), min_size=1))
def test_columns_are_escaped_like_texts(texts: list[str | None]) -> None:
    for dtype in (pl.String, pl.Categorical):
        frame = pl.DataFrame({"a": pl.Series(texts, dtype=pl.String).cast(dtype), "n": [-1] * len(texts)})
        escaped = escape_columns(frame)
        assert escaped["a"].cast(pl.String).to_list() == [None if text is None else escape(text) for text in texts]
        assert escaped["n"].to_list() == frame["n"].to_list()
        assert restore_columns(escaped.lazy()).collect()["a"].to_list() == texts
        named = ["a"] if any(is_formula(text) for text in texts if text) else []
        assert formula_columns(frame) == formula_columns(frame.lazy()) == named


def test_a_column_name_counts() -> None:
    frame = pl.DataFrame({"=a": [1], "b": ["x"]})
    assert formula_columns(frame) == formula_columns(frame.lazy()) == ["=a"]
    assert formula_columns(frame.select("=a").lazy()) == ["=a"]
