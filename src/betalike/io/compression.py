"""Compressed files, decompressed piece by piece: however much they grow, only one piece is in memory."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, Protocol

from betalike.errors import FileError, MissingDependencyError

CHUNK = 1 << 22  # bytes of a piece, in and out
MOST_DICTIONARY = 1 << 28  # bytes that a decompressor may request
ZSTANDARD_STEP = 1 << 10  # bytes in: each may become 32 KB, and the decompressor accepts no limit
DAMAGED = "{} is compressed, but its compressed data is damaged or cut off."


class Decompressor(Protocol):
    """Decompresses one stream of a file, which may contain several."""

    eof: Any  # whether the stream has ended
    needs_input: Any  # whether more output needs more input
    unused_data: Any  # the input after the end of the stream

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """Take some bytes and return at most `max_length`."""
        ...


def plain_chunks(file: IO[bytes], name: str) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces, decompressed if they begin like gzip, xz, bzip2 or Zstandard."""
    data = file.read(CHUNK)
    make = next((make for mark, make in COMPRESSED.items() if data.startswith(mark)), None)
    try:
        if make is not None:
            yield from _decompress(file, data, make)
            return
        while data:
            yield data
            data = file.read(CHUNK)
    except OSError as error:
        message = DAMAGED.format(name) if error.errno is None else f"{name} cannot be read: {error.strerror}."
        raise FileError(message) from None
    except (EOFError, lzma.LZMAError, zlib.error, ValueError) as error:
        if "limit" in str(error).lower():
            raise FileError(f"{name} takes too much memory to decompress. Compress it with a lower level.") from None
        raise FileError(DAMAGED.format(name)) from None


def is_compressed(beginning: bytes) -> bool:
    """Return whether a file begins like a compressed one."""
    return beginning.startswith(tuple(COMPRESSED))


def _decompress(file: IO[bytes], data: bytes, make: Callable[[], Decompressor]) -> Iterator[bytes]:
    while data or (data := file.read(CHUNK)):
        stream = make()
        while not stream.eof:
            if not data and stream.needs_input and not (data := file.read(CHUNK)):
                raise EOFError
            piece = stream.decompress(data, CHUNK)
            data = b""
            if piece:
                yield piece
        data = stream.unused_data.lstrip(b"\x00")  # streams may be padded


class _Gzip:
    """One member of a gzip file."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)
        self.eof, self.needs_input, self.unused_data = False, True, b""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        inner = self._inner
        piece = inner.decompress(inner.unconsumed_tail + data, max_length)
        self.eof, self.needs_input, self.unused_data = inner.eof, not inner.unconsumed_tail, inner.unused_data
        return piece


class _Zstandard:
    """One frame of a Zstandard file, through the package `zstandard`, which does not limit its output."""

    def __init__(self) -> None:
        import zstandard

        self._inner = zstandard.ZstdDecompressor(max_window_size=MOST_DICTIONARY).decompressobj()
        self._error = zstandard.ZstdError
        self._waiting = memoryview(b"")
        self.eof, self.needs_input, self.unused_data = False, True, b""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        self._waiting = memoryview(bytes(self._waiting) + data) if data else self._waiting
        pieces: list[bytes] = []
        n_made = 0
        try:
            while self._waiting and n_made < max_length and not self._inner.eof:
                step, self._waiting = self._waiting[:ZSTANDARD_STEP], self._waiting[ZSTANDARD_STEP:]
                pieces.append(self._inner.decompress(step))
                n_made += len(pieces[-1])
        except self._error as error:
            raise ValueError(str(error)) from None
        self.eof, self.needs_input = self._inner.eof, not self._waiting
        if self.eof:
            self.unused_data = self._inner.unused_data + bytes(self._waiting)
        return b"".join(pieces)


class _BuiltInZstandard:
    """One frame of a Zstandard file, through the standard library of Python 3.14 and later."""

    def __init__(self) -> None:
        from compression import zstd

        self._inner, self._error = zstd.ZstdDecompressor(), zstd.ZstdError
        self.eof, self.needs_input, self.unused_data = False, True, b""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        inner = self._inner
        try:
            piece = bytes(inner.decompress(data, max_length))
        except self._error as error:
            raise ValueError(str(error)) from None
        self.eof, self.needs_input, self.unused_data = inner.eof, inner.needs_input, inner.unused_data
        return piece


def _zstandard() -> Decompressor:
    try:
        return _BuiltInZstandard()
    except ImportError:
        try:
            return _Zstandard()
        except ImportError as error:
            raise MissingDependencyError(
                "reading .zst files needs Python 3.14 or the package 'zstandard': pip install 'betalike[zstd]'."
            ) from error


COMPRESSED: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": _Gzip,
    b"\xfd7zXZ\x00": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_DICTIONARY),
    b"BZh": bz2.BZ2Decompressor,
    b"\x28\xb5\x2f\xfd": _zstandard,
}
