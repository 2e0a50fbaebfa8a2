"""Sources of tables: regular files, folders, patterns of file names, and standard input."""

from __future__ import annotations

import contextlib
import glob
import mmap
import os
import signal
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import IO, Any

from betalike.errors import FileError
from betalike.io.addresses import unknown_address
from betalike.io.copies import Origin, origin_of, remembered
from betalike.runtime.scratch import private_folder, reserve
from betalike.runtime.visible_text import visible

STANDARD_INPUT = "-"
REDIRECTED = Path("/dev/stdin")  # a shell may redirect a file to it, which has an identity too
KEPT_IN_MEMORY = 1 << 26  # bytes of standard input; more than that goes to a file without a name
COPIED_AT_ONCE = 1 << 20
OPENED_AT_ONCE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
OWN_FILES = Path("/proc/self/fd")  # names of open files that only their process can use
KINDS = {
    stat.S_ISFIFO: "a pipe",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISSOCK: "a socket",
}
Content = bytes | mmap.mmap


def table_files(path: str | Path) -> list[Path]:
    """Return the files of a table, sorted: one file, those of a folder, or those that match `part-*.csv`."""
    path = Path(path)
    try:
        if path.is_dir():
            files = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith((".", "_"))]
        elif not os.path.lexists(path) and glob.has_magic(str(path)):
            files = [Path(file) for file in glob.glob(str(path), recursive=True) if Path(file).is_file()]
        else:
            return [path]
    except (OSError, ValueError) as error:
        raise _cannot_read(path, error) from None
    if not files:
        raise FileError(f"there are no files in '{shown(path)}'. Check the path.")
    return sorted(files)


def shown(path: str | Path) -> str:
    """Return a path for messages, with characters that cannot be printed escaped."""
    origin = origin_of(path)
    if origin is not None:
        return origin.shown
    return visible(str(path))


def shown_name(path: Path) -> str:
    """Return the name of a file for messages."""
    return shown(path) if origin_of(path) is not None else shown(path.name)


def open_file(path: Path) -> IO[bytes]:
    """Open a regular file and refuse anything else: a pipe could block for ever, a device never end."""
    try:
        _refuse_other_kinds(path, os.stat(path))
        file = os.fdopen(os.open(path, OPENED_AT_ONCE), "rb")
    except (OSError, ValueError) as error:
        raise _cannot_read(path, error) from None
    try:
        _refuse_other_kinds(path, os.fstat(file.fileno()))
    except FileError:
        file.close()
        raise
    return file


@contextlib.contextmanager
def mapped(path: Path) -> Iterator[Content]:
    """Give the bytes of a file without reading all of them."""
    with open_file(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        yield content


def read_beginning(path: Path, n_bytes: int) -> bytes:
    """Return the first bytes of a file."""
    with open_file(path) as file:
        try:
            return file.read(n_bytes)
        except OSError as error:
            raise _cannot_read(path, error) from None


def stamp_of(paths: Sequence[Path]) -> list[tuple[int, ...]]:
    """Return a stamp that changes when one of the files changes."""
    try:
        found = [os.stat(path) for path in paths]
    except OSError as error:
        raise FileError(f"the table cannot be read any more: {error.strerror}.") from None
    return [(each.st_dev, each.st_ino, each.st_size, each.st_mtime_ns) for each in found]


def check_unchanged(paths: Sequence[Path], stamp: list[tuple[int, ...]]) -> None:
    """Refuse files that changed since they were stamped."""
    if stamp_of(paths) != stamp:
        raise FileError("the table changed while it was read. Use a copy that nobody writes to.")


def _refuse_other_kinds(path: Path, found: os.stat_result) -> None:
    mode = found.st_mode
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise FileError(f"'{shown(path)}' is a folder; name a file (CSV, Parquet or Arrow IPC).")
    kind = next((kind for is_kind, kind in KINDS.items() if is_kind(mode)), "something else")
    raise FileError(
        f"'{shown(path)}' is {kind}, not a regular file, which betalike needs to read more than once. "
        "Name a file, or - for standard input."
    )


def _cannot_read(path: Path, error: OSError | ValueError) -> FileError:
    if isinstance(error, FileNotFoundError):
        return FileError(unknown_address(path) or f"there is no file '{shown(path)}'. Check the path.")
    reason = error.strerror if isinstance(error, OSError) else "its name cannot be the name of a file"
    return FileError(f"'{shown(path)}' cannot be read: {reason}.")


def is_standard_input(table: Any) -> bool:
    """Return whether a table is standard input."""
    return isinstance(table, str | Path) and str(table) == STANDARD_INPUT


@contextlib.contextmanager
def standard_input() -> Iterator[Path]:
    """Copy standard input to a place where it can be read several times, and yield its path.

    A small table stays in memory. A larger one goes to a file without a name, which nobody else can open and which
    disappears with this process, however it ends.
    """
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise FileError("there is no standard input to read a table from.")
    if stream.isatty():
        raise FileError("standard input is a terminal, not a table. Give it one, such as: betalike ... - < table.csv")
    with contextlib.ExitStack() as stack:
        with interruptible():
            try:
                path = _keep(stream, stack)
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or "it is closed"
                raise FileError(f"standard input cannot be read: {reason}.") from None
        yield stack.enter_context(remembered(path, Origin("standard input", (REDIRECTED,))))


def _keep(stream: IO[bytes], stack: contextlib.ExitStack) -> Path:
    if not OWN_FILES.is_dir():
        folder = stack.enter_context(private_folder(Path(tempfile.gettempdir())))
        path = reserve(folder / "table")
        with path.open("wb") as file:
            _copy(stream, file, None)
        return path
    kept: IO[bytes] | None = None
    if hasattr(os, "memfd_create"):
        kept = stack.enter_context(os.fdopen(os.memfd_create("betalike"), "w+b"))
        is_whole = _copy(stream, kept, KEPT_IN_MEMORY)
        kept.flush()
        if is_whole:
            return OWN_FILES / str(kept.fileno())
    larger = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
    if kept is not None:
        kept.seek(0)
        _copy(kept, larger, None)
        kept.truncate(0)
    _copy(stream, larger, None)
    larger.flush()
    return OWN_FILES / str(larger.fileno())


def _copy(source: IO[bytes], target: IO[bytes], most: int | None) -> bool:
    """Copy to the end, or until more than `most` bytes are copied; return whether the end was reached."""
    n_copied = 0
    while most is None or n_copied <= most:
        piece = source.read(COPIED_AT_ONCE)
        if not piece:
            return True
        target.write(piece)
        n_copied += len(piece)
    return False


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let a signal stop the reading of a table at once, because nothing has been written yet."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    handled = {number: handler for number, handler in before.items() if callable(handler)}
    for number in handled:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
