"""CSV files as tables: read into memory at once, or in batches, by the same rules."""

from __future__ import annotations

import contextlib
import functools
import io
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
from polars.io.plugins import register_io_source

from betalike.errors import FileError, SchemaError
from betalike.io.compression import is_compressed
from betalike.io.csv_rows import CsvLayout
from betalike.io.csv_text import CsvText, file_pieces, survey_bytes, survey_file
from betalike.io.damaged_files import compiled_code_silenced
from betalike.io.missing_codes import code_texts
from betalike.io.sources import interruptible, read_beginning, shown_name
from betalike.table.schema import check_columns

INFER_ROWS = 10_000
PARSED_BYTES = 1 << 24
NOT_CSV = "{} cannot be read as CSV with the delimiter {!r}. Is it another kind of file?"
DOUBLED = "{} has more than one column {}. Give each column a different name."
NO_ROOM = (
    "{} does not fit in memory: its cells alone take more than {} MB. betalike publish reads such a table in batches; "
    "other commands need more memory."
)
NO_ROWS = "{} has a header but no rows; there is nothing to publish."

Types = dict[str, Any]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Wanted:
    """What to read from CSV files: which columns, which of them as text, and which texts are missing values."""

    columns: Sequence[str] | None  # None for all
    as_text: Collection[str] | None  # None for all
    missing: Sequence[str]
    forms: Collection[str] = ()  # columns that are read as text if they hold real numbers, to keep 1.10 as it is
    parsed_bytes: int = PARSED_BYTES  # of text at once

    def with_forms(self, found: pl.DataFrame | pl.LazyFrame) -> Wanted:
        """Return what to read as text too, after types were inferred; NaN is a number, but its text would be none."""
        types = found.lazy().collect_schema()
        reals = [name for name in self.forms if name in types and types[name].is_float()]
        if not reals or self.as_text is None:
            return self
        has_nan = found.lazy().select(pl.col(reals).is_nan().any()).collect(engine="streaming").row(0)
        texts = [name for name, is_strange in zip(reals, has_nan, strict=True) if not is_strange]
        return replace(self, as_text={*self.as_text, *texts})

    def places(self, names: Sequence[str], file_name: str) -> list[int]:
        """Return the positions of the wanted columns; refuse columns that are missing or occur twice."""
        wanted = names if self.columns is None else self.columns
        doubled = next((name for name in wanted if names.count(name) > 1), None)
        if doubled is not None:
            # Without a header line, a name would be a cell of the table.
            shown = f"named '{doubled}'" if self.columns else "of the same name"
            raise SchemaError(DOUBLED.format(file_name, shown))
        check_columns(self.columns or (), names)
        return [names.index(column) for column in wanted]

    def options(self, layout: CsvLayout, types: Types | None, infer_rows: int | None = None) -> dict[str, Any]:
        """Return the options for Polars: parse into `types`, or infer types from the first `infer_rows` rows."""
        if types is None and self.as_text is None:
            types = {}
        shared: dict[str, Any] = {
            "has_header": False,
            "separator": layout.delimiter,
            "quote_char": layout.quote,
            "null_values": ["", *code_texts(self.missing)],  # an empty field is missing, quoted or not
        }
        if types is not None:
            named = {_position_name(i): types[name] for i, name in enumerate(layout.names) if name in types}
            return {**shared, "infer_schema": False, "schema_overrides": named}
        as_text = {*(self.as_text or ()), *layout.texts}
        texts = [_position_name(i) for i, name in enumerate(layout.names) if name in as_text]
        inferred = {"infer_schema_length": infer_rows}
        return {**shared, **inferred, "schema_overrides": dict.fromkeys(texts, pl.String)}

    def parse(self, rows: bytes, layout: CsvLayout, has_header: bool, **how: Any) -> pl.DataFrame:
        """Parse rows of a text into the wanted columns."""
        names = layout.names if self.columns is None else self.columns
        places = [layout.names.index(name) for name in names]
        parsed = pl.read_csv(rows, columns=places, skip_rows=int(has_header), **self.options(layout, **how))
        return parsed.rename(dict(zip(parsed.columns, names, strict=True)))


def _position_name(place: int) -> str:
    """Return the name that Polars gives to a column of a file without a header."""
    return f"{_first_name()[:-1]}{place + int(_first_name()[-1])}"


@functools.cache
def _first_name() -> str:
    return pl.read_csv(b"0\n", has_header=False).columns[0]  # versions of Polars begin with 0 or with 1


def _with_inferred_types(text: CsvText, attempt: Callable[[int | None], Found | None]) -> Found:
    """Infer types from the first rows, or from all rows if later ones do not fit."""
    for infer_rows in (INFER_ROWS, None):
        # Messages of Polars show cells of the table: never pass them on.
        with contextlib.suppress(pl.exceptions.PolarsError, OSError), compiled_code_silenced():
            found = attempt(infer_rows)
            if found is not None:
                return found
    raise FileError(NOT_CSV.format(text.name, text.layout.delimiter))


def load_csv(path: Path, wanted: Wanted, delimiter: str | None, most_bytes: int) -> pl.DataFrame:
    """Read a CSV file into memory, unless its text alone takes more than `most_bytes`."""
    with interruptible():
        data = _read_plain(path, most_bytes)
        text = survey_bytes(data, shown_name(path), delimiter)
        wanted.places(text.layout.names, text.name)
        if text.layout.n_rows == 0:
            raise FileError(NO_ROWS.format(text.name))
        rows = data if text.is_plain else b"".join(text.rows(wanted.parsed_bytes))

    def attempt(infer_rows: int | None) -> pl.DataFrame | None:
        frame = wanted.parse(rows, text.layout, has_header=True, types=None, infer_rows=infer_rows)
        formed = wanted.with_forms(frame)
        if formed is not wanted:
            frame = formed.parse(rows, text.layout, has_header=True, types=None, infer_rows=infer_rows)
        return frame if frame.height == text.layout.n_rows else None

    return _with_inferred_types(text, attempt)


