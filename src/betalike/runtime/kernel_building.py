"""Kernels that a job will need, compiled ahead by processes beside it, each as soon as those that it calls are done.

A process compiles a kernel for the types of its annotations and stores it, and the job loads it. Nothing depends on
that: the job itself compiles whatever is not stored when it is called.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from betalike.runtime.kernel_digest import kernels_called
from betalike.runtime.kernel_types import argument_types
from betalike.runtime.processes import DEVNULL, PIPE, start_python

MOST_PROCESSES = 4
PAUSE = 0.2  # seconds between two reports
LEAST_SHARE = 0.1  # of the work that must be done before the time that is left is estimated
SERVE = f"""
from betalike.runtime.compilation import compare_options_quickly
from {__name__} import serve
compare_options_quickly()
serve()
"""


class Compiling(NamedTuple):
    """How many kernels are compiled, of how many, and an estimate of the seconds that the others take."""

    done: int
    total: int
    seconds_left: float | None

    def __str__(self) -> str:
        left = "" if self.seconds_left is None else f", about {self.seconds_left:.0f} s left"
        return f"{self.done} of {self.total} kernels compiled{left}"  # the figures first: the end may be cut off


class Task:
    """One kernel to compile. `height` is the work from here to the end of the longest chain of callers.

    A task is done, too, if its process failed: those that need the kernel then compile it.
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.callees: set[Task] = set()
        self.weight = self.height = len(kernel.py_func.__code__.co_code)
        self.is_done = self.is_urgent = False

    def hurry(self) -> None:
        """Let this kernel come before others: the job waits for it."""
        if not self.is_urgent:
            self.is_urgent = True
            for called in self.callees:
                called.hurry()


class Build:
    """Kernels that other processes compile for a job."""

    def __init__(self, kernels: Iterable[Any] = ()) -> None:
        self.tasks: dict[Any, Task] = {}
        self._wanted: set[Any] = set()
        self._waiting: list[Task] = []
        self._n_processes = 0  # that will ask for another kernel
        self._changed = threading.Condition()
        self._began = time.monotonic()
        self.add(kernels)

    def add(self, kernels: Iterable[Any]) -> None:
        """Have more kernels compiled, and those that they call."""
        with self._changed:
            known, added = set(self.tasks), list(kernels)
            self._wanted.update(added)
            for kernel in added:
                self._add(kernel)
            self._waiting += [task for kernel, task in self.tasks.items() if kernel not in known]
            most = min(processor_count(), MOST_PROCESSES, len(self._waiting)) if can_start_python() else 0
            n_new = max(most - self._n_processes, 0)
            self._n_processes += n_new
            self._changed.notify_all()
        for _ in range(n_new):
            threading.Thread(target=self._work, daemon=True).start()

    def _add(self, kernel: Any, above: int = 0) -> set[Task]:
        """Add a kernel and those that it calls; returns the tasks that its caller has to wait for."""
        types = argument_types(kernel.py_func)
        if types is not None and (types in kernel.overloads or not kernel._cache.is_missing(types)):
            return set()
        task = self.tasks.get(kernel) or Task(kernel)
        if kernel not in self.tasks or above + task.weight > task.height:
            task.height = above + task.weight
            for called in kernels_called(kernel):  # none calls itself, at any distance
                task.callees |= self._add(called if called in self._wanted else called.within, task.height)
        if types is None:  # its callers compile it, each for its own types
            return task.callees
        self.tasks[kernel] = task
        return {task}

    @property
    def is_running(self) -> bool:
        """Whether processes are at work."""
        return self._n_processes > 0

    def wait_for(self, kernel: Any) -> bool:
        """Wait until a kernel is compiled; False if it is not compiled here."""
        task = self.tasks.get(kernel)
        if task is not None and not task.is_done:
            with self._changed:
                task.hurry()
        while task is not None and not task.is_done and self.is_running:
            for listener in _listeners:
                listener(self._progress())
            with self._changed:
                if not task.is_done:
                    self._changed.wait(PAUSE)
        return task is not None and task.is_done

    def _progress(self) -> Compiling:
        tasks = list(self.tasks.values())
        done = [task for task in tasks if task.is_done]
        share = sum(task.weight for task in done) / sum(task.weight for task in tasks)
        seconds = time.monotonic() - self._began
        return Compiling(len(done), len(tasks), seconds / share - seconds if share > LEAST_SHARE else None)

    def _work(self) -> None:
        """Have one process compile kernel after kernel."""
        variables = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        pipes: dict[str, Any] = {"stdin": PIPE, "stdout": PIPE, "stderr": DEVNULL}
        is_alive = False
        with (
            contextlib.suppress(OSError),  # it cannot be started, or is gone
            start_python("-c", SERVE, env=variables, text=True, **pipes) as process,
        ):
            is_alive = True
            while is_alive and (task := self._take()) is not None:
                module, name = task.kernel.__module__, task.kernel.__qualname__
                is_alive = False  # unless it answers
                try:
                    print(module, name, int(hasattr(task.kernel, "within")), file=process.stdin, flush=True)
                    is_alive = bool(process.stdout and process.stdout.readline())
                finally:
                    with self._changed:
                        task.is_done = True
                        self._changed.notify_all()
        if not is_alive:
            with self._changed:
                self._n_processes -= 1

    def _take(self) -> Task | None:
        """Return a kernel whose callees are compiled, one that most other work waits for; None at the end."""
        with self._changed:
            while self._waiting:
                ready = [task for task in self._waiting if all(called.is_done for called in task.callees)]
                if ready:
                    task = max(ready, key=lambda task: (task.is_urgent, task.height))
                    self._waiting.remove(task)
                    return task
                self._changed.wait(PAUSE)
            self._n_processes -= 1
        return None


_builds: list[Build] = []
_listeners: list[Callable[[Compiling], None]] = []


def compile_ahead(kernels: Iterable[Any]) -> None:
    """Have the kernels that a job will call from Python compiled beside it, where they are not stored."""
    for build in _builds:
        if build.is_running:
            build.add(kernels)
            return
    build = Build(kernels)
    if build.tasks:
        _builds.append(build)


def wait_for(kernel: Any) -> bool:
    """Wait until a kernel that is compiled ahead is stored; False if it is not."""
    return any(build.wait_for(kernel) for build in list(_builds))


@contextlib.contextmanager
def watched_build(listener: Callable[[Compiling], None]) -> Iterator[None]:
    """Call `listener` again and again while the job waits for kernels."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def processor_count() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def can_start_python() -> bool:
    """Return whether the running program is Python itself, not one that contains it."""
    return Path(sys.executable or "").stem.lower().startswith("python")


def serve() -> None:
    """Compile the kernels that are named on standard input, one per line, until it ends."""
    gc.disable()  # a compiler makes many objects that live long, and all of them would be searched for garbage
    for line in sys.stdin:
        module, name, is_called_from_python = line.split()
        with contextlib.suppress(Exception):  # the job compiles it and shows what is wrong
            kernel = getattr(importlib.import_module(module), name)
            (kernel if int(is_called_from_python) else kernel.within).compile(argument_types(kernel.py_func))
        print("done", flush=True)
