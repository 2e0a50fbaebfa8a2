"""Naive Bayes against a slow twin of Eq. 15 to 17, on releases that break, keep and withhold."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import polars as pl
import pytest
from crowds import COLUMNS, crowd, label_test, release_of, target_of

from betalike.attacks import naive_bayes, open_target
from betalike.attacks.naive_bayes import guess, values_beside
from betalike.promises import Likeness
from betalike.runtime.randomness import SeededRandomness


def slow_success(published: pl.DataFrame, original: pl.DataFrame) -> float:
    """Eq. 15 and 17, from the published rows: a row counts for every value that its label covers."""
    prior = Counter(published["disease"])
    covers = {c: {label: label_test(label) for label in published[c].unique()} for c in COLUMNS}
    rows = Counter(published.rows())
    beside: dict[tuple[str, object, str], int] = {}
    for number, column in enumerate(COLUMNS):
        for value in original[column].unique():
            for row, count in rows.items():
                if covers[column][row[number]](value):
                    key = (column, value, row[-1])
                    beside[key] = beside.get(key, 0) + count
    right = 0
    guesses: dict[tuple[object, ...], str] = {}
    for *known, disease in original.rows():
        point = tuple(known)
        if point not in guesses:
            chance = {
                v: n * math.prod(beside.get((c, x, v), 0) / n for c, x in zip(COLUMNS, point, strict=True))
                for v, n in sorted(prior.items())
            }
            guesses[point] = max(chance, key=lambda v: chance[v])
        right += guesses[point] == disease
    return right / original.height


@pytest.mark.some(2)
@pytest.mark.parametrize("scheme", ["seam", "burel", "lmondrian"])
def test_it_is_that_of_equations_15_and_17(scheme: str) -> None:
    frame = crowd(400)
    release = release_of(frame, scheme=scheme, beta=1.5)
    result = naive_bayes(open_target(release, original=frame), SeededRandomness(1))
    assert result.success is not None
    assert result.success.rate == pytest.approx(slow_success(release.frame, frame))


def test_it_breaks_a_release_that_is_only_anonymous_and_not_its_control() -> None:
    result = naive_bayes(target_of(crowd()), SeededRandomness(1))
    assert result.success is not None
    assert result.control is not None
    assert result.success.rate > 0.6  # 0.8 have the disease of their decade
    assert result.control.rate < 0.3  # a fifth has each disease
    assert result.is_significant
    assert result.details == {}  # k-anonymity promises no bound


@pytest.mark.some(2)
@pytest.mark.parametrize("scheme", ["seam", "burel", "burel+split", "lmondrian", "baseline"])
@pytest.mark.parametrize("beta", [0.3, 1.5])
def test_every_conditional_probability_keeps_the_bound(scheme: str, beta: float) -> None:
    details = naive_bayes(target_of(crowd(500), scheme=scheme, beta=beta), SeededRandomness(1)).details
    assert details["bound_holds"]
    assert details["pairs"] == (50 + 4) * 5
    assert details["worst_ratio"] <= 1


def test_a_broken_promise_breaks_the_bound() -> None:
    broken = replace(target_of(crowd()), model=Likeness(0.5))
    result = naive_bayes(broken, SeededRandomness(1))
    assert not result.details["bound_holds"]
    assert f"{result.details['pairs_above']} of 270 conditional probabilities are above" in result.sentence


def test_a_perturbed_release_is_reconstructed() -> None:
    frame = crowd(20_000)
    weak = naive_bayes(target_of(frame, scheme="perturb", beta=4), SeededRandomness(1))
    assert weak.success is not None
    assert weak.control is not None
    assert weak.success.rate > 0.6
    assert weak.control.rate < 0.23
    seen = values_beside(target_of(frame, scheme="perturb", beta=4))
    assert [table.sum() for table in seen] == pytest.approx([20_000, 20_000])


def test_a_release_without_values_tells_nothing() -> None:
    target = target_of(crowd(), scheme="baseline", beta=1)
    result = naive_bayes(target, SeededRandomness(1))
    assert result.success == result.baseline == result.control
    assert len(set(guess(target).tolist())) == 1
