"""The process of a job: `python -m betalike.web.worker PROJECT NUMBER`. It calls betalike and reports to files."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from betalike.errors import BetalikeError, describe_bug, describe_failure
from betalike.runtime.interruption import Interruption
from betalike.runtime.kernel_building import Compiling
from betalike.runtime.progress import Batch
from betalike.web.jobs import CANCELLED, JobOrder, Result, Step
from betalike.web.project import Project

Item = TypeVar("Item")
EVERY = 0.1  # seconds between lines of a step
NICENESS = 10  # the page comes first
GRACE = 10.0  # seconds to clean up once the server is gone


class FileProgress:
    """Writes lines of progress to a file, with the seconds since a job was ordered."""

    def __init__(self, path: Path, interruption: Interruption, ordered: float) -> None:
        self._file = path.open("wb", buffering=0)
        self._interruption, self._start = interruption, time.monotonic() - (time.time() - ordered)
        self._step, self._last = "", 0.0

    def start(self, step: str) -> None:
        """Begin a step."""
        self._interruption.reach(step)
        self._step, self._last = step, 0.0
        self._report(0, None, "")

    def track(self, items: Sequence[Item], step: str) -> Iterable[Item]:
        """Yield the items of a long step."""
        for number, item in enumerate(items):
            self._report(number, len(items), step)
            yield item

    def flow(self, batches: Iterable[Batch], step: str, rows: int | None) -> Iterator[Batch]:
        """Yield batches of rows as they arrive."""
        done = 0
        for batch in batches:
            self._report(done, rows, step)
            yield batch
            done += batch.height

    def compile(self, progress: Compiling | None) -> None:
        """Report that kernels are compiled."""
        if progress is not None:
            self._report(progress.done, progress.total, "compiling for this machine, once")

    def _report(self, done: float, total: float | None, part: str) -> None:
        self._interruption.check()
        now = time.monotonic()
        if now - self._last >= EVERY:
            self._last = now
            line = Step(self._step, round(now - self._start, 3), done, total, part)
            self._file.write(msgspec.json.encode(line) + b"\n")


def work(folder: Path, number: int) -> Result:
    """Do what a job asks for; return how it ended."""
    from betalike.runtime.compilation import watched_compilation
    from betalike.web.tasks import TASKS

    project, place = Project(folder), folder / "jobs" / str(number)
    order = msgspec.json.decode((place / "job.json").read_bytes(), type=JobOrder)
    interruption = Interruption()
    try:
        with interruption.deferred():
            progress = FileProgress(place / "progress.jsonl", interruption, order.started)
            with watched_compilation(progress.compile):
                return Result("done", TASKS[order.task](project, order.arguments, progress))
    except BetalikeError as error:
        return Result("failed", kind=type(error).__name__, message=str(error))
    except KeyboardInterrupt:
        return Result("cancelled", message=CANCELLED)
    except MemoryError:
        return Result("failed", kind="MemoryError", message="the table does not fit in memory.")
    except OSError as error:
        return Result("failed", kind="OSError", message=describe_failure(error))
    except BaseException as error:  # panics of compiled libraries are not Exceptions
        return Result("failed", kind="InternalError", message=describe_bug(error))


def _end_with_the_server() -> None:
    """Stop this process once the server, which holds the other end of standard input, is gone."""
    with contextlib.suppress(OSError):
        while os.read(0, 1):
            pass
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE / 2)
    os._exit(1)


def main() -> None:
    """Run a job and write its result."""
    folder, number = Path(sys.argv[1]), int(sys.argv[2])
    started = time.monotonic()
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    result = work(folder, number)
    result.seconds = round(time.monotonic() - started, 3)
    place = folder / "jobs" / str(number)
    shutil.rmtree(place / "tmp", ignore_errors=True)
    if place.is_dir():  # the project may have been deleted
        (place / "result.new").write_bytes(msgspec.json.encode(result))
        (place / "result.new").replace(place / "result.json")


if __name__ == "__main__":
    main()
