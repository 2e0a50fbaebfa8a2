"""Share work out between the processors; compiled loops release Python's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

MOST_THREADS = 8
T = TypeVar("T")


def split_work(n_items: int, work: Callable[[int, int], None], least: int) -> None:
    """Call `work(first, last)` on parts of at least `least` items each, one part per thread."""
    n_threads = max(min(os.cpu_count() or 1, MOST_THREADS, n_items // least), 1)
    ends = [n_items * i // n_threads for i in range(n_threads + 1)]
    if n_threads == 1:
        work(0, n_items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(work, ends[:-1], ends[1:]))


def share_work(work: Callable[..., T], *items: Iterable[object]) -> list[T]:
    """Return what `work` returns for each item, in order, with one thread per processor.

    More threads than that would take longer to start than they save.
    """
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(work, *items))
