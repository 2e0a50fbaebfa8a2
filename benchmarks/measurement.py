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
    """Seconds of the middle run, the highest resident memory of the process meanwhile, and what the last run gave."""

    seconds: float
    peak_memory: float
    result: Any = None

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s, {self.peak_memory:,.0f} MB"


def measure(work: Callable[[], object], repeats: int = 3, warm: bool = True) -> Measured:
    """Run some work several times, after one run that is not counted, and take the middle one."""
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
    """The highest resident memory of this process within a block, looked at every 10 milliseconds."""

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
    """Polars reads a CSV file, sorts it by all columns and writes it."""
    frame = pl.read_csv(path)
    frame.sort(frame.columns).write_csv(out)


def yardstick_parquet(path: Path, out: Path) -> None:
    """Polars reads a Parquet file, sorts it by all columns and writes it."""
    frame = pl.read_parquet(path)
    frame.sort(frame.columns).write_parquet(out)


def copy_parquet(path: Path, out: Path) -> None:
    """Polars reads a Parquet file and writes it again: the yardstick where rows are neither sorted nor counted."""
    pl.read_parquet(path).write_parquet(out)


COMPARISON_HEADER = (
    "| what | average loss | time | times the yardstick | peak memory |",
    "|---|---|---|---|---|",
)


def comparison_row(what: str, measured: Measured, yardstick: Measured) -> str:
    """A row of a table of schemes; what was measured must have given an average loss, the yardstick gives none."""
    loss = "" if measured.result is None else f"{measured.result:.4f}"
    ratio = measured.seconds / yardstick.seconds
    return f"| {what} | {loss} | {measured.seconds:.2f} s | {ratio:.2f} | {measured.peak_memory:,.0f} MB |"
