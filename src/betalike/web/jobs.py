"""Jobs: each is a process of its own, so that the server always answers. A job reports to files in its folder.

job.json         the task and its arguments
progress.jsonl   a line for each step, and for parts of steps
result.json      how it ended
running          locked by the process, however long it lives
tmp/             its temporary files, deleted when it ends, however it ends
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any, Literal

import msgspec

from betalike.runtime.locks import is_held, take
from betalike.runtime.processes import DEVNULL, PIPE, Process, TimeoutExpired, start_python
from betalike.web.project import Project

MOST_JOBS = 10**9
PATIENCE = 5.0  # seconds after which a job that was asked to stop is asked again, and then killed
CHECK_EVERY = 0.5  # seconds between checks of a process that another server started
CANCELLED = "The work was cancelled. Nothing was kept of it."
State = Literal["running", "done", "failed", "cancelled"]


class JobOrder(msgspec.Struct):
    """What a job is to do."""

    task: str
    arguments: dict[str, Any]
    started: float


class Step(msgspec.Struct):
    """A line of progress: a step begins, or so much of it is done."""

    step: str
    at: float
    done: float = 0
    total: float | None = None
    part: str = ""


class Result(msgspec.Struct):
    """How a job ended: with a result, or with a message that shows no cell of the table."""

    state: State
    result: dict[str, Any] = {}
    kind: str = ""
    message: str = ""
    seconds: float = 0.0


class PageJob:
    """One job of a project, as its folder shows it."""

    def __init__(self, project: Project, number: int, process: Process | None) -> None:
        self.project, self.number, self._process = project, number, process
        self.folder = project.folder / "jobs" / str(number)
        self.order: JobOrder = msgspec.json.decode((self.folder / "job.json").read_bytes(), type=JobOrder)

    @property
    def is_running(self) -> bool:
        """Whether its process is still there; one of a server that was killed may live for some more seconds."""
        if self._process is not None:
            return self._process.poll() is None
        return is_held(self.folder / "running")

    @property
    def outcome(self) -> Result:
        """How it ended, or that it has not. A process that died without a result left nothing that counts."""
        is_running = self.is_running  # first: it may write its result and end meanwhile
        with contextlib.suppress(FileNotFoundError):
            return msgspec.json.decode((self.folder / "result.json").read_bytes(), type=Result)
        if is_running:
            return Result("running", seconds=time.time() - self.order.started)
        if self._process is not None:
            self.discard()
        if (self.folder / "cancelled").exists():
            return Result("cancelled", message=CANCELLED)
        return Result("failed", kind="Died", message="the work ended before it was finished. Nothing was kept of it.")

    @property
    def lines(self) -> list[Step]:
        """The lines of progress, in their order."""
        try:
            lines = (self.folder / "progress.jsonl").read_bytes().splitlines()
        except FileNotFoundError:
            return []
        found = []
        for line in lines:
            with contextlib.suppress(msgspec.DecodeError):  # the last line may be half written
                found.append(msgspec.json.decode(line, type=Step))
        return found

    def discard(self) -> None:
        """Delete what an unfinished job wrote."""
        shutil.rmtree(self.folder / "tmp", ignore_errors=True)
        for name in self.order.arguments.get("writes", []):
            path = self.project.folder / name
            shutil.rmtree(path, ignore_errors=True)
            with contextlib.suppress(OSError):
                path.unlink()
            for staged in path.parent.glob(f".{path.name}.betalike-*"):
                shutil.rmtree(staged, ignore_errors=True)

    def cancel(self) -> None:
        """Ask the process to stop; if it does not, ask again, and then kill it."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        (self.folder / "cancelled").touch()

        def insist() -> None:
            for send in (process.terminate, process.terminate, process.kill):
                with contextlib.suppress(ProcessLookupError):
                    send()
                with contextlib.suppress(TimeoutExpired):
                    process.wait(PATIENCE)
                    return

        threading.Thread(target=insist, daemon=True).start()


