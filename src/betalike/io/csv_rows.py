"""Rows of a CSV text: checked for equal length and proper quotes, and copied with plain line ends."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from betalike.errors import FileError
from betalike.io.text_encoding import SAME_NUMBER
from betalike.runtime.compilation import kernel

LONGEST_ROW = 1 << 26  # bytes; a longer row is not a row of a table
MOST_FIELDS = 1 << 16
EMPTY = "{} is empty; a table needs a header line and at least one row."
NO_TEXT = (
    "{} is not a text file, nor another that betalike reads: CSV, Parquet, Arrow IPC, Excel, OpenDocument, SPSS, "
    "Stata, SAS. Is it damaged?"
)

Bytes = NDArray[np.uint8]
NOTHING: Bytes = np.empty(0, dtype=np.uint8)

# Indexes of the numbers that the kernel keeps from one piece of a text to the next.
PLACE, FIELDS, LINE, ROW_LINE, ROW_BYTES, HAS_CONTENT, AFTER_CR = 0, 1, 2, 3, 4, 5, 6
N_HEADER, N_ROWS, N_BLANK, N_LONE_CR, N_BAD, BAD_LINE, BAD_FIELDS = 7, 8, 9, 10, 11, 12, 13
N_QUOTED, N_INNER, INNER_LINE, LONE_LINE, N_STRAY, STRAY_LINE = 14, 15, 16, 17, 18, 19
N_OUT, ROW_START_OUT, N_READ, HEADER_START, HEADER_END, ZERO = 20, 21, 22, 23, 24, 25
DIGITS, HAS_POINT, N_STATE = 26, 27, 28
AT_START, IN_PLAIN, IN_QUOTES, AFTER_QUOTE = 0, 1, 2, 3
MAY_BE_ZERO, NOT_ZERO, IS_ZERO = 0, 1, 2  # the first sign of a field, after a quote and a sign
QUOTE = '"'
WRITTEN_DIGITS = 17  # of a floating-point number at most


@dataclass(frozen=True)
class CsvLayout:
    """Delimiter and quote of a CSV text, its column names, and how many rows it has."""

    delimiter: str
    quote: str | None  # None if no field is quoted, so that a quote is a character like any other
    names: tuple[str, ...]
    n_rows: int
    texts: tuple[str, ...]  # columns with numbers that begin with a zero, which are codes, or have many digits
    is_tidy: bool  # no blank lines


class RowWalk:
    """Reads a CSV text piece by piece: checks its rows, or copies them with plain line ends."""

    def __init__(self, delimiter: str, name: str) -> None:
        self.delimiter, self._name = delimiter, name
        self._state = np.zeros(N_STATE, dtype=np.int64)
        self._state[[LINE, ROW_LINE]] = 1
        self._state[[HEADER_START, HEADER_END]] = -1
        self._texts = np.zeros(MOST_FIELDS, dtype=np.bool_)  # columns with numbers that are read as text
        self._beginning: list[bytes] = []

    def check(self, piece: bytes) -> None:
        """Check the next piece. Errors wait for `finish`, except binary data and a row that is too long."""
        if b"\x00" in piece:
            raise FileError(NO_TEXT.format(self._name))
        if self._state[HEADER_END] < 0:
            self._beginning.append(piece)
        self._walk(piece, NOTHING)

    def tidy(self, piece: bytes, before: bytes = b"") -> tuple[bytes, bytes]:
        """Return whole rows with plain line ends, and the start of a row: the `before` of the next call."""
        out = np.empty(len(before) + len(piece) + 2, dtype=np.uint8)
        out[: len(before)] = np.frombuffer(before, dtype=np.uint8)
        self._state[[N_OUT, ROW_START_OUT]] = len(before), 0
        self._walk(piece, out)
        end, start = int(self._state[N_OUT]), int(self._state[ROW_START_OUT])
        return out[:start].tobytes(), out[start:end].tobytes()

    def tidy_end(self, before: bytes) -> bytes:
        """Return the last row, which may lack its line end."""
        return before + b"\n" if self._state[HAS_CONTENT] else b""

    def finish(self, encoding: str) -> CsvLayout:
        """Return the layout of the whole text; refuse rows of unequal length and ambiguous quotes."""
        state, name = self._state, self._name
        if state[PLACE] == IN_QUOTES:
            raise FileError(
                f"{name}: a quoted field is never closed. The file may be cut off, or have a stray quote ({QUOTE})."
            )
        if state[N_LONE_CR] or state[AFTER_CR]:
            line = state[LONE_LINE] or state[LINE]
            raise FileError(
                f"{name}: line {line} has a carriage return without a line feed, as at each line end of old "
                "Macs. Save the file with line feeds, or put fields that contain a carriage return in double quotes."
            )
        if state[HAS_CONTENT] or state[AFTER_CR] or state[ROW_BYTES]:
            self._walk(b"\n", NOTHING)
        if state[HEADER_END] < 0:
            raise FileError(EMPTY.format(name))
        self._refuse_quotes()
        if state[N_BAD]:
            raise FileError(
                f"{name}: line {state[BAD_LINE]} has {state[BAD_FIELDS]} fields, but the header has {state[N_HEADER]} "
                f"({_counted(state[N_BAD], 'such row')} in all). Fix the file, or put fields that contain the "
                f"delimiter ({self.delimiter!r}) in double quotes."
            )
        if state[N_HEADER] > MOST_FIELDS:
            raise FileError(f"{name} has more than {MOST_FIELDS} columns; is it a table with a header line?")
        header = b"".join(self._beginning)[state[HEADER_START] : state[HEADER_END]].decode(encoding, SAME_NUMBER)
        used_quote = None if state[N_INNER] else QUOTE
        names = self._names(header, used_quote)
        texts = tuple(name for name, is_text in zip(names, self._texts[: len(names)], strict=True) if is_text)
        return CsvLayout(self.delimiter, used_quote, names, int(state[N_ROWS]), texts, not state[N_BLANK])

    @property
    def plain_header(self) -> bytes | None:
        """The header line as read so far, if it is complete and says the same in every encoding and with any quotes."""
        start, end = int(self._state[HEADER_START]), int(self._state[HEADER_END])
        header = b"".join(self._beginning)[start:end].rstrip(b"\r\n")
        return header if end > 0 and header.isascii() and QUOTE.encode() not in header else None

    def _walk(self, piece: bytes, out: Bytes) -> None:
        data = np.frombuffer(piece, dtype=np.uint8)
        walk_rows(data, ord(self.delimiter), self._state, self._texts, out)
        if self._state[ROW_BYTES] > LONGEST_ROW:
            raise FileError(
                f"{self._name}: the row that begins in line {self._state[ROW_LINE]} is longer than "
                f"{LONGEST_ROW >> 20} MB. Is a quote ({QUOTE}) not closed, or is this not a CSV file?"
            )

    def _refuse_quotes(self) -> None:
        state = self._state
        if state[N_STRAY] or (state[N_INNER] and state[N_QUOTED]):
            line, count = (state[STRAY_LINE], state[N_STRAY]) if state[N_STRAY] else (state[INNER_LINE], state[N_INNER])
            raise FileError(
                f"{self._name}: line {line} has a stray quote ({QUOTE}) inside a field ({count} in all). "
                f"Quote the whole field, and double each quote in it ({QUOTE}{QUOTE})."
            )

    def _names(self, header: str, quote: str | None) -> tuple[str, ...]:
        lines = csv.reader(io.StringIO(header, newline=""), delimiter=self.delimiter, quotechar=quote or "\0")
        try:
            return tuple(next(lines))
        except csv.Error:
            message = f"{self._name} has a column name that is too long. Is the first line a header line?"
            raise FileError(message) from None


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


@kernel
def walk_rows(
    data: Bytes,
    delimiter: int,
    state: NDArray[np.int64],
    texts: NDArray[np.bool_],
    out: Bytes,
) -> None:
    """Read the next bytes of a CSV text, update the state, and note the columns with numbers that are read as text.

    These begin with a zero, or have a point and more digits than a floating-point number holds.

    If `out` has room, copy the rows to it, with a newline for each line end and without blank lines.
    """
    newline, carriage, space, quote, plus, minus, point, first_digit, last_digit = 10, 13, 32, 34, 43, 45, 46, 48, 57
    copies = len(out) > 0
    place, fields, line, row_bytes = state[PLACE], state[FIELDS], state[LINE], state[ROW_BYTES]
    has_content, after_cr, n_out = state[HAS_CONTENT] != 0, state[AFTER_CR] != 0, state[N_OUT]
    n_before, zero, digits, has_point = state[N_READ], state[ZERO], state[DIGITS], state[HAS_POINT] != 0
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
                if state[N_LONE_CR] == 0:
                    state[LONE_LINE] = line
                state[N_LONE_CR] += 1
        elif place == IN_QUOTES:
            if byte == quote:
                place = AFTER_QUOTE
            elif byte == newline:
                line += 1
            if first_digit <= byte <= last_digit:
                digits += digits > 0 or byte != first_digit  # zeros before all others say nothing
                if (zero == IS_ZERO or (has_point and digits > WRITTEN_DIGITS)) and fields < len(texts):
                    texts[fields] = texts[fields] or state[HEADER_END] >= 0
            elif byte == point:
                has_point = True
            if zero != NOT_ZERO and byte != plus and byte != minus:
                zero = IS_ZERO if zero == MAY_BE_ZERO and byte == first_digit else NOT_ZERO
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
            fields, row_bytes, place, has_content, zero = 0, 0, AT_START, False, MAY_BE_ZERO
            digits, has_point = 0, False
            continue
        if state[HEADER_START] < 0 and byte != space:
            state[HEADER_START] = n_before + i - row_bytes
        if byte == delimiter:
            fields += 1
            place = AT_START
            zero, digits, has_point = MAY_BE_ZERO, 0, False
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
            if first_digit <= byte <= last_digit:
                digits += digits > 0 or byte != first_digit  # zeros before all others say nothing
                if (zero == IS_ZERO or (has_point and digits > WRITTEN_DIGITS)) and fields < len(texts):
                    texts[fields] = texts[fields] or state[HEADER_END] >= 0
            elif byte == point:
                has_point = True
            if zero != NOT_ZERO and byte != plus and byte != minus:
                zero = IS_ZERO if zero == MAY_BE_ZERO and byte == first_digit else NOT_ZERO
        row_bytes += 1
        if copies:
            out[n_out] = byte
            n_out += 1
        i += 1
    state[PLACE], state[FIELDS], state[LINE], state[ROW_BYTES] = place, fields, line, row_bytes
    state[HAS_CONTENT], state[AFTER_CR], state[N_OUT] = has_content, after_cr, n_out
    state[N_READ], state[ZERO], state[DIGITS], state[HAS_POINT] = n_before + n, zero, digits, has_point
