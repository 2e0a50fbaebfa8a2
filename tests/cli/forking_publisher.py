"""Dozens of real betalike processes without dozens of start-ups: each is a fork of one that has imported everything.

The other end of `ForkingPublisher` is this file run as a script. It answers a line of JSON with the new process's id.
The next line asks for its wait status; until then the id stays the process's own, so that a signal reaches no other.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main
from system_calls import Overseer, intercept, receive


class ForkingPublisher:
    """Starts betalike processes quickly, one at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.steps: list[str] = []

    def start(self, *words: object, errors: Path | None = None, **more: object) -> int:
        """Start a process and return its id.

        With `number`, `step` and `folder` it gets a signal before a step of Python's there; with `fault`, that fault of
        `Overseer` at a call of the system. `environment` changes variables, `settings` constants of modules, `user` the
        user and `cwd` the current folder.
        """
        request = {"words": [str(word) for word in words], "errors": str(errors or os.devnull), **more}
        return int(self._ask(json.dumps(request)))

    def wait(self) -> int:
        """Return the exit code of the process started last, negative for the signal that ended it; note its steps."""
        status, self.steps = json.loads(self._ask("wait"))
        return os.waitstatus_to_exitcode(status)

    def _ask(self, line: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()


@contextlib.contextmanager
def forking_publisher() -> Iterator[ForkingPublisher]:
    """Start the process that forks."""
    command = [sys.executable, "-W", "ignore", __file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield ForkingPublisher(process)
        assert process.stdin is not None
        process.stdin.close()


def serve() -> None:
    """Fork for each request. Nothing of Polars may run before a fork, for its threads do not survive one."""
    import betalike.api
    import betalike.cli.app
    import betalike.cli.arguments
    import betalike.report.progress
    import betalike.report.summary
    from betalike.io.csv_text import survey_bytes

    survey_bytes(b"a,b\n1,2\n", "t.csv")  # loads Numba, which takes longest
    with contextlib.suppress(Exception):  # it only saves time
        load_kernels()
    typer.main.get_command = functools.cache(typer.main.get_command)
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
        betalike.cli.app.app(["publish", "--no-such-option"])  # loads what parses options and shows errors
    print("ready", flush=True)
    for line in iter(sys.stdin.readline, ""):
        request = json.loads(line)
        ours, theirs = socket.socketpair()
        child = os.fork()
        if child == 0:
            run(request, betalike.cli.app.main, theirs)
        theirs.close()
        overseer, thread = watch(child, ours, request.get("fault"))
        print(child, flush=True)
        sys.stdin.readline()
        status = os.waitpid(child, 0)[1]
        if thread is not None:
            thread.join()
        print(json.dumps([status, overseer.seen if overseer is not None else []]), flush=True)


def watch(
    child: int, channel: socket.socket, fault: dict[str, Any] | None
) -> tuple[Overseer | None, threading.Thread | None]:
    """Answer the calls of a child that is to meet a fault."""
    if fault is None:
        channel.close()
        return None, None
    overseer = receive(child, channel, fault)
    thread = threading.Thread(target=overseer.oversee)
    thread.start()
    return overseer, thread


def load_kernels() -> None:
    """Load every kernel that was compiled before from the cache on disk."""
    from numba.core.dispatcher import Dispatcher

    from betalike.runtime.kernel_types import argument_types

    modules = [module for name, module in list(sys.modules.items()) if name.startswith("betalike.")]
    for kernel in {value for module in modules for value in vars(module).values() if isinstance(value, Dispatcher)}:
        types = argument_types(kernel.py_func)
        if types is not None and kernel._cache.is_stored(types):
            kernel.compile(types)


def run(request: dict[str, Any], main: Any, channel: socket.socket) -> None:
    """Be a betalike, to the end."""
    null, errors = os.open(os.devnull, os.O_RDWR), os.open(request["errors"], os.O_WRONLY | os.O_CREAT)
    for stream, target in ((0, null), (1, null), (2, errors)):
        os.dup2(target, stream)
    sys.argv = ["betalike", *request["words"]]
    os.environ.update(request.get("environment", {}))
    tempfile.tempdir = None  # TMPDIR may be another now
    for name, value in request.get("settings", {}).items():
        module, _, constant = name.rpartition(".")
        # So that a small table takes the paths of a large one, dozens of times; --engine batches alone is not enough.
        setattr(importlib.import_module(module), constant, value)
    os.chdir(request.get("cwd", "."))
    if "user" in request:
        os.setgroups([]), os.setgid(request["user"]), os.setuid(request["user"])
    if "fault" in request:
        intercept(bool(request["fault"].get("with_reads")), channel)
    if "number" in request:
        sys.addaudithook(signaller(request["folder"], request["step"], request["number"]))
    try:
        main()
    except SystemExit as end:
        sys.stderr.flush()
        os._exit(int(end.code or 0))
    finally:
        os._exit(99)


def signaller(folder: str, step: int, number: int) -> Any:
    """An audit hook that sends this process a signal before a step of Python's in a folder."""
    left = [step]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if is_step(folder, event, arguments):
            left[0] -= 1
            if left[0] == -1:
                signal.raise_signal(number)

    return hook


def is_step(folder: str, event: str, arguments: tuple[Any, ...]) -> bool:
    """Whether an audit event is about something in a folder, or the exchange of two folders."""
    paths = [os.fspath(argument) for argument in arguments if isinstance(argument, str | os.PathLike)]
    return event == "ctypes.dlsym" or any(str(path).startswith(folder) for path in paths)


if __name__ == "__main__":
    serve()
