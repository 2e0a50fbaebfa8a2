"""Published labels, read back: which are allowed in a column with round ends, and what they cover."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from betalike.release.certificate import ColumnFacts
from betalike.release.published_labels import code_original, read_labels, read_range
from betalike.table.rounding import Rounding
from betalike.table.schema import Kind

AGE = ColumnFacts("age", "integer", 1.0, ("18", "90"), has_missing=True, round="5", bottom="18", top="90")
MONEY = ColumnFacts("money", "real", 1.0, None, round="10.0", bottom="0.0")


@pytest.mark.parametrize("label", ["<= 18", "<= 24", "[19, 24]", "[35, 39]", "[85, 89]", "85+", "90+", "*", None])
def test_labels_of_bins_are_read(label: str | None) -> None:
    assert read_labels(AGE, {label: 3}).labels == {label: 3}


@pytest.mark.parametrize(
    "label", ["37", "[35, 38]", "[36, 39]", "[15, 24]", "[85, 94]", "<= 20", "<= 94", "88+", "+", "<= ", "[24, 19]"]
)
def test_labels_that_are_not_round_or_lie_beyond_a_code_are_refused(label: str) -> None:
    with pytest.raises(ValueError, match=r"range|literal|written"):
        read_labels(AGE, {label: 3})


def test_open_labels_are_only_for_coded_columns() -> None:
    with pytest.raises(ValueError, match="literal"):
        read_range("90+", Kind.INTEGER, Rounding(Kind.INTEGER, 5, bottom=18))
    assert read_range("90+", Kind.INTEGER, Rounding(Kind.INTEGER, 5, top=95)) == (90, 95)


def covered(column: ColumnFacts, values: list[float], label: str) -> list[float]:
    """The values that a label covers, -1 for a missing one."""
    cells = pl.Series(column.name, [None, *values])
    counts = np.ones(len(cells), dtype=np.int64)
    coded = code_original(column, cells, counts, [label])
    low, high = coded.boxes([label])[0].tolist()
    return [([*values, -1])[place] for place in range(low, high + 1)]


AGES = [2, 18, 19, 24, 25, 89, 90, 104]


def test_open_labels_cover_what_lies_beyond_their_code() -> None:
    assert covered(AGE, AGES, "<= 24") == [2, 18, 19, 24]
    assert covered(AGE, AGES, "85+") == [89, 90, 104]
    assert covered(AGE, AGES, "[19, 24]") == [19, 24]
    assert covered(AGE, AGES, "*") == [*AGES, -1]


def test_a_range_of_reals_that_begins_at_the_code_does_not_cover_what_lies_below() -> None:
    values = [-5.0, 0.0, 0.5, 10.0]
    assert covered(MONEY, values, "[0.0, 10.0]") == [0.0, 0.5, 10.0]
    assert covered(MONEY, values, "<= 10.0") == values
