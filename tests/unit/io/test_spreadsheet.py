"""Texts that a spreadsheet would run, in single texts and in whole columns alike."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from betalike.io.spreadsheet import formula_columns, is_formula

TEXTS = st.text(st.sampled_from("=+-@'\t\r\n＝19.eE a|"), max_size=6)  # noqa: RUF001


@given(TEXTS)
def test_a_text_is_run_unless_it_is_a_number(text: str) -> None:
    try:
        is_number = bool(text) and float(text.replace("e", "e")) is not None and text.strip() == text
    except ValueError:
        is_number = False
    if text[:1] in {"=", "+", "-", "@", "\t", "\r"}:
        assert is_formula(text) is not is_number


@given(st.lists(st.one_of(st.none(), TEXTS), min_size=1))
def test_columns_are_judged_like_texts(texts: list[str | None]) -> None:
    for dtype in (pl.String, pl.Categorical):
        frame = pl.DataFrame({"a": pl.Series(texts, dtype=pl.String).cast(dtype), "n": [-1] * len(texts)})
        named = ["a"] if any(is_formula(text) for text in texts if text) else []
        assert formula_columns(frame) == formula_columns(frame.lazy()) == named


def test_a_column_name_counts() -> None:
    frame = pl.DataFrame({"=a": [1], "b": ["x"]})
    assert formula_columns(frame) == formula_columns(frame.lazy()) == ["=a"]
    assert formula_columns(frame.select("=a").lazy()) == ["=a"]
