"""Write a release folder under another name, then move it into place, so that it is complete or absent."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from betalike.errors import FileError
from betalike.io.input_files import shared_file
from betalike.runtime.locks import folder_held
from betalike.runtime.scratch import is_left_behind, is_own, own_mark

CERTIFICATE = "certificate.json"
RELEASE_FILES = (
    "published.csv",
    "published.parquet",
    "published.xlsx",
    "published.sav",
    "published.dta",
    "transition.csv",
    "sensitive.csv",
    "certificate.sig",
    CERTIFICATE,
)
MOVING = "moving"  # a folder in a staging folder whose files are being moved one by one

MOST_SECONDS_ALONE = 20.0
MOST_SECONDS_CLEARING, TIMES_GONE = 2.0, 3


def check_free(folder: Path, force: bool, inputs: Iterable[Path] = ()) -> None:
    """Refuse a folder that cannot take a release; with `force`, the files of an older release are replaced.

    A file that is read for the release is never replaced, and neither is a file that no betalike certificate lists.
    """
    try:
        is_file = folder.exists() and not folder.is_dir()
        real = _real(folder)  # once: someone may put a link in its place meanwhile
        release, others = _sorted_files(real)
        replaced = [*release, *others, *_stale_files(real)]
        lost = shared_file(inputs, replaced)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name cannot be the name of a folder"
        raise FileError(f"the folder '{folder}' cannot be used: {reason}.") from error
    if is_file:
        raise FileError(f"'{folder}' is a file; name a folder for the release.")
    if lost is not None:
        raise FileError(
            f"'{lost}' is read for this release, but is also a file in the folder '{folder}', where it would be "
            "replaced. Name another folder for the release."
        )
    if others:
        raise FileError(
            f"the folder '{folder}' holds '{others[0].relative_to(real)}', which has the name of a release's "
            "file, but no betalike certificate lists it, so it is not replaced. Name another folder, or move the file "
            "away."
        )
    if release and not force:
        raise FileError(f"the folder '{folder}' holds a release already. Name another, or replace it with --force.")


def holds_release(folder: Path) -> bool:
    """Whether a folder has any file that a release has."""
    return folder.is_dir() and any((folder / name).exists() for name in RELEASE_FILES)


def _real(folder: Path) -> Path:
    return Path(os.path.realpath(folder))  # a link to a folder stays a link


def _sorted_files(folder: Path) -> tuple[list[Path], list[Path]]:
    """Find files that have the names of a release's files: those of a release in the folder, and others."""
    found = [path for name in RELEASE_FILES for path in _files_of(folder / name)]
    listed = _listed_names(folder)
    moved = _moved_digests(folder)
    release: list[Path] = []
    others: list[Path] = []
    for path in found:
        name = path.relative_to(folder).as_posix()
        is_ours = name in listed or (name in moved and path.is_file() and sha256_of(path) in moved[name])
        (release if is_ours else others).append(path)
    return release, others


def _files_of(path: Path) -> list[Path]:
    """Return a file itself, a folder's files, or nothing."""
    if path.is_dir() and not path.is_symlink():
        return sorted(file for file in path.rglob("*") if file.is_symlink() or not file.is_dir())
    return [path] if os.path.lexists(path) else []


def _listed_names(folder: Path) -> set[str]:
    """Read which files belong to the release in a folder; none if betalike did not write it."""
    listed = _read_digests(folder / CERTIFICATE)
    if listed is None:
        return set()
    return {*listed, *(name for name in RELEASE_FILES if name.startswith("certificate."))}


