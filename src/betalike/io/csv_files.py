"""CSV files of any compression, encoding and line ends: recognized once, then read as a whole or in batches."""

from __future__ import annotations

import functools
import io
import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source

from betalike.errors import FileError, SchemaError
from betalike.io.compression import is_compressed, plain_chunks
from betalike.io.csv_text import (
    MARKS,
    SAMPLE_BYTES,
    UTF_8,
    WESTERN,
    Layout,
    RowWalk,
    Utf8Check,
    recode,
    recognize_csv,
    recognize_signs,
)
from betalike.io.damage import compiled_code_silenced
from betalike.io.sources import check_unchanged, interruptible, open_file, shown_name, stamp_of
from betalike.table.schema import check_columns

INFER_ROWS = 10_000
PARSED_BYTES = 1 << 24  # of text at once
NOT_CSV = "{} cannot be read as CSV with the delimiter {!r}. Is it another kind of file?"
DOUBLED = "{} has more than one column {}. Give each column a name of its own."
NO_ROOM = (
    "{} does not fit in memory: its cells alone take more than {} MB. Publish it with --engine outofcore, or allow "
    "more with --memory."
)
NO_ROWS = "{} has a header but no rows; there is nothing to publish."

Types = dict[str, Any]


@dataclass(frozen=True)
class CsvFile:
    """A CSV file that is read in batches, and what it was found to be."""

    path: Path
    encoding: str
    layout: Layout
    is_plain: bool  # can be read as it is

    def rows(self) -> Iterator[bytes]:
        """Yield its rows without the header, as UTF-8 with plain line ends, some whole rows at a time."""
        quote = self.layout.signs.quote or '"'
        walk = RowWalk(self.layout.signs.delimiter, quote, shown_name(self.path))
        gathered, n_gathered, rest = [], 0, b""
        for piece in text_pieces(self.path, self.encoding):
            rows, rest = walk.tidy(piece, rest)
            gathered.append(rows)
            n_gathered += len(rows)
            if n_gathered >= PARSED_BYTES:
                yield b"".join(gathered)
                gathered, n_gathered = [], 0
        yield b"".join([*gathered, walk.tidy_end(rest)])


@dataclass(frozen=True)
class Wanted:
    """What is read of CSV files: some columns or all, which of them as text, and which texts are missing values."""

    columns: Sequence[str] | None
    as_text: Collection[str] | None  # None for all of them
    missing: Sequence[str]

    def places(self, names: Sequence[str], file_name: str) -> list[int]:
        """Return where the wanted columns stand; refuse columns that are not there, or there twice."""
        check_distinct(names, self.columns, file_name)
        check_columns(self.columns or (), names)
        return [names.index(column) for column in (names if self.columns is None else self.columns)]

    def options(self, layout: Layout, types: Types | None, infer_rows: int | None = None) -> dict[str, Any]:
        """Return how Polars is to parse rows: in these types, or in those that it infers from so many rows."""
        if types is None and self.as_text is None:
            types = {}
        shared: dict[str, Any] = {
            "has_header": False,
            "separator": layout.signs.delimiter,
            "quote_char": layout.signs.quote,
            "null_values": ["", *self.missing],  # an empty field is missing, quoted or not
        }
        if types is not None:
            named = {standing_name(i): types[name] for i, name in enumerate(layout.names) if name in types}
            return {**shared, "infer_schema": False, "schema_overrides": named}
        texts = [standing_name(i) for i, name in enumerate(layout.names) if name in (self.as_text or ())]
        inferred = {"infer_schema_length": infer_rows, "try_parse_dates": True}
        return {**shared, **inferred, "schema_overrides": dict.fromkeys(texts, pl.String)}


def standing_name(place: int) -> str:
    """Return the name that Polars gives to a column of a file without a header."""
    return f"{_first_name()[:-1]}{place + int(_first_name()[-1])}"


@functools.cache
def _first_name() -> str:
    return pl.read_csv(b"0\n", has_header=False).columns[0]  # versions of Polars begin with 0 or with 1


