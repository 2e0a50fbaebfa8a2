"""How a command ends: exit statuses, and errors shown without a traceback and without a cell of the table."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from betalike.cli.streams import output_failure
from betalike.errors import BetalikeError

if TYPE_CHECKING:
    from betalike.report.progress import TerminalProgress

NOT_KEPT, BAD_INPUT, OUR_BUG, INTERRUPTED = 1, 2, 3, 130
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
        with _handled_by(self._remember):
            yield

    def check(self) -> None:
        """Stop here if a signal arrived."""
        if self._is_requested:
            self._stop()

    def reach(self, step: str) -> None:
        """Stop before a step if a signal arrived; during the first step signals stop at once, during the last never."""
        self.check()
        self._is_begun, self._is_ending = step != FIRST_STEP, step == LAST_STEP

    def _remember(self, number: int, frame: FrameType | None) -> None:
        if self._is_ending:
            return
        if self._is_requested or not self._is_begun:
            self._stop()
        self._is_requested = True

    def _stop(self) -> NoReturn:
        self._is_requested = self._is_ending = True
        raise KeyboardInterrupt


@contextlib.contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
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


def run(command: Callable[[], int], as_json: bool, done: str | None = None) -> NoReturn:
    """Run a command and exit with its status: 0 kept, 1 not kept, 2 bad input, 3 a bug.

    `done` says what was achieved even if standard output cannot be written; without it, the output is the only result.
    """
    try:
        with _handled_by(_stop):
            status = command()
    except BetalikeError as error:
        status = error.exit_status
        _report(str(error), type(error).__name__, as_json)
    except KeyboardInterrupt:
        status = INTERRUPTED
        _report("interrupted; no unfinished release was left behind.", "Interrupted", as_json)
    except MemoryError:
        status = BAD_INPUT
        _report("the table does not fit in memory.", "MemoryError", as_json)
    except SystemExit:
        raise
    except BaseException as error:  # panics of compiled libraries are not Exceptions
        status = OUR_BUG
        _report(_describe_bug(error), "InternalError", as_json)
    sys.exit(settle(status, done))


def settle(status: int, done: str | None = None) -> int:
    """Return the exit status of a command, after checking that its output was written."""
    failure = output_failure()
    if failure is None:
        return status
    if status == 0 and done is not None:
        print(f"betalike: {done}, but standard output cannot be written: {failure}.", file=sys.stderr)
        return 0
    print(f"betalike: standard output cannot be written: {failure}.", file=sys.stderr)
    return status or BAD_INPUT


def print_json(document: Any) -> None:
    """Print one JSON document on standard output; not-a-number and infinity are not allowed."""
    print(json.dumps(document, indent=2, allow_nan=False))


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _report(message: str, kind: str, as_json: bool) -> None:
    if as_json:
        print_json({"error": {"kind": kind, "message": message}})
    print(f"betalike: {message}", file=sys.stderr)


def _describe_bug(error: BaseException) -> str:
    """Say where a bug occurred; the error's own text may contain a cell of the table and is not shown."""
    if os.environ.get("BETALIKE_DEBUG"):
        traceback.print_exception(error)
    places = traceback.extract_tb(error.__traceback__)
    ours = [place for place in places if "betalike" in place.filename] or places
    where = f"{os.path.basename(ours[-1].filename)}:{ours[-1].lineno}" if ours else "?"
    return (
        f"a bug in betalike ({type(error).__name__} at {where}). Please report it. "
        "With BETALIKE_DEBUG=1 the whole traceback is shown, which may contain cells of the table."
    )


@contextlib.contextmanager
def announced() -> Iterator[None]:
    """Print a line if kernels have to be compiled meanwhile."""
    from betalike.runtime.compilation import COMPILING, watched_compilation

    lines = [COMPILING]

    def announce(progress: object) -> None:
        while lines:
            print(lines.pop(), file=sys.stderr)

    with watched_compilation(announce):
        yield


@contextlib.contextmanager
def shown_progress(
    check: Callable[[], None] = lambda: None, reach: Callable[[str], None] = lambda step: None
) -> Iterator[TerminalProgress]:
    """Show progress bars on standard error, and a line if kernels have to be compiled meanwhile."""
    from rich.console import Console

    from betalike.report.progress import TerminalProgress
    from betalike.runtime.compilation import watched_compilation

    with TerminalProgress(Console(stderr=True), check, reach) as progress, watched_compilation(progress.compile):
        yield progress
