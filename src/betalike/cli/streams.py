"""Standard output and error that never raise: what could not be written is remembered, and reported at the end."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO


class GuardedStream:
    """A stream on which a full disk, a closed pipe or a character that its encoding lacks is no error.

    The first failure is kept; from then on nothing more is written.
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
        """The encoding of the stream; of a closed one, any will do."""
        return getattr(self._stream, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        """Whether a person is reading."""
        return self._stream is not None and self.failure is None and self._stream.isatty()

    def write(self, text: str) -> int:
        """Write a text, or remember why it could not be."""
        if self._stream is None:
            self.failure = "it is closed"
        elif self.failure is None:
            try:
                return self._stream.write(text)
            except (OSError, ValueError) as error:
                self._fail(error)
        return len(text)

    def write_bytes(self, data: bytes) -> None:
        """Write text that has an encoding of its own."""
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
        """Have everything written, or remember why it could not be."""
        if self._stream is not None and self.failure is None:
            try:
                self._stream.flush()
            except (OSError, ValueError) as error:
                self._fail(error)

    def take_failure(self) -> str | None:
        """Why something could not be written; None if all of it was, or if it was asked before."""
        self.flush()
        failure, self._is_reported = None if self._is_reported else self.failure, self.failure is not None
        return failure

    def _fail(self, error: Exception) -> None:
        self.failure = (error.strerror if isinstance(error, OSError) else None) or "it is closed"
        # What is left in its buffers would be written again when Python ends, and fail again.
        with contextlib.suppress(OSError, ValueError):
            assert self._stream is not None
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
            self._stream.flush()


@contextlib.contextmanager
def guarded_streams() -> Iterator[None]:
    """Put guards before standard output and error."""
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
    """See to it that no file gets the number of a closed standard stream, which libraries may write to."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)


def output_failure() -> str | None:
    """Why standard output could not be written; None if all of it was, or if it was asked before."""
    return sys.stdout.take_failure() if isinstance(sys.stdout, GuardedStream) else None


def write_utf8(text: str) -> None:
    """Write a file's text to standard output, in UTF-8 whatever the terminal's encoding."""
    if isinstance(sys.stdout, GuardedStream):
        sys.stdout.write_bytes(text.encode())
    else:
        sys.stdout.write(text)
