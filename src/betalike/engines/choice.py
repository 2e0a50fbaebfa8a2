"""Which engine carries a table: what fits in memory is read into it, what does not passes by in batches."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import polars as pl

from betalike.engines.engine import Engine, Format
from betalike.engines.joint import JointEngine
from betalike.engines.memory import MemoryEngine
from betalike.engines.outofcore import OutOfCoreEngine
from betalike.errors import ParameterError, SchemaError, suggestion
from betalike.io.arguments import choose
from betalike.io.compression import is_compressed
from betalike.io.csv_text import file_pieces
from betalike.io.damaged_files import compiled_code_silenced, damage_refused
from betalike.io.sources import interruptible, read_beginning, shown_name, table_files
from betalike.io.spreadsheet import escape
from betalike.io.tables import CSV, DAMAGED, Frame, is_path, kind_of, read, scan_columnar, scan_table
from betalike.runtime.memory_size import USED_SHARE, memory_at_hand
from betalike.runtime.progress import SILENT, Progress
from betalike.table.schema import Schema, text_columns

UNITS = {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
LEAST_MEMORY, MOST_MEMORY = 256 << 20, 1 << 60
# Measured: what the engine in memory takes of it.
PER_CELL = 45
PER_CSV_BYTE = 16
PER_PLANNED_CELL = 300


class EngineName(StrEnum):
    """The engines."""

    AUTO = "auto"
    MEMORY = "memory"
    OUTOFCORE = "outofcore"
    SPARK = "spark"


@dataclass(frozen=True)
class EngineChoice:
    """An engine, the memory that it may use, and why it was chosen."""

    name: EngineName
    memory: int
    reason: str


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
) -> Iterator[Engine]:
    """The chosen engine for a table; `folder` is where a release goes."""
    if choice.name is EngineName.SPARK:
        from betalike.engines.spark.engine import SparkEngine
        from betalike.engines.spark.failures import failures_told
        from betalike.engines.spark.tables import read_table

        with failures_told():
            rows = read_table(table, schema, missing, delimiter, master, choice.memory)
            yield SparkEngine(rows, schema, choice.memory // PER_PLANNED_CELL)
        return
    if choice.name is EngineName.MEMORY:
        carrier = JointEngine if schema.parts else MemoryEngine
        yield carrier(read(table, schema, missing, delimiter, choice.memory), schema)
        return
    if folder is None:
        raise ParameterError("the engine 'outofcore' writes a release to a folder: name it with out.")
    if isinstance(table, pl.LazyFrame):
        yield OutOfCoreEngine(table, schema, choice.memory, progress=progress)
        return
    if not is_path(table):
        raise ParameterError("the engine 'outofcore' takes the path of a table, or a lazy Polars frame.")
    found = scan_table(table, schema.names, text_columns(schema), missing, delimiter)
    yield OutOfCoreEngine(
        found.rows, schema, choice.memory, progress=progress, n_rows=found.n_rows, check_source=found.check
    )


def choose_engine(
    table: Frame, wanted: str, memory: str | int | None, n_columns: int, master: str | None = None
) -> EngineChoice:
    """The engine for a table, from its size and the memory at hand, unless one is asked for."""
    name = choose(EngineName, wanted, "engine")
    if master is not None and name not in (EngineName.AUTO, EngineName.SPARK):
        raise ParameterError(f"a master is named, which the engine '{name}' has no use for. Take --engine spark.")
    at_hand = memory_at_hand()
    budget = int(USED_SHARE * at_hand) if memory is None else parse_memory(memory)
    if is_spark_frame(table):
        if name not in (EngineName.AUTO, EngineName.SPARK):
            raise ParameterError(f"the table is a Spark frame, which the engine '{name}' does not take.")
        return EngineChoice(EngineName.SPARK, budget, "the table is a Spark frame")
    if name is not EngineName.AUTO:
        return EngineChoice(name, budget, "asked for")
    if master is not None:
        return EngineChoice(EngineName.SPARK, budget, "a master is named")
    if not is_path(table):
        return EngineChoice(EngineName.MEMORY, budget, "the table is in memory already")
    needed = memory_needed(table, n_columns, budget)
    chosen = EngineName.MEMORY if needed <= budget else EngineName.OUTOFCORE
    limit = f"{in_words(at_hand)} at hand" if memory is None else f"the {in_words(budget)} allowed"
    return EngineChoice(chosen, budget, f"the table would take about {in_words(needed)} of {limit}")


def check_in_memory(choice: EngineChoice) -> None:
    """Refuse another engine for several sensitive columns, whose combinations are counted in memory."""
    if choice.name is not EngineName.MEMORY:
        raise ParameterError(
            f"several sensitive columns are published in memory only, not with the engine '{choice.name}' "
            f"({choice.reason}). Take --engine memory, or name one sensitive column."
        )


def is_spark_frame(table: Frame) -> bool:
    """Whether a table is a frame of Spark, told without importing it."""
    return type(table).__module__.startswith("pyspark.sql") and type(table).__name__ == "DataFrame"


def memory_needed(path: str | Path, n_columns: int, enough: int) -> int:
    """Return about how much memory a table takes to publish: from its number of rows, or the size of its text.

    Compressed text is measured, not believed; what takes more than `enough` is measured no further.
    """
    files = table_files(path)
    kind = kind_of(files[0])
    if kind == CSV:
        n_bytes = 0
        with interruptible():
            for size in itertools.chain.from_iterable(map(_text_sizes, files)):
                n_bytes += size
                if PER_CSV_BYTE * n_bytes > enough:
                    break
        return PER_CSV_BYTE * n_bytes
    with damage_refused(DAMAGED.format(shown_name(Path(path)), kind)), compiled_code_silenced():
        rows = int(scan_columnar(files, kind).select(pl.len()).collect().item())
    return PER_CELL * (n_columns + 1) * rows


def _text_sizes(file: Path) -> Iterator[int]:
    """Yield the size of a file's text, bit by bit if it is compressed."""
    if is_compressed(read_beginning(file, 8)):
        yield from (len(piece) for piece in file_pieces(file))
    else:
        yield file.stat().st_size


