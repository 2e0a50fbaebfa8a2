"""A CSV text from a file or from memory: one pass finds its encoding, delimiter, quotes and names, and checks it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from betalike.errors import FileError, ParameterError
from betalike.io.compression import CHUNK, plain_chunks
from betalike.io.csv_rows import NO_TEXT, QUOTE, CsvLayout, RowWalk
from betalike.io.sources import open_file, shown_name
from betalike.io.text_encoding import UTF_8, WESTERN, Utf8Check, marked_encoding, to_utf8

DELIMITERS = ",;\t|"
SAMPLE_BYTES = 1 << 16


@dataclass(frozen=True)
class CsvText:
    """A CSV text that can be read as often as needed, and what the first pass over it found."""

    name: str  # for messages
    read: Callable[[], Iterator[bytes]]  # yields its decompressed bytes
    encoding: str
    layout: CsvLayout
    is_plain: bool  # UTF-8 without a byte order mark or blank lines

    def rows(self, n_bytes: int) -> Iterator[bytes]:
        """Yield whole rows, the header first, as UTF-8 with plain line ends: at least `n_bytes` at a time."""
        marked, pieces = marked_encoding(self.read())
        if marked or self.encoding != UTF_8:
            pieces = to_utf8(pieces, marked or self.encoding, self.name)
        walk = RowWalk(self.layout.delimiter, self.name)
        gathered, n_gathered, rest = [], 0, b""
        for piece in pieces:
            rows, rest = walk.tidy(piece, rest)
            gathered.append(rows)
            n_gathered += len(rows)
            if n_gathered >= n_bytes:
                yield b"".join(gathered)
                gathered, n_gathered = [], 0
        yield b"".join([*gathered, walk.tidy_end(rest)])


def file_pieces(path: Path) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file."""
    with open_file(path) as file:
        yield from plain_chunks(file, shown_name(path))


def survey_file(path: Path, delimiter: str | None = None) -> CsvText:
    """Find out in one pass how to read a CSV file; it is decompressed again in each pass."""
    return survey(lambda: file_pieces(path), shown_name(path), delimiter)


def survey_bytes(data: bytes, name: str, delimiter: str | None = None) -> CsvText:
    """Find out in one pass how to read a CSV text in memory."""
    return survey(lambda: (data[i : i + CHUNK] for i in range(0, len(data), CHUNK)), name, delimiter)


def survey(read: Callable[[], Iterator[bytes]], name: str, delimiter: str | None) -> CsvText:
    """Find out in one pass how to read a CSV text; refuse rows of unequal length and ambiguous quotes."""
    marked, pieces = marked_encoding(read())
    if marked:
        pieces = to_utf8(pieces, marked, name)
    first = b""
    while len(first) < SAMPLE_BYTES and (piece := next(pieces, b"")):
        first += piece
    walk, check = RowWalk(recognize_delimiter(first[:SAMPLE_BYTES], name, delimiter), name), Utf8Check()
    for piece in itertools.chain([first], pieces):
        walk.check(piece)
        check.read(piece)
    check.read(b"", is_last=True)
    encoding = UTF_8 if check.is_valid else WESTERN  # in which every byte has a meaning
    layout = walk.finish(encoding)
    return CsvText(name, read, encoding, layout, marked is None and check.is_valid and layout.is_tidy)


def names_in_header(path: Path, delimiter: str | None = None) -> list[str] | None:
    """Return the column names of a CSV file from its first bytes; None if they depend on the rest of the file."""
    marked, pieces = marked_encoding(file_pieces(path))
    if marked:
        return None
    beginning = b""
    while len(beginning) < SAMPLE_BYTES and (piece := next(pieces, b"")):
        beginning += piece
    walk = RowWalk(recognize_delimiter(beginning[:SAMPLE_BYTES], shown_name(path), delimiter), shown_name(path))
    walk.check(beginning[:SAMPLE_BYTES])
    header = walk.plain_header
    return None if header is None else header.decode().split(walk.delimiter)


def recognize_delimiter(beginning: bytes, name: str, delimiter: str | None = None) -> str:
    """Return the delimiter of a CSV file, from its first bytes, unless it is given."""
    if b"\x00" in beginning:
        raise FileError(NO_TEXT.format(name))
    if delimiter and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in "\"'\r\n\0"):
        raise ParameterError(f"the delimiter is {delimiter!r}; it must be one character, such as ';'.")
    sample = beginning.decode("utf-8", errors="ignore").replace("\r\n", "\n")
    if len(beginning) >= SAMPLE_BYTES and "\n" in sample:
        sample = sample[: sample.rindex("\n") + 1]  # the last line may be cut off
    return delimiter or _guess_delimiter(sample)


def _guess_delimiter(sample: str) -> str:
    """Return the candidate that occurs equally often, and most often, in the first lines outside quotes."""
    outside = "".join(part for i, part in enumerate(sample.split(QUOTE)) if i % 2 == 0)
    lines = [line for line in outside.split("\n")[:100] if line] or [""]

    def score(candidate: str) -> tuple[float, int]:
        counts = [line.count(candidate) for line in lines]
        return (counts.count(counts[0]) / len(counts) if counts[0] else 0.0, counts[0])

    best = max(DELIMITERS, key=score)
    return best if score(best)[1] else ","
