"""What kind of CSV a text is: its delimiter, quote and line ends, and whether its rows are of one length."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from betalike.errors import FileError, ParameterError
from betalike.runtime.compilation import kernel

DELIMITERS = ",;\t|"
SAMPLE_BYTES = 1 << 16
CHUNK = 1 << 22
LONGEST_ROW = 1 << 26  # bytes; a longer one is no row of a table
MOST_FIELDS = 1 << 16
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
UTF_8, WESTERN = "utf-8", "cp1252"
SAME_NUMBER = "betalike-same-number"  # how bytes are decoded that Windows-1252 lacks
NO_TEXT = "{} is not a text file, nor Parquet or Arrow IPC; betalike reads CSV, Parquet, Arrow IPC."
EMPTY = "{} is empty; a table needs a header line and at least one row."

Bytes = NDArray[np.uint8]
NOTHING: Bytes = np.empty(0, dtype=np.uint8)

# Places of the numbers that are remembered from one piece of a text to the next.
PLACE, FIELDS, LINE, ROW_LINE, ROW_BYTES, HAS_CONTENT, AFTER_CR = 0, 1, 2, 3, 4, 5, 6
N_HEADER, N_ROWS, N_BLANK, N_LONE_CR, N_BAD, BAD_LINE, BAD_FIELDS = 7, 8, 9, 10, 11, 12, 13
N_QUOTED, N_INNER, INNER_LINE, N_OPEN, OPEN_LINE, N_STRAY, STRAY_LINE = 14, 15, 16, 17, 18, 19, 20
N_OUT, ROW_START_OUT, N_READ, HEADER_START, HEADER_END, N_STATE = 21, 22, 23, 24, 25, 26
AT_START, IN_PLAIN, IN_QUOTES, AFTER_QUOTE = 0, 1, 2, 3


@dataclass(frozen=True)
class Signs:
    """How the fields of a CSV text are set apart; a quote of None means that no field is quoted."""

    delimiter: str
    quote: str | None


@dataclass(frozen=True)
class Layout:
    """What a whole CSV text was found to be."""

    signs: Signs
    names: list[str]
    n_rows: int
    is_tidy: bool  # neither blank lines nor lone carriage returns as line ends


class RowWalk:
    """Goes through a CSV text piece by piece: checks its rows, and copies them without what readers stumble over."""

    def __init__(self, delimiter: str, quote: str, name: str) -> None:
        self._delimiter, self._quote, self._name = delimiter, quote, name
        self._state = np.zeros(N_STATE, dtype=np.int64)
        self._state[[LINE, ROW_LINE]] = 1
        self._state[[HEADER_START, HEADER_END]] = -1
        self._beginning: list[bytes] = []

    def check(self, piece: bytes) -> None:
        """Check the rows of the next piece; what is wrong is reported at the end, except rows without an end."""
        if b"\x00" in piece:
            raise FileError(NO_TEXT.format(self._name))
        if self._state[HEADER_END] < 0:
            self._beginning.append(piece)
        self._walk(np.frombuffer(piece, dtype=np.uint8), NOTHING)

    def tidy(self, piece: bytes, before: bytes = b"") -> tuple[bytes, bytes]:
        """Return whole rows with plain line ends, and the beginning of a row, which is the next call's `before`."""
        out = np.empty(len(before) + len(piece) + 2, dtype=np.uint8)
        out[: len(before)] = np.frombuffer(before, dtype=np.uint8)
        self._state[[N_OUT, ROW_START_OUT]] = len(before), 0
        self._walk(np.frombuffer(piece, dtype=np.uint8), out)
        end, start = int(self._state[N_OUT]), int(self._state[ROW_START_OUT])
        return out[:start].tobytes(), out[start:end].tobytes()

    def tidy_end(self, before: bytes) -> bytes:
        """Return the last row, which may lack its line end."""
        return before + b"\n" if self._state[HAS_CONTENT] else b""

    def _walk(self, piece: Bytes, out: Bytes) -> None:
        walk_rows(piece, ord(self._delimiter), ord(self._quote), self._quote == '"', self._state, out)
        if self._state[ROW_BYTES] > LONGEST_ROW:
            raise FileError(
                f"{self._name}: the row that begins in line {self._state[ROW_LINE]} is longer than "
                f"{LONGEST_ROW >> 20} MB. Is a quote ({self._quote}) not closed, or is it no CSV file?"
            )

    def finish(self, encoding: str = "utf-8") -> Layout:
        """Refuse rows of unequal length and quotes that leave open where a field ends."""
        state, name, quote = self._state, self._name, self._quote
        if state[PLACE] == IN_QUOTES:
            raise FileError(
                f"{name}: a quoted field is never closed. It may be cut off, or hold a stray quote ({quote})."
            )
        state[N_LONE_CR] += state[AFTER_CR]
        if state[HAS_CONTENT] or state[AFTER_CR] or state[ROW_BYTES]:
            self._walk(np.frombuffer(b"\n", dtype=np.uint8), NOTHING)
        if state[HEADER_END] < 0:
            raise FileError(EMPTY.format(name))
        self._refuse_quotes()
        if state[N_BAD]:
            raise FileError(
                f"{name}: line {state[BAD_LINE]} has {state[BAD_FIELDS]} fields, but the header has {state[N_HEADER]} "
                f"({_counted(state[N_BAD], 'such row')} in all). Fix the file, or quote fields that hold the "
                f"delimiter ({self._delimiter!r})."
            )
        if state[N_HEADER] > MOST_FIELDS:
            raise FileError(f"{name} has more than {MOST_FIELDS} columns; is it a table with a header line?")
        signs = Signs(self._delimiter, None if state[N_INNER] else quote)
        header = b"".join(self._beginning)[state[HEADER_START] : state[HEADER_END]]
        is_tidy = not (state[N_BLANK] or state[N_LONE_CR])
        return Layout(
            signs, _header_names(header.decode(encoding, SAME_NUMBER), signs, name), int(state[N_ROWS]), is_tidy
        )

    def _refuse_quotes(self) -> None:
        state, name, quote = self._state, self._name, self._quote
        if state[N_OPEN]:
            raise FileError(
                f"{name}: line {state[OPEN_LINE]} has a quote ({quote}) that is not closed in its line "
                f"({_counted(state[N_OPEN], 'such line')} in all). Quote fields that hold it with double quotes."
            )
        if state[N_STRAY] or (state[N_INNER] and state[N_QUOTED]):
            line, count = (state[STRAY_LINE], state[N_STRAY]) if state[N_STRAY] else (state[INNER_LINE], state[N_INNER])
            raise FileError(
                f"{name}: line {line} has a stray quote ({quote}) inside a field ({count} in all). "
                f"Quote the whole field, and double each quote in it ({quote}{quote})."
            )

    def is_consistent(self) -> bool:
        """Return whether fields are quoted, and no quote stands anywhere else."""
        state = self._state
        return bool(state[N_QUOTED]) and not (state[N_INNER] or state[N_OPEN] or state[N_STRAY])


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _header_names(header: str, signs: Signs, name: str) -> list[str]:
    """Return the names in the header line, as they stand there."""
    reader = csv.reader(io.StringIO(header, newline=""), delimiter=signs.delimiter, quotechar=signs.quote or "\0")
    try:
        return next(reader)
    except csv.Error:
        raise FileError(f"{name} has a column name that is too long. Is the first line a header line?") from None


