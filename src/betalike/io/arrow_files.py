"""A check of Arrow IPC files and streams before they are read: can compressed buffers be as long as they claim?

Polars reserves the claimed length of a buffer before it reads the content, and the whole process ends if there is not
enough memory. So a damaged length must be found first. The file has the layout of the Arrow columnar format: a footer
lists the messages, a message describes its batch, and a batch lists its buffers. A stream has only the messages, one
after the other.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from betalike.errors import FileError, SchemaError
from betalike.io.damaged_files import compiled_code_silenced, damage_refused
from betalike.io.sources import Content, mapped, open_file

MAGIC = b"ARROW1"
NEW_MESSAGE = b"\xff\xff\xff\xff"
MOST_PER_BYTE = 1 << 16  # no codec of Arrow expands a byte to more; a run of zstd has 32,768
ROOM_FOR_SHORT_BUFFERS = 1 << 20
DICTIONARIES, BATCHES = 2, 3  # fields of a footer
HEADER_TYPE, HEADER, BODY_LENGTH = 1, 2, 3  # fields of a message
DICTIONARY_MESSAGE, BATCH_MESSAGE = 2, 3  # types of a header
DICTIONARY_BATCH = 1  # a field of a dictionary message
BUFFERS, COMPRESSION = 2, 3  # fields of a batch
FIELDS, SCHEMA_METADATA, MESSAGE_METADATA = 1, 2, 4  # fields of a schema, and of a message
NAME, CHILDREN, FIELD_METADATA = 0, 5, 6  # fields of a field
KEY, VALUE = 0, 1  # fields of metadata
DEEPEST = 16


def has_false_claims(path: Path) -> bool:
    """Return whether a file claims more than its compressed buffers can hold, or is not an Arrow IPC file."""
    try:
        with mapped(path) as content:
            return any(_is_false(content, start, length) for start, length in _compressed_buffers(content))
    except (struct.error, IndexError, ValueError, OSError):
        return True


def is_stream(beginning: bytes) -> bool:
    """Return whether a file with this beginning is an Arrow IPC stream, as programs write it into a pipe."""
    return beginning.startswith(NEW_MESSAGE)


def read_stream(path: Path, shown: str) -> pl.DataFrame:
    """Read an Arrow IPC stream."""
    damaged = f"{shown} looks like an Arrow IPC stream but cannot be read; it is damaged or cut off."
    try:
        with mapped(path) as content:
            is_false = any(_is_false(content, start, length) for start, length in _buffers_of_stream(content))
    except (struct.error, IndexError, ValueError, OSError):
        is_false = True
    if is_false:
        raise FileError(damaged)
    with damage_refused(damaged), compiled_code_silenced(), open_file(path) as file:
        try:
            return pl.read_ipc_stream(file)
        except pl.exceptions.DuplicateError:
            raise SchemaError(f"{shown} has more than one column of the same name. Name each differently.") from None


def texts_of_schema(message: bytes) -> tuple[list[str], dict[str, str]]:
    """Return the names of all fields that a message of a schema has, nested ones too, and all of its metadata."""
    names: list[str] = []
    metadata: dict[str, str] = {}

    def visit(table: _Table, fields: int, custom: int, level: int = 0) -> None:
        if level > DEEPEST:
            raise ValueError("nested too deeply")
        metadata.update((pair.text(KEY), pair.text(VALUE)) for pair in table.tables(custom))
        for field in table.tables(fields):
            names.append(field.text(NAME))
            visit(field, CHILDREN, FIELD_METADATA, level + 1)

    root = _root(message, 8)
    schema = root.table(HEADER)
    if schema is not None:
        visit(schema, FIELDS, SCHEMA_METADATA)
    metadata.update((pair.text(KEY), pair.text(VALUE)) for pair in root.tables(MESSAGE_METADATA))
    return names, metadata


def _buffers_of_stream(content: Content) -> Iterator[tuple[int, int]]:
    """Yield the start and the length of each compressed buffer of a stream."""
    start = 0
    while True:
        (size,) = struct.unpack_from("<i", content, _inside(content, start + 4))
        if size == 0:  # the mark at the end, without which a batch may be missing
            return
        body = start + 8 + size
        length = _root(content, start + 8).long(BODY_LENGTH)
        if size < 0 or length < 0 or body + length > len(content):
            raise ValueError("a message ends after the stream")
        yield from _buffers_of(content, start, body)
        start = body + length


def _is_false(content: Content, start: int, length: int) -> bool:
    """Return whether a compressed buffer claims an impossible length; -1 means that it is not compressed."""
    claimed: int = struct.unpack_from("<q", content, _inside(content, start))[0]
    return claimed < -1 or claimed > ROOM_FOR_SHORT_BUFFERS + MOST_PER_BYTE * length


def _compressed_buffers(content: Content) -> Iterator[tuple[int, int]]:
    """Yield the start and the length of each compressed buffer of a file."""
    end = len(content) - len(MAGIC) - 4
    (size,) = struct.unpack_from("<i", content, _inside(content, end))
    footer = _root(content, end - size)
    for number in (DICTIONARIES, BATCHES):
        for place in footer.structs(number, 24):
            start, metadata = struct.unpack_from("<qi", content, place)
            yield from _buffers_of(content, start, start + metadata)


def _buffers_of(content: Content, start: int, body: int) -> Iterator[tuple[int, int]]:
    """Yield the compressed buffers of one message."""
    is_new = content[_inside(content, start) : start + 4] == NEW_MESSAGE  # older files lack this mark
    message = _root(content, start + (8 if is_new else 4))
    kind, batch = message.byte(HEADER_TYPE), message.table(HEADER)
    if kind == DICTIONARY_MESSAGE and batch is not None:
        batch = batch.table(DICTIONARY_BATCH)
    elif kind != BATCH_MESSAGE:
        return
    if batch is not None and batch.table(COMPRESSION) is not None:
        for place in batch.structs(BUFFERS, 16):
            offset, length = struct.unpack_from("<qq", content, place)
            if length > 0:
                yield body + offset, length


class _Table(NamedTuple):
    """A table in the FlatBuffers encoding, which Arrow uses for its metadata."""

    content: Content
    start: int

    def field(self, number: int) -> int | None:
        """Return the place of a field, or None if the table leaves it out."""
        (back,) = struct.unpack_from("<i", self.content, self.start)
        fields = _inside(self.content, self.start - back)
        (size,) = struct.unpack_from("<H", self.content, fields)
        if 4 + 2 * number + 2 > size:
            return None
        (offset,) = struct.unpack_from("<H", self.content, fields + 4 + 2 * number)
        return _inside(self.content, self.start + offset) if offset else None

    def byte(self, number: int) -> int:
        """Return a field of one byte, or 0 if it is left out."""
        place = self.field(number)
        return 0 if place is None else self.content[place]

    def long(self, number: int) -> int:
        """Return a field of eight bytes, or 0 if it is left out."""
        place = self.field(number)
        return 0 if place is None else int(struct.unpack_from("<q", self.content, place)[0])

    def table(self, number: int) -> _Table | None:
        """Return a field that is a table."""
        place = self.field(number)
        return None if place is None else _root(self.content, place)

    def text(self, number: int) -> str:
        """Return a field that is a text, or an empty one if it is left out."""
        place = self.field(number)
        if place is None:
            return ""
        first = _root(self.content, place).start
        (length,) = struct.unpack_from("<I", self.content, first)
        return self.content[first + 4 : _inside(self.content, first + 3 + length) + 1].decode()

    def tables(self, number: int) -> Iterator[_Table]:
        """Yield the tables of a field that is a list of them."""
        yield from (_root(self.content, place) for place in self.structs(number, 4))

    def structs(self, number: int, size: int) -> Iterator[int]:
        """Yield the place of each item of a field that is a list; each item has this size."""
        place = self.field(number)
        if place is None:
            return
        first = _root(self.content, place).start
        (count,) = struct.unpack_from("<I", self.content, first)
        yield from range(first + 4, first + 4 + count * size, size)


def _root(content: Content, place: int) -> _Table:
    """Return the table that the offset at this place points to."""
    (offset,) = struct.unpack_from("<I", content, _inside(content, place))
    return _Table(content, _inside(content, place + offset))


def _inside(content: Content, place: int) -> int:
    """Return the place if it is inside the file; Python would count a negative one from the end."""
    if not 0 <= place < len(content):
        raise IndexError("the place is outside the file")
    return place
