"""Rows that go to buckets on disk at random, for an order of rows that need not fit in memory."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.runtime.randomness import Randomness
from betalike.runtime.scratch import reserve
from betalike.table.cells import random_order, shuffled


class Buckets:
    """Rows in buckets, in the order in which they came; most of them lie in files."""

    def __init__(self, folder: Path, n_buckets: int, most_bytes: int) -> None:
        self._folder, self._most_bytes = folder, most_bytes
        self._files: list[list[Path]] = [[] for _ in range(n_buckets)]
        self._waiting: list[tuple[pl.DataFrame, NDArray[np.int32]]] = []
        self._n_files = 0

    def add(self, rows: pl.DataFrame, bucket: NDArray[np.int32]) -> None:
        """Put each row into its bucket."""
        self._waiting.append((rows, bucket))
        if sum(frame.estimated_size() for frame, _ in self._waiting) > self._most_bytes:
            self._write()

    def _write(self) -> None:
        rows = pl.concat([frame for frame, _ in self._waiting])
        bucket = np.concatenate([numbers for _, numbers in self._waiting])
        self._waiting = []
        order = np.argsort(bucket, kind="stable")
        ends = np.searchsorted(bucket[order], np.arange(len(self._files) + 1))
        for number in np.flatnonzero(np.diff(ends)).tolist():
            path = self._folder / f"rows-{number}-{self._n_files}.arrow"
            self._n_files += 1
            rows[pl.Series(order[ends[number] : ends[number + 1]])].write_ipc(reserve(path), compression="uncompressed")
            self._files[number].append(path)

    def take(self) -> Iterator[pl.DataFrame]:
        """Yield the rows of one bucket after the other; each can be taken once."""
        if self._waiting:
            self._write()
        for paths in self._files:
            if paths:
                together = pl.concat([pl.scan_ipc(path, glob=False).collect() for path in paths])
                for path in paths:
                    path.unlink()
                yield together


def in_random_order(
    batches: Iterator[pl.DataFrame], n_rows: int, most_bytes: int, folder: Path, randomness: Randomness
) -> Iterator[pl.DataFrame]:
    """Yield the rows of all batches in random order, every order equally likely; `folder` holds what does not fit.

    They come in as few parts as possible, of about `most_bytes` each.
    """
    first = next(batches)
    n_buckets = math.ceil(n_rows * first.estimated_size() / first.height / most_bytes)
    batches = itertools.chain([first], batches)
    if n_buckets < 2:
        yield _shuffled(pl.concat(batches), randomness)
        return
    buckets = Buckets(folder, n_buckets, most_bytes)
    for batch in batches:
        buckets.add(batch, (randomness.words(batch.height) % np.uint64(n_buckets)).astype(np.int32))
    for rows in buckets.take():
        yield _shuffled(rows, randomness)


def _shuffled(frame: pl.DataFrame, randomness: Randomness) -> pl.DataFrame:
    if frame.width == 1 and frame.dtypes == [pl.Int32]:
        return pl.DataFrame([pl.Series(frame.columns[0], shuffled(frame.to_series().to_numpy(), randomness))])
    return frame.rechunk()[pl.Series(random_order(frame.height, randomness))]
