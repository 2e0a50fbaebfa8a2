"""Corruption: what others' values tell in classes, and that they tell nothing where values are perturbed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from crowds import crowd, target_of

from betalike.attacks import Generalized, corruption, skewness
from betalike.attacks.corruption import draw_left, guess_rest
from betalike.errors import ParameterError
from betalike.runtime.randomness import SeededRandomness
from betalike.table.cells import ClassCounts


def pairs() -> Generalized:
    """500 classes of two people with two different diseases."""
    target = target_of(crowd(1_000))
    assert isinstance(target, Generalized)
    ec = np.repeat(np.arange(500), 2)
    value = np.column_stack([np.arange(500) % 5, (np.arange(500) + 1 + np.arange(500) // 5 % 4) % 5]).ravel()
    return replace(target, classes=ClassCounts.of(ec, value, np.ones(1_000, dtype=np.int64), 5))


def test_who_knows_one_of_two_knows_the_other_and_not_in_a_single_class() -> None:
    result = corruption(pairs(), SeededRandomness(1), known=0.9)
    assert result.success is not None
    assert result.control is not None
    assert result.success.rate > 0.9  # nine of ten have a partner who is known
    assert result.control.rate < 0.35
    assert result.is_significant
    assert 70 < result.people < 130


def test_who_knows_nobody_guesses_the_most_frequent_value_of_the_class() -> None:
    target = target_of(crowd(), scheme="seam", beta=1)
    plain = skewness(target, SeededRandomness(1)).success
    assert plain is not None
    result = corruption(target, SeededRandomness(1), known=0)
    assert result.success is not None
    assert result.success.rate == pytest.approx(plain.rate)
    assert result.details["people_above_their_cap"] == 0  # the promise itself


def test_the_more_are_known_the_more_is_guessed_in_classes_and_nothing_more_if_perturbed() -> None:
    frame = crowd(5_000)
    classes = corruption(target_of(frame, scheme="seam", beta=1), SeededRandomness(1)).details
    rates = list(classes["success_by_known_share"].values())
    assert rates == sorted(rates)
    assert classes["above_by_known_share"]["0.9"] > 0.5
    perturbed = corruption(target_of(frame, scheme="perturb", beta=1), SeededRandomness(1)).details
    rates = list(perturbed["success_by_known_share"].values())
    assert rates[:4] == pytest.approx([rates[0]] * 4, abs=0.03)
    assert set(perturbed["above_by_known_share"].values()) == {0.0}


def test_what_is_left_is_counted_as_by_hand() -> None:
    classes = ClassCounts.of(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([3, 2, 4]), 2)
    assert draw_left(classes, 1.0, SeededRandomness(1)).tolist() == [3, 2, 4]
    assert draw_left(classes, 0.0, SeededRandomness(1)).tolist() == [0, 0, 0]
    left = np.mean([draw_left(classes, 0.5, SeededRandomness(seed)) for seed in range(300)], axis=0)
    assert left == pytest.approx([1.5, 1.0, 2.0], abs=0.25)


def test_a_release_without_values_is_a_single_class() -> None:
    target = target_of(crowd(), scheme="baseline", beta=1)
    right, people, above = guess_rest(target, 0.0, SeededRandomness(1))
    assert (right, people, above) == (int(target.cells.value_counts.max()), 2_000, 0)


@pytest.mark.parametrize("known", [-0.1, 1.0, 2])
def test_a_share_that_cannot_be_is_refused(known: float) -> None:
    with pytest.raises(ParameterError, match="known is"):
        corruption(target_of(crowd(100)), known=known)
