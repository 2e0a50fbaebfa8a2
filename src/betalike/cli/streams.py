"""Standard output and error: they never raise, and what a command prints cannot act on a terminal.

A failure to write is remembered and reported at the end.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from betalike.runtime.visible_text import visible_lines


class GuardedStream:
    """A stream that does not raise on a full disk, a closed pipe or a character that its encoding lacks.

    It keeps the first failure and writes nothing after it.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.failure: str | None = None
        self._is_reported = False
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # not every stream has it

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @property
    def encoding(self) -> str:
        """Return the encoding of the stream; for a closed one, any will do."""
        return getattr(self._stream, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self._stream is not None and self.failure is None and self._stream.isatty()

    def write(self, text: str) -> int:
        """Write a text, or remember why that failed."""
        if self._stream is None:
            self.failure = "it is closed"
        elif self.failure is None:
            try:
                return self._stream.write(text)
            except (OSError, ValueError) as error:
                self._fail(error)
        return len(text)

    def write_bytes(self, data: bytes) -> None:
        """Write text that is already encoded."""
        buffer = getattr(self._stream, "buffer", None)
        if buffer is None:
            self.write(data.decode())
            return
        self.flush()
        if self.failure is None:
            try:
                buffer.write(data)
            except (OSError, ValueError) as error:
                self._fail(error)

    def flush(self) -> None:
        """Write what is buffered, or remember why that failed."""
        if self._stream is not None and self.failure is None:
            try:
                self._stream.flush()
            except (OSError, ValueError) as error:
                self._fail(error)

    def take_failure(self) -> str | None:
        """Return the failure, once; None if everything was written or the failure was already returned."""
        self.flush()
        failure, self._is_reported = None if self._is_reported else self.failure, self.failure is not None
        return failure

    def _fail(self, error: Exception) -> None:
        self.failure = (error.strerror if isinstance(error, OSError) else None) or "it is closed"
        # Python would write what is left in the buffers when it ends, and fail again.
        with contextlib.suppress(OSError, ValueError):
            assert self._stream is not None
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
            self._stream.flush()


class PlainStream:
    """A stream that shows control characters as codes; a console, which does that itself, writes to `styled`."""

    def __init__(self, styled: Any) -> None:
        self.styled = styled

    def __getattr__(self, name: str) -> Any:
        return getattr(self.styled, name)

    def write(self, text: str) -> int:
        """Write lines of text."""
        self.styled.write(visible_lines(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)


@contextlib.contextmanager
def plain_streams() -> Iterator[None]:
    """Let everything that a command prints pass through plain streams."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = PlainStream(sys.stdout), PlainStream(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


@contextlib.contextmanager
def guarded_streams() -> Iterator[None]:
    """Replace standard output and error by guarded streams."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        _occupy_standard_numbers()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = GuardedStream(sys.stdout), GuardedStream(sys.stderr)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout, sys.stderr = before


def _occupy_standard_numbers() -> None:
    """Keep files from getting the number of a closed standard stream, which libraries may write to."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)


def output_failure() -> str | None:
    """Return why standard output could not be written, once; None if everything was written."""
    return sys.stdout.take_failure() if isinstance(sys.stdout, GuardedStream) else None


def write_utf8(text: str) -> None:
    """Write a file's text to standard output as UTF-8, whatever the encoding; to a terminal, as text to be read."""
    stream = getattr(sys.stdout, "styled", sys.stdout)
    if sys.stdout.isatty():
        sys.stdout.write(text)
    elif isinstance(stream, GuardedStream):
        stream.write_bytes(text.encode())
    else:
        stream.write(text)
