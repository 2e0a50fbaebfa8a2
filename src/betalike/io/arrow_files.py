"""Arrow IPC streams as tables, and the texts of a schema as Arrow writes it in its metadata, also within Parquet."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from betalike.errors import FileError, SchemaError
from betalike.io.damaged_files import compiled_code_silenced, damage_refused
from betalike.io.sources import Content, open_file

NEW_MESSAGE = b"\xff\xff\xff\xff"
END = NEW_MESSAGE + bytes(4)  # of a stream, without which a batch may be missing
HEADER = 2  # a field of a message
FIELDS, SCHEMA_METADATA, MESSAGE_METADATA = 1, 2, 4  # fields of a schema, and of a message
NAME, CHILDREN, FIELD_METADATA = 0, 5, 6  # fields of a field
KEY, VALUE = 0, 1  # fields of metadata
DEEPEST = 16


def is_stream(beginning: bytes) -> bool:
    """Return whether a file with this beginning is an Arrow IPC stream, as programs write it into a pipe."""
    return beginning.startswith(NEW_MESSAGE)


def read_stream(path: Path, shown: str) -> pl.DataFrame:
    """Read an Arrow IPC stream."""
    damaged = f"{shown} looks like an Arrow IPC stream but cannot be read; it is damaged or cut off."
    with damage_refused(damaged), compiled_code_silenced(), open_file(path) as file:
        file.seek(-len(END), os.SEEK_END)
        if file.read() != END:
            raise FileError(damaged)
        file.seek(0)
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
        place = self.field(number)
        if place is None:
            return
        first = _root(self.content, place).start
        (count,) = struct.unpack_from("<I", self.content, first)
        yield from (_root(self.content, item) for item in range(first + 4, first + 4 + 4 * count, 4))


def _root(content: Content, place: int) -> _Table:
    """Return the table that the offset at this place points to."""
    (offset,) = struct.unpack_from("<I", content, _inside(content, place))
    return _Table(content, _inside(content, place + offset))


def _inside(content: Content, place: int) -> int:
    """Return the place if it is inside the file; Python would count a negative one from the end."""
    if not 0 <= place < len(content):
        raise IndexError("the place is outside the file")
    return place