def check_distinct(names: Sequence[str], wanted: Sequence[str] | None, file_name: str) -> None:
    """Refuse a table that has a wanted column twice."""
    doubled = next((name for name in (names if wanted is None else wanted) if names.count(name) > 1), None)
    if doubled is not None:
        shown = f"named '{doubled}'" if wanted else "of the same name"  # without a header line it would be a cell
        raise SchemaError(DOUBLED.format(file_name, shown))


def text_pieces(path: Path, encoding: str | None = None) -> Iterator[bytes]:
    """Yield a file decompressed, without its byte order mark; as UTF-8, if its encoding is known or has a mark."""
    with open_file(path) as file:
        chunks = plain_chunks(file, shown_name(path))
        first = b""
        while len(first) < 3 and (chunk := next(chunks, b"")):
            first += chunk
        mark = next((mark for mark in MARKS if first.startswith(mark)), b"")
        pieces = itertools.chain([first[len(mark) :]], chunks)
        if not mark and encoding in (None, UTF_8):
            yield from pieces
        else:
            yield from recode(pieces, MARKS.get(mark) or encoding or UTF_8, shown_name(path))


def survey_csv(path: Path, delimiter: str | None = None) -> CsvFile:
    """Find out how a CSV file is to be read, in one pass; refuse rows of unequal length and odd quotes."""
    name = shown_name(path)
    pieces = text_pieces(path)
    first = b""
    while len(first) < SAMPLE_BYTES and (piece := next(pieces, b"")):
        first += piece
    walk, check = RowWalk(*recognize_signs(first[:SAMPLE_BYTES], name, delimiter), name), Utf8Check()
    for piece in itertools.chain([first], pieces):
        walk.check(piece)
        check.see(piece)
    check.see(b"", is_last=True)
    encoding = UTF_8 if check.is_valid else WESTERN
    layout = walk.finish(encoding)
    with open_file(path) as file:
        beginning = file.read(8)
    is_bare = not is_compressed(beginning) and not beginning.startswith(tuple(MARKS))
    return CsvFile(path, encoding, layout, is_bare and check.is_valid and layout.is_tidy)


def load_csv(path: Path, wanted: Wanted, delimiter: str | None, most_bytes: int) -> pl.DataFrame:
    """Read a CSV file into memory, unless its text alone is more than this."""
    name = shown_name(path)
    with interruptible():
        text = recognize_csv(_read_plain(path, most_bytes), name, delimiter)
    layout = text.layout
    places = wanted.places(layout.names, name)
    if layout.n_rows == 0:
        raise FileError(NO_ROWS.format(name))
    for infer_rows in (INFER_ROWS, None):
        try:
            with compiled_code_silenced():
                options = wanted.options(layout, None, infer_rows)
                frame = pl.read_csv(text.data, columns=places, skip_rows=1, low_memory=False, **options)
        except (pl.exceptions.PolarsError, OSError):  # its message shows cells of the table: never pass it on
            continue
        if frame.height == layout.n_rows:
            return _named(frame, [layout.names[place] for place in places])
    raise FileError(NOT_CSV.format(name, layout.signs.delimiter))


def _read_plain(path: Path, most_bytes: int) -> bytes:
    """Return the decompressed bytes of a file, if they are not more than this."""
    text = io.BytesIO()
    with open_file(path) as file:
        for piece in plain_chunks(file, shown_name(path)):
            text.write(piece)
            if text.tell() > most_bytes:
                raise FileError(NO_ROOM.format(shown_name(path), most_bytes >> 20))
    return text.getvalue()