def recognize_signs(beginning: bytes, name: str, delimiter: str | None = None) -> tuple[str, str]:
    """Return the delimiter and the quote of a CSV file, from how it begins.

    A single quote is one only if it is used in no other way, and as a quote is: an apostrophe is not.
    """
    if b"\x00" in beginning:
        raise FileError(NO_TEXT.format(name))
    if delimiter and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in "\"'\r\n\0"):
        raise ParameterError(f"the delimiter is {delimiter!r}; it must be one character, such as ';'.")
    sample = re.sub("\r\n?", "\n", beginning.decode("utf-8", errors="ignore"))
    if len(beginning) >= SAMPLE_BYTES and "\n" in sample:
        sample = sample[: sample.rindex("\n") + 1]  # it may end within a line
    if '"' not in sample and "'\n" in sample:
        chosen = delimiter or _guess_delimiter(sample, "'")
        walk = RowWalk(chosen, "'", name)
        walk.check(sample.encode())
        if f"{chosen}'" in sample and walk.is_consistent() and _is_quoting(sample, chosen):
            return chosen, "'"
    return delimiter or _guess_delimiter(sample, '"'), '"'


def _is_quoting(sample: str, delimiter: str) -> bool:
    """Return whether single quotes hold delimiters, or stand around every field of a column, as quotes do."""
    rows = [line.split(delimiter) for line in sample.split("\n") if line]
    if len({len(row) for row in rows}) > 1:
        return True
    return any(all(field[:1] == field[-1:] == "'" for field in column) for column in zip(*rows[1:], strict=True))


