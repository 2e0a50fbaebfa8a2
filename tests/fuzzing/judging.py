"""What an input led to: an answer or a proper error is fine; anything else is a finding."""

from __future__ import annotations

import contextlib
import math
import os
import resource
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from betalike.errors import BetalikeError, GuaranteeError

from .samples import HEADER, ILLNESSES, MARKER, TOWNS

MOST_MEMORY = 512 << 20  # more of it than before the input
ALLOWED_STATUS = (1, 2)
PUBLISHED = " ".join([*TOWNS, *ILLNESSES]).encode()
Target = Callable[[bytes, Path], object]


@dataclass(frozen=True)
class Finding:
    """Something that no input may lead to; findings of the same kind and place are taken for the same."""

    kind: str
    place: str
    details: str = ""

    @property
    def signature(self) -> str:
        """What findings are told apart by."""
        return f"{self.kind} at {self.place}"


class Judge:
    """Runs targets in a folder of its own, which each input leaves as it was found.

    A campaign on a machine of its own also asks how long they take; a test does not, for the machine may be busy.
    """

    def __init__(self, folder: Path, most_seconds: float = math.inf) -> None:
        self.most_seconds = most_seconds
        self.work, self.temporary = folder / "work", folder / "temporary"
        for made in (self.work, self.temporary):
            made.mkdir()
        self.errors = (folder / "stderr").open("w+b")
        self.before = tempfile.tempdir
        tempfile.tempdir = str(self.temporary)

    def close(self) -> None:
        """Have temporary files where they were before."""
        tempfile.tempdir = self.before
        self.errors.close()

    def judge(self, target: Target, data: bytes, is_secret: bool = True) -> Finding | None:
        """Run one input; return what is wrong with what it led to, if anything.

        What is no secret may be shown: a user sees their own predicate, a published label or value, and the names in
        the header of a table, not a person's cell.
        """
        said = _header_of(data) if is_secret else data + PUBLISHED
        before, start = peak_memory(), time.monotonic()
        with self._errors_kept():
            finding, text, place = _outcome(target, data, self.work)
        printed = self._printed()
        left = sorted(str(path.relative_to(self.temporary)) for path in self.temporary.rglob("*"))
        left += [str(path.relative_to(self.work)) for path in self.work.rglob(".betalike*")]
        self._clean()
        if finding is not None:
            return finding
        if (found := MARKER.search(text)) and found[0].encode() not in said:
            return Finding("a cell in a message", place, f"{found[0]}: {text}")
        if (found := MARKER.search(printed)) and found[0].encode() not in said:
            return Finding("a cell on standard error", target.__name__, f"{found[0]}: {printed}")
        if left:
            return Finding("left behind", "scratch", ", ".join(left))
        if peak_memory() - before > MOST_MEMORY:
            return Finding("memory", target.__name__, f"{(peak_memory() - before) >> 20} MB")
        if time.monotonic() - start > self.most_seconds:
            return Finding("slow", target.__name__, f"{time.monotonic() - start:.1f} s")
        return None

    @contextlib.contextmanager
    def _errors_kept(self) -> Iterator[None]:
        """Keep what is printed on standard error, also by compiled libraries."""
        saved = os.dup(2)
        os.dup2(self.errors.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)

    def _printed(self) -> str:
        if os.fstat(self.errors.fileno()).st_size == 0:
            return ""
        self.errors.seek(0)
        printed = self.errors.read().decode("utf-8", errors="replace")
        self.errors.seek(0)
        self.errors.truncate()
        return printed

    def _clean(self) -> None:
        for folder in (self.work, self.temporary):
            for entry in os.scandir(folder):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                else:
                    os.unlink(entry.path)


def _header_of(data: bytes) -> bytes:
    """The first line of a table if nearly all names in it are the table's own: one of them may be changed."""
    line = data[1:].partition(b"\n")[0]
    known = [name for name in line.split(b",") if name.decode(errors="replace").strip() in HEADER]
    return line if len(known) >= len(HEADER) - 1 else b""


def peak_memory() -> int:
    """How many bytes this process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _outcome(target: Target, data: bytes, folder: Path) -> tuple[Finding | None, str, str]:
    """Run a target: a finding if it failed as it must not, and the text and the place of a proper error."""
    try:
        target(data, folder)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BetalikeError as error:
        text = "\n".join(_chain(error))
        is_proper = error.exit_status in ALLOWED_STATUS and not isinstance(error, GuaranteeError)
        return (None if is_proper else Finding(type(error).__name__, _place(error), text)), text, _place(error)
    except BaseException as error:  # also the panics of compiled libraries, which are not Exceptions
        return Finding(type(error).__name__, _place(error), "\n".join(_chain(error))), "", ""
    return None, "", ""


def _chain(error: BaseException) -> Iterator[str]:
    """The texts that a traceback would show: the error's, and those of the errors behind it."""
    seen: BaseException | None = error
    while seen is not None:
        yield str(seen)
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)


def _place(error: BaseException) -> str:
    """Where the project's own code was when it failed."""
    places = traceback.extract_tb(error.__traceback__)
    ours = [place for place in places if f"{os.sep}betalike{os.sep}" in place.filename] or places
    return f"{os.path.basename(ours[-1].filename)}:{ours[-1].name}" if ours else "?"
