"""A progress bar in a notebook, shown by default once the work takes long."""

from __future__ import annotations

import functools
import html
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from betalike.runtime.progress import Batch, Item

if TYPE_CHECKING:
    from betalike.runtime.kernel_building import Compiling

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

PATIENCE = 2.0  # seconds before anything is shown
PAUSE = 0.2  # seconds between two changes of what is shown


class NotebookProgress:
    """The current step and how much of it is done, in the output of the running cell."""

    def __init__(
        self,
        display: Callable[..., Any],
        to_html: Callable[[str], Any],
        patience: float = PATIENCE,
        pause: float = PAUSE,
    ) -> None:
        self._display, self._to_html = display, to_html
        self._shown: Any = None
        self._next, self._pause = time.monotonic() + patience, pause

    def start(self, step: str) -> None:
        """Show a new step."""
        self._show(step, None)

    def track(self, items: Sequence[Item], step: str) -> Iterable[Item]:
        """Go through the items of a long step."""
        for number, item in enumerate(items):
            self._show(step, number / len(items))
            yield item

    def flow(self, batches: Iterable[Batch], step: str, rows: int | None) -> Iterator[Batch]:
        """Go through batches of rows as they come, `rows` rows in all if that is known."""
        n_seen = 0
        for batch in batches:
            self._show(step, min(n_seen / rows, 1.0) if rows else None)
            yield batch
            n_seen += batch.height

    def compile(self, progress: Compiling | None) -> None:
        """Show how many kernels are compiled."""
        if progress is not None:
            self._show(str(progress), progress.done / progress.total)

    def close(self) -> None:
        """Remove what is shown."""
        if self._shown is not None:
            self._shown.update(self._to_html(""))

    def _show(self, step: str, share: float | None) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._pause
        bar = "<progress></progress>" if share is None else f'<progress max="1" value="{share:.3f}"></progress>'
        content = self._to_html(f"{bar} betalike: {html.escape(step)}")
        if self._shown is None:
            self._shown = self._display(content, display_id=True)
        else:
            self._shown.update(content)


def notebook_progress(patience: float = PATIENCE, pause: float = PAUSE) -> NotebookProgress | None:
    """Return a progress bar if this process is the kernel of a notebook, else None."""
    ipython, display = sys.modules.get("IPython"), sys.modules.get("IPython.display")
    shell = None if ipython is None else ipython.get_ipython()
    if display is None or type(shell).__name__ != "ZMQInteractiveShell":
        return None
    return NotebookProgress(display.display, display.HTML, patience, pause)


def shows_progress(
    function: Callable[Arguments, Result], patience: float = PATIENCE, pause: float = PAUSE
) -> Callable[Arguments, Result]:
    """Let a function show its progress in a notebook unless it is given a listener."""

    @functools.wraps(function)
    def called(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        progress = None if "progress" in kwargs else notebook_progress(patience, pause)
        if progress is None:
            return function(*args, **kwargs)
        from betalike.runtime.compilation import watched_compilation  # which takes time to load

        try:
            with watched_compilation(progress.compile):
                return function(*args, **{**kwargs, "progress": progress})  # type: ignore[arg-type]  # it has this one
        finally:
            progress.close()

    return called
