"""Readers who know the program: a planted leak is found, and none where a place in a class says nothing."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from experiments.readers_who_know import Crowd, Original, caps_of, compare, hilbert_keys, kinds_of, main

SHARES = np.array([0.1, 0.2, 0.3, 0.4])
CLASS = 20


def crowd(seed: int, leaks: bool, people: int = 1_600) -> Crowd:
    """People on a line in classes of neighbours; if it leaks, rarer values lie farther out."""
    rng = np.random.default_rng(seed)
    positions, value = np.sort(rng.random(people)), rng.choice(4, people, p=SHARES)
    ec = np.arange(people) // CLASS
    if leaks:
        away = np.abs(np.arange(people) % CLASS - (CLASS - 1) / 2)
        value[np.lexsort((-away, ec))] = value[np.lexsort((value, ec))]
    counts = np.bincount(value, minlength=4)
    chances = np.tile(SHARES, (people, 1))
    return Crowd(positions[:, None], value.astype(np.int64), ec, chances, caps_of(counts), kinds_of(counts))


@pytest.mark.parametrize("leaks", [True, False])
def test_a_planted_leak_is_found_and_no_other(leaks: bool) -> None:
    found = compare([(crowd(1, leaks), crowd(2, leaks))], np.random.default_rng(3))
    assert found["people"] == 1_600
    assert found["fit_a"] == pytest.approx(found["fit_b"], abs=0.01)  # the population model knows nothing here
    if leaks:
        assert 0.2 < found["leak_low"] < found["leak"] < found["leak_high"]
        assert found["points_low"] > 10
    else:
        assert abs(found["leak"]) < 0.01


def test_redrawn_values_say_nothing_about_places() -> None:
    """The control of a crowd that leaks: classes keep their values, and who has which is drawn from the model."""
    rng = np.random.default_rng(4)
    leaking = crowd(1, True)
    redrawn = leaking.redrawn(rng)
    assert (redrawn.counts == leaking.counts).all()
    assert abs(compare([(redrawn, crowd(2, True).redrawn(rng))], rng)["leak"]) < 0.01


@pytest.mark.parametrize("alone", [0, 1])  # people before the pairs, so that pairs begin at even and at odd places
def test_redrawn_values_follow_the_population_model(alone: int) -> None:
    """Of two people with one value each, the likelier assignment comes up as often as its chance says."""
    pairs = 4_000
    chances = np.concatenate([np.ones((alone, 2)) / 2, np.tile([[0.8, 0.2], [0.4, 0.6]], (pairs, 1))])
    value = np.concatenate([np.zeros(alone, dtype=np.int64), np.tile([0, 1], pairs)])
    ec = np.concatenate([np.zeros(alone, dtype=np.int64), np.repeat(np.arange(pairs), 2) + alone])
    people = Crowd(np.zeros((len(ec), 1)), value, ec, chances, np.ones(2), np.arange(2))
    kept = (people.redrawn(np.random.default_rng(5)).value[alone::2] == 0).mean()
    assert kept == pytest.approx(0.8 * 0.6 / (0.8 * 0.6 + 0.2 * 0.4), abs=0.03)


def test_the_curve_visits_each_place_once_and_goes_to_neighbours() -> None:
    grid = np.array([[x, y, z] for x in range(8) for y in range(8) for z in range(8)])
    along = grid[np.argsort(hilbert_keys(grid / 7))]
    assert len(np.unique(hilbert_keys(grid / 7))) == 512
    assert np.abs(np.diff(along, axis=0)).sum(axis=1).mean() < 1.5


def test_buckets_are_as_few_as_the_caps_allow() -> None:
    """beta 4: the cap of a share of .01 is .05, so four such values share a bucket, and five do not."""
    assert kinds_of(np.array([1, 1, 1, 1, 96])).tolist() == [0, 0, 0, 0, 1]
    assert len(set(kinds_of(np.array([1, 1, 1, 1, 1, 95])).tolist())) == 3


def test_the_command_writes_a_row_for_each_scheme(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    frame = pl.DataFrame({"age": rng.integers(20, 70, 800), "illness": rng.choice([*"abcd"], 800, p=SHARES)})
    tables = [Original("small", frame, ["age"], "illness", {})]
    main(["--schemes", "lmondrian;burel", "--out", str(tmp_path / "found.csv")], tables)
    with (tmp_path / "found.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["table"], row["scheme"]) for row in rows] == [("small", "lmondrian"), ("small", "burel")]
    for row in rows:
        assert float(row["leak_low"]) <= float(row["leak"]) <= float(row["leak_high"])
        assert row["people"] == "800"
