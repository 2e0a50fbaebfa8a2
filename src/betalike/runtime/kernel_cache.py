"""Machine code of kernels on disk, in one private folder per user that all copies of the package share.

A file is named after everything that its code depends on: the sources (`kernel_digest`), the types of the arguments,
the processor, and the versions of Python and the libraries. A changed kernel has another name, so stale code is never
loaded, and equal copies of the package find the same file. Files are written whole and renamed into place, so that
processes do not disturb each other. The file that was unused longest goes first when the folder becomes too large.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import numba
import numpy as np
from numba.core import compiler, config, serialize

from betalike.runtime import kernel_linking
from betalike.runtime.kernel_digest import UnknownValueError, digest_kernel

NAME = "betalike-kernels"
SUFFIX = ".kernel"
LARGEST = 512 << 20  # bytes that the folder may hold; all kernels of one version take about a tenth
DAY = 24 * 3600.0
NUMBA: Any = config  # these parts of Numba have no types
RESULT: Any = compiler.CompileResult
TO_BYTES: Any = serialize.dumps


class Stored(NamedTuple):
    """What a file holds: the types of the arguments, the kernels that the code refers to, and the code itself."""

    signature: Any
    needs: tuple[kernel_linking.Need, ...]
    defined: tuple[str, ...]  # by a kernel that others refer to
    code: tuple[Any, ...]


class KernelCache:
    """Stored machine code of one kernel. Numba's dispatcher calls these methods (`numba.core.caching._Cache`)."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self._is_enabled = True

    @property
    def cache_path(self) -> str | None:
        """The folder of the files."""
        folder = kernel_folder()
        return None if folder is None else str(folder)

    def enable(self) -> None:
        """Load and save."""
        self._is_enabled = True

    def disable(self) -> None:
        """Compile in this process alone."""
        self._is_enabled = False

    def flush(self) -> None:
        """Do nothing: a file stays right for as long as its name is asked for."""

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled kernel for these argument types, or nothing if it is not stored or cannot be used."""
        target_context.refresh()
        path = self._path(signature, target_context.codegen())
        if path is None or (content := read_private(path)) is None:
            return None
        try:
            stored = Stored(*pickle.loads(content))
            if not kernel_linking.provide(stored.needs):
                return None
            kernel_linking.declare_defined(stored.defined, target_context)
            compiled = RESULT._rebuild(target_context, *stored.code)
        except Exception:  # whatever is wrong with the file, compiling again puts it right
            return None
        if stored.defined:
            kernel_linking.offer(self.kernel, signature, compiled)
        return compiled

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Store a kernel that was just compiled, and remove what was unused longest if the folder is too large."""
        needs = kernel_linking.find_needs(compiled)
        defined: tuple[str, ...] = ()
        if kernel_linking.is_large(compiled):
            defined = kernel_linking.find_defined(compiled)
            kernel_linking.leave_nothing_to_copy(compiled)
            kernel_linking.offer(self.kernel, signature, compiled)
        path = self._path(signature, compiled.codegen)
        if path is None or compiled.lifted or compiled.library.has_dynamic_globals:
            return
        with contextlib.suppress(OSError):  # the disk is full, say: this process has its kernel all the same
            write_private(path, TO_BYTES(tuple(Stored(signature, needs, defined, compiled._reduce()))))
            prune(path.parent)

    def signatures(self) -> Iterator[Any]:
        """Go through the argument types for which this kernel is stored."""
        folder = kernel_folder()
        for path in [] if folder is None else folder.glob(f"{self._start()}-*{SUFFIX}"):
            if (content := read_private(path)) is not None:
                yield Stored(*pickle.loads(content)).signature

    def _start(self) -> str:
        return f"{self.kernel.__name__}-{digest_kernel(self.kernel)[:16]}"

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        """Return the file for these argument types on this machine."""
        folder = kernel_folder() if self._is_enabled else None
        if folder is None:
            return None
        try:
            facts = (digest_kernel(self.kernel), _describe_types(signature), codegen.magic_tuple(), _surroundings())
        except UnknownValueError:
            return None
        return folder / f"{self._start()}-{hashlib.sha256(repr(facts).encode()).hexdigest()[:32]}{SUFFIX}"