class Jobs:
    """Every job that this server started."""

    def __init__(self) -> None:
        self.passwords: dict[str, str] = {}  # of databases, by project: in memory alone
        self._processes: dict[tuple[str, int], Process] = {}
        self.lock = threading.RLock()  # hold it to find out whether a job is needed, and start it

    def start(self, project: Project, task: str, **arguments: Any) -> PageJob:
        """Start a process for a task; it ends if this server does."""
        with self.lock:
            number = max(_numbers(project.folder / "jobs"), default=0) + 1
            folder = project.folder / "jobs" / str(number)
            (folder / "tmp").mkdir(mode=0o700, parents=True)
            (folder / "job.json").write_bytes(msgspec.json.encode(JobOrder(task, arguments, time.time())))
            process = self._run(project, number, folder)
            self._processes[project.id, number] = process
        job = PageJob(project, number, process)
        threading.Thread(target=_tidy, args=(job, process), daemon=True).start()
        return job

    def _run(self, project: Project, number: int, folder: Path) -> Process:
        """Start the process of a job; a password of a database is in its environment, which other users cannot see."""
        environment = {**os.environ, "TMPDIR": str(folder / "tmp")}
        if project.id in self.passwords:
            environment["PGPASSWORD"] = self.passwords[project.id]
        lock = take(folder / "running")
        try:
            return start_python(
                *("-m", "betalike.web.worker", str(project.folder), str(number)),
                stdin=PIPE,  # its end shows the process that the server is gone
                stdout=DEVNULL,
                stderr=DEVNULL,  # a library might print a cell
                cwd=project.folder,
                start_new_session=True,
                env=environment,
                pass_fds=[lock]
                if lock is not None and os.name == "posix"
                else [],  # the process holds the lock from now on
            )
        finally:
            if lock is not None:
                os.close(lock)

    def find(self, project: Project, number: int) -> PageJob | None:
        """Return a job by its number."""
        if not 0 < number < MOST_JOBS:
            return None
        try:
            return PageJob(project, number, self._processes.get((project.id, number)))
        except (OSError, msgspec.DecodeError):
            return None

    def of(self, project: Project, task: str | None = None) -> list[PageJob]:
        """List the jobs of a project, the last one first."""
        numbers = sorted(_numbers(project.folder / "jobs"), reverse=True)
        found = [job for number in numbers if (job := self.find(project, number)) is not None]
        return [job for job in found if task in (None, job.order.task)]

    def last(self, project: Project, task: str) -> PageJob | None:
        """Return the last job with a task."""
        return next(iter(self.of(project, task)), None)

    def stop(self, project: Project | None = None) -> None:
        """Stop the jobs of a project, or all; wait until their processes are gone."""
        names = [name for name in self._processes if project is None or name[0] == project.id]
        running = [self._processes[name] for name in names if self._processes[name].poll() is None]
        for process in running:
            process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE
        for process in running:
            try:
                process.wait(max(deadline - time.monotonic(), 0.1))
            except TimeoutExpired:
                process.kill()
                process.wait()

    def sweep(self, project: Project) -> None:
        """Delete what jobs left that were killed with an earlier server."""
        for job in self.of(project):
            if job.is_running:
                threading.Thread(target=_tidy, args=(job, None), daemon=True).start()
            else:
                _tidy(job, None)


def _tidy(job: PageJob, process: Process | None) -> None:
    """Wait for a process; then delete its temporary files, and what it wrote if it did not finish."""
    if process is not None:
        process.wait()
    while job.is_running:  # a process of a server that was killed, which ends soon
        time.sleep(CHECK_EVERY)
    if not (job.folder / "result.json").exists():
        job.discard()
    shutil.rmtree(job.folder / "tmp", ignore_errors=True)


def _numbers(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.glob("*") if path.name.isdecimal()]
