"""Private scratch folders: nobody else can read them, and the next run removes those whose process is gone."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

from betalike.runtime.locks import folder_held, is_held

MARK = ".betalike-scratch"


@contextlib.contextmanager
def private_folder(home: Path) -> Iterator[Path]:
    """Make a folder for scratch files that only this user can open, and remove it at the end."""
    for entry in list(home.glob(f"{MARK}-*")):
        if is_left_behind(entry, re.escape(MARK)):
            shutil.rmtree(entry, ignore_errors=True)
    folder = home / f"{MARK}-{own_mark()}"
    folder.mkdir(mode=0o700)
    try:
        with folder_held(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def reserve(path: Path) -> Path:
    """Create an empty file that only this user can read, for a writer that opens files by their name."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return path


def own_mark() -> str:
    """Return the end of a name that says which machine and process a folder belongs to."""
    return f"{_host()}-{os.getpid()}-{secrets.token_hex(4)}"


def is_own(name: str, beginning: str) -> bool:
    """Return whether a folder belongs to a process of this machine; `beginning` is a pattern."""
    return _own(name, beginning) is not None


def _own(name: str, beginning: str) -> re.Match[str] | None:
    return re.fullmatch(rf"{beginning}-{_host()}-(\d+)-[0-9a-f]{{8}}", name)


def is_left_behind(folder: Path, beginning: str) -> bool:
    """Return whether a folder belongs to a process of this machine that is gone; `beginning` is a pattern.

    A process in another container, whose number means nothing here, shows with a lock that it is there.
    """
    match = _own(folder.name, beginning)
    if not match:
        return False
    try:
        os.kill(int(match.group(1)), 0)
    except (ProcessLookupError, OverflowError):
        return not is_held(folder)
    except OSError:  # it belongs to someone else
        return False
    return False


def _host() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
