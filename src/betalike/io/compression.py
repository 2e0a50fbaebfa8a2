"""Compressed files, undone piece by piece: however much they grow, only one piece is in memory."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, Protocol

from betalike.errors import FileError, MissingDependencyError

CHUNK = 1 << 22  # bytes of a piece, in and out
MOST_DICTIONARY = 1 << 28  # bytes that a decompressor may ask for itself
ZSTANDARD_STEP = 1 << 10  # bytes in: each may become 32 KB, and the decompressor takes no bound
DAMAGED = "{} is compressed, but its compressed data is damaged or cut off."


class Decompressor(Protocol):
    """Undoes one stream of a file, which may hold several."""

    @property
    def eof(self) -> bool:
        """Return whether the stream has ended."""
        ...

    @property
    def needs_input(self) -> bool:
        """Return whether nothing more comes out before something goes in."""
        ...

    @property
    def unused_data(self) -> bytes:
        """Return what was given after the end."""
        ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """Take some bytes and return at most so many."""
        ...


def plain_chunks(file: IO[bytes], name: str) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces, decompressed if they begin like gzip, xz, bzip2 or Zstandard."""
    data = file.read(CHUNK)
    make = next((make for mark, make in COMPRESSED.items() if data.startswith(mark)), None)
    try:
        if make is not None:
            yield from _undo(file, data, make)
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


def _undo(file: IO[bytes], data: bytes, make: Callable[[], Decompressor]) -> Iterator[bytes]:
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

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


class _Zstandard:
    """One frame of a Zstandard file, through the package that has no bound on what comes out."""

    def __init__(self) -> None:
        import zstandard

        self._inner = zstandard.ZstdDecompressor(max_window_size=MOST_DICTIONARY).decompressobj()
        self._error = zstandard.ZstdError
        self._waiting = memoryview(b"")

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inner.unused_data) + bytes(self._waiting)

    @property
    def needs_input(self) -> bool:
        return not self._waiting

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
        return b"".join(pieces)


def _zstandard() -> Decompressor:
    try:
        from compression import zstd  # Python 3.14 and later
    except ImportError:
        try:
            return _Zstandard()
        except ImportError as error:
            raise MissingDependencyError(
                "reading .zst files needs Python 3.14 or the package 'zstandard': pip install 'betalike[zstd]'."
            ) from error
    return _BuiltInZstandard(zstd)


class _BuiltInZstandard:
    """One frame of a Zstandard file, through Python itself."""

    def __init__(self, zstd: Any) -> None:
        self._inner, self._error = zstd.ZstdDecompressor(), zstd.ZstdError

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inner.unused_data)

    @property
    def needs_input(self) -> bool:
        return bool(self._inner.needs_input)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        try:
            return bytes(self._inner.decompress(data, max_length))
        except self._error as error:
            raise ValueError(str(error)) from None


COMPRESSED: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": _Gzip,
    b"\xfd7zXZ\x00": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_DICTIONARY),
    b"BZh": bz2.BZ2Decompressor,
    b"\x28\xb5\x2f\xfd": _zstandard,
}
