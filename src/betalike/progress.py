"""How long work reports its progress, without knowing who watches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Progress(Protocol):
    """Something that shows the steps of a job."""

    def start(self, step: str) -> None:
        """A new step begins."""
        ...

    def track(self, items: Sequence[Item], step: str) -> Iterable[Item]:
        """Go through the items of a long step."""
        ...


class SilentProgress:
    """Nobody watches."""

    def start(self, step: str) -> None:
        """Say nothing."""

    def track(self, items: Sequence[Item], step: str) -> Iterable[Item]:
        """Go through the items."""
        return items


SILENT = SilentProgress()