def parse_memory(given: str | int) -> int:
    """Bytes from a text such as 2GB or 512MB.

    >>> parse_memory("2GB") == 2 << 30
    True
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?i?B?)\s*", str(given), flags=re.IGNORECASE)
    unit = match.group(2).upper().replace("I", "") if match else "?"
    unit = f"{unit}B" if unit in ("K", "M", "G", "T") else unit
    if match is None or unit not in UNITS:
        raise ParameterError(f"memory is '{given}'; write a size such as 2GB or 512MB.")
    size = int(min(float(match.group(1)) * UNITS[unit], MOST_MEMORY))
    if size < LEAST_MEMORY:
        raise ParameterError(f"memory is '{given}'; betalike needs at least {in_words(LEAST_MEMORY)}.")
    return size


def in_words(size: float) -> str:
    """A number of bytes for people.

    >>> in_words(3 << 29)
    '1.5 GB'
    """
    for unit in ("GB", "MB"):
        if size >= UNITS[unit]:
            return f"{size / UNITS[unit]:.1f} {unit}"
    return f"{size / 1024:.0f} KB"


def choose_format(given: str) -> Format:
    """The format of this name."""
    known = (Format.CSV, Format.PARQUET)
    if given not in known:
        raise ParameterError(
            f"the format is '{given}'; it must be one of: {', '.join(known)}.{suggestion(str(given), known)}"
        )
    return Format(given)


def safe_format(form: Format, schema: Schema) -> Format:
    """CSV that a spreadsheet runs no cell of; refused for Parquet, and for columns whose name would be run."""
    if form is Format.PARQUET:
        raise ParameterError("spreadsheet_safe is for CSV, and this release is Parquet. Leave it out, or publish CSV.")
    for name in schema.names:
        if escape(name) != name:
            raise SchemaError(
                f"a spreadsheet would run the column name '{name}' as a formula, and names are published as they are. "
                "Rename the column in the table."
            )
    return Format.SPREADSHEET
