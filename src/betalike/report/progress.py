"""Progress bars on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from betalike.runtime.compilation import COMPILING
from betalike.runtime.kernel_building import Compiling
from betalike.runtime.progress import Batch

Item = TypeVar("Item")

STEPS = {
    "load": "reading the table",
    "count": "counting cells",
    "plan": "forming classes",
    "assign": "assigning rows",
    "write": "writing",
    "verify": "verifying what was written",
    "publish": "moving it into place",
}


class TerminalProgress:
    """Shows one bar for the steps of a job, and one for the parts of a long step. Use it as a context."""

    def __init__(
        self,
        console: Console,
        check: Callable[[], None] = lambda: None,
        reach: Callable[[str], None] = lambda step: None,
    ) -> None:
        self._check, self._reach = (
            check,
            reach,
        )  # called within and before steps; both may raise to stop
        spinner = "line" if console.options.ascii_only else "dots"
        columns = (
            SpinnerColumn(spinner),
            TextColumn("{task.description:<28}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
        )
        # What others print meanwhile is not redirected: Rich would obey the colours that a text asks for.
        self._progress = Progress(
            *columns,
            console=console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._job: TaskID | None = None
        self._kernels: TaskID | None = None
        self._is_compiling = False

    def __enter__(self) -> TerminalProgress:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def start(self, step: str) -> None:
        """Begin a new step."""
        self._reach(step)
        self._hide_kernels()
        description = STEPS.get(step, step)
        if self._job is None:
            self._job = self._progress.add_task(description, total=len(STEPS))
        else:
            self._progress.update(self._job, description=description, advance=1)

    def wait(self, step: str) -> None:
        """Show nothing of work without steps: the command has just been typed."""

    def track(self, items: Sequence[Item], step: str) -> Iterable[Item]:
        """Yield the items of a long step."""
        if len(items) < 2:
            yield from items
            return
        task = self._progress.add_task(step, total=len(items))
        for item in items:
            self._check()
            self._hide_kernels()
            yield item
            self._progress.advance(task)
        self._progress.remove_task(task)

    def flow(self, batches: Iterable[Batch], step: str, rows: int | None) -> Iterator[Batch]:
        """Yield batches of rows as they arrive; `rows` is the total, if it is known."""
        task = self._progress.add_task(step, total=rows)
        for batch in batches:
            self._check()
            self._hide_kernels()
            yield batch
            self._progress.advance(task, batch.height)
        self._progress.remove_task(task)

    def compile(self, progress: Compiling | None) -> None:
        """Show how many kernels are compiled; the first time, say why."""
        if not self._is_compiling:
            self._progress.console.print(COMPILING)
            self._is_compiling = True
        if progress is None:
            return
        self._check()
        if self._kernels is None:
            self._kernels = self._progress.add_task(str(progress), total=progress.total)
        is_over = progress.done == progress.total
        self._progress.update(
            self._kernels,
            description=str(progress),
            completed=progress.done,
            total=progress.total,  # more are needed as the work goes on
            visible=not is_over,
        )

    def _hide_kernels(self) -> None:
        """Hide how many kernels are compiled: the work no longer waits for them."""
        if self._kernels is not None:
            self._progress.update(self._kernels, visible=False)
