"""What kind of CSV a file is: compression, encoding, delimiter, quotes, and whether its rows are of one length."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from betalike.compilation import kernel
from betalike.errors import FileError, MissingDependencyError, ParameterError

DELIMITERS = ",;\t|"
SAMPLE_BYTES = 1 << 16
CHUNK = 1 << 24


@dataclass(frozen=True)
class CsvText:
    """A CSV file's text as UTF-8 bytes, with how it is to be read."""

    data: bytes
    delimiter: str
    quote: str


def decompress(data: bytes, name: str) -> bytes:
    """Undo gzip, xz, bzip2 or Zstandard, recognized by their first bytes."""
    try:
        if data.startswith(b"\x1f\x8b"):
            return gzip.decompress(data)
        if data.startswith(b"\xfd7zXZ\x00"):
            return lzma.decompress(data)
        if data.startswith(b"BZh"):
            return bz2.decompress(data)
        if data.startswith(b"\x28\xb5\x2f\xfd"):
            return _decompress_zstandard(data)
    except (OSError, EOFError, lzma.LZMAError, zlib.error, ValueError) as error:
        raise FileError(f"{name} is compressed, but its compressed data is damaged or cut off.") from error
    return data


def _decompress_zstandard(data: bytes) -> bytes:
    plain = io.BytesIO()
    copy_zstandard(io.BytesIO(data), plain)
    return plain.getvalue()


def copy_zstandard(compressed: IO[bytes], plain: IO[bytes]) -> None:
    """Undo Zstandard frame by frame; a file may hold several."""
    make, damaged = _zstandard()
    frame, data, is_open = make(), b"", False
    while data or (data := compressed.read(CHUNK)):
        if not is_open:
            frame, is_open = make(), True
        try:
            plain.write(frame.decompress(data))
        except damaged as error:
            raise ValueError("damaged") from error
        data = frame.unused_data if frame.eof else b""
        is_open = not frame.eof
    if is_open:
        raise ValueError("cut off")


def _zstandard() -> tuple[Callable[[], Any], type[Exception]]:
    """What undoes a frame, and the error that it raises."""
    try:
        from compression import zstd  # Python 3.14 and later
    except ImportError:
        try:
            import zstandard
        except ImportError as error:
            raise MissingDependencyError(
                "reading .zst files needs Python 3.14 or the package 'zstandard': pip install 'betalike[zstd]'."
            ) from error
        return zstandard.ZstdDecompressor().decompressobj, zstandard.ZstdError
    return zstd.ZstdDecompressor, zstd.ZstdError


def recognize_csv(data: bytes, name: str, delimiter: str | None = None) -> CsvText:
    """Bring a CSV file's bytes to UTF-8 and find its delimiter and quote; refuse rows of unequal length."""
    data = _to_utf8(data)
    if not data.strip(b" \r\n"):
        raise FileError(f"{name} is empty; a table needs a header line and at least one row.")
    chosen, quote = recognize_signs(data[:SAMPLE_BYTES], name, delimiter)
    array = np.frombuffer(data, dtype=np.uint8)
    if check_row_lengths(array, chosen, quote, name):
        kept = np.empty_like(array)
        data = kept[: drop_blank_lines(array, ord(quote), kept)].tobytes()
    return CsvText(data, chosen, quote)


def recognize_signs(beginning: bytes, name: str, delimiter: str | None = None) -> tuple[str, str]:
    """The delimiter and the quote of a CSV file, from how it begins."""
    if b"\x00" in beginning:
        raise FileError(f"{name} is not a text file, nor Parquet or Arrow IPC; betalike reads CSV, Parquet, Arrow IPC.")
    sample = beginning.decode("utf-8", errors="ignore")
    quote = _guess_quote(sample)
    if delimiter and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
        raise ParameterError(f"the delimiter is {delimiter!r}; it must be one character, such as ';'.")
    return delimiter or _guess_delimiter(sample, quote), quote


def _to_utf8(data: bytes) -> bytes:
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, errors="replace").encode()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:  # Western European text, the usual other encoding, where every byte has a meaning
        return data.decode("cp1252", errors="replace").encode()
    return data


