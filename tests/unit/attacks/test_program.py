"""The attack on the program: it finds a planted leak, none where choices ignore values, and learns what it should."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from crowds import crowd, release_of, target_of

import betalike
from betalike.attacks import open_target, program
from betalike.attacks.program.boosting import CandidatePairs, chances_of, find_slopes, learn
from betalike.attacks.program.crowd import FOLDS, Crowd, Space
from betalike.attacks.program.leak import find_leaks, gain_of
from betalike.attacks.program.population import learn_population
from betalike.attacks.program.scene import known, unknown
from betalike.errors import InputError
from betalike.runtime.randomness import SeededRandomness

N_POINTS, N_VALUES, REGION = 200, 4, 5


def chances_at(point: np.ndarray) -> np.ndarray:
    """The chance of each value, which depends on the point."""
    weight = np.exp(np.cos(2 * np.pi * (np.arange(N_VALUES) / N_VALUES + 2 * point[:, None] / N_POINTS)))
    return weight / weight.sum(axis=1, keepdims=True)


def invented(n_people: int, seed: int, plants_a_leak: bool, region: int = REGION) -> Crowd:
    """People on a line in regions of a few points, each a class.

    A planted leak puts the people with the first value into the class of the next region.
    """
    rng = np.random.default_rng(seed)
    point = rng.integers(0, N_POINTS, n_people)
    value = (rng.random(n_people)[:, None] > chances_at(point).cumsum(axis=1)).sum(axis=1)
    ec = point // region
    if plants_a_leak:
        ec = np.where(value == 0, np.minimum(ec + 1, N_POINTS // region - 1), ec)
    codes = np.arange(N_POINTS, dtype=np.int32)[:, None]
    place = np.arange(N_POINTS) / N_POINTS
    space = Space(codes, place[:, None], place, N_VALUES)
    low = np.array([[point[ec == each].min()] for each in range(N_POINTS // region)], dtype=np.int32)
    high = np.array([[point[ec == each].max()] for each in range(N_POINTS // region)], dtype=np.int32)
    caps, kind = np.full(N_VALUES, 0.6), np.arange(N_VALUES)
    return Crowd(space, point, value, ec, np.full(n_people, FOLDS), low, high, caps, kind)


def test_a_leak_that_was_planted_is_found() -> None:
    found = find_leaks(invented(3_000, 1, True), invented(3_000, 2, True), SeededRandomness(1))
    leak, control = found.leaks["known"], found.controls["known"]
    assert leak.leak.low > 0.05
    assert leak.points.low > 0.01
    assert abs(control.leak.rate) < 0.02
    assert leak.program.above > leak.population.above
    assert leak.program.seen == pytest.approx(leak.program.claimed, abs=0.1)


def test_choices_that_ignore_values_leak_nothing() -> None:
    found = find_leaks(invented(3_000, 1, False), invented(3_000, 2, False), SeededRandomness(1))
    for leak in (*found.leaks.values(), *found.controls.values()):
        assert abs(leak.leak.rate) < 0.005
        assert leak.leak.low <= 0
        assert abs(leak.points.rate) < 0.01


def test_a_population_adds_to_the_shares_of_wide_classes_what_there_is_to_know() -> None:
    own, target = invented(3_000, 1, False, 50), invented(3_000, 2, False, 50)
    leak = find_leaks(own, target, SeededRandomness(1)).leaks["known"]
    best = float(np.log(chances_at(target.point)[np.arange(3_000), target.value]).mean())
    assert leak.shares.log_likelihood < leak.population.log_likelihood - 0.05
    assert leak.population.log_likelihood == pytest.approx(best, abs=0.02)


def test_a_population_is_learned_from_the_others() -> None:
    own = invented(20_000, 1, False).in_folds(SeededRandomness(1))
    population = learn_population(own)
    every = np.arange(N_POINTS)
    found = population.chances(every, np.full(N_POINTS, FOLDS))
    assert found.sum(axis=1) == pytest.approx(1)
    assert np.abs(found - chances_at(every)).mean() < 0.02
    view = population.views[0]
    point, left_out = np.array([7]), np.array([3])
    of_view = view.number[own.point] == view.number[7]
    seen = np.bincount(own.value[of_view & (own.fold != 3)], minlength=N_VALUES)
    expected = np.log((seen / population.prior + view.smoothing) / (seen.sum() + view.smoothing))
    assert view.evidence(point, left_out, population.prior)[0] == pytest.approx(expected)


@pytest.mark.parametrize("watch", [known, unknown])
def test_guesses_keep_the_values_of_the_classes(watch: object) -> None:
    own = invented(2_000, 1, True).in_folds(SeededRandomness(1))
    scene = watch(own, learn_population(own), SeededRandomness(1))  # type: ignore[operator]
    assert scene.people.sum() == 2_000
    for chances in (scene.by_shares, scene.by_population):
        assert chances.sum(axis=1) == pytest.approx(1)
        assert (scene.sizes[:, None] * chances).sum(axis=0) == pytest.approx(np.bincount(own.value), rel=0.05)
    if scene.ec is not None:
        assert scene.by_shares == pytest.approx(own.shares[scene.ec])


def some_pairs(rng: np.random.Generator, n_groups: int, slope: float) -> tuple[CandidatePairs, np.ndarray]:
    """Groups with two to four candidates, where one clue moves the log-odds by a known slope."""
    sizes = rng.integers(2, 5, n_groups)
    starts = np.append(0, np.cumsum(sizes))
    clue, score = rng.normal(size=starts[-1]), rng.normal(size=starts[-1])
    chances = chances_of(starts, score + slope * clue)
    people = np.concatenate([rng.multinomial(5, chances[a:b]) for a, b in itertools.pairwise(starts)])
    return CandidatePairs(starts, np.zeros(starts[-1], dtype=np.int32), people.astype(np.float64), score), clue


def test_slopes_are_those_of_the_log_likelihood() -> None:
    rng = np.random.default_rng(1)
    pairs, _ = some_pairs(rng, 6, 0.0)
    n = len(pairs.score)
    slope, weight = np.empty(n, dtype=np.float32), np.empty(n, dtype=np.float32)
    free = np.zeros(6, dtype=bool)
    find_slopes(pairs.starts, pairs.people, pairs.score, free, slope, weight)

    def fit(score: np.ndarray) -> float:
        return float((pairs.people * np.log(chances_of(pairs.starts, score))).sum())

    for i in range(n):
        step = np.zeros(n)
        step[i] = 1e-4
        up, same, down = fit(pairs.score + step), fit(pairs.score), fit(pairs.score - step)
        assert slope[i] == pytest.approx((up - down) / 2e-4, abs=1e-3)
        assert weight[i] == pytest.approx(-(up - 2 * same + down) / 1e-8, abs=1e-2)


def test_the_learner_finds_a_known_slope_and_nothing_in_noise() -> None:
    rng = np.random.default_rng(1)
    pairs, clue = some_pairs(rng, 3_000, 1.0)
    is_held = np.arange(3_000) % 5 == 0
    noise = rng.normal(size=len(clue))
    learned = learn(pairs, [noise, clue], is_held, np.arange(3_000))
    other, other_clue = some_pairs(rng, 3_000, 1.0)
    found = learned.apply(other, [rng.normal(size=len(other_clue)), other_clue])
    truth = other.rescored(other.score + other_clue)
    assert np.abs(found.chances - truth.chances).mean() < 0.03
    assert learn(pairs, [noise], is_held, np.arange(3_000)).trees == []


def test_an_interval_takes_people_of_one_class_together() -> None:
    rng = np.random.default_rng(1)
    gain, people = rng.normal(0.3, 1.0, 400), np.ones(400)
    alone = gain_of(gain, people, np.arange(400))
    assert alone.rate == pytest.approx(gain.mean())
    assert alone.high - alone.rate == pytest.approx(1.96 * gain.std(ddof=1) / 20, rel=1e-3)
    double = gain_of(np.repeat(gain, 4), np.ones(1_600), np.repeat(np.arange(400), 4))
    assert double.high - double.low == pytest.approx(alone.high - alone.low)


def test_a_release_is_attacked_by_half_of_its_table_or_by_another() -> None:
    frame = crowd(1_200)
    release = release_of(frame, scheme="burel", beta=1)
    for target in (open_target(release, original=frame), open_target(release, original=frame, own=crowd(900, 2))):
        result = program(target, SeededRandomness(1))
        assert result.success is not None
        assert result.baseline is not None
        assert result.people == (600 if target.own is None else 1_200)
        for form in ("known", "unknown"):
            found = result.details[form]
            assert found["leak"]["low"] <= found["leak"]["rate"] <= found["leak"]["high"]
            assert found["shares"]["log_likelihood"] <= 0


def test_what_cannot_be_attacked_says_why() -> None:
    assert "no classes" in (program(target_of(crowd(400), scheme="perturb", beta=4)).refusal or "")
    with pytest.raises(InputError, match="200 rows or more, and one has 50"):
        program(target_of(crowd(100), scheme="burel", beta=1))
    frame = crowd(600)
    other = frame.with_columns(pl.col("age").cast(pl.String) + " years")
    with pytest.raises(InputError, match="age"):
        open_target(release_of(frame, scheme="burel", beta=1), original=frame, own=other)
    report = betalike.attack(release_of(crowd(100)), original=crowd(100), attacks=["program"], seed=1)
    assert "200 rows" in (report["program"].refusal or "")
