"""How a command ends: exit statuses, and errors told without a traceback and without a cell of the table."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NoReturn

from betalike.cli.streams import output_failure
from betalike.errors import BetalikeError

NOT_KEPT, BAD_INPUT, OUR_BUG, INTERRUPTED = 1, 2, 3, 130
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
FIRST_STEP, LAST_STEP = "load", "publish"
COMPILING = "Compiling for this machine, once after an installation; this takes some seconds ..."


class Interruption:
    """A wish to stop, remembered until the work reaches a place where it can stop with nothing left behind.

    An exception raised at any moment could strike within compiled code or in the middle of moving a release into place.
    A second signal stops at once. No signal disturbs the moving of a release, nor the cleaning up after a stop. Before
    the work begins, while the table may be waited for, the first signal stops at once.
    """

    def __init__(self) -> None:
        self._is_wished = self._is_begun = self._is_ending = False

    @contextlib.contextmanager
    def deferred(self) -> Iterator[None]:
        """Remember signals instead of raising them."""
        with _handled_by(self._remember):
            yield

    def check(self) -> None:
        """Stop here if a signal came."""
        if self._is_wished:
            self._stop()

    def reach(self, step: str) -> None:
        """Stop before a step if a signal came; in the first step a signal stops at once, in the last one none does."""
        self.check()
        self._is_begun, self._is_ending = step != FIRST_STEP, step == LAST_STEP

    def _remember(self, number: int, frame: FrameType | None) -> None:
        if self._is_ending:
            return
        if self._is_wished or not self._is_begun:
            self._stop()
        self._is_wished = True

    def _stop(self) -> NoReturn:
        self._is_wished = self._is_ending = True
        raise KeyboardInterrupt


@contextlib.contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Handle signals, but for those that this process was started to ignore, as by nohup."""
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
    """Run a command and leave with its exit status: 0 kept, 1 not kept, 2 bad input, 3 our bug.

    `done` says what stays done even if standard output cannot be written; without it, the output is all there is.
    """
    try:
        with _handled_by(_stop):
            status = command()
    except BetalikeError as error:
        status = error.exit_status
        _tell(str(error), type(error).__name__, as_json)
    except KeyboardInterrupt:
        status = INTERRUPTED
        _tell("interrupted; no unfinished release was left behind.", "Interrupted", as_json)
    except MemoryError:
        status = BAD_INPUT
        _tell("the table does not fit in memory.", "MemoryError", as_json)
    except SystemExit:
        raise
    except BaseException as error:  # also the panics of compiled libraries, which are not Exceptions
        status = OUR_BUG
        _tell(_describe_bug(error), "InternalError", as_json)
    sys.exit(settle(status, done))


def settle(status: int, done: str | None = None) -> int:
    """The exit status of a command, now that all of its output was written or could not be."""
    failure = output_failure()
    if failure is None:
        return status
    if status == 0 and done is not None:
        print(f"betalike: {done}, but standard output cannot be written: {failure}.", file=sys.stderr)
        return 0
    print(f"betalike: standard output cannot be written: {failure}.", file=sys.stderr)
    return status or BAD_INPUT


def print_json(document: Any) -> None:
    """One JSON document on standard output; not-a-number and infinity have no place in it."""
    print(json.dumps(document, indent=2, allow_nan=False))


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _tell(message: str, kind: str, as_json: bool) -> None:
    if as_json:
        print_json({"error": {"kind": kind, "message": message}})
    print(f"betalike: {message}", file=sys.stderr)


def _describe_bug(error: BaseException) -> str:
    """Where a bug struck; the error's own text may hold a cell of the table and is not shown."""
    if os.environ.get("BETALIKE_DEBUG"):
        traceback.print_exception(error)
    places = traceback.extract_tb(error.__traceback__)
    ours = [place for place in places if "betalike" in place.filename] or places
    where = f"{os.path.basename(ours[-1].filename)}:{ours[-1].lineno}" if ours else "?"
    return (
        f"a bug in betalike ({type(error).__name__} at {where}). Please report it. "
        "With BETALIKE_DEBUG=1 the whole traceback is shown, which may hold cells of the table."
    )


@contextlib.contextmanager
def announced() -> Iterator[None]:
    """Tell the user if kernels have to be compiled meanwhile."""
    from betalike.runtime.compilation import announced_compilation

    with announced_compilation(lambda: print(COMPILING, file=sys.stderr)):
        yield
