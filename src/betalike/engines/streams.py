"""Rows in batches: written to a file without holding them all, read back, and compared as a file shows them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from betalike.engines.engine import Format
from betalike.engines.formats import cannot_hold, read_held, write_held
from betalike.errors import FileError, GuaranteeError, SchemaError
from betalike.io.column_types import has_no_text
from betalike.io.copies import ValueLabels, gathered
from betalike.io.damaged_files import damage_refused
from betalike.io.frames import check_years
from betalike.io.spreadsheet import formula_columns

BATCH_ROWS = 1_000_000
PART_ROWS = 2_000_000
GROUP_ROWS = WRITTEN_ROWS = 250_000
LEVEL = 1  # of Zstandard: on labels it is twice as fast as higher ones, and its files are no larger
TIMES_AS_TEXT = [pl.col(pl.Datetime, pl.Time).cast(pl.String), pl.col(pl.Duration).dt.to_string("iso")]  # as in CSV
TEXTS = (pl.String, pl.Categorical)
UNREADABLE = "what was written cannot be read back. Nothing was published."


@dataclass(frozen=True)
class Stream:
    """Rows that are made when they are needed; what does not fit in memory meanwhile goes to the folder given."""

    schema: pl.Schema
    make: Callable[[Path], Iterator[pl.DataFrame]]

    @staticmethod
    def of(frame: pl.DataFrame) -> Stream:
        """Return the rows of a frame."""
        return Stream(frame.schema, lambda _: frame.iter_slices(WRITTEN_ROWS))

    def collect(self, scratch: Path) -> pl.DataFrame:
        """Hold all rows in memory."""
        return pl.concat(self.make(scratch))


def sink(stream: Stream, path: Path, form: Format, value_labels: ValueLabels | None = None) -> list[str]:
    """Write a stream: to a file, or to a folder of Parquet files if the rows are many.

    Return the columns with cells that a spreadsheet would run as formulas.
    """
    if form is not Format.PARQUET:
        check_csv_types(stream.schema)
    scratch = path.with_name(f".{path.name}.rows")
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    try:
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(mode=0o700)  # it holds rows of the table as they are
        if form is Format.PARQUET:
            _write_parts(stream.make(scratch), path)
            return []
        if form.is_held:
            frame = stream.collect(scratch)
            write_held(frame, path, form, value_labels or {})
            _check_held(frame, path, form)
            return []
        return _write_csv(stream.make(scratch), path)
    except (OSError, pl.exceptions.PolarsError) as error:  # their words may show a cell
        is_full = "No space left" in str(error)  # Polars says it in words only
        reason = "no space is left on the disk" if is_full else "its disk or folder does not take it"
        raise FileError(f"{path.name} could not be written: {reason}. Nothing was published.") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _check_held(frame: pl.DataFrame, path: Path, form: Format) -> None:
    """Refuse values that a format gives back changed, such as texts that end with a space in an SPSS file."""
    with damage_refused(UNREADABLE, GuaranteeError):
        written = scan_release(path, form, frame.schema).collect()
    for name in frame.columns:
        n_rows = min(written.height, frame.height)
        n_changed = count_changed(written[name].head(n_rows), frame[name].head(n_rows)) + frame.height - n_rows
        if n_changed:
            raise cannot_hold(form, frame[name], n_changed)


def _write_parts(batches: Iterator[pl.DataFrame], path: Path) -> None:
    """Write one part while the next is made."""
    path.mkdir()
    with ThreadPoolExecutor(1) as pool:
        written: list[Future[None]] = []
        for number, part in enumerate(gathered(batches, PART_ROWS)):
            file = path / f"part-{number:05}.parquet"
            for done in written[-1:]:
                done.result()
            written.append(pool.submit(part.write_parquet, file, row_group_size=GROUP_ROWS, compression_level=LEVEL))
        for done in written:
            done.result()
    parts = list(path.iterdir())
    if len(parts) == 1:
        single = path.with_name(f".{path.name}.single")
        parts[0].rename(single)
        path.rmdir()
        single.rename(path)


def _write_csv(batches: Iterator[pl.DataFrame], path: Path) -> list[str]:
    """Write rows as CSV. A missing value that is a row by itself is quoted, because many readers skip blank lines."""
    formulas: dict[str, None] = {}
    with path.open("wb") as file:
        for number, batch in enumerate(batches):
            rows = batch.with_columns(TIMES_AS_TEXT)
            formulas |= dict.fromkeys(formula_columns(rows))
            missing = '""' if rows.width == 1 else ""
            rows.write_csv(file, include_header=number == 0, null_value=missing)
    return list(formulas)


def rows_of_files(path: Path, n_rows: int) -> dict[str, int]:
    """Return the files of a release of `n_rows` rows, and how many rows each has."""
    if not path.is_dir():
        return {path.name: n_rows}
    counted = {
        file.name: pl.scan_parquet(file, glob=False).select(pl.len()).collect().item()
        for file in sorted(path.iterdir())
    }
    return {f"{path.name}/{name}": int(rows) for name, rows in counted.items()}


def scan_release(path: Path, form: Format, types: Mapping[str, Any] | None = None) -> pl.LazyFrame:
    """Scan columns of a written release in their types where the format has them, or all columns; in CSV as text.

    Repeated texts and whole numbers stay as they are even where text is asked for. Texts that repeat are read faster as
    categories.
    """
    if not form.is_csv:
        # A folder of Parquet files may be named like a pattern.
        table = read_held(path, form).lazy() if form.is_held else pl.scan_parquet(path, glob=False)
        if types is None:
            return table
        numbers = {name: dtype for name, dtype in types.items() if is_plain_number(dtype)}
        table = table.with_columns(pl.col(name).cast(dtype) for name, dtype in numbers.items())  # some have one type
        found = table.select(list(types)).collect_schema()
        # Values of these types are equal exactly when their text is.
        as_text = {name for name, dtype in found.items() if dtype not in TEXTS and not dtype.is_integer()}
        return table.select(
            pl.col(name).cast(pl.String) if dtype in TEXTS and name in as_text else pl.col(name)
            for name, dtype in types.items()
        )
    known = {name: _type_in_csv(dtype) for name, dtype in (types or {}).items()}
    table = pl.scan_csv(path, schema_overrides=known, infer_schema=False, glob=False)
    return table if types is None else table.select(list(types))


def scan_columns(path: Path, form: Format, names: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[pl.DataFrame]:
    """Yield columns of a written release as the file has them, batch by batch."""
    with damage_refused(UNREADABLE, GuaranteeError):
        yield from scan_release(path, form).select(names).collect_batches(chunk_size=rows)


def written_names(path: Path, form: Format) -> list[str]:
    """Return the columns of a written release."""
    with damage_refused(UNREADABLE, GuaranteeError):
        return scan_release(path, form).collect_schema().names()


def scan_written(path: Path, form: Format, types: Mapping[str, Any], rows: int = BATCH_ROWS) -> Iterator[pl.DataFrame]:
    """Yield the columns of a written release, batch by batch."""
    with damage_refused(UNREADABLE, GuaranteeError):
        yield from scan_release(path, form, types).collect_batches(chunk_size=rows, maintain_order=True)


def _type_in_csv(dtype: Any) -> Any:
    return dtype if is_plain_number(dtype) or dtype == pl.Categorical else pl.String


def fingerprint(rows: pl.DataFrame, as_text: Collection[str] = ()) -> int:
    """Return a number that rows add up to (modulo 2^64), whatever their order, and the same for all formats."""
    is_alike = [(is_plain_number(c.dtype) and c.name not in as_text) or has_no_text(c.dtype) for c in rows]
    alike = [c if same else as_plain_text(c) for c, same in zip(rows, is_alike, strict=True)]
    return int(pl.DataFrame(alike).hash_rows(seed=1).to_numpy().sum(dtype=np.uint64))


def count_changed(written: pl.Series, original: pl.Series) -> int:
    """Count the rows in which two columns differ: as text where CSV knows no type, with '' as missing."""
    is_same_type = written.dtype == original.dtype
    if not is_same_type or not (is_plain_number(original.dtype) or has_no_text(original.dtype)):
        written, original = (as_plain_text(column) for column in (written, original))
    return int(written.ne_missing(original).sum())


def check_labels(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame; refuse columns without a text to compare, and dates outside the years 1 to 9999."""
    for name, dtype in frame.schema.items():
        if has_no_text(dtype) or dtype == pl.Duration:
            raise SchemaError(
                f"the column '{name}' is of type {dtype.base_type()}, which cannot be compared as text. Convert it to "
                "text first."
            )
    return check_years(frame)


def check_csv_types(types: Mapping[str, pl.DataType]) -> None:
    """Refuse columns whose values a CSV file cannot hold."""
    for name, dtype in types.items():
        if has_no_text(dtype):
            raise SchemaError(
                f"the column '{name}' is of type {dtype.base_type()}, which a CSV file cannot hold. Publish to Parquet "
                "(--format parquet), convert the column to text, or leave it out."
            )


def is_plain_number(dtype: pl.DataType) -> bool:
    """Return whether values of this type can be read back from CSV as they were."""
    return (dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128)) or dtype.is_float()


def as_plain_text(column: pl.Series) -> pl.Series:
    """Return a column as a CSV file shows it; empty text is missing."""
    text = column.dt.to_string("iso") if column.dtype == pl.Duration else column.cast(pl.String)
    return text.set((text == "").fill_null(False), None)
