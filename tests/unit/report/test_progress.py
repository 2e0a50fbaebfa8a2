"""Progress: bars on a terminal, and lines where there is none, both also of kernels that are compiled."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field

import polars as pl
import pytest

from betalike.report.progress import TerminalProgress
from betalike.report.progress_lines import PATIENCE, PAUSE, ProgressLines
from betalike.report.terminal import TerminalConsole
from betalike.runtime.compilation import COMPILING
from betalike.runtime.kernel_building import Compiling


def on_terminal(work: Callable[[TerminalProgress], object], width: int = 80) -> str:
    """Everything that a terminal is sent."""
    screen = io.StringIO()
    console = TerminalConsole(screen, force_terminal=True, color_system=None, width=width)
    with TerminalProgress(console) as progress:
        work(progress)
    return screen.getvalue()


def compile_some(progress: TerminalProgress | ProgressLines) -> None:
    progress.start("plan")
    progress.compile(None)
    progress.compile(Compiling(0, 6, None))
    progress.compile(Compiling(68, 102, 14.0))


@pytest.mark.parametrize("width", [60, 80, 160])
def test_a_terminal_shows_how_many_kernels_are_compiled_and_how_long_the_others_take(width: int) -> None:
    shown = on_terminal(compile_some, width)
    assert shown.count(COMPILING.split(";")[0]) == 1
    assert "68 of 102 kernels compiled, about 14 s left" in shown


def test_kernels_vanish_once_the_work_goes_on() -> None:
    def go_on(progress: TerminalProgress) -> None:
        compile_some(progress)
        progress.start("assign")

    assert "kernels" in on_terminal(compile_some).rpartition("forming classes")[2]
    assert "kernels" not in on_terminal(go_on).rpartition("assigning rows")[2]


@dataclass
class Watch:
    """A clock that is set by hand, and the lines that were logged."""

    now: float = 0.0
    lines: list[str] = field(default_factory=list)

    def progress(self) -> ProgressLines:
        return ProgressLines(self.lines.append, clock=lambda: self.now)


@pytest.fixture
def watch() -> Watch:
    return Watch()


def test_short_work_logs_nothing(watch: Watch) -> None:
    progress = watch.progress()
    for step in ("load", "count", "plan"):
        progress.start(step)
        watch.now += PATIENCE / 4
        progress.beat()
    assert watch.lines == []


def test_long_work_logs_each_step_at_once(watch: Watch) -> None:
    progress = watch.progress()
    progress.start("load")
    watch.now = PATIENCE
    progress.beat()
    for step, begun in (("count", 12.0), ("plan", 12.5), ("assign", 40.0)):
        watch.now = begun
        progress.start(step)
        progress.beat()
    assert watch.lines == [
        "10 s: reading the table",
        "12 s: counting cells",
        "12 s: forming classes",
        "40 s: assigning rows",
    ]


def test_a_step_that_reports_nothing_logs_a_line_every_30_seconds(watch: Watch) -> None:
    progress = watch.progress()
    progress.wait("verify is at work")
    for now in range(1, 101):
        watch.now = float(now)
        progress.beat()
    assert PAUSE == 30
    assert watch.lines == [f"{now} s: verify is at work" for now in (10, 40, 70, 100)]


def test_lines_say_how_much_is_done(watch: Watch) -> None:
    progress = watch.progress()
    progress.start("load")
    for _ in progress.flow([pl.DataFrame({"a": range(1000)})] * 3, "rows read", 3000):
        watch.now += 15
    progress.start("plan")
    for _ in progress.track("abcd", "improving classes"):
        watch.now += 20
    assert watch.lines == [
        "15 s: reading the table, rows read: 1,000 of 3,000",
        "45 s: forming classes",
        "85 s: forming classes, improving classes: 2 of 4",
    ]


def test_lines_say_once_that_kernels_are_compiled(watch: Watch) -> None:
    progress = watch.progress()
    compile_some(progress)
    watch.now = PATIENCE
    compile_some(progress)
    assert watch.lines == [COMPILING, "10 s: forming classes"]
    watch.now += PAUSE
    progress.compile(Compiling(68, 102, 14.0))
    assert watch.lines[2:] == ["40 s: forming classes, 68 of 102 kernels compiled, about 14 s left"]


@pytest.mark.parametrize("method", ["track", "flow"])
def test_work_can_be_stopped_between_items(method: str) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    progress = ProgressLines(lambda line: None, check=stop)
    frames = [pl.DataFrame({"a": [1]})] * 2
    with pytest.raises(KeyboardInterrupt):
        list(progress.track(frames, "comparing") if method == "track" else progress.flow(frames, "rows read", 2))
