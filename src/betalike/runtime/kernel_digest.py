"""Digest of everything in the source that a kernel's machine code depends on."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Hashable, Iterator
from enum import EnumType
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

OWN = __name__.partition(".")[0]


class UnknownValueError(TypeError):
    """A kernel uses a global value that has no description, so its machine code cannot be cached."""


@functools.cache
def digest_kernel(kernel: Hashable) -> str:
    """Return a digest of a kernel, its options, the constants that it uses, and all kernels that it calls.

    The text of comments and docstrings, the place of the file and its time make no difference.
    """
    found: dict[int, str] = {}
    waiting: list[Any] = [kernel]
    while waiting:
        function = waiting.pop()
        if id(function) not in found:
            found[id(function)] = _describe_function(function, waiting)
    first, *called = found.values()
    return hashlib.sha256("\n".join([first, *sorted(called)]).encode()).hexdigest()


def kernels_called(kernel: Any) -> list[Any]:
    """List the kernels that a kernel calls itself."""
    used: list[Any] = []
    _describe_function(kernel, used)
    return [value for value in used if hasattr(value, "py_func")]


def _describe_function(function: Any, used: list[Any]) -> str:
    """Describe one function, or one kernel with its options, and add the functions that it uses."""
    plain: FunctionType = getattr(function, "py_func", function)
    options = sorted((name, str(value)) for name, value in getattr(function, "targetoptions", {}).items())
    globals_used = {
        name: _describe_value(plain.__globals__[name], used)
        for name in sorted(set(_names(plain.__code__)))
        if name in plain.__globals__
    }
    cells = [_describe_value(cell.cell_contents, used) for cell in plain.__closure__ or ()]
    defaults = _describe_value(plain.__defaults__, used)
    code = _describe_code(plain.__code__, plain.__doc__)
    return repr((plain.__module__, plain.__qualname__, options, code, globals_used, cells, defaults))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _describe_code(code: CodeType, docstring: str | None = None) -> str:
    constants = [
        _describe_code(constant) if isinstance(constant, CodeType) else _describe_constant(constant)
        for constant in code.co_consts
        if docstring is None or constant != docstring
    ]
    names = (code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_kwonlyargcount, code.co_flags)
    return repr((names, counts, code.co_code, constants))


def _describe_constant(constant: object) -> str:
    if isinstance(constant, frozenset):
        return repr(sorted(map(repr, constant)))
    return repr(constant)


def _describe_value(value: Any, used: list[Any]) -> str:
    """Describe a global value, so that equal descriptions compile to equal code."""
    if hasattr(value, "py_func") or isinstance(value, FunctionType):
        used.append(value)
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, tuple):
        return repr((type(value).__qualname__, [_describe_value(item, used) for item in value]))
    if isinstance(value, np.ndarray | np.generic):
        return repr((type(value).__name__, value.dtype.str, value.shape, value.tobytes()))
    if isinstance(value, EnumType):
        members: dict[str, Any] = dict(value.__members__)
        return repr((value.__qualname__, [(name, member.value) for name, member in members.items()]))
    if isinstance(value, type):
        return repr((value.__module__, value.__qualname__, getattr(value, "_fields", ())))
    if isinstance(value, BuiltinFunctionType | np.ufunc):
        return f"builtin {value.__name__}"
    if isinstance(value, ModuleType) and value.__name__.partition(".")[0] != OWN:
        return f"module {value.__name__}"
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.dtype):
        return f"{type(value).__name__} {value!r}"
    raise UnknownValueError(f"a kernel uses a global of type {type(value).__name__}.")
