"""How a command ends: exit statuses, and errors shown without a traceback and without a cell of the table."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from betalike.cli.quiet import is_quiet
from betalike.cli.streams import output_failure, plain_streams
from betalike.errors import BetalikeError, describe_bug
from betalike.runtime.interruption import handled_by, stop
from betalike.runtime.visible_text import visible

if TYPE_CHECKING:
    from betalike.report.progress import TerminalProgress
    from betalike.report.progress_lines import ProgressLines

NOT_KEPT, BAD_INPUT, OUR_BUG, INTERRUPTED = 1, 2, 3, 130


def run(command: Callable[[], int], as_json: bool, done: str | None = None) -> NoReturn:
    """Run a command and exit with its status: 0 kept, 1 not kept, 2 bad input, 3 a bug.

    `done` says what was achieved even if standard output cannot be written; without it, the output is the only result.
    """
    with plain_streams():
        status = _status_of(command, as_json)
    sys.exit(settle(status, done))


def _status_of(command: Callable[[], int], as_json: bool) -> int:
    """Run a command and return its exit status, after reporting an error."""
    try:
        with handled_by(stop):
            return command()
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
        _report(describe_bug(error), "InternalError", as_json)
    return status


def settle(status: int, done: str | None = None) -> int:
    """Return the exit status of a command, after checking that its output was written."""
    failure = output_failure()
    if failure is None:
        return status
    if status == 0 and done is not None:
        say(f"{done}, but standard output cannot be written: {failure}.")
        return 0
    say(f"standard output cannot be written: {failure}.")
    return status or BAD_INPUT


def print_json(document: Any) -> None:
    """Print one JSON document on standard output; not-a-number and infinity are not allowed."""
    print(json.dumps(document, indent=2, allow_nan=False))


def say(message: str) -> None:
    """Print a message in one line on standard error."""
    print(f"betalike: {visible(message)}", file=sys.stderr)


def _report(message: str, kind: str, as_json: bool) -> None:
    if as_json:
        print_json({"error": {"kind": kind, "message": message}})
    say(message)


@contextlib.contextmanager
def announced(step: str) -> Iterator[None]:
    """Show that work without steps goes on, if it takes long, and that kernels have to be compiled."""
    with shown_progress() as progress:
        progress.wait(step)
        yield


@contextlib.contextmanager
def shown_progress(
    check: Callable[[], None] = lambda: None,
    reach: Callable[[str], None] = lambda step: None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[TerminalProgress | ProgressLines]:
    """Show progress on standard error: bars on a terminal, else a line now and then, and nothing with --quiet."""
    from betalike.report.progress import TerminalProgress
    from betalike.report.progress_lines import ProgressLines
    from betalike.report.terminal import terminal_console
    from betalike.runtime.compilation import watched_compilation

    console = terminal_console(is_error=True)
    progress: TerminalProgress | ProgressLines
    if console.is_terminal and not is_quiet.get():
        progress = TerminalProgress(console, check, reach)
    else:
        progress = ProgressLines(_say_nothing if is_quiet.get() else say, check, reach, clock)
    with progress, watched_compilation(progress.compile):
        yield progress


def _say_nothing(message: str) -> None:
    """Be quiet."""
