"""Progress where there is no terminal: long work logs a line at each step, and one every 30 seconds."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import TypeVar

from betalike.report.progress import STEPS
from betalike.runtime.compilation import COMPILING
from betalike.runtime.kernel_building import Compiling
from betalike.runtime.progress import Batch

Item = TypeVar("Item")

PATIENCE = 10.0  # seconds before the first line; shorter work logs none
PAUSE = 30.0  # seconds between two lines of one step
BEAT = 1.0  # seconds between two readings of the clock


class ProgressLines:
    """Logs the steps of long work. Use it as a context, so that steps which report nothing are followed, too."""

    def __init__(
        self,
        say: Callable[[str], None],
        check: Callable[[], None] = lambda: None,
        reach: Callable[[str], None] = lambda step: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._say, self._clock = say, clock
        self._check, self._reach = check, reach  # called within and before steps; both may raise to stop
        self._began = clock()
        self._next = self._began + PATIENCE
        self._step = self._part = ""
        self._is_compiling = False
        self._turn, self._ended = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> ProgressLines:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def start(self, step: str) -> None:
        """Begin a new step; once the work is long, log it at once."""
        self._reach(step)
        self._step, self._part = STEPS.get(step, step), ""
        self._next = min(self._next, max(self._began + PATIENCE, self._clock()))
        self.beat()

    def wait(self, step: str) -> None:
        """Log that work without steps goes on."""
        self._step = step

    def track(self, items: Sequence[Item], step: str) -> Iterable[Item]:
        """Yield the items of a long step."""
        for number, item in enumerate(items):
            self._check()
            with self._within(f"{step}: {number:,} of {len(items):,}" if len(items) > 1 else ""):
                yield item

    def flow(self, batches: Iterable[Batch], step: str, rows: int | None) -> Iterator[Batch]:
        """Yield batches of rows as they arrive; `rows` is the total, if it is known."""
        n_seen, total = 0, "" if rows is None else f" of {rows:,}"
        for batch in batches:
            self._check()
            with self._within(f"{step}: {n_seen:,}{total}"):
                yield batch
            n_seen += batch.height

    def compile(self, progress: Compiling | None) -> None:
        """Say once why the work has to wait; log how many kernels are compiled."""
        if not self._is_compiling:
            self._is_compiling = True
            self._say(COMPILING)
        if progress is not None:
            self._check()
            with self._within(str(progress)):
                pass

    def beat(self) -> None:
        """Log the step if it is time."""
        with self._turn:
            now = self._clock()
            if now < self._next or not (self._step or self._part):
                return
            self._next = now + PAUSE
            self._say(f"{now - self._began:,.0f} s: {', '.join(filter(None, (self._step, self._part)))}")

    @contextlib.contextmanager
    def _within(self, part: str) -> Iterator[None]:
        """Log this part of the step meanwhile."""
        before, self._part = self._part, part or self._part
        self.beat()
        try:
            yield
        finally:
            self._part = before

    def _follow(self) -> None:
        while not self._ended.wait(BEAT):
            self.beat()
