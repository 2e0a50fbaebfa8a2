"""Where random words come from, and which seeds are refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from betalike.errors import ParameterError
from betalike.runtime.randomness import Randomness, SeededRandomness, SystemRandomness, randomness


def test_without_a_seed_the_operating_system_is_asked() -> None:
    source = randomness()
    assert isinstance(source, SystemRandomness)
    assert not source.is_seeded
    assert source.words(8).tolist() != source.words(8).tolist()


def test_a_seed_gives_the_same_words_again() -> None:
    one, other = randomness(7), randomness(7)
    assert isinstance(one, SeededRandomness)
    assert one.is_seeded
    assert one.words(5).tolist() + one.words(3).tolist() == other.words(5).tolist() + other.words(3).tolist()
    assert randomness(8).words(5).tolist() != randomness(7).words(5).tolist()


@pytest.mark.parametrize("source", [randomness(), randomness(0)], ids=["system", "seeded"])
def test_words_are_as_many_as_asked_for_and_fill_64_bits(source: Randomness) -> None:
    assert source.words(0).shape == (0,)
    words = source.words(4_096)
    assert words.shape == (4_096,)
    assert words.dtype == np.uint64
    assert int(words.max()) > 2**63
    assert len(set(words.tolist())) == 4_096


def test_seeded_words_are_uniform() -> None:
    top = randomness(11).words(16_000) >> np.uint64(60)
    assert stats.chisquare(np.bincount(top, minlength=16)).pvalue > 1e-3


@pytest.mark.parametrize("seed", [-1, 1.0, "7", True])
def test_a_seed_is_a_whole_number(seed: object) -> None:
    with pytest.raises(ParameterError, match="seed"):
        randomness(seed)  # type: ignore[arg-type]
