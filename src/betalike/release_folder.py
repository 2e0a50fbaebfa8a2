"""The folder of a release: staged under another name, then moved into place, so that it is complete or not there."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import os
import re
import secrets
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from betalike.errors import FileError

RELEASE_FILES = ("published.csv", "published.parquet", "transition.csv", "sensitive.csv", "certificate.json")

MOST_SECONDS_ALONE = 20.0


def check_free(folder: Path, force: bool) -> None:
    """Refuse a folder that holds a release already, or that cannot be one."""
    try:
        is_file = folder.exists() and not folder.is_dir()
        is_taken = holds_release(folder)
    except OSError as error:
        raise FileError(f"the folder '{folder}' cannot be used: {error.strerror}.") from error
    if is_file:
        raise FileError(f"'{folder}' is a file; name a folder for the release.")
    if is_taken and not force:
        raise FileError(f"the folder '{folder}' holds a release already. Name another, or replace it with --force.")


def holds_release(folder: Path) -> bool:
    """Whether a folder has any file that a release has."""
    return folder.is_dir() and any((folder / name).exists() for name in RELEASE_FILES)


@contextlib.contextmanager
def staged(folder: Path, check: Callable[[], None] = lambda: None) -> Iterator[Path]:
    """Make an empty folder to write the release into; move it into place at the end, remove it on any failure.

    `check` raises if the release may not be moved into place; nobody else moves one there between check and move.
    """
    target = Path(os.path.realpath(folder))  # a link to a folder stays a link
    absent = [parent for parent in target.parents if not parent.exists()]
    try:
        staging, mode = _make_staging(target)
    except BaseException as error:
        _remove_empty(absent)
        if isinstance(error, OSError):
            raise FileError(f"the folder '{folder}' cannot be written: {error.strerror}.") from error
        raise
    is_published = False
    try:
        yield staging
        _sync(staging)
        staging.chmod(mode)
        with _alone(target.parent):
            check()
            _commit(staging, target)
        is_published = True
    except OSError as error:
        raise FileError(f"the release could not be written to '{folder}': {error.strerror or error}.") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        if not is_published:
            _remove_empty(absent)


def sha256_of(path: Path) -> str:
    """The digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remove_empty(folders: list[Path]) -> None:
    """Remove the folders that were made for a release which did not come about, innermost first."""
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _make_staging(folder: Path) -> tuple[Path, int]:
    """Make a hidden folder beside the wanted one, or inside it where the move could not be made in one step.

    Nobody else may enter it before it is moved, when it gets the mode that is returned too.
    """
    for parent in reversed([parent for parent in folder.parents if not parent.exists()]):
        parent.mkdir(exist_ok=True)  # one by one: with all at once, Python's stack ends some hundred folders deep
    is_inside = folder.is_dir() and (
        os.path.ismount(folder)
        or Path.cwd().is_relative_to(folder)  # whoever stands in it would stand in a folder that is gone
        or not os.access(folder.parent, os.W_OK)
        or any(entry.name not in RELEASE_FILES for entry in folder.iterdir() if not _is_stale(entry.name, folder.name))
    )
    home = folder if is_inside else folder.parent
    if folder.is_dir() and not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    for entry in list(home.iterdir()):
        if _is_stale(entry.name, folder.name):
            shutil.rmtree(entry, ignore_errors=True)
    staging = home / f".{folder.name}.betalike-{_host()}-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        staging.mkdir()
        mode = (folder if folder.is_dir() else staging).stat().st_mode & 0o7777
        staging.chmod(0o700)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return staging, mode


def _host() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


def _is_stale(name: str, folder_name: str) -> bool:
    """Whether this is the staging folder of a process of this machine that was killed."""
    match = re.fullmatch(rf"\.{re.escape(folder_name)}\.betalike-{_host()}-(\d+)-[0-9a-f]{{8}}", name)
    if not match:
        return False
    try:
        os.kill(int(match.group(1)), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _sync(staging: Path) -> None:
    """Have the disk hold what was written before it gets its name."""
    for path in staging.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())


def _commit(staging: Path, folder: Path) -> None:
    """Move the release into place: in one step where the system allows it, the certificate last where not."""
    if staging.parent != folder:
        is_empty = not folder.exists() or not any(folder.iterdir())
        if is_empty:
            with contextlib.suppress(FileExistsError, NotADirectoryError):
                if os.name == "nt" and folder.exists():
                    folder.rmdir()
                staging.rename(folder)
                return
        elif _exchange(staging, folder):
            return  # the older release is in the staging folder now, and goes with it
    new = {path.name for path in staging.iterdir()}
    for name in reversed(RELEASE_FILES):  # the older certificate goes first: without one, nothing is a release
        _remove(folder / name)
    for name in RELEASE_FILES:
        if name in new:
            (staging / name).replace(folder / name)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process moves a release within a folder; but not for long, for anyone can lock a folder."""
    try:
        import fcntl

        lock = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):  # Windows; a folder that cannot be listed
        yield
        return
    try:
        end = time.monotonic() + MOST_SECONDS_ALONE
        while time.monotonic() < end:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.01)
            except OSError:  # a disk without locks
                break
        yield
    finally:
        os.close(lock)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step, where the system can (Linux)."""
    if not sys.platform.startswith("linux"):
        return False
    at_here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    if rename(at_here, os.fsencode(one), at_here, os.fsencode(other), exchange) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.EXDEV, errno.EBUSY):
        return False
    raise OSError(code, os.strerror(code))
