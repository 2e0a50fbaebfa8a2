"""Timing and memory for benchmarks, and the yardstick."""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Measured:
    """Seconds of the median run, the peak resident memory of the process, and the result of the last run."""

    seconds: float
    peak_memory: float
    result: Any = None

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s, {self.peak_memory:,.0f} MB"


def measure(work: Callable[[], object], repeats: int = 3, warm: bool = True) -> Measured:
    """Run some work several times, after one run that does not count, and return the median run."""
    if warm:
        work()
    seconds, peak, result = [], 0.0, None
    for _ in range(repeats):
        result = None  # or the memory of two would be counted
        with PeakMemory() as memory:
            start = time.perf_counter()
            result = work()
            seconds.append(time.perf_counter() - start)
        peak = max(peak, memory.megabytes)
    return Measured(statistics.median(seconds), peak, result)


class PeakMemory:
    """The peak resident memory of this process within a block, sampled every 10 milliseconds."""

    def __enter__(self) -> PeakMemory:
        self.megabytes = _resident()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.01):
            self.megabytes = max(self.megabytes, _resident())


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if Path("/proc/self/statm").exists() else 0
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def yardstick_csv(path: Path, out: Path) -> None:
    """Read a CSV file with Polars, sort it by all columns and write it."""
    frame = pl.read_csv(path)
    frame.sort(frame.columns).write_csv(out)


def yardstick_parquet(path: Path, out: Path) -> None:
    """Read a Parquet file with Polars, sort it by all columns and write it."""
    frame = pl.read_parquet(path)
    frame.sort(frame.columns).write_parquet(out)


def copy_parquet(path: Path, out: Path) -> None:
    """Read and write a Parquet file with Polars: the yardstick if rows are neither sorted nor counted."""
    pl.read_parquet(path).write_parquet(out)


COMPARISON_HEADER = (
    "| what | average loss | time | times the yardstick | peak memory |",
    "|---|---|---|---|---|",
)


def comparison_row(what: str, measured: Measured, yardstick: Measured) -> str:
    """Return a row of a table of schemes; a measured scheme must give an average loss, the yardstick has none."""
    loss = "" if measured.result is None else f"{measured.result:.4f}"
    ratio = measured.seconds / yardstick.seconds
    return f"| {what} | {loss} | {measured.seconds:.2f} s | {ratio:.2f} | {measured.peak_memory:,.0f} MB |"
