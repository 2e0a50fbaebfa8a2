"""Spark's failures as errors that say what to do. Spark's own messages are hidden: they may show cells."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from betalike.errors import BetalikeError, FileError, InputError, MissingDependencyError

INTERRUPTED = r"cancelled as part of cancellation of all jobs"
REASONS: tuple[tuple[str, type[BetalikeError], str], ...] = (
    (
        r"No module named|PYTHON_VERSION_MISMATCH|Cannot run program",
        MissingDependencyError,
        "a worker lacks the Python of the driver, or betalike there. Install the same betalike[spark] on every worker, "
        "and name its Python in PYSPARK_PYTHON.",
    ),
    (r"No space left on device|quota exceeded", FileError, "a disk is full, here or on a worker."),
    (
        r"Permission denied|AccessControlException",
        FileError,
        "Spark may not read or write a file, here or on a worker.",
    ),
    (
        r"FAILED_READ_FILE|CANNOT_READ_FILE|FAILED_MERGE_SCHEMA|FileNotFound|does not exist|not a Parquet file",
        FileError,
        "Spark cannot read a file: it is damaged, or is not at the same path on the driver and on every worker.",
    ),
    (
        r"OutOfMemoryError|heap space",
        InputError,
        "Spark ran out of memory. Allow more (--memory; on a cluster, spark.executor.memory in its settings).",
    ),
)
OTHERWISE = (
    "Spark gave up. With BETALIKE_DEBUG=1 its own messages are shown, which may hold cells of the table; on a cluster, "
    "they are in the logs of its workers."
)
PATIENCE = 30.0  # seconds for tasks to end


@contextlib.contextmanager
def failures_explained() -> Iterator[None]:
    """Raise Spark's failures as errors of betalike; other errors pass."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        cause = error if os.environ.get("BETALIKE_DEBUG") else None
        words = str(error)
        if re.search(INTERRUPTED, words):
            raise KeyboardInterrupt from cause
        for pattern, kind, message in REASONS:
            if re.search(pattern, words):
                raise kind(message) from cause
        raise InputError(OTHERWISE) from cause


def cancel_on_signals(session: Any, before: dict[signal.Signals, Any]) -> None:
    """Let signals end the jobs of a session that betalike started, and then do what they did before."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number, handler in before.items():
        if callable(handler) and handler is not signal.default_int_handler:
            signal.signal(number, _cancelling(session, handler))


def _cancelling(session: Any, handler: Any) -> Any:
    def cancel(number: int, frame: FrameType | None) -> None:
        # In another thread: this one may be in the middle of a call to Java.
        threading.Thread(target=session.sparkContext.cancelAllJobs, daemon=True).start()
        handler(number, frame)

    return cancel


@contextlib.contextmanager
def tasks_ended(session: Any) -> Iterator[None]:
    """Wait until no task can still write, if the work within fails."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):
            tracker = session.sparkContext._jsc.sc().statusTracker()
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end and any(found.numRunningTasks() for found in tracker.getExecutorInfos()):
                time.sleep(0.1)
        raise
