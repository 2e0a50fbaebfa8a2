"""Estimates of numbers of distinct values: close to the truth, and blind to repetitions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from betalike.engines.distinct_estimate import DistinctEstimate


def estimate(values: pl.Series, times: int = 1) -> int:
    found = DistinctEstimate()
    for _ in range(times):
        for batch in values.to_frame("value").iter_slices(70_000):
            found.add(batch["value"].hash().to_numpy())
    return found.number


@pytest.mark.parametrize("number", [0, 1, 2, 10, 1000, 30_000, 45_000, 1_000_000])
def test_estimates_are_off_by_no_more_than_a_few_per_cent(number: int) -> None:
    for values in (np.arange(number), np.random.default_rng(number).random(number)):
        assert estimate(pl.Series(values)) == pytest.approx(number, rel=0.04)


def test_what_comes_again_does_not_count() -> None:
    texts = pl.Series([f"name {i % 500}" for i in range(20_000)])
    assert estimate(texts, times=3) == estimate(texts) == pytest.approx(500, rel=0.04)