def _describe_types(signature: Any) -> str:
    """Describe argument types, with the names of the fields of named tuples, which Numba's own text lacks."""
    args = getattr(signature, "args", signature)
    return repr([(str(arg), _describe_fields(arg)) for arg in args] + [str(getattr(signature, "return_type", ""))])


def _describe_fields(arg: Any) -> list[Any]:
    found = [(arg.instance_class.__module__, arg.fields)] if hasattr(arg, "instance_class") else []
    inner = getattr(arg, "types", ()) or ()
    return [*found, *(_describe_fields(item) for item in inner)]


@functools.cache
def _surroundings() -> tuple[object, ...]:
    versions = (sys.version_info[:3], sys.implementation.cache_tag, sys.abiflags if hasattr(sys, "abiflags") else "")
    libraries = (numba.__version__, llvmlite.__version__, np.__version__)
    settings = (str(NUMBA.OPT), NUMBA.BOUNDSCHECK, NUMBA.DEBUGINFO_DEFAULT)
    return (versions, libraries, settings, kernel_linking.LARGEST_COPIED)


@functools.cache
def kernel_folder() -> Path | None:
    """Return the first folder that is private and can be written, else one that can be read, else nothing."""
    private = [folder for folder in _candidates() if _is_made_private(folder)]
    return next((folder for folder in private if os.access(folder, os.W_OK)), private[0] if private else None)


def _candidates() -> Iterator[Path]:
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen) / NAME
    if chosen := os.environ.get("XDG_CACHE_HOME" if os.name != "nt" else "LOCALAPPDATA"):
        yield Path(chosen) / NAME
    else:
        with contextlib.suppress(RuntimeError):  # a user without a home
            home = Path.home()
            yield home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / NAME
    yield Path(__file__).parent / "__pycache__" / NAME


def _is_made_private(folder: Path) -> bool:
    """Make a folder if it is missing; whether it is there and nobody else can write into it."""
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _is_private(folder.lstat(), stat.S_ISDIR)
    return False


def _is_private(facts: os.stat_result, is_kind: Any) -> bool:
    if not hasattr(os, "geteuid"):  # Windows: the user's own folder is protected by its access list
        return bool(is_kind(facts.st_mode))
    return bool(is_kind(facts.st_mode)) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o022


def read_private(path: Path) -> bytes | None:
    """Return what was stored in a file, or nothing if it is missing, damaged, or can be written by anyone else."""
    try:
        with os.fdopen(
            os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)), "rb"
        ) as file:
            facts = os.fstat(file.fileno())
            content = file.read() if _is_private(facts, stat.S_ISREG) else b""
    except OSError:
        return None
    stored = content[64:]
    if content[:64] != _seal(path, stored):
        return None
    if time.time() - facts.st_mtime > DAY:
        with contextlib.suppress(OSError):
            os.utime(path)  # prune removes what was unused longest
    return stored


def write_private(path: Path, stored: bytes) -> None:
    """Write a file that only this user can read, whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.", suffix=".tmp")  # mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_seal(path, stored) + stored)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _seal(path: Path, stored: bytes) -> bytes:
    """Return a digest of the name and the content, so that no damaged or renamed file is loaded."""
    return hashlib.sha256(path.name.encode() + b"\0" + stored).hexdigest().encode()


def prune(folder: Path, largest: int = LARGEST) -> None:
    """Remove the files that were unused longest until the rest is small enough, and what broken writers left."""
    files: list[tuple[float, int, str]] = []
    for entry in os.scandir(folder):
        with contextlib.suppress(OSError):  # another process removed it
            facts = entry.stat(follow_symlinks=False)
            if entry.name.endswith(SUFFIX):
                files.append((facts.st_mtime, facts.st_size, entry.path))
            elif entry.name.endswith(".tmp") and time.time() - facts.st_mtime > DAY:
                os.unlink(entry.path)
    excess = sum(size for _, size, _ in files) - largest
    for _, size, path in sorted(files):
        if excess <= 0:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
        excess -= size
