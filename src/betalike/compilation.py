"""Compiled kernels: plain functions on arrays, compiled once by Numba and cached on disk."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])
STAMP = "betalike-kernels.stamp"


def forget_stale_kernels(package: Path = Path(__file__).parent) -> None:
    """Remove cached machine code if any source file changed since it was made.

    Numba looks only at the file of a kernel, not at those of the kernels that it calls, and would run old code.
    """
    sources = sorted(package.rglob("*.py"))
    state = "\n".join(f"{path} {path.stat().st_mtime_ns} {path.stat().st_size}" for path in sources)
    digest = hashlib.sha256(state.encode()).hexdigest()
    stamp = package / "__pycache__" / STAMP
    with contextlib.suppress(OSError):  # nothing to forget where nothing can be written
        if not stamp.exists() or stamp.read_text() != digest:
            for cached in [*package.rglob("*.nbi"), *package.rglob("*.nbc")]:
                cached.unlink(missing_ok=True)
            stamp.parent.mkdir(exist_ok=True)
            stamp.write_text(digest)


forget_stale_kernels()


def kernel(function: Function) -> Function:
    """Compile a function on arrays, releasing the interpreter lock and keeping the machine code on disk."""
    return _compile(function)


def summing_kernel(function: Function) -> Function:
    """Compile a function that may add up in any order, several numbers at a time: for whole numbers, or estimates."""
    return _compile(function, fastmath=True)


def _compile(function: Function, fastmath: bool = False) -> Function:
    try:
        return cast(Function, numba.njit(cache=True, nogil=True, fastmath=fastmath)(function))
    except RuntimeError:  # no folder for the cache can be written: the kernel is compiled anew in each process
        return cast(Function, numba.njit(nogil=True, fastmath=fastmath)(function))


class _FirstCompilation(event.Listener):
    def __init__(self, announce: Callable[[], None]) -> None:
        self.announce: Callable[[], None] | None = announce

    def on_start(self, event: event.Event) -> None:
        if self.announce is not None:
            self.announce()
            self.announce = None

    def on_end(self, event: event.Event) -> None:
        """Nothing to do: only the start is told."""


@contextlib.contextmanager
def announced_compilation(announce: Callable[[], None]) -> Iterator[None]:
    """Call `announce` once if any kernel has to be compiled meanwhile, so that the user knows what takes long."""
    with event.install_listener("numba:compile", _FirstCompilation(announce)):
        yield
