"""SEAM never loses more than LMondrian, nor than BUREL with its further split, on tables it was not tuned on."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from betalike.datasets import census_like, census_like_hierarchies
from betalike.engines.local import LocalEngine
from betalike.io.arguments import make_schema
from betalike.measures.loss import plan_loss
from betalike.promises import Likeness
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes import Burel, Mondrian, Seam
from betalike.table.cells import Cells, Plan
from rivals import SlowMondrian, keeping

# Differences of this size are rounding of the sum over classes.
ROUNDING = 1e-9


def fold(columns: dict[str, Any], secret: Any, **arguments: Any) -> Cells:
    """The cells of a table, by the way a user's table takes."""
    frame = pl.DataFrame({**columns, "secret": secret})
    schema = make_schema(
        list(columns),
        "secret",
        arguments.get("hierarchies"),
        arguments.get("kinds"),
        None,
        arguments.get("weights"),
        (),
        False,
    )
    return LocalEngine(frame, schema).count_cells()


def draw_secret(rng: np.random.Generator, score: np.ndarray, shares: list[float], dependence: float) -> np.ndarray:
    """A sensitive value with these shares that follows the score: not at all at dependence 0, wholly at 1."""
    noise = rng.standard_normal(len(score))
    centred = (score - score.mean()) / max(score.std(), 1e-12)
    blend = dependence * centred + np.sqrt(1 - dependence**2) * noise
    rank = np.argsort(np.argsort(blend)) / len(score)
    return np.searchsorted(np.cumsum(shares)[:-1] / np.sum(shares), rank, side="right")


def skewed(dependence: float) -> Cells:
    rng = np.random.default_rng(11)
    age, zone = rng.integers(18, 90, 3000), rng.integers(0, 12, 3000)
    secret = draw_secret(rng, age + 4.0 * zone, [60, 20, 10, 5, 3, 1, 1], dependence)
    return fold({"age": age, "zone": zone.astype(str)}, secret)


def even(dependence: float) -> Cells:
    rng = np.random.default_rng(12)
    x, y, z = rng.integers(0, 40, 4000), rng.integers(0, 20, 4000), rng.integers(0, 3, 4000)
    secret = draw_secret(rng, x - y + 10.0 * z, [1] * 12, dependence)
    return fold({"x": x, "y": y, "z": z.astype(str)}, secret)


def many_attributes() -> Cells:
    rng = np.random.default_rng(13)
    n = 2000
    columns: dict[str, Any] = {f"number {i}": rng.integers(0, 5 + 6 * i, n) for i in range(4)}
    columns |= {f"word {i}": rng.integers(0, 2 + 2 * i, n).astype(str) for i in range(4)}
    secret = draw_secret(rng, columns["number 3"] + columns["number 1"], [5, 4, 3, 2, 1, 1], 0.5)
    return fold(columns, secret)


def few_rows(n: int, seed: int) -> Cells:
    rng = np.random.default_rng(seed)
    age, group = rng.integers(20, 70, n), rng.integers(0, 5, n)
    secret = draw_secret(rng, age + 5.0 * group, [3, 3, 2, 1, 1], 0.6)
    return fold({"age": age, "group": group.astype(str)}, secret)


def continuous(n_axes: int, n: int) -> Cells:
    rng = np.random.default_rng(15)
    columns = {f"x{i}": rng.random(n) ** (i + 1) for i in range(n_axes)}
    secret = draw_secret(rng, columns["x0"], [4, 3, 2, 1, 1, 1, 1, 1], 0.6)
    return fold(columns, secret)


def flat(n_values: int) -> Cells:
    rng = np.random.default_rng(16)
    columns = {f"word {i}": (rng.zipf(1.5, 3000) % n_values) for i in range(3)}
    secret = draw_secret(rng, np.sin(columns["word 0"] * 1.0), [4, 3, 2, 1], 0.5)
    return fold({name: column.astype(str) for name, column in columns.items()}, secret)


