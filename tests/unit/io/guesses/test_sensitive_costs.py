"""What many sensitive values cost: the estimate beside releases, and the bins that a draft proposes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import betalike
from betalike.io.guesses.costs import estimate_loss, even_bins

NEAR = 0.15


def people(n_rows: int = 3000) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows),
            "education": rng.integers(1, 17, n_rows),
            "region": rng.choice(list("ABCDEFGH"), n_rows),
            "earnings": (3000 * np.exp(rng.normal(0, 0.6, n_rows))).astype(int) * 10,
        }
    )


def test_the_estimate_is_near_what_releases_lose(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    described = betalike.describe(tmp_path / "people.csv")
    cost = described.columns[-1].cost
    assert cost is not None
    (tmp_path / "release.toml").write_text(described.to_toml(tmp_path), encoding="utf-8")
    given: dict[str, Any] = {"spec": tmp_path / "release.toml", "scheme": "seam", "options": {"effort": 0}}
    drafted = betalike.publish(**given, seed=1)
    assert drafted.certificate["release"]["average_loss"] == pytest.approx(cost.binned_loss, abs=NEAR)
    plain = betalike.publish(**given, bins={}, seed=1)
    assert plain.certificate["release"]["average_loss"] == pytest.approx(cost.loss, abs=NEAR)


def test_few_values_need_no_bins() -> None:
    frame = people().with_columns(earnings=pl.col("earnings") // 20_000)
    assert betalike.describe(frame).columns[-1].cost is None


def test_a_value_of_every_row_costs_nothing_and_single_ones_cost_most() -> None:
    assert (
        estimate_loss(np.array([500, 500]), 3)
        < estimate_loss(even_bins(1000), 3)
        < estimate_loss(np.ones(1000, int), 3)
    )
    assert estimate_loss(np.ones(1000, int), 1) == pytest.approx(1 / 5, abs=0.01)  # classes of a fifth of all rows
