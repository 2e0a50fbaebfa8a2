"""Compiled kernels: plain functions on arrays, compiled once by Numba and cached on disk."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

import numba
from numba.core import event

from betalike.runtime.kernel_cache import KernelCache

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a function on arrays, releasing the interpreter lock and keeping the machine code on disk."""
    return _compile(function)


def summing_kernel(function: Function) -> Function:
    """Compile a function that may add up in any order, several numbers at a time: for whole numbers, or estimates."""
    return _compile(function, fastmath=True)


def _compile(function: Function, fastmath: bool = False) -> Function:
    compiled: Any = numba.njit(nogil=True, fastmath=fastmath)(function)
    compiled._cache = KernelCache(compiled)
    return cast(Function, compiled)


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
