"""Listeners to the progress of a publish that act while it runs, as other processes, disks and bugs do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from betalike.runtime.progress import SilentProgress


class Meanwhile(SilentProgress):
    """Does something when a step of a publish begins."""

    def __init__(self, step: str, act: Callable[[], object]) -> None:
        self.step, self.act, self.steps = step, act, list[str]()

    def start(self, step: str) -> None:
        self.steps.append(step)
        if step == self.step:
            self.act()


class Changing(SilentProgress):
    """Changes rows on their way: of the flow with this name."""

    def __init__(self, step: str, change: Callable[[Any], Any]) -> None:
        self.step, self.change = step, change

    def flow(self, batches: Iterable[Any], step: str, rows: int | None) -> Iterator[Any]:
        for batch in batches:
            yield self.change(batch) if step == self.step else batch


def staged(folder: Path, name: str) -> Path:
    """A file of the release that is being written, before it is moved into a folder."""
    (path,) = folder.parent.glob(f".*.betalike-*/{name}")
    return path
