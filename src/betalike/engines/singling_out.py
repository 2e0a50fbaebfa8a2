"""How many rows the kept columns single out: by themselves, and together with what is published beside them.

Rows are counted by 64-bit hashes of their cells, as texts. So the figures do not depend on the format of a file, and no
cell is held. The seed of the hashes is secret: nobody can make a file whose cells collide.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import polars as pl

from betalike.engines.engine import SingledOut
from betalike.engines.streams import as_plain_text
from betalike.io.column_types import has_no_text
from betalike.io.guesses.identification import mix_hashes
from betalike.runtime.arrays import Words

ROWS_AT_ONCE = 5_000_000  # whose hashes are held, 16 bytes for each row


def count_singled_out(
    batches: Callable[[], Iterator[pl.DataFrame]], kept: Sequence[str], labels: Sequence[str], n_rows: int
) -> SingledOut:
    """Count rows that no other row is like in the kept columns, and in these with the labels of the classes.

    Larger tables are read several times, and each time some of the hashes are counted.
    """
    n_turns, seed = max(-(-n_rows // ROWS_AT_ONCE), 1), secrets.randbits(64)
    alone = with_classes = 0
    for turn in range(n_turns):
        held: list[tuple[Words, Words]] = []
        for batch in batches():
            of_kept = _hash_rows(batch.select(kept), seed)
            both = mix_hashes([_hash_rows(batch.select(labels), seed), of_kept])
            held.append((_of_turn(of_kept, turn, n_turns), _of_turn(both, turn, n_turns)))
        alone += _count_single([hashes for hashes, _ in held])
        with_classes += _count_single([hashes for _, hashes in held])
    return SingledOut(alone, with_classes)


def _hash_rows(rows: pl.DataFrame, seed: int) -> Words:
    return mix_hashes([_hash_column(column, seed) for column in rows.iter_columns()])


def _hash_column(column: pl.Series, seed: int) -> Words:
    if column.dtype == pl.Object:
        column = pl.Series(list(map(repr, column)), dtype=pl.String)
    texts = column if has_no_text(column.dtype) else as_plain_text(column)
    return texts.hash(seed).to_numpy()


def _of_turn(hashes: Words, turn: int, n_turns: int) -> Words:
    return hashes if n_turns == 1 else hashes[hashes % np.uint64(n_turns) == turn]


def _count_single(parts: Sequence[Words]) -> int:
    """Count the numbers that occur once."""
    numbers = np.concatenate([np.empty(0, dtype=np.uint64), *parts])
    numbers.sort()
    is_new = np.concatenate([[True], numbers[1:] != numbers[:-1], [True]]) if len(numbers) else np.zeros(1, dtype=bool)
    return int(np.count_nonzero(is_new[1:] & is_new[:-1]))
