"""Machine code of kernels on disk, in one private folder per user that all copies of the package share.

A file is named after everything that its code depends on: the sources (`kernel_digest`), the types of the arguments,
the processor, the versions of Python and the libraries, and the modules here that compile, link and store. A changed
kernel has another name, so stale code is never loaded, and equal copies of the package find the same file. Files are
written whole and renamed into place, so that processes do not disturb each other. Files that were unused for long are
removed when another one is written.
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
from numba.core.runtime import nrt

from betalike.runtime import kernel_linking
from betalike.runtime.kernel_building import wait_for
from betalike.runtime.kernel_digest import UnknownValueError, digest_kernel
from betalike.runtime.kernel_types import argument_types

NAME = "betalike-kernels"
SUFFIX = ".kernel"
LARGEST = 512 << 20  # bytes that the folder may hold; all kernels of one version take about a tenth
DAY = 24 * 3600.0
LONGEST_UNUSED = {SUFFIX: 100, ".tmp": 1}  # days
MACHINERY = ("compilation.py", "kernel_cache.py", "kernel_linking.py", "kernel_types.py")
NUMBA: Any = config  # these parts of Numba have no types
RESULT: Any = compiler.CompileResult
TO_BYTES: Any = serialize.dumps
RUNTIME: Any = nrt.rtsys


class Stored(NamedTuple):
    """What a file holds: what the code refers to, what it defines, and the code itself."""

    needs: tuple[kernel_linking.Need, ...]  # kernels
    outside: tuple[str, ...]  # functions and values of Numba, Python and C
    defined: tuple[str, ...]  # by a kernel that others refer to
    code: tuple[Any, ...]


class KernelCache:
    """Stored machine code of one kernel. Numba's dispatcher calls these methods (`numba.core.caching._Cache`)."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    @property
    def cache_path(self) -> str | None:
        """The folder of the files."""
        folder = kernel_folder()
        return None if folder is None else str(folder)

    def flush(self) -> None:
        """Do nothing: a file stays right for as long as its name is asked for."""

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled kernel for these argument types, or nothing if it is not stored or cannot be used."""
        path = self._path(signature, target_context.codegen())
        content = None if path is None else read_private(path)
        if path is not None and content is None and wait_for(self.kernel):
            content = read_private(path)
        if content is None:
            return None
        try:
            stored = Stored(*pickle.loads(content))
            self._prepare(stored, target_context)
            if not kernel_linking.provide(stored.needs):
                return None
            kernel_linking.declare_defined(stored.defined, target_context)
            compiled = RESULT._rebuild(target_context, *stored.code)
        except Exception:  # whatever is wrong with the file, compiling again puts it right
            return None
        if stored.defined:
            kernel_linking.offer(self.kernel, signature, compiled)
        return compiled

    def _prepare(self, stored: Stored, target_context: Any) -> None:
        """Get Numba ready to run code; all that it needs to compile takes a second to import, so only if that helps."""
        RUNTIME.initialize(target_context)
        if not kernel_linking.is_there(stored.outside):
            target_context.refresh()

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Store a kernel that was just compiled, and remove what was unused longest if the folder is too large."""
        needs = kernel_linking.find_needs(compiled)
        outside = kernel_linking.find_outside(compiled)
        defined: tuple[str, ...] = ()
        if kernel_linking.is_large(compiled) and signature == argument_types(self.kernel.py_func):
            defined = kernel_linking.find_defined(compiled)
            kernel_linking.leave_nothing_to_copy(compiled)
            kernel_linking.offer(self.kernel, signature, compiled)
        path = self._path(signature, compiled.codegen)
        if path is None or compiled.lifted or compiled.library.has_dynamic_globals:
            return
        with contextlib.suppress(OSError):  # the disk is full, say: this process has its kernel all the same
            write_private(path, TO_BYTES(tuple(Stored(needs, outside, defined, compiled._reduce()))))
            prune(path.parent)

    def is_stored(self, signature: Any) -> bool:
        """Return whether there is a file for these argument types."""
        path = self._path(signature, self.kernel.targetctx.codegen())
        return path is not None and os.path.exists(path)  # also where the folder may not be entered

    def is_missing(self, signature: Any) -> bool:
        """Return whether there is no file for these argument types, though there could be one."""
        path = self._path(signature, self.kernel.targetctx.codegen())
        return path is not None and not os.path.exists(path) and os.access(path.parent, os.W_OK)

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        """Return the file for these argument types on this machine."""
        folder = kernel_folder()
        if folder is None:
            return None
        try:
            facts = (digest_kernel(self.kernel), _describe_types(signature), codegen.magic_tuple(), _surroundings())
        except UnknownValueError:
            return None
        start = f"{self.kernel.__name__}-{digest_kernel(self.kernel)[:16]}"
        return folder / f"{start}-{hashlib.sha256(repr(facts).encode()).hexdigest()[:32]}{SUFFIX}"


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
    return (versions, libraries, settings, digest_machinery(Path(__file__).parent))


def digest_machinery(folder: Path) -> str:
    """Return a digest of the modules that compile, link and store kernels: what another version stored may not fit."""
    try:
        content = [(folder / name).read_bytes() for name in MACHINERY]
    except OSError as error:
        raise UnknownValueError("the sources of the package are not there.") from error
    return hashlib.sha256(b"\0".join(content)).hexdigest()


@functools.cache
def kernel_folder(package: Path = Path(__file__).parent) -> Path | None:
    """Return the first folder that is private and can be written, else one that can be read, else nothing."""
    private = [folder for folder in _candidates(package) if _is_made_private(folder)]
    return next((folder for folder in private if os.access(folder, os.W_OK)), private[0] if private else None)


def _candidates(package: Path) -> Iterator[Path]:
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen) / NAME
    if chosen := os.environ.get("XDG_CACHE_HOME" if os.name != "nt" else "LOCALAPPDATA"):
        yield Path(chosen) / NAME
    else:
        with contextlib.suppress(RuntimeError):  # a user without a home
            home = Path.home()
            if home.is_dir():  # the home of a service may not be there, and is not to be made
                yield home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / NAME
    yield package / "__pycache__" / NAME


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
    """Remove files that were long unused, then those unused longest until the rest is small enough.

    What broken writers left is removed, too. Loading a file renews its time.
    """
    files: list[tuple[float, int, str]] = []
    for entry in os.scandir(folder):
        longest = next((days for ending, days in LONGEST_UNUSED.items() if entry.name.endswith(ending)), None)
        with contextlib.suppress(OSError):  # another process removed it
            facts = entry.stat(follow_symlinks=False)
            if longest is not None and time.time() - facts.st_mtime > longest * DAY:
                os.unlink(entry.path)
            elif entry.name.endswith(SUFFIX):
                files.append((facts.st_mtime, facts.st_size, entry.path))
    excess = sum(size for _, size, _ in files) - largest
    for _, size, path in sorted(files):
        if excess <= 0:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
        excess -= size