def _named(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    return frame.rename(dict(zip(frame.columns, names, strict=True)))


def scan_csv(paths: Sequence[Path], wanted: Wanted, delimiter: str | None) -> tuple[pl.LazyFrame, int]:
    """Return CSV files as one table to be read in batches, and its number of rows; types are those of all rows."""
    stamp = stamp_of(paths)
    with interruptible():
        files = [survey_csv(path, delimiter) for path in paths]
    first = files[0]
    names = list(first.layout.names if wanted.columns is None else wanted.columns)
    for file in files:
        wanted.places(file.layout.names, shown_name(file.path))
        if wanted.columns is None and sorted(file.layout.names) != sorted(names):
            raise FileError(f"{shown_name(file.path)} has other columns than {shown_name(first.path)}.")
    n_rows = sum(file.layout.n_rows for file in files)
    if n_rows == 0:
        raise FileError(NO_ROWS.format(shown_name(first.path)))
    is_uniform = len({(file.layout.signs, *file.layout.names) for file in files}) == 1
    if is_uniform and all(file.is_plain for file in files):
        table = _scan_plain(files, wanted, names, n_rows)
    else:
        table = _scan_streamed(files, Wanted(names, wanted.as_text, wanted.missing), names, n_rows, stamp)
    if table is None:
        raise FileError(NOT_CSV.format(shown_name(first.path), first.layout.signs.delimiter))
    return table, n_rows


def _scan_plain(files: Sequence[CsvFile], wanted: Wanted, names: list[str], n_rows: int) -> pl.LazyFrame | None:
    """Leave the reading to Polars; None if it cannot read all rows."""
    layout = files[0].layout
    for infer_rows in (INFER_ROWS, None):
        try:
            options = wanted.options(layout, None, infer_rows)
            table = pl.scan_csv([file.path for file in files], skip_rows=1, **options)
            table = table.select(pl.col(standing_name(layout.names.index(name))).alias(name) for name in names)
            if count_to_the_end(table) == n_rows:
                return table
        except (pl.exceptions.PolarsError, OSError):  # its message shows cells of the table
            continue
    return None


def count_to_the_end(table: pl.LazyFrame) -> int:
    """Read every cell of a table and return how many rows it has."""
    with compiled_code_silenced():
        counted = table.select(pl.len().alias("0"), pl.all().null_count().name.prefix("n")).collect(engine="streaming")
    return int(counted["0"].item())


def _scan_streamed(
    files: Sequence[CsvFile], wanted: Wanted, names: list[str], n_rows: int, stamp: list[tuple[int, ...]]
) -> pl.LazyFrame | None:
    """Decompress, recode and parse some rows at a time, in every pass; None if that fails."""
    paths = [file.path for file in files]

    def frames(types: Types | None, infer_rows: int | None = None, chosen: Sequence[str] = names) -> Iterator[Any]:
        check_unchanged(paths, stamp)
        for file in files:
            options = wanted.options(file.layout, types, infer_rows)
            places = [file.layout.names.index(name) for name in chosen]
            for number, rows in enumerate(file.rows()):
                skipped = 0 if number else 1
                if len(rows) and (number or file.layout.n_rows):
                    parsed = pl.read_csv(rows, columns=places, skip_rows=skipped, **options)
                    yield _named(parsed, chosen)
        check_unchanged(paths, stamp)

    def source(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_wanted: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        for frame in frames(types, chosen=with_columns or names):
            frame = frame if predicate is None else frame.filter(predicate)
            if n_wanted is not None:
                frame = frame.head(n_wanted)
                n_wanted -= frame.height
            yield frame
            if n_wanted == 0:
                return

    for infer_rows in (INFER_ROWS, None):
        try:
            types = _types(frames(None, infer_rows), is_first_enough=infer_rows is not None)
            if sum(frame.height for frame in frames(types)) == n_rows:
                return register_io_source(source, schema=types)
        except pl.exceptions.PolarsError:  # its message shows cells of the table
            continue
    return None


def _types(frames: Iterator[pl.DataFrame], is_first_enough: bool) -> Types:
    """Return the types that hold for the first rows, or for all of them."""
    types: Types = {}
    for frame in frames:
        for column in frame:
            if column.null_count() < len(column):
                types[column.name] = _joint_type(types.get(column.name, column.dtype), column.dtype)
        names = frame.columns
        if is_first_enough:
            break
    return {name: types.get(name, pl.String) for name in names}


def _joint_type(one: pl.DataType, other: pl.DataType) -> pl.DataType:
    """Return the type that Polars infers where it sees values of both."""
    if one == other:
        return one
    if one.is_numeric() and other.is_numeric():
        return pl.Float64() if pl.Float64 in (one, other) else pl.Int128()
    return pl.String()
