"""Rows on Spark: numbered as they lie in their files, drawn again by their number, put in random order, added up.

Everything here gives the same rows when a task is run again, so a lost worker neither loses nor repeats one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from betalike.engines.engine import DrawsLabels
from betalike.engines.sensitive import SensitiveValues
from betalike.errors import BetalikeError
from betalike.runtime.arrays import Ids
from betalike.runtime.randomness import Randomness

SparkFrame = Any

NUMBER, BEFORE, AFTER = "betalike number", "betalike before", "betalike after"
COUNT, ORDER, FILE, BLOCK = "betalike count", "betalike order", "betalike file", "betalike block"
ROWS_PER_PART = 1_000_000
FLOATS = ("float", "double")  # grouped as texts, by which -0.0 is not 0.0, as in CSV
NOTHING = "\0"  # stands for a missing value where texts are added up


def quoted(name: str) -> str:
    """Return a column's name as Spark takes it, whatever characters it has."""
    escaped = name.replace("`", "``")
    return f"`{escaped}`"


def with_one_zero(table: SparkFrame, names: Sequence[str]) -> SparkFrame:
    """Return a frame with 0.0 for -0.0 in some columns: Spark counts both as one value, and publishes them as two."""
    from pyspark.sql import functions as F

    types = dict(table.dtypes)
    reals = {name: F.col(quoted(name)) for name in names if types[name] in FLOATS}
    return table.withColumns({n: F.when(c == 0, F.lit(0).cast(types[n])).otherwise(c) for n, c in reals.items()})


def counted(table: SparkFrame, names: Sequence[str]) -> SparkFrame:
    """Count the distinct rows of some columns."""
    from pyspark.sql import functions as F

    return table.groupBy([quoted(name) for name in names]).agg(F.count(F.lit(1)).alias(COUNT))


def count_single(table: SparkFrame, names: Sequence[str]) -> int:
    """Count the rows that no other row is like in some columns; an empty text is missing, as in CSV."""
    from pyspark.sql import functions as F

    types = dict(table.select([quoted(name) for name in names]).dtypes)
    cells = [F.col(quoted(name)).cast("string") if types[name] in FLOATS else F.col(quoted(name)) for name in names]
    plain = [
        F.nullif(cell, F.lit("")) if types[name] in (*FLOATS, "string") else cell
        for name, cell in zip(names, cells, strict=True)
    ]
    numbered_cells = [cell.alias(f"c{place}") for place, cell in enumerate(plain)]
    found = table.select(numbered_cells).groupBy([f"c{place}" for place in range(len(names))])
    return int(found.agg(F.count(F.lit(1)).alias(COUNT)).where(F.col(quoted(COUNT)) == 1).count())


def to_polars(frame: SparkFrame) -> pl.DataFrame:
    """Bring a small Spark frame to the driver."""
    return pl.DataFrame(pl.from_arrow(frame.toArrow()))


@contextlib.contextmanager
def without_cells() -> Iterator[None]:
    """Hide the messages of other libraries: Spark logs what fails on a worker, and they may show cells."""
    try:
        yield
    except BetalikeError:  # their messages show none
        raise
    except Exception as error:
        if os.environ.get("BETALIKE_DEBUG"):
            raise
        raise RuntimeError(f"a task of betalike failed: {type(error).__name__}") from None


def numbered(table: SparkFrame, names: Sequence[str]) -> tuple[SparkFrame, dict[tuple[str, int], int]]:
    """Return columns of a table with the file and block of each row, and the first row number of each block.

    Rows are numbered file by file in the order of their names, as another engine would read them. A frame that does
    not come from files straightaway is numbered partition by partition.
    """
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as F

    wanted = [F.col(quoted(name)) for name in names]
    try:
        parts = table.select(
            *wanted, F.col("_metadata.file_path").alias(FILE), F.col("_metadata.file_block_start").alias(BLOCK)
        )
    except AnalysisException:
        parts = table.select(*wanted, F.lit("").alias(FILE), F.spark_partition_id().cast("long").alias(BLOCK))
    found = counted(parts, [FILE, BLOCK]).collect()
    ordered = sorted((row[0], int(row[1]), int(row[2])) for row in found)
    firsts = np.cumsum([0, *(count for _, _, count in ordered)])
    return parts, {(file, block): int(first) for (file, block, _), first in zip(ordered, firsts, strict=False)}


