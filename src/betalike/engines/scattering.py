"""Random order of rows that need not fit in memory: rows go to random buckets on disk, then each bucket is shuffled."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from betalike.randomness import Randomness
from betalike.table import random_order


def in_random_order(
    batches: Iterator[pl.DataFrame], n_rows: int, most_bytes: int, folder: Path, randomness: Randomness
) -> Iterator[pl.DataFrame]:
    """The rows of all batches in random order, every order equally likely; `folder` holds what does not fit.

    Comes in as few parts as can be of about `most_bytes` each.
    """
    first = next(batches)
    n_buckets = math.ceil(n_rows * first.estimated_size() / first.height / most_bytes)
    batches = itertools.chain([first], batches)
    if n_buckets < 2:
        yield _shuffled(pl.concat(batches), randomness)
        return
    files: list[list[Path]] = [[] for _ in range(n_buckets)]
    for place, batch in enumerate(batches):
        bucket = (randomness.words(batch.height) % np.uint64(n_buckets)).astype(np.int32)
        order = np.argsort(bucket, kind="stable")
        ends = np.searchsorted(bucket[order], np.arange(n_buckets + 1))
        for number, paths in enumerate(files):
            paths.append(folder / f"rows-{number}-{place}.arrow")
            rows = pl.Series(order[ends[number] : ends[number + 1]])
            batch[rows].write_ipc(paths[-1], compression="uncompressed")
    for paths in files:
        together = pl.concat([pl.read_ipc(path) for path in paths])
        for path in paths:
            path.unlink()
        yield _shuffled(together, randomness)


def _shuffled(frame: pl.DataFrame, randomness: Randomness) -> pl.DataFrame:
    return frame.rechunk()[pl.Series(random_order(frame.height, randomness))]
