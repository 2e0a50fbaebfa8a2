"""Requests to stop that wait until the work can stop and leave nothing behind."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NoReturn

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
FIRST_STEP, LAST_STEP = "load", "publish"


class Interruption:
    """A request to stop, remembered until the work reaches a point where it can stop and leave nothing behind.

    An exception at an arbitrary moment could hit compiled code, or the move of a release into place. A second signal
    stops at once. No signal interrupts the move of a release or the clean-up after a stop. Before the work begins,
    while betalike may be waiting for the table, the first signal stops at once.
    """

    def __init__(self) -> None:
        self._is_requested = self._is_begun = self._is_ending = False

    @contextlib.contextmanager
    def deferred(self) -> Iterator[None]:
        """Remember signals instead of stopping at once."""
        with handled_by(self._remember):
            yield

    def check(self) -> None:
        """Stop here if a signal arrived."""
        if self._is_requested:
            self._end()

    def reach(self, step: str) -> None:
        """Stop before a step if a signal arrived; during the first step signals stop at once, during the last never."""
        self.check()
        self._is_begun, self._is_ending = step != FIRST_STEP, step == LAST_STEP

    def _remember(self, number: int, frame: FrameType | None) -> None:
        if self._is_ending:
            return
        if self._is_requested or not self._is_begun:
            self._end()
        self._is_requested = True

    def _end(self) -> NoReturn:
        self._is_requested = self._is_ending = True
        raise KeyboardInterrupt


@contextlib.contextmanager
def handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Handle signals, except those that this process was started to ignore, as with nohup."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    heeded = {number: old for number, old in before.items() if old is not signal.SIG_IGN}
    for number in heeded:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in heeded.items():
            signal.signal(number, old)


def stop(number: int, frame: FrameType | None) -> NoReturn:
    """Stop at once."""
    raise KeyboardInterrupt
