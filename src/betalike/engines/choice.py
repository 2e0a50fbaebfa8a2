"""Choosing an engine: one machine or Spark, and on one machine all rows at once or in batches."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import polars as pl

from betalike.engines.engine import NO_PEOPLE, Engine, Format
from betalike.engines.formats import check_rows
from betalike.engines.local import LocalEngine
from betalike.errors import ParameterError
from betalike.io.compression import is_compressed
from betalike.io.copies import origin_of
from betalike.io.csv_text import file_pieces
from betalike.io.missing_codes import without_codes
from betalike.io.sources import interruptible, read_beginning, shown_name, table_files
from betalike.io.tables import (
    CSV,
    DAMAGED,
    Frame,
    Source,
    count_rows,
    is_path,
    kind_of,
    read,
    scan_columnar,
    scan_table,
)
from betalike.promises.parameters import choose
from betalike.runtime.memory_size import USED_SHARE, in_words, memory_at_hand, parse_memory
from betalike.runtime.progress import SILENT, Progress
from betalike.table.schema import Schema, columns_with_forms, text_columns

# Bytes of memory, measured: of a table that is held, for each of its cells or for each byte of its CSV text; of a cell
# of a plan on Spark's driver; of a cell of a release that is held.
PER_CELL, PER_CSV_BYTE, PER_PLANNED_CELL, PER_RELEASED_CELL = 45, 16, 300, 20
MOST_HELD = 640 << 20  # larger tables take less memory in batches, and no more time
FORMER_NAMES = ("memory", "outofcore")


class EngineName(StrEnum):
    """The engines."""

    AUTO = "auto"
    LOCAL = "local"
    BATCHES = "batches"  # the local one, which then never holds the table
    SPARK = "spark"


@dataclass(frozen=True)
class EngineChoice:
    """An engine, the memory that it may use, why it was chosen, and whether it holds the whole table in memory."""

    name: EngineName
    memory: int
    reason: str
    holds_table: bool = False


@contextlib.contextmanager
def open_engine(
    table: Frame,
    schema: Schema,
    missing: Sequence[str],
    delimiter: str | None,
    choice: EngineChoice,
    folder: Path | None,
    master: str | None = None,
    progress: Progress = SILENT,
    form: Format = Format.CSV,
) -> Iterator[Engine]:
    """Open a table with the chosen engine; `folder` is where the release goes, in which form, if not into memory."""
    if choice.name is EngineName.SPARK:
        from betalike.engines.spark.engine import SparkEngine
        from betalike.engines.spark.failures import failures_explained
        from betalike.engines.spark.tables import read_table

        if schema.parts:
            raise ParameterError(
                f"the engine 'spark' ({choice.reason}) publishes one sensitive column, not several. Take --engine "
                "local, or name one sensitive column."
            )
        if schema.person is not None:
            raise ParameterError(NO_PEOPLE)  # before Spark starts, which takes seconds
        if schema.sensitive.bins is not None:
            raise ParameterError(f"the engine 'spark' ({choice.reason}) puts no values into bins. Take --engine local.")
        with failures_explained():
            rows = read_table(table, schema, missing, delimiter, master, choice.memory)
            yield SparkEngine(rows, schema, choice.memory // PER_PLANNED_CELL)
        return
    if choice.holds_table:
        source = Source.of(read(table, schema, missing, delimiter, choice.memory))
    elif isinstance(table, pl.LazyFrame):
        source = Source.of(without_codes(table, missing))
    else:
        forms = columns_with_forms(schema)
        source = scan_table(table, schema.names, text_columns(schema), missing, delimiter, forms=forms)
    if folder is not None:
        check_rows(form, source.n_rows)
    if (folder is None or form.is_held) and not choice.holds_table:
        _check_release_fits(source.n_rows, len(schema.names), choice.memory)
    origin = origin_of(table)
    meanings = {} if origin is None else origin.value_labels
    yield LocalEngine(
        source, schema, choice.memory, progress=progress, holds_release=folder is None, value_labels=meanings
    )


def _check_release_fits(n_rows: int, n_columns: int, memory: int) -> None:
    """Refuse to hold a release in memory that takes more than is allowed."""
    needed = PER_RELEASED_CELL * n_rows * n_columns
    if needed > memory:
        raise ParameterError(
            f"the release would take about {in_words(needed)} of memory, and {in_words(memory)} are allowed. Name a "
            "folder for it (out), or allow more (memory)."
        )


def choose_engine(
    table: Frame, wanted: str, memory: str | int | None, n_columns: int, master: str | None = None
) -> EngineChoice:
    """Choose the engine for a table, and whether the table is held in memory, from its size and the memory at hand."""
    if wanted in FORMER_NAMES:
        raise ParameterError(
            f"the engine '{wanted}' is part of the engine 'local', which holds a table in memory or reads it in "
            "batches, as its size asks for. Write --engine local, or leave it out; --memory sets its limit."
        )
    name = choose(EngineName, wanted, "engine")
    is_here = name in (EngineName.LOCAL, EngineName.BATCHES)
    if master is not None and is_here:
        raise ParameterError(f"a master is named, which the engine '{name}' has no use for. Take --engine spark.")
    at_hand = memory_at_hand()
    budget = int(USED_SHARE * at_hand) if memory is None else parse_memory(memory)
    if is_spark_frame(table):
        if is_here:
            raise ParameterError(f"the table is a Spark frame, which the engine '{name}' does not take.")
        return EngineChoice(EngineName.SPARK, budget, "the table is a Spark frame")
    if name is EngineName.SPARK or master is not None:
        if not is_path(table):
            raise ParameterError(
                "the engine 'spark' takes the path of a table or a Spark frame, and the table is a frame of another "
                "kind. Take --engine local, which publishes it as it is, or turn it into a Spark frame."
            )
        return EngineChoice(EngineName.SPARK, budget, "asked for" if master is None else "a master is named")
    if not is_path(table) and not isinstance(table, pl.LazyFrame):
        return EngineChoice(EngineName.LOCAL, budget, "the table is in memory already", holds_table=True)
    if name is EngineName.BATCHES:
        return EngineChoice(EngineName.LOCAL, budget, "the table is read in batches, as asked for")
    enough = min(budget, MOST_HELD)
    needed = memory_needed(table, n_columns, enough)
    if needed <= enough:
        reason = f"the table takes about {in_words(needed)} of memory, so it is read at once"
    else:
        limit = f"{in_words(at_hand)} at hand" if memory is None else f"the {in_words(budget)} allowed"
        reason = f"the table is read in batches, with {limit}"
    return EngineChoice(EngineName.LOCAL, budget, reason, holds_table=needed <= enough)


def is_spark_frame(table: Frame) -> bool:
    """Return whether a table is a Spark frame, without importing Spark."""
    return type(table).__module__.startswith("pyspark.sql") and type(table).__name__ == "DataFrame"


def memory_needed(table: str | Path | pl.LazyFrame, n_columns: int, enough: int) -> int:
    """Return about how much memory a table takes to publish: from its number of rows, or the size of its text.

    Compressed text is measured, not believed; text that takes more than `enough` is measured no further.
    """
    if isinstance(table, pl.LazyFrame):
        return PER_CELL * (n_columns + 1) * count_rows(table)
    files = table_files(table)
    kind = kind_of(files[0])
    if kind == CSV:
        n_bytes = 0
        with interruptible():
            for size in itertools.chain.from_iterable(map(_text_sizes, files)):
                n_bytes += size
                if PER_CSV_BYTE * n_bytes > enough:
                    break
        return PER_CSV_BYTE * n_bytes
    damaged = DAMAGED.format(shown_name(Path(table)), kind)
    return PER_CELL * (n_columns + 1) * count_rows(scan_columnar(files, kind), damaged)


def _text_sizes(file: Path) -> Iterator[int]:
    """Yield the size of a file's text, bit by bit if it is compressed."""
    if is_compressed(read_beginning(file, 8)):
        yield from (len(piece) for piece in file_pieces(file))
    else:
        yield file.stat().st_size