@dataclass(frozen=True)
class Drawing:
    """How the sensitive values of rows are drawn again: their codes, and the draw itself."""

    values: SensitiveValues
    draw: DrawsLabels

    def __call__(self, rows: pl.DataFrame, first_row: int) -> tuple[Ids, Ids]:
        """Return the codes of rows that follow each other, before and after."""
        before = self.values.code(rows)
        return before, self.draw(before, first_row)


def draw_rows(table: SparkFrame, names: Sequence[str], drawing: Drawing | None = None) -> SparkFrame:
    """Return columns with each row's number; with a draw, also the codes of its old and new sensitive value."""
    from pyspark.sql import types as T

    parts, firsts = numbered(table, names)
    added = [NUMBER, *([BEFORE, AFTER] if drawing is not None else [])]
    fields = [field for field in parts.schema.fields if field.name not in (FILE, BLOCK)]
    schema = T.StructType([*fields, *(T.StructField(name, T.LongType()) for name in added)])
    return parts.mapInArrow(_numbering(firsts, drawing), schema)


def _numbering(firsts: dict[tuple[str, int], int], drawing: Drawing | None) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        next_number = dict(firsts)
        with without_cells():
            for batch in batches:
                frame = pl.DataFrame(pl.from_arrow(batch))
                for part in _blocks(frame):
                    block = part[FILE][0], int(part[BLOCK][0])
                    first = next_number[block]
                    next_number[block] += part.height
                    columns = [pl.Series(NUMBER, np.arange(first, first + part.height))]
                    if drawing is not None:
                        before, after = drawing(part, first)
                        columns += [
                            pl.Series(BEFORE, before.astype(np.int64)),
                            pl.Series(AFTER, after.astype(np.int64)),
                        ]
                    arrow = part.drop(FILE, BLOCK).with_columns(columns).to_arrow(compat_level=pl.CompatLevel.oldest())
                    yield from arrow.to_batches()

    return run


def _blocks(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the rows of a batch, those of each block of a file together."""
    if not frame.height:
        return
    changed = (frame[FILE] != frame[FILE].shift(1)) | (frame[BLOCK] != frame[BLOCK].shift(1))
    starts = [0, *(changed.fill_null(False).arg_true().to_list())]
    for begin, end in pairwise([*dict.fromkeys(starts), frame.height]):
        yield frame[begin:end]


def by_chance(keys: Sequence[str], randomness: Randomness) -> Any:
    """Return a column to sort by that nobody can predict without a secret; `keys` are different for every row."""
    from pyspark.sql import functions as F

    secret = randomness.words(2).tobytes().hex()
    digest = F.sha2(F.concat_ws("/", F.lit(secret), *(F.col(quoted(name)).cast("string") for name in keys)), 256)
    return F.substring(digest, 1, 16)


def ordered_at_random(rows: SparkFrame, keys: Sequence[str], n_rows: int, randomness: Randomness) -> SparkFrame:
    """Return rows in an order that depends on a secret alone; `keys` are columns that differ for every row."""
    n_parts = max(1, -(-n_rows // ROWS_PER_PART))
    return (
        rows.withColumn(ORDER, by_chance(keys, randomness))
        .repartition(n_parts, quoted(ORDER))
        .sortWithinPartitions(quoted(ORDER))
    )


def fingerprint(rows: SparkFrame, names: Sequence[str]) -> int:
    """Return a number that rows add up to, whatever their order."""
    from pyspark.sql import functions as F

    texts = [F.coalesce(F.col(quoted(name)).cast("string"), F.lit(NOTHING)) for name in names]
    total = rows.select(F.sum(F.xxhash64(*texts).cast("decimal(38,0)"))).collect()[0][0]
    return int(total or 0)
