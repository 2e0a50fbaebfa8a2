"""A stream of random words inside kernels: a stream cipher whose key comes from a source of randomness."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from betalike.runtime.arrays import Ints, Words
from betalike.runtime.compilation import kernel
from betalike.runtime.randomness import Randomness
from betalike.runtime.stream_cipher import WORDS_PER_BLOCK, make_blocks

BLOCKS = 64  # made at once
KEY_WORDS = 4


class Draws(NamedTuple):
    """A key, words that were made with it, and two numbers: the next block, and the next word that was not used."""

    key: NDArray[np.uint32]
    made: Words
    next: Ints


def draws_from(randomness: Randomness) -> Draws:
    """Return a stream of its own, with a key from this source."""
    key = np.array(randomness.words(KEY_WORDS)).view(np.uint32)
    n_made = BLOCKS * WORDS_PER_BLOCK
    return Draws(key, np.zeros(n_made, dtype=np.uint64), np.array([0, n_made]))


@kernel
def take_words(draws: Draws, count: int) -> Words:
    """Return the next `count` words of a stream. The next call may overwrite them."""
    if count > len(draws.made):
        n_blocks = -(-count // WORDS_PER_BLOCK)
        block = draws.next[0]
        draws.next[0] += n_blocks
        return make_blocks(draws.key, block, 0, n_blocks).view(np.uint64)[:count]
    if draws.next[1] + count > len(draws.made):
        words = make_blocks(draws.key, draws.next[0], 0, BLOCKS).view(np.uint64)
        for i in range(len(words)):  # a slice would compile longer
            draws.made[i] = words[i]
        draws.next[0] += BLOCKS
        draws.next[1] = 0
    begin = draws.next[1]
    draws.next[1] += count
    return draws.made[begin : begin + count]
