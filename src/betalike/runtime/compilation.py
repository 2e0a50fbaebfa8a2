"""Compiled kernels: plain functions on arrays, compiled once by Numba and cached on disk."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

import numba
from numba.core import event, types

from betalike.runtime.kernel_cache import KernelCache
from betalike.runtime.kernel_linking import register

Function = TypeVar("Function", bound=Callable[..., Any])
TYPES: Any = types  # this part of Numba has no types


def kernel(function: Function) -> Function:
    """Compile a function on arrays, releasing the interpreter lock and keeping the machine code on disk."""
    return _compile(function)


def inner_kernel(function: Function) -> Function:
    """Compile a function that makes no arrays and returns none, for the inner loops of other kernels.

    References to arrays are not counted there. Counting took a third of the time, and threads waited for each other.
    """
    return _compile(function, _nrt=False)


def summing_kernel(function: Function) -> Function:
    """Compile an inner kernel that may add up in any order, several numbers at a time: whole numbers, or estimates."""
    return _compile(function, _nrt=False, fastmath=True)


def _compile(function: Function, **options: bool) -> Function:
    options_of_numba: dict[str, Any] = {"nogil": True, **options}  # its stubs do not know `_nrt`
    compiled: Any = numba.njit(**options_of_numba)(function)
    compiled._cache = KernelCache(compiled)
    compiled.get_call_template = _with_plain_types(compiled.get_call_template)
    register(compiled)
    return cast(Function, compiled)


def _with_plain_types(get_call_template: Callable[..., Any]) -> Callable[..., Any]:
    """Have called kernels compiled for whole numbers of 64 bits alone, not also for constants and shorter numbers."""

    def get_plain(args: Any, kws: dict[str, Any]) -> Any:
        return get_call_template([_plain(arg) for arg in args], {name: _plain(arg) for name, arg in kws.items()})

    return get_plain


def _plain(argument: Any) -> Any:
    plain = TYPES.unliteral(argument)
    return TYPES.int64 if isinstance(plain, TYPES.Integer) and plain != TYPES.uint64 else plain


class _FirstCompilation(event.Listener):
    def __init__(self, announce: Callable[[], None]) -> None:
        self.announce: Callable[[], None] | None = announce

    def on_start(self, event: event.Event) -> None:
        if self.announce is not None:
            self.announce()
            self.announce = None

    def on_end(self, event: event.Event) -> None:
        """Do nothing: only the start is reported."""


@contextlib.contextmanager
def announced_compilation(announce: Callable[[], None]) -> Iterator[None]:
    """Call `announce` once if any kernel has to be compiled meanwhile, so that the user knows what takes long."""
    with event.install_listener("numba:compile", _FirstCompilation(announce)):
        yield