def _read_plain(path: Path, most_bytes: int) -> bytes:
    """Return the decompressed bytes of a file, unless they are more than `most_bytes`."""
    data = io.BytesIO()
    for piece in file_pieces(path):
        data.write(piece)
        if data.tell() > most_bytes:
            raise FileError(NO_ROOM.format(shown_name(path), most_bytes >> 20))
    return data.getvalue()


def scan_csv(
    paths: Sequence[Path], wanted: Wanted, delimiter: str | None, check: Callable[[], None]
) -> tuple[pl.LazyFrame, int]:
    """Return CSV files as one table to read in batches, and its number of rows; types fit all rows."""
    with interruptible():
        texts = [survey_file(path, delimiter) for path in paths]
    first = texts[0]
    names = list(first.layout.names if wanted.columns is None else wanted.columns)
    for text in texts:
        wanted.places(text.layout.names, text.name)
        if wanted.columns is None and sorted(text.layout.names) != sorted(names):
            raise FileError(f"{text.name} has other columns than {first.name}.")
    n_rows = sum(text.layout.n_rows for text in texts)
    if n_rows == 0:
        raise FileError(NO_ROWS.format(first.name))
    as_text = None if wanted.as_text is None else {*wanted.as_text, *(name for t in texts for name in t.layout.texts)}
    wanted = replace(wanted, columns=names, as_text=as_text)
    is_uniform = len({(text.layout.delimiter, text.layout.quote, *text.layout.names) for text in texts}) == 1
    are_plain = all(text.is_plain for text in texts) and not any(is_compressed(read_beginning(p, 8)) for p in paths)
    if is_uniform and are_plain:
        return _scan_plain(first, paths, wanted, n_rows), n_rows
    return _scan_streamed(texts, wanted, n_rows, check), n_rows


def _scan_plain(text: CsvText, paths: Sequence[Path], wanted: Wanted, n_rows: int) -> pl.LazyFrame:
    """Let Polars read the files itself, which is fastest; it reads plain text alone."""
    places = {name: _position_name(text.layout.names.index(name)) for name in wanted.columns or ()}

    def scan(wanted: Wanted, infer_rows: int | None) -> pl.LazyFrame:
        table = pl.scan_csv(list(paths), skip_rows=1, **wanted.options(text.layout, None, infer_rows))
        return table.select(pl.col(place).alias(name) for name, place in places.items())

    def attempt(infer_rows: int | None) -> pl.LazyFrame | None:
        table = scan(wanted, infer_rows)
        if count_to_the_end(table) != n_rows:
            return None
        formed = wanted.with_forms(table)
        return table if formed is wanted else scan(formed, infer_rows)

    return _with_inferred_types(text, attempt)


def count_to_the_end(table: pl.LazyFrame) -> int:
    """Read every cell of a table and return the number of rows."""
    with compiled_code_silenced():
        counted = table.select(pl.len().alias("0"), pl.all().null_count().name.prefix("n")).collect(engine="streaming")
    return int(counted["0"].item())


def _scan_streamed(
    texts: Sequence[CsvText], wanted: Wanted, n_rows: int, check_source: Callable[[], None]
) -> pl.LazyFrame:
    """Decompress, decode and parse some rows at a time, again in every pass."""

    def frames(wanted: Wanted, types: Types | None, infer_rows: int | None = None) -> Iterator[pl.DataFrame]:
        check_source()
        for text in texts:
            for number, rows in enumerate(text.rows(wanted.parsed_bytes)):
                if len(rows) and (number or text.layout.n_rows):
                    yield wanted.parse(rows, text.layout, has_header=number == 0, types=types, infer_rows=infer_rows)
        check_source()

    def attempt(infer_rows: int | None) -> pl.LazyFrame | None:
        types = _types(frames(wanted, None, infer_rows), is_first_enough=infer_rows is not None)
        if sum(frame.height for frame in frames(wanted, types)) != n_rows:
            return None

        def source(
            with_columns: list[str] | None, predicate: pl.Expr | None, n_wanted: int | None, batch_size: int | None
        ) -> Iterator[pl.DataFrame]:
            for frame in frames(replace(wanted, columns=with_columns or wanted.columns), types):
                frame = frame if predicate is None else frame.filter(predicate)
                if n_wanted is not None:
                    frame = frame.head(n_wanted)
                    n_wanted -= frame.height
                yield frame
                if n_wanted == 0:
                    return

        table = register_io_source(source, schema=types)
        formed = wanted.with_forms(table)
        types |= dict.fromkeys(set(formed.as_text or ()) - set(wanted.as_text or ()), pl.String)
        return register_io_source(source, schema=types)

    return _with_inferred_types(texts[0], attempt)


def _types(frames: Iterator[pl.DataFrame], is_first_enough: bool) -> Types:
    """Return types that hold for the first rows, or for all rows."""
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
    """Return the type that Polars infers from values of both types."""
    if one == other:
        return one
    if one.is_numeric() and other.is_numeric():
        return pl.Float64() if pl.Float64 in (one, other) else pl.Int128()
    return pl.String()
