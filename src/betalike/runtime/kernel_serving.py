"""A process that compiles kernels for a job, and does nothing else."""

from __future__ import annotations

import contextlib
import gc
import importlib
import sys
from functools import cache
from typing import Any

from numba.core import targetconfig

from betalike.runtime.kernel_types import argument_types

CONFIG: Any = targetconfig.TargetConfig  # this part of Numba has no types


def serve() -> None:
    """Compile the kernels that are named on standard input, one per line, until it ends."""
    gc.disable()  # a compiler makes many objects that live long, and looking for garbage took a tenth of the time
    compare_options_quickly()
    for line in sys.stdin:
        module, name, is_called_from_python = line.split()
        with contextlib.suppress(Exception):  # the job compiles it and shows what is wrong
            kernel = getattr(importlib.import_module(module), name)
            (kernel if int(is_called_from_python) else kernel.within).compile(argument_types(kernel.py_func))
        print("done", flush=True)


def compare_options_quickly() -> None:
    """Let Numba compare options of compilation at once instead of one by one; the answers are the same.

    Numba does this for every operation whose types it looks up, with a hash that is the same for all options. That took
    a tenth of the time. There is no public way to change it, so this is only done in a process that does nothing else.
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
