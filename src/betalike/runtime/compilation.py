"""Compiled kernels: plain functions on arrays, compiled once by Numba and cached on disk."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])
STAMP = "betalike-kernels.stamp"
KERNELS_ARE_MADE = "from betalike.runtime.compilation import"
IMPORTED = re.compile(r"^(?:from|import) (betalike[\w.]*)", re.MULTILINE)


def forget_stale_kernels(package: Path = Path(__file__).parent) -> None:
    """Remove cached machine code if a kernel, or a module that kernels import, changed since it was made.

    Numba checks only the file of a kernel, not those of the kernels that it calls, and would run old code.
    """
    sources = sorted(package.rglob("*.py"))
    facts = [f"{path.relative_to(package)} {path.stat().st_mtime_ns} {path.stat().st_size}" for path in sources]
    quick = _digest("\n".join(facts).encode())
    stamp = package / "__pycache__" / STAMP
    with contextlib.suppress(OSError):  # nothing to forget where nothing can be written
        known = stamp.read_text().split() if stamp.exists() else []
        if known[:1] == [quick]:
            return
        thorough = _digest(b"".join(path.read_bytes() for path in _kernel_sources(package, sources)))
        if known[1:] != [thorough]:
            for cached in [*package.rglob("*.nbi"), *package.rglob("*.nbc")]:
                cached.unlink(missing_ok=True)
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(f"{quick}\n{thorough}\n")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _kernel_sources(package: Path, sources: list[Path]) -> list[Path]:
    """The files with kernels, and every module of the package that these import, directly or not."""
    texts = {path: path.read_text(encoding="utf-8") for path in sources}
    named = {_module_name(package, path): path for path in sources}
    found: set[Path] = set()
    waiting = [path for path, text in texts.items() if KERNELS_ARE_MADE in text]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += [named[name] for name in IMPORTED.findall(texts[path]) if name in named]
    return sorted(found)


def _module_name(package: Path, path: Path) -> str:
    parts = (package.name, *path.relative_to(package).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


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
