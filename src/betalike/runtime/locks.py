"""Locks that end with the process that holds them, however it ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


def take(path: Path) -> int | None:
    """Lock a file, made if needed; return its descriptor, which holds the lock until it is closed; None if held."""
    number = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    if _lock(number, is_waiting=False):
        return number
    os.close(number)
    return None


def is_held(path: Path) -> bool:
    """Return whether a process holds a lock."""
    try:
        number = os.open(path, os.O_RDONLY)
    except OSError:  # nobody has made it
        return False
    try:
        return not _lock(number, is_waiting=False)
    finally:
        os.close(number)


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold a lock; wait while another process does."""
    number = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(number, is_waiting=True)
        yield
    finally:
        os.close(number)


@contextlib.contextmanager
def folder_held(folder: Path) -> Iterator[None]:
    """Hold a lock on a folder itself, where the system has such locks. It may be renamed meanwhile."""
    try:
        number = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows
        yield
        return
    try:
        _lock(number, is_waiting=False)  # anyone who may read the folder could keep a lock on it for ever
        yield
    finally:
        os.close(number)


def _lock(number: int, is_waiting: bool) -> bool:
    """Lock an open file; return False if another process holds it. Where there are no locks, nobody holds one."""
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(number, fcntl.LOCK_EX | (0 if is_waiting else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:  # a disk without locks
        return True
    return True