def _guess_delimiter(sample: str, quote: str) -> str:
    """Return the candidate that occurs equally often, and most often, in the first lines outside quotes."""
    outside = "".join(part for i, part in enumerate(sample.split(quote)) if i % 2 == 0)
    lines = [line for line in outside.split("\n")[:100] if line] or [""]
    scores = {}
    for candidate in DELIMITERS:
        counts = [line.count(candidate) for line in lines]
        same = sum(count == counts[0] for count in counts) / len(counts)
        scores[candidate] = (same if counts[0] else 0.0, counts[0])
    best = max(DELIMITERS, key=lambda candidate: scores[candidate])
    return best if scores[best][1] else ","


@dataclass(frozen=True)
class CsvText:
    """A CSV file's text as UTF-8 bytes with plain line ends, and what it was found to be."""

    data: bytes
    layout: Layout


def recode(pieces: Iterable[bytes], encoding: str, name: str) -> Iterator[bytes]:
    """Yield a text as UTF-8; refuse UTF-16 that is cut off within a character."""
    decoder = codecs.getincrementaldecoder(encoding)(errors=SAME_NUMBER if encoding == WESTERN else "strict")
    try:
        for piece in pieces:
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeDecodeError:  # its message holds the text
        raise FileError(f"{name} begins like {encoding[:6].upper()} text but is damaged or cut off.") from None


def _same_number(error: UnicodeError) -> tuple[str, int]:
    """Turn the five bytes that Windows-1252 has no character for into the control characters of the same number."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error(SAME_NUMBER, _same_number)


class Utf8Check:
    """Whether a text that comes in pieces is UTF-8."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder(UTF_8)()
        self.is_valid = True

    def see(self, piece: bytes, is_last: bool = False) -> None:
        """Check the next piece."""
        if self.is_valid:
            try:
                self._decoder.decode(piece, final=is_last)
            except UnicodeDecodeError:
                self.is_valid = False


def recognize_csv(data: bytes, name: str, delimiter: str | None = None) -> CsvText:
    """Bring a CSV file's bytes to UTF-8 with plain line ends; refuse rows of unequal length and odd quotes."""
    data = _to_utf8(data, name)
    if not data.strip(b" \r\n"):
        raise FileError(EMPTY.format(name))
    signs = recognize_signs(data[:SAMPLE_BYTES], name, delimiter)
    walk = RowWalk(*signs, name)
    walk.check(data)
    layout = walk.finish()
    if not layout.is_tidy:
        walk = RowWalk(*signs, name)
        rows, rest = walk.tidy(data)
        data = rows + walk.tidy_end(rest)
    return CsvText(data, layout)


