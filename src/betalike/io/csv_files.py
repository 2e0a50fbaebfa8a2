"""CSV files that are read in batches: what cannot be read as it is becomes plain UTF-8 in a scratch folder first."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import lzma
import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from betalike.errors import FileError
from betalike.io.csv_text import (
    CHUNK,
    SAMPLE_BYTES,
    check_row_lengths,
    copy_zstandard,
    drop_blank_lines,
    recognize_signs,
)


def _copy_with(opener: Any) -> Callable[[IO[bytes], IO[bytes]], None]:
    def copy(compressed: IO[bytes], plain: IO[bytes]) -> None:
        with opener(compressed) as file:
            shutil.copyfileobj(file, plain, CHUNK)

    return copy


COMPRESSED = {
    b"\x1f\x8b": _copy_with(gzip.open),
    b"\xfd7zXZ\x00": _copy_with(lzma.open),
    b"BZh": _copy_with(bz2.open),
    b"\x28\xb5\x2f\xfd": copy_zstandard,
}
MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True)
class CsvFile:
    """A CSV file of plain UTF-8, with how it is to be read."""

    path: Path
    delimiter: str
    quote: str


def prepare_csv(path: Path, scratch: Path, delimiter: str | None = None) -> CsvFile:
    """A CSV file as plain UTF-8 without blank lines: itself, or a copy; refuse rows of unequal length."""
    name = path.name
    path = _to_utf8(_decompress(path, scratch), scratch)
    with path.open("rb") as file:
        beginning = file.read(SAMPLE_BYTES)
    if not beginning.strip(b" \r\n") and path.stat().st_size <= SAMPLE_BYTES:
        raise FileError(f"{name} is empty; a table needs a header line and at least one row.")
    chosen, quote = recognize_signs(beginning, name, delimiter)
    text = np.memmap(path, dtype=np.uint8, mode="r")
    if check_row_lengths(text, chosen, quote, name):
        with _copied(path, scratch) as copy:
            kept = np.memmap(copy, dtype=np.uint8, mode="w+", shape=text.shape)
            n_kept = drop_blank_lines(text, ord(quote), kept)
            kept.flush()
            os.truncate(copy, n_kept)
        path = copy
    return CsvFile(path, chosen, quote)


@contextlib.contextmanager
def _copied(path: Path, scratch: Path) -> Iterator[Path]:
    """A new file in the scratch folder; an earlier copy is not needed any more."""
    yield scratch / f"{len(list(scratch.iterdir()))}.csv"
    if path.parent == scratch:
        path.unlink()


def _decompress(path: Path, scratch: Path) -> Path:
    with path.open("rb") as file:
        magic = file.read(8)
    decompress = next((copy for mark, copy in COMPRESSED.items() if magic.startswith(mark)), None)
    if decompress is None:
        return path
    try:
        with _copied(path, scratch) as copy, path.open("rb") as compressed, copy.open("wb") as plain:
            decompress(compressed, plain)
    except (EOFError, lzma.LZMAError, zlib.error, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise FileError(f"{path.name} cannot be decompressed: {error.strerror}.") from error
        raise FileError(f"{path.name} is compressed, but its compressed data is damaged or cut off.") from error
    return copy


def _to_utf8(path: Path, scratch: Path) -> Path:
    with path.open("rb") as file:
        beginning = file.read(4)
    encoding = next((name for mark, name in MARKS.items() if beginning.startswith(mark)), None)
    if encoding is None and _is_utf8(path):
        return path
    with (
        _copied(path, scratch) as copy,
        path.open(encoding=encoding or "cp1252", errors="replace", newline="") as text,
        copy.open("w", encoding="utf-8", newline="") as plain,
    ):
        shutil.copyfileobj(text, plain, CHUNK)
    return copy


def _is_utf8(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        try:
            while chunk := file.read(CHUNK):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True