def _guess_quote(sample: str) -> str:
    double = sample.count('"')
    return "'" if double == 0 and any(d + "'" in sample for d in DELIMITERS) and "'" + "\n" in sample else '"'


def _guess_delimiter(sample: str, quote: str) -> str:
    """The candidate that occurs equally often, and most often, in the first lines outside quotes."""
    outside = "".join(part for i, part in enumerate(sample.split(quote)) if i % 2 == 0)
    lines = [line for line in outside.splitlines()[:100] if line] or [""]
    if len(lines) > 1 and len(sample) >= SAMPLE_BYTES - 4:
        lines = lines[:-1]  # the sample may end within a line
    scores = {}
    for candidate in DELIMITERS:
        counts = [line.count(candidate) for line in lines]
        same = sum(count == counts[0] for count in counts) / len(counts)
        scores[candidate] = (same if counts[0] else 0.0, counts[0])
    best = max(DELIMITERS, key=lambda candidate: scores[candidate])
    return best if scores[best][1] else ","


def check_row_lengths(array: NDArray[np.uint8], delimiter: str, quote: str, name: str) -> int:
    """Refuse rows of unequal length; returns how many lines are blank, which are no rows."""
    n_fields, n_bad, line, found, n_blank = _count_ragged(array, ord(delimiter), ord(quote))
    if found < 0:
        raise FileError(f"{name}: a quoted field is never closed. It may be cut off, or hold a stray quote ({quote}).")
    if n_bad:
        raise FileError(
            f"{name}: line {line} has {found} fields, but the header has {n_fields} ({n_bad} such "
            f"{'row' if n_bad == 1 else 'rows'} in all). Mend the file, or quote fields that hold the delimiter "
            f"({delimiter!r})."
        )
    return n_blank


@kernel
def _count_ragged(data: NDArray[np.uint8], delimiter: int, quote: int) -> tuple[int, int, int, int, int]:
    """Fields of the header, rows of another length, the first such row's line and fields, and blank lines.

    The fields are -1 where a quote is left open.
    """
    newline, carriage, space = 10, 13, 32
    n_blank = 0
    header = 0
    fields = 1
    line = 1
    row_line = 1
    n_bad = 0
    bad_line = 0
    bad_fields = 0
    is_quoted = False
    is_field_start = True
    is_quoted_field = False
    is_blank = True
    for i in range(len(data) + 1):
        byte = data[i] if i < len(data) else newline
        if is_quoted:
            if i == len(data):
                return header, n_bad, bad_line, -1, n_blank
            if byte == quote:
                is_quoted = False
            elif byte == newline:
                line += 1
            continue
        if byte == newline:
            if not is_blank:
                if header == 0:
                    header = fields
                elif fields != header:
                    if n_bad == 0:
                        bad_line = row_line
                        bad_fields = fields
                    n_bad += 1
            elif i < len(data):
                n_blank += 1
            line += 1
            row_line = line
            fields = 1
            is_field_start, is_quoted_field, is_blank = True, False, True
        elif byte == delimiter:
            fields += 1
            is_field_start, is_quoted_field, is_blank = True, False, False
        elif byte == quote and (is_field_start or is_quoted_field):  # opens, or is the second of a doubled quote
            is_quoted = True
            is_field_start, is_quoted_field, is_blank = False, True, False
        elif byte != carriage:
            is_field_start = False
            is_blank = is_blank and byte == space
    return header, n_bad, bad_line, bad_fields, n_blank


@kernel
def drop_blank_lines(data: NDArray[np.uint8], quote: int, out: NDArray[np.uint8]) -> int:
    """Copy a text without its blank lines outside quotes; how long it then is."""
    newline, carriage, space = 10, 13, 32
    n, line_start = 0, 0
    is_blank, is_quoted = True, False
    for i in range(len(data)):
        out[n] = data[i]
        n += 1
        if data[i] == quote:
            is_quoted = not is_quoted
            is_blank = False
        elif data[i] == newline and not is_quoted:
            if is_blank:
                n = line_start
            line_start = n
            is_blank = True
        elif data[i] != carriage and data[i] != space:
            is_blank = False
    return n
