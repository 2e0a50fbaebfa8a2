"""Rows that pass by in batches: written to a file without ever being together, read back, and told apart."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from betalike.engines.exact_rows import as_plain_text, is_plain_number
from betalike.engines.memory import TIMES_AS_TEXT, cannot_write
from betalike.errors import GuaranteeError
from betalike.publication import Format

BATCH_ROWS = 1_000_000
UNREADABLE = "what was written cannot be read back. Nothing was published."


@dataclass(frozen=True)
class Stream:
    """Rows that are made when they are wanted; what does not fit in memory meanwhile goes to the folder given."""

    schema: pl.Schema
    make: Callable[[Path], Iterator[pl.DataFrame]]


def sink(stream: Stream, path: Path, form: Format) -> None:
    """Write a stream to a file; a folder beside it is used meanwhile."""
    failures: list[BaseException] = []
    scratch = path.with_name(f".{path.name}.rows")

    def source(*_: Any) -> Iterator[pl.DataFrame]:
        try:
            scratch.mkdir(exist_ok=True)
            yield from stream.make(scratch)
        except BaseException as error:  # Polars would tell it in its own words
            failures.append(error)
            raise

    rows = register_io_source(source, schema=stream.schema)
    try:
        if form is Format.PARQUET:
            rows.sink_parquet(path)
        else:
            rows.with_columns(TIMES_AS_TEXT).sink_csv(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        if failures and not isinstance(failures[0], OSError | pl.exceptions.PolarsError):
            raise failures[0] from error
        raise cannot_write(path, error) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def scan_release(path: Path, form: Format) -> pl.LazyFrame:
    """A written release as a lazy frame; what CSV cannot tell is text."""
    return pl.scan_parquet(path) if form is Format.PARQUET else pl.scan_csv(path, infer_schema=False)


def written_names(path: Path, form: Format) -> list[str]:
    """The columns of a written release."""
    try:
        return scan_release(path, form).collect_schema().names()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise GuaranteeError(UNREADABLE) from error


def scan_written(path: Path, form: Format, types: Mapping[str, Any], rows: int = BATCH_ROWS) -> Iterator[pl.DataFrame]:
    """The columns of a written release, batch by batch, in their types where the format can tell them."""
    try:
        if form is Format.PARQUET:
            table = pl.scan_parquet(path).select(
                pl.col(name).cast(dtype) if dtype == pl.String else pl.col(name) for name, dtype in types.items()
            )
        else:
            known = {name: dtype if is_plain_number(dtype) else pl.String for name, dtype in types.items()}
            table = pl.scan_csv(path, schema_overrides=known).select(list(types))
        yield from table.collect_batches(chunk_size=rows, maintain_order=True)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise GuaranteeError(UNREADABLE) from error


def fingerprint(rows: pl.DataFrame, as_text: Collection[str] = ()) -> int:
    """A number that rows add up to (modulo 2^64), whatever their order, and whatever CSV cannot tell of their types."""
    alike = [c if is_plain_number(c.dtype) and c.name not in as_text else as_plain_text(c) for c in rows]
    return int(pl.DataFrame(alike).hash_rows(seed=1).to_numpy().sum(dtype=np.uint64))
