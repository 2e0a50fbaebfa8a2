"""The parts of a Parquet file that betalike wrote: is there anything beside the rows?

Whatever a reader does not show could hold the original table: metadata of the file or a column, values of a dictionary
that no row has, statistics, bytes between the pages. What Polars and Spark write is allowed, and nothing else.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from betalike.io.arrow_files import texts_of_schema
from betalike.io.parquet_files import (
    CLAIMED_SIZE,
    COLUMN_FACTS,
    COLUMNS,
    COMPRESSED,
    DATA,
    DICTIONARY,
    DICTIONARY_PAGE,
    FIRST_PAGE,
    MAGIC,
    NEWER_DATA,
    ROW_GROUPS,
    SIZE,
    VALUES,
    Thrift,
    footer_of,
)
from betalike.io.sources import Content, mapped
from betalike.io.surplus import SurplusError

# Which fields the structs of a file have, by their numbers: a number, a text, or another struct; a list has many.
NUMBER, TEXT = "number", "text"
TIME = {1: NUMBER, 2: {1: {}, 2: {}, 3: {}}}
LOGICAL_TYPE = {1: {}, 2: {}, 3: {}, 4: {}, 5: {1: NUMBER, 2: NUMBER}, 6: {}, 7: TIME, 8: TIME} | {
    10: {1: NUMBER, 2: NUMBER},
    **{number: {} for number in range(11, 16)},
}
STATISTICS = {1: TEXT, 2: TEXT, 3: NUMBER, 4: NUMBER, 5: TEXT, 6: TEXT, 7: NUMBER, 8: NUMBER}
ENCODING, SORTING = dict.fromkeys((1, 2, 3), NUMBER), dict.fromkeys((1, 2, 3), NUMBER)
ELEMENT = {4: TEXT, 10: LOGICAL_TYPE} | dict.fromkeys((1, 2, 3, 5, 6, 7, 8, 9), NUMBER)
FACTS = {3: TEXT, 12: STATISTICS, 13: ENCODING, 16: dict.fromkeys((1, 2, 3), NUMBER)}
FACTS |= dict.fromkeys((1, 2, 4, 5, 6, 7, 9, 11), NUMBER)
COLUMN = {2: NUMBER, 3: FACTS} | dict.fromkeys((4, 5, 6, 7), NUMBER)
GROUP = {1: COLUMN, 4: SORTING} | dict.fromkeys((2, 3, 5, 6, 7), NUMBER)
FOOTER = {1: NUMBER, 2: ELEMENT, 3: NUMBER, 4: GROUP, 5: {1: TEXT, 2: TEXT}, 6: TEXT, 7: {1: {}}}
PAGE = dict.fromkeys((1, 2, 3, 4), NUMBER) | {
    5: {5: STATISTICS} | dict.fromkeys((1, 2, 3, 4), NUMBER),
    7: dict.fromkeys((1, 2, 3), NUMBER),
    8: {8: STATISTICS} | dict.fromkeys(range(1, 8), NUMBER),
}
COLUMN_INDEX = {1: NUMBER, 2: TEXT, 3: TEXT, 4: NUMBER, 5: NUMBER, 6: NUMBER, 7: NUMBER}
PLACES = {1: dict.fromkeys((1, 2, 3), NUMBER), 2: NUMBER}
MOST_NUMBERS = 32  # in a list, where there is not one for each page
ELEMENTS, METADATA, WRITER, PATH, ROWS = 2, 5, 6, 3, 3  # fields of the footer, of a column's facts, of a row group
OF_STATISTICS = (5, 8, 12)  # fields of the headers of two kinds of pages, and of a column's facts
OF_PLACES, OF_INDEX = (4, 5), (6, 7)  # fields of a column: where they begin, and their lengths
WRITERS = re.compile(rb"[A-Za-z-]{1,20}( \(\w{1,20}\))?( version [\w.+-]{1,40}( \(build [0-9a-f]{0,40}\))?)?")
OF_LISTS = {"root", "schema", "spark_schema", "list", "element", "item", "array", "bag", "key_value", "key", "value"}
SPARK_TYPE = re.compile(r"[a-z_ ]{1,40}(\(\d+(,-?\d+)?\))?")
OF_SPARK = re.compile(r"[\w./+-]{0,40}")
OF_FIELD = 160  # bytes that a message has for a field, at most
TRUNCATED, LONGEST_NUMBER = 16, 16  # bytes: longer texts in statistics may be cut off; no number takes more
DAMAGED = (struct.error, LookupError, ValueError, TypeError, OSError)


def check_parts(path: Path) -> None:
    """Refuse a published Parquet file, or a folder of them, with anything but what its rows need."""
    schema = pl.scan_parquet(path, glob=False).collect_schema()
    _check_categories(path, schema)
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        try:
            with mapped(file) as content:
                _check_file(file, content, schema)
        except DAMAGED:
            raise SurplusError("places that cannot be read as those of a published file") from None


def _check_categories(path: Path, schema: pl.Schema) -> None:
    """Refuse categories that no row has."""
    for name, dtype in schema.items():
        if isinstance(dtype, pl.Enum):
            used = pl.scan_parquet(path, glob=False).select(pl.col(name).drop_nulls().unique())
            if used.collect(engine="streaming").height < len(dtype.categories):
                raise SurplusError("categories that no row has")


def _check_file(file: Path, content: Content, schema: pl.Schema) -> None:
    footer, place = footer_of(content)
    if place.stop != len(content) - len(MAGIC) - 4:
        raise SurplusError("bytes after its footer")
    _check_fields(footer, FOOTER)
    names = {name.encode() for name in OF_LISTS.union(_names(schema))}
    if any(element[4] not in names for element in footer[ELEMENTS]):
        raise SurplusError("names that no column has")
    if not WRITERS.fullmatch(footer.get(WRITER, b"x")):
        raise SurplusError("a writer that is not named as usual")
    _check_metadata(footer.get(METADATA, []), schema, names)
    spans = [(0, len(MAGIC)), (place.start, len(place))]
    first = 0
    for group in footer[ROW_GROUPS]:
        rows = pl.scan_parquet(file, glob=False).slice(first, group[ROWS])
        first += group[ROWS]
        for column in group[COLUMNS]:
            spans += _check_column(content, column, rows, schema)
    ends = [start + length for start, length in sorted(spans)]
    if [start for start, _ in sorted(spans)] != [0, *ends[:-1]]:
        raise SurplusError("bytes that belong to no column")


def _check_fields(value: Any, form: Any, most: int = MOST_NUMBERS) -> None:
    """Refuse fields that the form of a struct does not have."""
    if isinstance(value, list):
        if len(value) > most and form == NUMBER:
            raise SurplusError("more numbers than a published file")
        for item in value:
            _check_fields(item, form, most)
    elif isinstance(value, dict):
        if not isinstance(form, dict) or not value.keys() <= form.keys():
            raise SurplusError("fields that no published file has")
        for number, item in value.items():
            _check_fields(item, form[number], most)
    elif form != (TEXT if isinstance(value, bytes) else NUMBER):
        raise SurplusError("fields that no published file has")


def _names(schema: pl.Schema) -> Iterator[str]:
    """Yield the names of all columns, and of the fields in them."""
    for name, dtype in schema.items():
        yield name
        yield from _names(_inner(dtype))


def _inner(dtype: pl.DataType) -> pl.Schema:
    """Return the fields of a nested type."""
    if isinstance(dtype, pl.Struct):
        return pl.Schema(dtype.to_schema())
    return pl.Schema({"item": dtype.inner}) if isinstance(dtype, pl.List | pl.Array) else pl.Schema()


def _check_metadata(pairs: Sequence[dict[int, bytes]], schema: pl.Schema, names: set[bytes]) -> None:
    """Refuse metadata of the file other than the types of its columns."""
    found = {pair[1].decode(): pair.get(2, b"").decode() for pair in pairs}
    if len(found) < len(pairs):
        raise SurplusError("metadata that is repeated")
    for key, text in found.items():
        if key == "ARROW:schema":
            _check_arrow(base64.b64decode(text, validate=True), schema, names)
        elif key == "org.apache.spark.sql.parquet.row.metadata":
            document = json.loads(text)
            if json.dumps(document, separators=(",", ":"), ensure_ascii=False) != text:
                raise SurplusError("metadata in another form than Spark's")
            _check_spark(document, names)
        elif not key.startswith("org.apache.spark.") or not OF_SPARK.fullmatch(key + text):
            raise SurplusError("metadata of its own")


def _check_arrow(message: bytes, schema: pl.Schema, names: set[bytes]) -> None:
    """Refuse metadata of fields; Polars has some for categories, which are those of the columns."""
    fields, metadata = texts_of_schema(message)
    if any(name.encode() not in names for name in fields) or any(not key.startswith("_PL_") for key in metadata):
        raise SurplusError("metadata of its columns")
    most = sum(map(_longest_categories, schema.values()))
    if sum(len(text) for text in metadata.values()) > most or len(message) > most + sum(
        OF_FIELD + 2 * len(name.encode()) for name in ["", *fields]
    ):
        raise SurplusError("metadata of its columns")


def _longest_categories(dtype: pl.DataType) -> int:
    """Return how long the text is that names the categories of a type."""
    if isinstance(dtype, pl.Enum):
        return OF_FIELD + sum(len(text.encode()) + 12 for text in dtype.categories)
    return OF_FIELD + sum(map(_longest_categories, _inner(dtype).values())) + len(str(dtype))


def _check_spark(value: Any, names: set[bytes]) -> None:
    """Refuse metadata of columns in what Spark writes about their types."""
    if not isinstance(value, dict):
        raise SurplusError("metadata of its columns")
    for key, item in value.items():
        if key == "fields":
            for field in item:
                _check_spark(field, names)
        elif isinstance(item, dict) and key != "metadata":
            _check_spark(item, names)
        elif not _is_usual(key, item, names):
            raise SurplusError("metadata of its columns")


def _is_usual(key: str, item: Any, names: set[bytes]) -> bool:
    if key == "name":
        return isinstance(item, str) and item.encode() in names
    if key in ("type", "elementType", "keyType", "valueType"):
        return isinstance(item, str) and SPARK_TYPE.fullmatch(item) is not None
    if key == "metadata":
        return bool(item == {})
    return key in ("nullable", "containsNull", "valueContainsNull") and isinstance(item, bool)


def _check_column(
    content: Content, column: dict[int, Any], rows: pl.LazyFrame, schema: pl.Schema
) -> list[tuple[int, int]]:
    """Check the pages of a column of a row group, and return the places that belong to it."""
    facts = column[COLUMN_FACTS]
    pages = list(_pages(content, facts))
    spans, indexes = _places(content, column, len(pages))
    path = [name.decode() for name in facts[PATH]]
    values = _values(rows.select(path[0]).collect().to_series(), path[1:])
    values = values.cast(pl.Binary) if values.dtype == pl.String else values
    for page in pages:
        if DICTIONARY in page:
            _check_dictionary(page, values, schema[path[0]])
    parts = [facts, *(page.get(kind, {}) for page in pages for kind in (DATA, NEWER_DATA))]
    statistics = [part[field] for part in parts for field in OF_STATISTICS if isinstance(part.get(field), dict)]
    texts = {item for each in [*statistics, *indexes] for item in _texts(each)}
    if any(not _is_shown(text, values) for text in texts):
        raise SurplusError("statistics that are not those of its rows")
    return spans


def _texts(part: dict[int, Any]) -> Iterator[bytes]:
    """Yield the texts of a part of a file."""
    for item in part.values():
        yield from (text for text in (item if isinstance(item, list) else [item]) if isinstance(text, bytes))


def _places(
    content: Content, column: dict[int, Any], n_pages: int
) -> tuple[list[tuple[int, int]], list[dict[int, Any]]]:
    """Return the places that belong to a column, and its indexes: Polars repeats its facts after its pages."""
    facts = column[COLUMN_FACTS]
    end = _first_page(facts) + facts[COMPRESSED]
    spans = [(_first_page(facts), facts[COMPRESSED])]
    with contextlib.suppress(LookupError, ValueError):
        reader = Thrift(content, end)
        if reader.struct() == facts:
            spans.append((end, reader.place - end))
    indexes = []
    for (start, length), form in ((OF_PLACES, PLACES), (OF_INDEX, COLUMN_INDEX)):
        if start in column:
            reader = Thrift(content, column[start])
            indexes.append(reader.struct())
            _check_fields(indexes[-1], form, max(n_pages, MOST_NUMBERS))
            if reader.place != column[start] + column[length]:
                raise SurplusError("bytes after an index")
            spans.append((column[start], column[length]))
    return spans, indexes


def _first_page(facts: dict[int, Any]) -> int:
    first = int(facts[FIRST_PAGE])
    return min(first, facts.get(DICTIONARY_PAGE) or first)


def _pages(content: Content, facts: dict[int, Any]) -> Iterator[dict[int, Any]]:
    """Yield the header of each page of a column; refuse bytes between them."""
    place = _first_page(facts)
    end = place + facts[COMPRESSED]
    while place < end:
        reader = Thrift(content, place)
        page = reader.struct()
        _check_fields(page, PAGE)
        yield page
        place = reader.place + page[SIZE]
    if place != end:
        raise SurplusError("bytes after its pages")


def _values(column: pl.Series, path: Sequence[str]) -> pl.Series:
    """Return the distinct values of a column, or of a field of a nested one; categories as texts."""
    rest = list(path)
    while column.dtype.is_nested():
        if isinstance(column.dtype, pl.Struct):
            column = column.struct.field(rest.pop(0))
        else:
            column, rest = column.explode(), rest[2:]
    column = column.drop_nulls()
    if column.dtype.is_float():  # zeros of both signs are two values
        return pl.Series(np.unique(column.to_numpy().view(f"i{column.to_numpy().itemsize}")))
    values = column.unique()
    return values.cast(pl.String) if values.dtype in (pl.Categorical, pl.Enum) else values


def _check_dictionary(page: dict[int, Any], values: pl.Series, dtype: pl.DataType) -> None:
    """Refuse a dictionary with more values, or longer ones, than the rows have; that of an Enum has all categories."""
    texts = dtype.categories if isinstance(dtype, pl.Enum) else values
    if texts.dtype in (pl.String, pl.Binary):
        n_bytes = int(texts.cast(pl.Binary).bin.size().sum()) + 4 * len(texts)
        if page[CLAIMED_SIZE] > n_bytes:
            raise SurplusError("values that no row has")
    if page[DICTIONARY].get(VALUES, 0) > len(texts):
        raise SurplusError("values that no row has")


def _is_shown(text: bytes, values: pl.Series) -> bool:
    """Return whether a text of statistics is a value of a column, or the beginning of one; the last sign may differ."""
    if values.dtype != pl.Binary:
        return len(text) <= LONGEST_NUMBER
    if len(text) < TRUNCATED:  # an empty text stands for the ends of a page without values
        return not text or bool((values == pl.Series([text])).any())
    return bool(values.bin.starts_with(text[:-4]).any())
