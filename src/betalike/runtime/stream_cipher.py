"""The stream cipher ChaCha20 as a source of words that are numbered: word i depends on the key and on i alone.

So rows can be drawn in any order, in parts and on several machines, and nobody who sees draws can predict the next one.
The layout of the counter is Bernstein's: a block number of 64 bits, then 64 bits that distinguish streams.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from betalike.runtime.arrays import Words
from betalike.runtime.compilation import kernel

Words32 = NDArray[np.uint32]
Grid32 = np.ndarray[tuple[int, int], np.dtype[np.uint32]]

LANES = 16  # blocks that are made side by side, for the processor's vector units
WORDS_PER_BLOCK = 8


def numbered_words(key: Words, stream: int, first: int, count: int) -> Words:
    """Return the words `first`, `first + 1`, ... of a stream; the key is four words."""
    start = first // WORDS_PER_BLOCK
    n_blocks = -(-(first + count) // WORDS_PER_BLOCK) - start
    words = make_blocks(np.ascontiguousarray(key).view(np.uint32), start, stream, n_blocks)
    offset = first - start * WORDS_PER_BLOCK
    return words.view(np.uint64)[offset : offset + count]


@kernel
def make_blocks(key: Words32, start: int, stream: int, n_blocks: int) -> Words32:
    """Blocks of 16 words from number `start` on, one after the other. RFC 8439, 2.3."""
    out = np.empty(16 * n_blocks, dtype=np.uint32)
    state = np.empty((16, LANES), dtype=np.uint32)
    begin = np.empty((16, LANES), dtype=np.uint32)
    constants = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)
    for done in range(0, n_blocks, LANES):
        for lane in range(LANES):
            number = np.uint64(start) + np.uint64(done + lane)
            for i in range(4):
                begin[i, lane] = constants[i]
            for i in range(8):
                begin[4 + i, lane] = key[i]
            begin[12, lane] = number & np.uint64(0xFFFFFFFF)
            begin[13, lane] = number >> np.uint64(32)
            begin[14, lane] = np.uint64(stream) & np.uint64(0xFFFFFFFF)
            begin[15, lane] = np.uint64(stream) >> np.uint64(32)
        for i in range(16):  # a slice would compile longer
            for lane in range(LANES):
                state[i, lane] = begin[i, lane]
        for _ in range(10):
            for i in range(4):
                _quarter_round(state, i, 4 + i, 8 + i, 12 + i)
            for i in range(4):
                _quarter_round(state, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
        for lane in range(min(LANES, n_blocks - done)):
            for i in range(16):
                out[16 * (done + lane) + i] = state[i, lane] + begin[i, lane]
    return out


@kernel
def _quarter_round(state: Grid32, a: int, b: int, c: int, d: int) -> None:
    for lane in range(LANES):
        one, two, three, four = state[a, lane], state[b, lane], state[c, lane], state[d, lane]
        one = np.uint32(one + two)
        four = _rotate(four ^ one, 16)
        three = np.uint32(three + four)
        two = _rotate(two ^ three, 12)
        one = np.uint32(one + two)
        four = _rotate(four ^ one, 8)
        three = np.uint32(three + four)
        two = _rotate(two ^ three, 7)
        state[a, lane], state[b, lane], state[c, lane], state[d, lane] = one, two, three, four


@kernel
def _rotate(word: np.uint32, places: int) -> np.uint32:
    word = np.uint32(word)
    return np.uint32((word << np.uint32(places)) | (word >> np.uint32(32 - places)))
