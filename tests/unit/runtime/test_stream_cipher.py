"""ChaCha20 against the RFC's own vector and a slow twin, and words that depend on their number alone."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy import stats

from betalike.runtime.stream_cipher import make_blocks, numbered_words

MASK = 0xFFFFFFFF


def rotate(word: int, places: int) -> int:
    return ((word << places) | (word >> (32 - places))) & MASK


def slow_block(key: list[int], tail: list[int]) -> list[int]:
    """RFC 8439, 2.1 to 2.3, with Python's integers."""
    begin = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *key, *tail]
    x = list(begin)
    rounds = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)]
    rounds += [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]
    for a, b, c, d in rounds * 10:
        for one, other, third, places in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[one] = (x[one] + x[other]) & MASK
            x[third] = rotate(x[third] ^ x[one], places)
    return [(now + before) & MASK for now, before in zip(x, begin, strict=True)]


def test_the_vector_of_rfc_8439() -> None:
    """Section 2.3.2: the key 00 01 .. 1f, the counter 1, the nonce 00 00 00 09 00 00 00 4a 00 00 00 00."""
    key = np.frombuffer(bytes(range(32)), dtype=np.uint32)
    block = make_blocks(key, 1 | 0x09000000 << 32, 0x4A000000, 1)
    expected = (
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4ed2826446079faa0914c2d705d98b02a2"
        "b5129cd1de164eb9cbd083e8a2503c4e"
    )
    assert block.astype("<u4").tobytes().hex() == expected


@pytest.mark.parametrize("seed", range(5))
def test_blocks_are_those_of_the_slow_twin(seed: int) -> None:
    rng = random.Random(seed)
    key = np.array([rng.getrandbits(32) for _ in range(8)], dtype=np.uint32)
    start, stream, n_blocks = rng.choice([0, 7, 2**32 - 3, 2**40]), rng.getrandbits(40), rng.randint(1, 40)
    blocks = make_blocks(key, start, stream, n_blocks).reshape(n_blocks, 16)
    for number, block in enumerate(blocks, start):
        tail = [number & MASK, number >> 32, stream & MASK, stream >> 32]
        assert block.tolist() == slow_block(key.tolist(), tail)


def test_a_word_depends_on_key_stream_and_number_alone() -> None:
    key = np.arange(4, dtype=np.uint64)
    words = numbered_words(key, 0, 0, 1000)
    for first, count in [(0, 1), (7, 1), (8, 1), (5, 300), (999, 1), (3, 0)]:
        assert numbered_words(key, 0, first, count).tolist() == words[first : first + count].tolist()
    assert not set(words.tolist()) & set(numbered_words(key, 1, 0, 1000).tolist())
    assert not set(words.tolist()) & set(numbered_words(key + np.uint64(1), 0, 0, 1000).tolist())
    assert len(set(words.tolist())) == 1000


def test_words_are_uniform() -> None:
    words = numbered_words(np.array([1, 2, 3, 4], dtype=np.uint64), 0, 0, 64_000)
    for shift in (0, 30, 58):
        part = (words >> np.uint64(shift)) & np.uint64(63)
        assert stats.chisquare(np.bincount(part, minlength=64)).pvalue > 1e-3
