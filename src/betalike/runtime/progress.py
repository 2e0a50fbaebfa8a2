"""How long work reports its progress, without knowing who watches."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Rows(Protocol):
    """Some rows of a table."""

    @property
    def height(self) -> int:
        """Number of rows."""
        ...


Batch = TypeVar("Batch", bound=Rows)


class Progress(Protocol):
    """Something that shows the steps of a job."""

    def start(self, step: str) -> None:
        """Report that a new step begins."""
        ...

    def track(self, items: Sequence[Item], step: str) -> Iterable[Item]:
        """Go through the items of a long step."""
        ...

    def flow(self, batches: Iterable[Batch], step: str, rows: int | None) -> Iterator[Batch]:
        """Yield batches of rows as they come; the total number of rows is given if it is known."""
        ...


class SilentProgress:
    """Nobody watches."""

    def start(self, step: str) -> None:
        """Say nothing."""

    def track(self, items: Sequence[Item], step: str) -> Iterable[Item]:
        """Go through the items."""
        return items

    def flow(self, batches: Iterable[Batch], step: str, rows: int | None) -> Iterator[Batch]:
        """Go through the batches."""
        yield from batches


SILENT = SilentProgress()


class Stopwatch:
    """Seconds of each named step of a job, reported to the progress listener."""

    def __init__(self, progress: Progress = SILENT) -> None:
        self.seconds: dict[str, float] = {}
        self.progress = progress

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure one step."""
        self.progress.start(name)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - start, 4)
