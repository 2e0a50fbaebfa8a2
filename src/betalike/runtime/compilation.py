"""Compiled kernels: plain functions on arrays, compiled once by Numba and cached on disk."""

from __future__ import annotations

import contextlib
import gc
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeVar, cast

import numba
from numba.core import config, event, targetconfig, types

from betalike.errors import ParameterError
from betalike.runtime.kernel_building import Compiling, watched_build
from betalike.runtime.kernel_cache import KernelCache
from betalike.runtime.kernel_linking import register
from betalike.runtime.kernel_types import argument_types

Function = TypeVar("Function", bound=Callable[..., Any])
COMPILING = "Compiling for this machine, once after an installation; this takes some seconds ..."
TYPES: Any = types  # these parts of Numba have no types
REGISTER: Any = event.register
CONFIG: Any = targetconfig.TargetConfig
SETTINGS: Any = config


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
    """Make a kernel for calls from Python, and one for calls from kernels, which needs no code that converts arguments.

    The first is used for both if it is there already.
    """
    if SETTINGS.DISABLE_JIT:
        raise ParameterError(
            "the environment variable NUMBA_DISABLE_JIT is set, or this setting of Numba is, and betalike cannot work "
            "without compiled code. Unset it."
        )
    outside: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, **options}  # stubs lack some of these
    inside: dict[str, Any] = {"no_cpython_wrapper": True, **outside}
    compiled: Any = numba.njit(**outside)(function)
    within: Any = numba.njit(**inside)(function)
    for made in (compiled, within):
        made._cache = KernelCache(made)
        register(made)

    def get_call_template(args: Any, kws: dict[str, Any]) -> Any:
        names = list(inspect.signature(function).parameters)
        annotated = dict(zip(names, argument_types(function) or (), strict=False))
        plain = tuple(_plain(arg, annotated.get(name)) for arg, name in zip(args, names, strict=False))
        is_there = not kws and (plain in compiled.overloads or compiled._cache.is_stored(plain))
        chosen = get_own_template if is_there else within.get_call_template
        return chosen(plain, {name: _plain(arg, annotated.get(name)) for name, arg in kws.items()})

    def get_overload(signature: Any) -> Any:
        is_there = tuple(getattr(signature, "args", signature)) in compiled.overloads
        return get_own_overload(signature) if is_there else within.get_overload(signature)

    get_own_template, get_own_overload = compiled.get_call_template, compiled.get_overload
    compiled.within, compiled.get_call_template, compiled.get_overload = within, get_call_template, get_overload
    return cast(Function, compiled)


def _plain(argument: Any, annotated: Any) -> Any:
    """Return the one type that a kernel is compiled for, whether constants or whole numbers of any length are given."""
    plain = TYPES.unliteral(argument)
    if not isinstance(plain, TYPES.Integer):
        return plain
    return annotated if isinstance(annotated, TYPES.Number) else plain if plain == TYPES.uint64 else TYPES.int64


class _WithoutCollection(event.Listener):
    """Keeps Python from looking for garbage during compilation, which makes many objects that live long.

    Looking through them again and again took long: with `compare_options_quickly`, a third of the time is saved.
    """

    def __init__(self) -> None:
        self.depth = 0  # one kernel may need another one; Numba compiles in one thread at a time
        self.was_enabled = False

    def on_start(self, event: event.Event) -> None:
        if self.depth == 0:
            self.was_enabled = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, event: event.Event) -> None:
        self.depth -= 1
        if self.depth == 0 and self.was_enabled:
            gc.enable()


REGISTER("numba:compile", _WithoutCollection())


class _Compilations(event.Listener):
    def __init__(self, report: Callable[[Compiling | None], None]) -> None:
        self.report = report

    def on_start(self, event: event.Event) -> None:
        self.report(None)

    def on_end(self, event: event.Event) -> None:
        """Do nothing: only the start is reported."""


@contextlib.contextmanager
def watched_compilation(report: Callable[[Compiling | None], None]) -> Iterator[None]:
    """Call `report` whenever a kernel is compiled here, and with figures while other processes compile kernels."""
    with event.install_listener("numba:compile", _Compilations(report)), watched_build(report):
        yield


def compare_options_quickly() -> None:
    """Let Numba compare options of compilation at once instead of one by one; the answers are the same.

    Numba does this for every operation whose types it looks up, with a hash that is the same for all options.
    There is no public way to change it, so this is only done in a process that does nothing else.
    """

    def is_equal(self: Any, other: object) -> bool:
        return isinstance(other, CONFIG) and _all_options(self) == _all_options(other)

    def hash_of(self: Any) -> int:
        return _hash(self.__class__)

    CONFIG.__eq__, CONFIG.__hash__ = is_equal, hash_of


def _all_options(chosen: Any) -> dict[str, Any]:
    return {**_defaults(chosen.__class__), **chosen._values}


@cache
def _defaults(kind: Any) -> dict[str, Any]:
    return {name: option.default for name, option in kind.options.items()}


@cache
def _hash(kind: Any) -> int:
    return hash(tuple(sorted(kind.options)))
