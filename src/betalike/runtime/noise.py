"""Random numbers inside kernels, for searches that draw millions of them: the generator xoshiro256++.

Its state is four words, which the caller takes from the randomness of a scheme. What protects people is never drawn
here: the noise of a search only decides which of many solutions is tried next.
"""

from __future__ import annotations

import numpy as np

from betalike.runtime.arrays import Words
from betalike.runtime.compilation import inner_kernel

STATE_WORDS = 4
UNIT = 2.0**-53


@inner_kernel
def draw_word(state: Words) -> np.uint64:
    """Return the next word, and move the state on."""
    total = state[0] + state[3]
    word = ((total << np.uint64(23)) | (total >> np.uint64(41))) + state[0]
    shifted = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = (state[3] << np.uint64(45)) | (state[3] >> np.uint64(19))
    return np.uint64(word)


@inner_kernel
def draw_unit(state: Words) -> float:
    """Return a number from 0 to below 1."""
    return float(draw_word(state) >> np.uint64(11)) * UNIT


@inner_kernel
def draw_below(state: Words, end: int) -> int:
    """Return a whole number from 0 to below `end`, which is below 2 ** 32."""
    return int(((draw_word(state) >> np.uint64(32)) * np.uint64(end)) >> np.uint64(32))
