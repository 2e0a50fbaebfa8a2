"""Draw published values exactly, with an independent draw per row from a stream cipher."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from betalike.promises import UNITS, Transition
from betalike.runtime.arrays import Ids, Ints, Words
from betalike.runtime.compilation import kernel
from betalike.runtime.stream_cipher import numbered_words

ROWS_PER_STEP = 1 << 20
LEFT_OVER = 2**64 % UNITS  # the highest LEFT_OVER words would favour small remainders, so these rows draw again


@dataclass(frozen=True)
class Draw:
    """Draws the published label of each row from the key, the row's number and its value, and nothing else.

    `labels` are published in place of values; None if the labels are the values themselves.
    """

    transition: Transition
    key: Words = field(repr=False)
    labels: list[str] | None = None
    words: Callable[[Words, int, int, int], Words] = field(default=numbered_words, repr=False)

    def __call__(self, values: Ids, first_row: int) -> Ids:
        """Draw for consecutive rows, given the number of the first."""
        starts = range(0, len(values), ROWS_PER_STEP)
        with ThreadPoolExecutor(2) as pool:
            parts = pool.map(lambda start: self._draw(values[start : start + ROWS_PER_STEP], first_row + start), starts)
            return np.concatenate([np.empty(0, dtype=np.int32), *parts])

    def _draw(self, values: Ids, first_row: int) -> Ids:
        words = self.words(self.key, 0, first_row, len(values))
        drawn = draw_values(values, words, self.transition.cumulated)
        for row in np.flatnonzero(drawn < 0):
            drawn[row] = self._draw_again(values[row : row + 1], first_row + int(row))
        return drawn

    def _draw_again(self, value: Ids, row: int) -> int:
        """Draw again for a row whose word was rejected, from streams of second and further words."""
        attempt, drawn = 0, -1
        while drawn < 0:
            attempt += 1
            words = self.words(self.key, attempt, row, 1)
            drawn = int(draw_values(value, words, self.transition.cumulated)[0])
        return drawn


@kernel
def draw_values(values: Ids, words: Words, cumulated: Ints) -> Ids:
    """Return the value that each row's word selects; -1 if the word must be rejected to keep draws even."""
    n_values = cumulated.shape[1]
    largest = np.uint64(2**64 - 1 - LEFT_OVER)
    drawn = np.empty(len(values), dtype=np.int32)
    for row in range(len(values)):
        if words[row] > largest:
            drawn[row] = -1
            continue
        unit = np.int64(words[row] % np.uint64(UNITS))
        low, high = 0, n_values - 1
        while low < high:
            middle = (low + high) // 2
            if cumulated[values[row], middle] > unit:
                high = middle
            else:
                low = middle + 1
        drawn[row] = low
    return drawn
