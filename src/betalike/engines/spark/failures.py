"""Spark's failures as errors that say what to do. Spark's own words are not passed on: they may show cells."""

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
    "Spark gave up. With BETALIKE_DEBUG=1 its own words are shown, which may hold cells of the table; on a cluster, "
    "they are in the logs of its workers."
)
PATIENCE = 30.0  # seconds for tasks to end


@contextlib.contextmanager
def failures_told() -> Iterator[None]:
    """Tell what Spark fails with in our words; whatever is not Spark's passes."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        told = error if os.environ.get("BETALIKE_DEBUG") else None
        words = str(error)
        if re.search(INTERRUPTED, words):
            raise KeyboardInterrupt from told
        for pattern, kind, message in REASONS:
            if re.search(pattern, words):
                raise kind(message) from told
        raise InputError(OTHERWISE) from told


def cancel_on_signals(session: Any, before: dict[signal.Signals, Any]) -> None:
    """Have signals end the jobs of a session that we started, and then do what they did before it was started."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number, handler in before.items():
        if callable(handler) and handler is not signal.default_int_handler:
            signal.signal(number, _cancelling(session, handler))


def _cancelling(session: Any, handler: Any) -> Any:
    def cancel(number: int, frame: FrameType | None) -> None:
        # In a thread of its own, for this one may be in the middle of talking to Java.
        threading.Thread(target=session.sparkContext.cancelAllJobs, daemon=True).start()
        handler(number, frame)

    return cancel


@contextlib.contextmanager
def tasks_ended(session: Any) -> Iterator[None]:
    """If the work within fails, wait until no task is left that could still write."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):
            tracker = session.sparkContext._jsc.sc().statusTracker()
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end and any(found.numRunningTasks() for found in tracker.getExecutorInfos()):
                time.sleep(0.1)
        raise
