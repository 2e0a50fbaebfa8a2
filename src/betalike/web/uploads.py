"""Uploads: written to a private folder as they arrive, and refused as soon as they are too large."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import IO, Any

from betalike.errors import FileError

LONGEST_FIELD = 1 << 16
LONGEST_HEADER = 1 << 14
MOST_PARTS = 20
LONGEST_NAME = 180  # bytes; file systems allow 255, and more is added to it


class Upload:
    """A form with one file, parsed while it arrives. Use `receive`."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder, self.limit, self.size = folder, limit, 0
        self.path: Path | None = None
        self.fields: dict[str, str] = {}
        self._file: IO[bytes] | None = None
        self._header, self._headers = b"", {}  # type: bytes, dict[bytes, bytes]
        self._value, self._name, self._is_whole = b"", "", False
        self._n_parts = self._n_headers = 0

    async def receive(self, content_type: str, chunks: AsyncIterator[bytes]) -> Upload:
        """Read a form to its end, or refuse it; then no part of the file is left."""
        try:
            parser = self._parser(content_type)
            async for chunk in chunks:
                self.size += len(chunk)
                if self.size > self.limit:
                    raise FileError(
                        f"the upload is larger than {self.limit >> 20:,} MB. Open the file by its path instead, or "
                        "start the page with a larger --upload-limit."
                    )
                parser(chunk)
        except BaseException:
            self.discard()
            raise
        finally:
            if self._file is not None:
                self._file.close()
        if self.path is None:
            raise FileError("no file was chosen. Choose one, then send it.")
        if not self._is_whole:
            self.discard()
            raise FileError("the upload broke off. Send it again.")
        return self

    def discard(self) -> None:
        """Delete what was written."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _parser(self, content_type: str) -> Callable[[bytes], object]:
        from python_multipart.exceptions import MultipartParseError
        from python_multipart.multipart import MultipartParser, parse_options_header

        kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary")
        if kind != b"multipart/form-data" or not boundary:
            raise FileError("the form has no file. Choose one, then send it.")
        callbacks: dict[str, Any] = {
            "on_part_begin": self._begin,
            "on_header_field": lambda data, start, end: self._add_header(data[start:end]),
            "on_header_value": lambda data, start, end: self._add_value(data[start:end]),
            "on_header_end": self._end_header,
            "on_headers_finished": lambda: self._open(parse_options_header),
            "on_part_data": lambda data, start, end: self._write(data[start:end]),
            "on_part_end": self._end,
            "on_end": self._finish,
        }
        parser = MultipartParser(boundary, callbacks)  # type: ignore[arg-type]  # a dict with its keys

        def feed(chunk: bytes) -> None:
            try:
                parser.write(chunk)
            except MultipartParseError as error:
                raise FileError("the upload is broken off or garbled. Send it again.") from error

        return feed

    def _finish(self) -> None:
        self._is_whole = True

    def _begin(self) -> None:
        self._headers, self._header, self._value = {}, b"", b""
        self._n_parts += 1
        self._n_headers = 0
        if self._n_parts > MOST_PARTS:
            raise FileError(f"the form has more than {MOST_PARTS} fields.")

    def _add_header(self, part: bytes) -> None:
        self._count_header(part)
        self._header += part

    def _add_value(self, part: bytes) -> None:
        self._count_header(part)
        self._value += part

    def _count_header(self, part: bytes) -> None:
        self._n_headers += len(part)
        if self._n_headers > LONGEST_HEADER:
            raise FileError("a header of the form is too long.")

    def _end_header(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header, self._value = b"", b""

    def _open(self, parse: Callable[[bytes], tuple[bytes, dict[bytes, bytes]]]) -> None:
        _, options = parse(self._headers.get(b"content-disposition", b""))
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        given = options.get(b"filename")
        if given:
            if self._file is not None:
                raise FileError("two files were sent. Send one.")
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path = self.folder / plain_name(given.decode("utf-8", "replace"))
            self._file = os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")

    def _write(self, data: bytes) -> None:
        if self._file is not None and not self._file.closed:
            self._file.write(data)
        elif len(self._value) + len(data) > LONGEST_FIELD:
            raise FileError("a field of the form is too long.")
        else:
            self._value += data

    def _end(self) -> None:
        if self._file is not None and not self._file.closed:
            self._file.close()
        elif self._name:
            self.fields[self._name] = self._value.decode("utf-8", "replace")


def plain_name(given: str) -> str:
    """Return a file name without folders and signs that have a meaning elsewhere.

    >>> plain_name("../../etc/pass wd;.csv")
    'pass wd_.csv'
    """
    last = given.replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(sign if sign.isalnum() or sign in " ._-" else "_" for sign in last).strip(" .")
    return kept.encode()[-LONGEST_NAME:].decode(errors="ignore").strip(" .") or "table"