def _read_digests(certificate: Path) -> dict[str, str] | None:
    """Read the files that a certificate lists, with their digests; None if betalike did not write it."""
    if not certificate.is_file():  # nobody may ever write to a pipe
        return None
    try:
        content = json.loads(certificate.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    tool = content.get("tool") if isinstance(content, dict) else None
    if not isinstance(tool, dict) or tool.get("name") != "betalike":
        return None
    files = content.get("files")
    facts = files.items() if isinstance(files, dict) else ()
    return {name: str(fact.get("sha256")) if isinstance(fact, dict) else "" for name, fact in facts}


def _moved_digests(folder: Path) -> dict[str, set[str]]:
    """Read the digests of files that a killed process may have left while it moved its release file by file."""
    digests: dict[str, set[str]] = {}
    for staging in _stale_stagings(folder):
        if (staging / MOVING).is_dir():
            for certificate in (staging / CERTIFICATE, staging / MOVING / CERTIFICATE):
                for name, digest in (_read_digests(certificate) or {}).items():
                    digests.setdefault(name, set()).add(digest)
    return digests


def _stale_stagings(folder: Path) -> list[Path]:
    """Find the staging folders that killed processes left for this folder, inside it or beside it."""
    homes = [home for home in (folder, folder.parent) if home.is_dir() and os.access(home, os.R_OK | os.X_OK)]
    return [entry for home in homes for entry in home.iterdir() if _is_stale(entry, folder.name)]


def _movers(folder: Path) -> list[Path]:
    """Find the staging folders whose files are being moved into this folder, or were when their process was killed."""
    return [moving.parent for home in (folder, folder.parent) for moving in home.glob(f".*.betalike-*/{MOVING}")]


def _stale_files(folder: Path) -> list[Path]:
    return [file for staging in _stale_stagings(folder) for file in _files_of(staging)]


@contextlib.contextmanager
def staged(
    folder: Path, check: Callable[[], None] = lambda: None, patience: float = MOST_SECONDS_ALONE
) -> Iterator[Path]:
    """Make an empty folder to write the release into; move it into place at the end, or remove it after a failure.

    `check` raises if the release may not be moved into place. No other process moves one there between check and move.
    """
    target = _real(folder)
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
        with folder_held(staging):
            yield staging
            _sync(staging)
            staging.chmod(mode)
            with _alone(target.parent, patience):
                check()
                _commit(staging, target, check)
        is_published = True
    except OSError as error:
        raise FileError(f"the release could not be written to '{folder}': {error.strerror or error}.") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        if not is_published:
            _keep_away(staging)
            _remove_empty(absent)


def _keep_away(staging: Path) -> None:
    """Remove a staging folder until it stays away: workers of a cancelled job may still write into it for a moment."""
    end, times_gone = time.monotonic() + MOST_SECONDS_CLEARING, 0
    while times_gone < TIMES_GONE and time.monotonic() < end:
        time.sleep(0.05)
        times_gone = 0 if os.path.lexists(staging) else times_gone + 1
        shutil.rmtree(staging, ignore_errors=True)


def sha256_of(path: Path) -> str:
    """Return the digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remove_empty(folders: list[Path]) -> None:
    """Remove the empty folders that were made for a release that failed, innermost first."""
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _make_staging(folder: Path) -> tuple[Path, int]:
    """Make a hidden folder beside the wanted one, or inside it if the move cannot be made in one step.

    Nobody else may enter it before it is moved. The mode that it gets then is also returned.
    """
    for parent in reversed([parent for parent in folder.parents if not parent.exists()]):
        parent.mkdir(
            exist_ok=True
        )  # one by one: Python makes all at once by recursion, which fails some hundred folders deep
    is_inside = folder.is_dir() and (
        os.path.ismount(folder)
        or Path.cwd().is_relative_to(folder)  # a shell that is in it would be in a folder that is gone
        or not os.access(folder.parent, os.W_OK)
        or any(entry.name not in RELEASE_FILES for entry in folder.iterdir() if not _is_stale(entry, folder.name))
    )
    home = folder if is_inside else folder.parent
    if folder.is_dir() and not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    _clear_remains(folder)
    staging = home / f".{folder.name}.betalike-{own_mark()}"
    try:
        staging.mkdir()
        mode = (folder if folder.is_dir() else staging).stat().st_mode & 0o7777
        staging.chmod(0o700)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return staging, mode


def _is_stale(staging: Path, folder_name: str) -> bool:
    """Whether this is the staging folder of a killed process of this machine."""
    return is_left_behind(staging, rf"\.{re.escape(folder_name)}\.betalike")


def is_in_progress(staging: Path, folder_name: str) -> bool:
    """Whether this is the staging folder of a running process of this machine that writes to the folder."""
    return is_own(staging.name, rf"\.{re.escape(folder_name)}\.betalike") and not _is_stale(staging, folder_name)


def _sync(staging: Path) -> None:
    """Flush what was written to the disk before it gets its final name."""
    for path in staging.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())


def _commit(staging: Path, folder: Path, check: Callable[[], None]) -> None:
    """Move the release into place: in one step if the system can, else file by file with the certificate last.

    Only one process moves files one by one, also if another one that stands still was not waited for any longer.
    So `check` is repeated once others can see that files are moved.
    """
    if folder.is_symlink():
        raise FileError(f"the folder '{folder}' is a link now, which it was not before. Try again, or name another.")
    if staging.parent != folder:
        entries = list(folder.iterdir()) if folder.exists() else []
        if not entries:
            with contextlib.suppress(FileExistsError, NotADirectoryError):
                if os.name == "nt" and folder.exists():
                    folder.rmdir()
                staging.rename(folder)
                return
        elif all(entry.name in RELEASE_FILES for entry in entries) and _exchange(staging, folder):
            _return_others(staging, folder)
            return  # the older release is in the staging folder now, and goes with it
    new = {path.name for path in staging.iterdir()}
    moving = staging / MOVING
    moving.mkdir()
    if any(is_in_progress(other, folder.name) and other != staging for other in _movers(folder)):
        raise FileError(f"another process is moving a release into the folder '{folder}'. Try again when it has ended.")
    check()
    if _read_digests(folder / CERTIFICATE) is not None:
        # The older certificate goes first: without one, nothing is a release. It still lists what is to be removed if
        # this process is killed.
        (folder / CERTIFICATE).replace(moving / CERTIFICATE)
    for name in reversed(RELEASE_FILES):
        _remove(folder / name)
    for name in RELEASE_FILES:
        if name in new:
            (staging / name).replace(folder / name)


@contextlib.contextmanager
def _alone(folder: Path, patience: float) -> Iterator[None]:
    """Wait until no other process moves a release within a folder, but not for long: anyone can lock a folder."""
    try:
        import fcntl

        lock = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):  # Windows; a folder that cannot be listed
        yield
        return
    try:
        end = time.monotonic() + patience
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


def _return_others(older: Path, folder: Path) -> None:
    """Keep files that were added to the older folder while it was being replaced."""
    for entry in older.iterdir():
        if entry.name not in RELEASE_FILES and not os.path.lexists(folder / entry.name):
            entry.rename(folder / entry.name)


def _clear_remains(folder: Path) -> None:
    """Remove what killed processes left: their staging folders and the files that they were moving."""
    if folder.is_dir() and not os.path.lexists(folder / CERTIFICATE) and _moved_digests(folder):
        for path in _sorted_files(folder)[0]:
            path.unlink()
        for name in RELEASE_FILES:
            if (folder / name).is_dir():
                _remove_empty([folder / name])
    for staging in [*_stale_stagings(folder), *_unfinished_stagings(folder.parent)]:
        shutil.rmtree(staging, ignore_errors=True)


def _unfinished_stagings(home: Path) -> list[Path]:
    """Find what killed processes left of other releases here: it may hold rows of a table."""
    left = [entry for entry in home.iterdir() if is_left_behind(entry, r"\..*\.betalike")]
    return [staging for staging in left if not (staging / MOVING).exists()]


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step, if the system can (Linux)."""
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
