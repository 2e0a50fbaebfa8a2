"""Compressed files, decompressed piece by piece: however much they grow, only one piece is in memory."""

from __future__ import annotations

import bz2
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, Protocol, cast

from betalike.errors import BetalikeError, FileError, MissingDependencyError

CHUNK = 1 << 22  # bytes of a piece, in and out
MOST_DICTIONARY = 1 << 28  # bytes that a decompressor may request
TOO_LARGE = ("limit", "too much memory")  # how the decompressors say that they would need more
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
    except (BetalikeError, MemoryError):
        raise
    except Exception as error:  # each decompressor has errors of its own
        if any(words in str(error) for words in TOO_LARGE):
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


def _zstandard() -> Decompressor:
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError as error:
        raise MissingDependencyError(
            "reading .zst files needs Python 3.14 or the package 'backports.zstd': pip install 'betalike[zstd]'."
        ) from error
    largest = {int(zstd.DecompressionParameter.window_log_max): MOST_DICTIONARY.bit_length() - 1}
    return cast("Decompressor", zstd.ZstdDecompressor(options=largest))


COMPRESSED: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": _Gzip,
    b"\xfd7zXZ\x00": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_DICTIONARY),
    b"BZh": bz2.BZ2Decompressor,
    b"\x28\xb5\x2f\xfd": _zstandard,
}
