"""Draws: they follow the matrix, each row's is its own, and no remainder is favoured."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from betalike.promises import UNITS, Transition
from betalike.runtime.randomness import randomness
from betalike.runtime.stream_cipher import numbered_words
from betalike.schemes.perturbation import Draw, DrawingRule, Perturbation, Perturbing
from betalike.schemes.perturbation.drawing import LEFT_OVER, ROWS_PER_STEP, draw_values

MATRIX = Transition(np.array([[70, 20, 10], [0, 50, 50], [25, 25, 50]]) * (UNITS // 100))
PERTURBING, COUNTS = Perturbing(MATRIX, DrawingRule.BEST_RETENTION), {"a": 4, "b": 4, "c": 4}
KEY = np.array([5, 6, 7, 8], dtype=np.uint64)


def test_draws_follow_the_matrix() -> None:
    values = np.tile(np.arange(3, dtype=np.int32), 40_000)
    published = Perturbation(randomness=randomness(3)).draw(PERTURBING, COUNTS)(values, 0)
    for value in range(3):
        counts = np.bincount(published[values == value], minlength=3)
        expected = MATRIX.probabilities[value] * 40_000
        assert counts[expected == 0].sum() == 0
        assert stats.chisquare(counts[expected > 0], expected[expected > 0]).pvalue > 1e-3


def test_a_draw_depends_on_the_key_and_the_row_alone() -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 3, 1000).astype(np.int32)
    draw = Draw(MATRIX, KEY)
    whole = draw(values, 0)
    assert draw(values[300:701], 300).tolist() == whole[300:701].tolist()
    others = values.copy()
    others[::2] = 0
    assert draw(others, 0)[1::2].tolist() == whole[1::2].tolist()
    many = np.resize(values, ROWS_PER_STEP + 1000)  # more than are drawn in one step
    assert np.array_equal(draw(many, 0)[-2000:], draw(many[-2000:], len(many) - 2000))
    assert Draw(MATRIX, KEY + np.uint64(1))(values, 0).tolist() != whole.tolist()
    assert draw(values[:0], 0).tolist() == []


def test_neighbouring_rows_are_independent() -> None:
    published = Draw(MATRIX, KEY)(np.full(60_000, 2, dtype=np.int32), 0)
    for lag in (1, 2, 8):
        pairs = np.bincount(3 * published[:-lag] + published[lag:], minlength=9).reshape(3, 3)
        assert stats.chi2_contingency(pairs).pvalue > 1e-3


def test_draws_are_those_of_a_slow_twin() -> None:
    rng = np.random.default_rng(4)
    values = rng.integers(0, 3, 500).astype(np.int32)
    words = numbered_words(KEY, 0, 0, 500)
    expected = []
    for value, word in zip(values.tolist(), words.tolist(), strict=True):
        unit, place = word % UNITS, 0
        while unit >= MATRIX.units[value, place]:
            unit -= int(MATRIX.units[value, place])
            place += 1
        expected.append(place)
    assert Draw(MATRIX, KEY)(values, 0).tolist() == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (0, 0),
        (70 * UNITS // 100 - 1, 0),
        (70 * UNITS // 100, 1),
        (UNITS - 1, 2),
        (UNITS, 0),
        (2**64 - LEFT_OVER - 1, 2),
        (2**64 - LEFT_OVER, -1),
        (2**64 - 1, -1),
    ],
)
def test_where_words_fall(word: int, expected: int) -> None:
    drawn = draw_values(np.zeros(1, dtype=np.int32), np.array([word], dtype=np.uint64), MATRIX.cumulated)
    assert drawn.tolist() == [expected]


def test_a_word_that_would_be_unfair_is_drawn_again() -> None:
    """The first words of two rows, and the second word of one, fall among the left-over ones."""
    asked = []

    def words(key: np.ndarray, stream: int, first: int, count: int) -> np.ndarray:
        asked.append((stream, first, count))
        made = numbered_words(key, stream, first, count).copy()
        for row in (3, 7):
            if first <= row < first + count and (stream == 0 or (stream == 1 and row == 7)):
                made[row - first] = 2**64 - 1
        return made

    drawn = Draw(MATRIX, KEY, words=words)(np.zeros(10, dtype=np.int32), 0)
    assert asked == [(0, 0, 10), (1, 3, 1), (1, 7, 1), (2, 7, 1)]
    again = [numbered_words(KEY, 1, 3, 1), numbered_words(KEY, 2, 7, 1)]
    expected = [int(draw_values(np.zeros(1, dtype=np.int32), words, MATRIX.cumulated)[0]) for words in again]
    assert [drawn[3], drawn[7]] == expected


def test_without_a_seed_no_two_keys_are_the_same() -> None:
    draws = [Perturbation().draw(PERTURBING, COUNTS) for _ in range(3)]
    assert len({draw.key.tobytes() for draw in draws}) == 3
    assert "key" not in repr(draws[0])
    assert len(draws[0].key) == 4
