"""The structure of Parquet files: the footer, and the header of each page, in the compact encoding of Thrift.

The footer lists row groups, a row group its columns, a column its first page; each page starts with a header.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from betalike.io.sources import Content, mapped

MAGIC = b"PAR1"
ROW_GROUPS = 4  # a field of the footer
COLUMNS = 1  # a field of a row group
COLUMN_FACTS = 3  # a field of a column
COMPRESSED, FIRST_PAGE, DICTIONARY_PAGE = 7, 9, 11  # fields of a column's facts
CLAIMED_SIZE, SIZE, DATA, DICTIONARY, NEWER_DATA = 2, 3, 5, 7, 8  # fields of a page's header
VALUES, COUNTS = 1, (1, 2, 3)  # fields in the headers of pages, and of newer data pages
MOST_LEVELS = 16


def ends_its_reader(path: Path) -> bool:
    """Return whether a page claims a negative number of values, which ends the process of Polars.

    It takes such a number for a large one, and there is not enough memory. All other damage is an error there.
    """
    try:
        with mapped(path) as content:
            columns = stored_columns(content)
            return any(min(_counts(page), default=0) < 0 for column in columns for page in pages_of(content, column))
    except (struct.error, LookupError, ValueError, TypeError, OSError):
        return False


def _counts(page: dict[int, Any]) -> list[int]:
    """Return how many values, missing ones and rows a page claims to have; a field of another type is no number."""
    parts = [
        (page.get(kind), fields) for kind, fields in ((DATA, (VALUES,)), (NEWER_DATA, COUNTS), (DICTIONARY, (VALUES,)))
    ]
    found = [part.get(field) for part, fields in parts if isinstance(part, dict) for field in fields]
    return [count for count in found if isinstance(count, int)]


def stored_columns(content: Content) -> Iterator[dict[int, Any]]:
    """Yield what the footer says about each column of each row group."""
    for group in footer_of(content)[0][ROW_GROUPS]:
        for column in group[COLUMNS]:
            if COLUMN_FACTS in column:
                yield column[COLUMN_FACTS]


def footer_of(content: Content) -> tuple[dict[int, Any], range]:
    """Return the footer and its place."""
    end = len(content) - len(MAGIC) - 4
    (size,) = struct.unpack_from("<i", content, end)
    reader = Thrift(content, end - size)
    footer = reader.struct()
    return footer, range(end - size, reader.place)


def pages_of(content: Content, column: dict[int, Any]) -> Iterator[dict[int, Any]]:
    """Yield the header of each page of a column, up to the first that cannot be read."""
    first = column[FIRST_PAGE]
    start = min(first, column.get(DICTIONARY_PAGE) or first)
    end = start + column[COMPRESSED]
    while 0 <= start < end:
        try:
            reader = Thrift(content, start)
            page = reader.struct()
        except (LookupError, ValueError):
            return
        yield page
        if page.get(SIZE, -1) < 0:
            return
        start = reader.place + page[SIZE]


class Thrift:
    """Reads the compact encoding of Thrift; a struct becomes a dictionary from field numbers to values."""

    def __init__(self, content: Content, place: int) -> None:
        if not 0 <= place < len(content):
            raise IndexError("the place is outside the file")
        self.content, self.place = content, place

    def struct(self, level: int = 0) -> dict[int, Any]:
        """Read a struct to its end."""
        fields: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != 0:
            step, kind = head >> 4, head & 15
            number = number + step if step else self._signed()
            fields[number] = self._value(kind, level)
        return fields

    def _value(self, kind: int, level: int) -> Any:
        if level > MOST_LEVELS:
            raise ValueError("nested too deeply")
        match kind:
            case 1 | 2:
                return kind == 1  # true and false are separate types
            case 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._signed()
            case 7:
                self._bytes(8)
                return None
            case 8:
                return self._bytes(self._unsigned())
            case 9 | 10:
                return self._list(level)
            case 11:
                return self._map(level)
            case 12:
                return self.struct(level + 1)
        raise ValueError("not a type")

    def _list(self, level: int) -> list[Any]:
        head = self._byte()
        count, kind = head >> 4, head & 15
        count = self._unsigned() if count == 15 else count
        return [self._item(kind, level + 1) for _ in range(count)]

    def _map(self, level: int) -> None:
        count = self._unsigned()
        kinds = self._byte() if count else 0
        for _ in range(count):
            self._item(kinds >> 4, level + 1)
            self._item(kinds & 15, level + 1)

    def _item(self, kind: int, level: int) -> Any:
        return self._byte() if kind in (1, 2) else self._value(kind, level)  # in a list, a boolean takes one byte

    def _bytes(self, n_bytes: int) -> bytes:
        start, self.place = self.place, self.place + n_bytes
        if self.place > len(self.content):
            raise IndexError("the value ends outside the file")
        return self.content[start : self.place]

    def _byte(self) -> int:
        value = self.content[self.place]
        self.place += 1
        return value

    def _unsigned(self) -> int:
        value = shift = 0
        while (part := self._byte()) & 128:
            value |= (part & 127) << shift
            shift += 7
            if shift > 63:
                raise ValueError("not a number")
        return value | part << shift

    def _signed(self) -> int:
        value = self._unsigned()
        return value >> 1 ^ -(value & 1)
