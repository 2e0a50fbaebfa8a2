"""Reading files that may be damaged: errors of the reader become a FileError, and what it prints is hidden."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from betalike.errors import BetalikeError, FileError
from betalike.io.sources import stamp_of
from betalike.runtime.processes import DEVNULL, start_python

NOT_TO_ITS_END = "the table cannot be read to its end; it is damaged or cut off, or it changed meanwhile."


@contextlib.contextmanager
def damage_refused(message: str, refusal: type[BetalikeError] = FileError) -> Iterator[None]:
    """Raise an error with this message where a file cannot be read.

    The reader's own message may show cells of the table. A damaged file can also make it panic, and a panic is not an
    Exception.
    """
    try:
        yield
    except (pl.exceptions.PolarsError, OSError, pl.exceptions.PanicException):
        raise refusal(message) from None


class _Silence:
    """Discards what compiled code prints to standard error, while any thread is reading."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_readers = 0
        self._kept: int | None = None

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            self._n_readers += 1
            if self._n_readers == 1:
                self._begin()
        try:
            yield
        finally:
            with self._lock:
                self._n_readers -= 1
                if self._n_readers == 0:
                    self._end()

    def _begin(self) -> None:
        with contextlib.suppress(OSError):  # there is no standard error
            self._kept = os.dup(2)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 2)
            os.close(nowhere)

    def _end(self) -> None:
        if self._kept is not None:
            os.dup2(self._kept, 2)
            os.close(self._kept)
            self._kept = None


compiled_code_silenced = _Silence()


def ends_its_reader(path: Path, attempt: str, *words: str) -> bool:
    """Return whether damage to a file ends the process of a compiled library that reads it.

    `attempt` is Python code that reads the file; it gets the path and the words as arguments.
    """
    if not sys.executable:  # betalike is part of another program, which cannot be started again
        return False
    (stamp,) = stamp_of([path])
    return _has_ended(attempt, (str(path.absolute()), *words), stamp)


@functools.lru_cache(maxsize=16)
def _has_ended(attempt: str, words: tuple[str, ...], stamp: tuple[int, ...]) -> bool:
    """Try to read a file in a process of its own, once for each state of the file."""
    with start_python("-c", attempt, *words, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL) as process:
        status = process.wait()
    return status not in (0, 1)  # an ordinary error is 1, and is reported later
