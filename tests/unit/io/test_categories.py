"""Categories as texts: the same as Polars' own cast, whatever else its list of categories holds."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from betalike.io.categories import as_texts, distinct_texts


@given(st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "", "é", "[1.0, 2.5]"])), max_size=12), st.booleans())
def test_texts_are_those_of_the_rows(texts: list[str | None], is_enum: bool) -> None:
    dtype = pl.Enum(["b", "a", "", "unused", "é", "[1.0, 2.5]"]) if is_enum else pl.Categorical
    column = pl.Series("x", texts, dtype=pl.String).cast(dtype)
    shown = as_texts(column)
    assert (shown.name, shown.dtype, shown.to_list()) == ("x", pl.String, texts)
    assert sorted(distinct_texts(column)) == sorted({text for text in texts if text is not None})