def deep_hierarchy() -> Cells:
    rng = np.random.default_rng(17)
    rows = [[f"{leaf}", f"four {leaf // 4}", f"twelve {leaf // 12}", "*"] for leaf in range(36)]
    place, age = rng.integers(0, 36, 3000), rng.integers(0, 30, 3000)
    secret = draw_secret(rng, 1.0 * (place // 4 % 3) + age / 15, [5, 3, 2, 1, 1], 0.7)
    return fold({"place": place.astype(str), "age": age}, secret, hierarchies={"place": rows})


def number_and_words(seed: int, n: int, n_numbers: int, n_words: int, dependence: float, shares: list[float]) -> Cells:
    """A flat attribute of many values: it loses all until a single value is left, so greed puts it off too long."""
    rng = np.random.default_rng(seed)
    number, word = rng.integers(0, n_numbers, n), rng.integers(0, n_words, n)
    secret = draw_secret(rng, number / n_numbers * 12 + word, shares, dependence)
    return fold({"number": number, "word": word.astype(str)}, secret)


def missing_values() -> Cells:
    rng = np.random.default_rng(18)
    age, zone = rng.integers(0, 50, 1500), rng.integers(0, 6, 1500)
    secret = draw_secret(rng, age + zone, [4, 3, 2, 1], 0.5)
    lost_age, lost_zone = rng.random(1500) < 0.1, rng.random(1500) < 0.2
    ages = [None if lost else value for lost, value in zip(lost_age, age.tolist(), strict=True)]
    zones = [None if lost else str(value) for lost, value in zip(lost_zone, zone.tolist(), strict=True)]
    return fold({"age": ages, "zone": zones}, secret)


def weighted() -> Cells:
    rng = np.random.default_rng(19)
    x, y, z = rng.integers(0, 30, 2000), rng.integers(0, 30, 2000), rng.integers(0, 30, 2000)
    secret = draw_secret(rng, x + y, [3, 2, 1, 1], 0.7)
    return fold({"x": x, "y": y, "z": z}, secret, weights={"x": 5.0, "y": 1.0, "z": 0.2})


def simulated_census() -> Cells:
    frame = census_like(rows=20_000, seed=20)
    columns = {name: frame[name] for name in ("age", "gender", "education", "marital_status", "work_class")}
    return fold(columns, frame["salary_class"], hierarchies=census_like_hierarchies())


TABLES: dict[str, Callable[[], Cells]] = {
    "skewed, weak": lambda: skewed(0.2),
    "skewed, strong": lambda: skewed(0.95),
    "even, none": lambda: even(0.0),
    "even, weak": lambda: even(0.3),
    "even, strong": lambda: even(0.99),
    "8 attributes": many_attributes,
    "50 rows": lambda: few_rows(50, 1),
    "51 rows": lambda: few_rows(51, 2),
    "120 rows": lambda: few_rows(120, 3),
    "200 rows": lambda: few_rows(200, 4),
    "500 rows": lambda: few_rows(500, 5),
    "1 real": lambda: continuous(1, 2000),
    "4 reals": lambda: continuous(4, 2000),
    "flat, 12 values": lambda: flat(12),
    "flat, 200 values": lambda: flat(200),
    "30 words, even": lambda: number_and_words(31, 3000, 40, 30, 0.0, [1] * 8),
    "30 words, two values": lambda: number_and_words(32, 1000, 40, 30, 0.2, [80, 20]),
    "30 words, three values": lambda: number_and_words(33, 3000, 40, 30, 0.2, [3, 2, 1]),
    "12 words, few rows": lambda: number_and_words(34, 300, 10, 12, 0.2, [3, 2, 1]),
    "12 words, skewed": lambda: number_and_words(35, 1000, 80, 12, 0.0, [60, 20, 10, 5, 3, 1, 1]),
    "deep hierarchy": deep_hierarchy,
    "missing values": missing_values,
    "weights": weighted,
    "census_like": simulated_census,
}
folded = cache(lambda name: TABLES[name]())
PROMISES = [(1, 1), (2, 1), (4, 1), (4, 10)]
# Each table with one of the promises in turn; `make test-long` has all of them.
EVERY_CASE = pytest.mark.parametrize(
    ("name", "beta", "k"),
    [
        pytest.param(name, *promise, marks=() if table % len(PROMISES) == turn else pytest.mark.long)
        for table, name in enumerate(TABLES)
        for turn, promise in enumerate(PROMISES)
    ],
)


def verified_loss(plan: Plan, beta: float, k: int) -> float:
    """The loss of a plan, after every class was judged and every tuple was found again."""
    cells = plan.cells
    assert Likeness(beta, k=k).judge(plan.class_counts, cells.value_counts).holds
    assert np.array_equal(np.bincount(plan.cell, plan.count, len(cells.count)), cells.count)
    return plan_loss(plan).average


@pytest.mark.some(6)
@EVERY_CASE
def test_seam_never_loses_more_than_its_rivals(name: str, beta: int, k: int) -> None:
    cells, model = folded(name), Likeness(beta, k=k)
    along_hierarchies = SlowMondrian(keeping(model, cells.value_counts), follows_hierarchies=True)
    rivals = {
        "lmondrian": Mondrian().plan(cells, model),
        "lmondrian along hierarchies": along_hierarchies.plan(cells),
        "burel with its further split": Burel(split=True, randomness=SeededRandomness(1)).plan(cells, model),
    }
    loss = verified_loss(Seam().plan(cells, model), beta, k)
    losses = {rival: verified_loss(plan, beta, k) for rival, plan in rivals.items()}
    assert {rival: other for rival, other in losses.items() if loss > other + ROUNDING} == {}
