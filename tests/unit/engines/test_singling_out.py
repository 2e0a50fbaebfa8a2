"""Rows that kept columns single out, by themselves and with labels: compared with counting the rows' texts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import polars as pl
import pytest

from betalike.engines.engine import SingledOut
from betalike.engines.singling_out import ROWS_AT_ONCE, count_singled_out


def count_slowly(frame: pl.DataFrame, names: Sequence[str]) -> int:
    """Rows whose texts occur once; an empty text is missing."""
    rows = [tuple(None if cell in (None, "") else str(cell) for cell in row) for row in frame.select(names).iter_rows()]
    return sum(number == 1 for number in Counter(rows).values())


def count(frame: pl.DataFrame, kept: Sequence[str], labels: Sequence[str], n_rows: int, batch: int) -> SingledOut:
    return count_singled_out(lambda: frame.iter_slices(batch), kept, labels, n_rows)


@pytest.mark.parametrize("seed", range(20))
def test_it_counts_rows_that_no_other_is_like(seed: int) -> None:
    rng = random.Random(seed)
    n_rows = rng.choice([1, 2, 7, 40, 300])
    frame = pl.DataFrame(
        {
            "age": [f"[{rng.randint(1, 3)}, 9]" for _ in range(n_rows)],
            "city": [rng.choice(["Ulm", "*", None]) for _ in range(n_rows)],
            "note": [rng.choice(["", None, "a", "b", "1"]) for _ in range(n_rows)],
            "visits": [rng.randint(1, rng.choice([3, 1000])) for _ in range(n_rows)],
        },
        schema_overrides={"city": pl.String, "note": pl.String},
    )
    for kept in (["note"], ["visits"], ["note", "visits"], ["visits", "note"]):
        truth = SingledOut(count_slowly(frame, kept), count_slowly(frame, [*kept, "age", "city"]))
        for n_told in (n_rows, 4 * ROWS_AT_ONCE):  # as if there were so many rows that they are counted in turns
            assert count(frame, kept, ["age", "city"], n_told, rng.choice([1, 13, 1000])) == truth


def test_cells_that_differ_only_in_their_place_differ() -> None:
    frame = pl.DataFrame({"age": ["1", "1"], "a": ["x", "y"], "b": ["y", "x"]})
    assert count(frame, ["a", "b"], ["age"], 2, 10) == SingledOut(2, 2)


@pytest.mark.parametrize(
    "values",
    [
        [0.1, 0.1, 1e300, -0.0],
        [True, True, False, None],
        [[1], [1], [2], []],
        [b"a", b"a", b"b", None],
    ],
    ids=["reals", "truth", "lists", "bytes"],
)
def test_cells_of_any_type(values: list[object]) -> None:
    frame = pl.DataFrame({"age": ["1"] * 4, "kept": values})
    assert count(frame, ["kept"], ["age"], 4, 10) == SingledOut(2, 2)


def test_categories_in_batches_with_other_numbers() -> None:
    frames = [
        pl.DataFrame({"age": "1", "kept": pl.Series(texts, dtype=pl.Categorical)}) for texts in (["a", "b"], ["b"])
    ]
    assert count_singled_out(lambda: iter(frames), ["kept"], ["age"], 3) == SingledOut(1, 1)
