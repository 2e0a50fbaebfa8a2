"""Noise for searches: the words of xoshiro256++, and numbers spread evenly."""

from __future__ import annotations

import numpy as np

from betalike.runtime.noise import STATE_WORDS, draw_below, draw_unit, draw_word

WORD = 2**64


def rotate(word: int, places: int) -> int:
    return (word << places | word >> (64 - places)) % WORD


def twin_words(state: list[int], count: int) -> list[int]:
    """The generator as Blackman and Vigna describe it, in plain integers."""
    words = []
    for _ in range(count):
        words.append((rotate((state[0] + state[3]) % WORD, 23) + state[0]) % WORD)
        shifted = state[1] << 17 & (WORD - 1)
        state[2] ^= state[0]
        state[3] ^= state[1]
        state[1] ^= state[2]
        state[0] ^= state[3]
        state[2] ^= shifted
        state[3] = rotate(state[3], 45)
    return words


def test_the_first_words_of_a_known_state_are_those_of_the_reference() -> None:
    state = np.array([1, 2, 3, 4], dtype=np.uint64)
    assert [int(draw_word(state)) for _ in range(3)] == [41943041, 58720359, 3588806011781223]


def test_words_are_those_of_a_slow_twin() -> None:
    state = np.random.default_rng(1).integers(0, WORD, STATE_WORDS, dtype=np.uint64)
    expected = twin_words([int(word) for word in state], 1000)
    assert [int(draw_word(state)) for _ in expected] == expected


def test_numbers_are_spread_evenly_and_stay_in_their_range() -> None:
    state = np.random.default_rng(2).integers(0, WORD, STATE_WORDS, dtype=np.uint64)
    units = np.array([draw_unit(state) for _ in range(20_000)])
    assert 0.0 <= units.min() < units.max() < 1.0
    assert abs(units.mean() - 0.5) < 0.01
    places = np.bincount([draw_below(state, 7) for _ in range(14_000)], minlength=7)
    assert len(places) == 7
    assert abs(places - 2000).max() < 200