def _to_utf8(data: bytes, name: str) -> bytes:
    mark = next((mark for mark in MARKS if data.startswith(mark)), b"")
    if mark:
        return b"".join(recode([data[len(mark) :]], MARKS[mark], name))
    check = Utf8Check()
    if not data.isascii():
        for start in range(0, len(data), CHUNK):
            check.see(data[start : start + CHUNK])
        check.see(b"", is_last=True)
    # else Western European text, the usual other encoding, where every byte has a meaning
    return data if check.is_valid else data.decode(WESTERN, errors=SAME_NUMBER).encode()


@kernel
def walk_rows(data: Bytes, delimiter: int, quote: int, spans_lines: bool, state: NDArray[np.int64], out: Bytes) -> None:
    """Go through the next bytes of a CSV text, from where the state says to where it then says.

    If there is room in `out`, rows are copied to it: each line end as a newline, blank lines left out.
    """
    newline, carriage, space = 10, 13, 32
    copies = len(out) > 0
    place, fields, line, row_bytes = state[PLACE], state[FIELDS], state[LINE], state[ROW_BYTES]
    has_content, after_cr, n_out = state[HAS_CONTENT] != 0, state[AFTER_CR] != 0, state[N_OUT]
    n_before = state[N_READ]
    n = len(data)
    i = 0
    while i < n and row_bytes <= LONGEST_ROW:
        byte = data[i]
        ends = False
        if after_cr:
            after_cr = False
            ends = True
            if byte == newline:
                i += 1
            else:
                state[N_LONE_CR] += 1
        elif place == IN_QUOTES and (spans_lines or (byte != newline and byte != carriage)):
            if byte == quote:
                place = AFTER_QUOTE
            elif byte == newline:
                line += 1
            row_bytes += 1
            if copies:
                out[n_out] = byte
                n_out += 1
            i += 1
            continue
        elif byte == carriage:
            after_cr = True
            i += 1
            continue
        elif byte == newline:
            ends = True
            i += 1
        if ends:
            if place == IN_QUOTES:
                if state[N_OPEN] == 0:
                    state[OPEN_LINE] = line
                state[N_OPEN] += 1
            if has_content:
                if state[HEADER_END] < 0:
                    state[HEADER_END] = n_before + i
                    state[N_HEADER] = fields + 1
                else:
                    state[N_ROWS] += 1
                    if fields + 1 != state[N_HEADER]:
                        if state[N_BAD] == 0:
                            state[BAD_LINE] = state[ROW_LINE]
                            state[BAD_FIELDS] = fields + 1
                        state[N_BAD] += 1
                if copies:
                    out[n_out] = newline
                    n_out += 1
            else:
                state[N_BLANK] += 1
                n_out = state[ROW_START_OUT]
            line += 1
            state[ROW_LINE] = line
            state[ROW_START_OUT] = n_out
            fields, row_bytes, place, has_content = 0, 0, AT_START, False
            continue
        if state[HEADER_START] < 0 and byte != space:
            state[HEADER_START] = n_before + i - row_bytes
        if byte == delimiter:
            fields += 1
            place = AT_START
            has_content = True
        elif byte == quote:
            has_content = True
            if place == AT_START:
                place = IN_QUOTES
                state[N_QUOTED] += 1
            elif place == AFTER_QUOTE:  # the second of a doubled quote
                place = IN_QUOTES
            else:
                if state[N_INNER] == 0:
                    state[INNER_LINE] = line
                state[N_INNER] += 1
        else:
            if place == AFTER_QUOTE:
                if state[N_STRAY] == 0:
                    state[STRAY_LINE] = line
                state[N_STRAY] += 1
            place = IN_PLAIN
            has_content = has_content or byte != space
        row_bytes += 1
        if copies:
            out[n_out] = byte
            n_out += 1
        i += 1
    state[PLACE], state[FIELDS], state[LINE], state[ROW_BYTES] = place, fields, line, row_bytes
    state[HAS_CONTENT], state[AFTER_CR], state[N_OUT] = has_content, after_cr, n_out
    state[N_READ] = n_before + n
