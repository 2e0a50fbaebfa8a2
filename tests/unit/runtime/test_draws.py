"""Words inside kernels: the stream cipher's own, each used once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from betalike.runtime.draws import KEY_WORDS, draws_from, take_words
from betalike.runtime.randomness import SeededRandomness
from betalike.runtime.stream_cipher import numbered_words


@given(counts=st.lists(st.integers(0, 2000), min_size=1, max_size=30), seed=st.integers(0, 100))
def test_words_are_those_of_the_cipher_and_none_comes_twice(counts: list[int], seed: int) -> None:
    draws = draws_from(SeededRandomness(seed))
    taken = np.concatenate([take_words(draws, count).copy() for count in counts])
    stream = numbered_words(SeededRandomness(seed).words(KEY_WORDS), 0, 0, 4 * sum(counts) + 1000)
    assert len(taken) == sum(counts)
    assert len(np.unique(taken)) == len(taken)
    places = np.searchsorted(np.sort(stream), taken)
    assert np.array_equal(np.sort(stream)[places], taken)


def test_each_stream_has_a_key_of_its_own() -> None:
    randomness = SeededRandomness(1)
    one, other = (take_words(draws_from(randomness), 100) for _ in range(2))
    assert not np.intersect1d(one, other).size
