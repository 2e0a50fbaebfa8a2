"""A Spark table in coarse cells, and its parts as independent problems for the workers.

As everywhere here, a task that is run again gives the same rows.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from betalike.engines.cells import Coded
from betalike.engines.coarse import Bins, count_coarsely, make_bins, see_rows, widen
from betalike.engines.coding import ValueCodes, ordered_numbers
from betalike.engines.combinations import Combinations, NumberedColumn, number_rows
from betalike.engines.parts import PartPublisher
from betalike.engines.spark.rows import COUNT, NUMBER, counted, quoted, to_polars, without_cells
from betalike.io.column_types import Seen, add_seen
from betalike.runtime.arrays import Ids
from betalike.runtime.randomness import SeededRandomness
from betalike.table.exact_numbers import Number
from betalike.table.schema import Kind, Schema

SparkFrame = Any
Batches = Iterator[Any]

CELL, PART, CHANCE = "betalike cell", "betalike part", "betalike chance"
MOST_COARSE = 2_000_000  # cells that are sent to every worker
SAMPLE_ROWS = 200_000


@dataclass(frozen=True)
class KnownValues:
    """A column that is coded value by value, with the numbers that were given on the driver; 0 is missing."""

    values: pl.Series

    @property
    def size(self) -> int:
        """One more than the greatest number."""
        return len(self.values)

    def number(self, column: pl.Series) -> Ids:
        """Return the number of each row's value."""
        return np.asarray(ValueCodes(self.values.slice(1), np.arange(1, self.size), 0)(column), dtype=np.int32)


def count_on_spark(
    table: SparkFrame, schema: Schema, most: int, values_of: Callable[[str], Combinations]
) -> Combinations:
    """Count coarse cells: bins from a sample, cells on the workers, at most `most` of them on the driver."""
    from pyspark.sql import functions as F

    names = [*schema.quasi_identifier_names, schema.sensitive.name]
    table = table.select([F.col(quoted(name)) for name in names])
    n_rows, most = table.count(), min(most, MOST_COARSE)
    share = min(min(SAMPLE_ROWS, most) / n_rows, 1.0)
    sample = _in_cells(table.sample(share, seed=1) if share < 1 else table)
    found = make_bins(schema, sample, _seen_in(table, schema))
    columns: dict[str, NumberedColumn] = {
        name: column if isinstance(column, Bins) else KnownValues(values_of(name).values[name])
        for name, column in found.items()
    }
    count_coarsely([sample], columns, max(int(most * share), 1000))  # which makes bins as wide as they should be
    for name, low, high in _ends(table, columns):
        column = columns[name]
        assert isinstance(column, Bins)
        column.low, column.high = low, high
    while True:
        coded = table.mapInArrow(_coding(columns), ", ".join(f"c{place} int" for place in range(len(names))))
        cells = to_polars(counted(coded, coded.columns).limit(most + 1))
        if cells.height <= most:
            break
        widen(columns, cells.height)
    numbers = [cells[name].to_numpy() for name in coded.columns]
    return Combinations(columns, numbers, cells[COUNT].to_numpy().astype(np.int64))


def _in_cells(table: SparkFrame) -> pl.DataFrame:
    """Return the rows of a small table; only the distinct ones come to the driver, with their counts."""
    cells = to_polars(counted(table, table.columns))
    return cells.drop(COUNT)[np.repeat(np.arange(cells.height), cells[COUNT].to_numpy())]


def _each_batch(change: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Batches], Batches]:
    """Turn a function of frames into one of batches, as Spark calls it."""

    def run(batches: Batches) -> Batches:
        with without_cells():
            for batch in batches:
                changed = change(pl.DataFrame(pl.from_arrow(batch)))
                yield from changed.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()

    return run


def _coding(columns: dict[str, NumberedColumn]) -> Callable[[Batches], Batches]:
    def code(frame: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame([pl.Series(f"c{i}", numbers) for i, numbers in enumerate(number_rows(frame, columns))])

    return _each_batch(code)


def _seen_in(table: SparkFrame, schema: Schema) -> dict[str, Seen]:
    """Return what all rows show of the quasi-identifiers; workers send it as bytes."""

    def look(frame: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame({"seen": [pickle.dumps(see_rows(frame, schema))]}, schema={"seen": pl.Binary})

    found = to_polars(table.mapInArrow(_each_batch(look), "seen binary"))
    seen: dict[str, Seen] = {}
    for each in found["seen"]:
        seen = add_seen(seen, pickle.loads(each))
    return seen


def _ends(table: SparkFrame, columns: dict[str, NumberedColumn]) -> Iterator[tuple[str, Number, Number]]:
    """Yield the least and the greatest number of each column of bins; as text on the way, which loses no digit."""
    binned = {name: column.taken for name, column in columns.items() if isinstance(column, Bins)}
    if not binned:
        return

    def ends(frame: pl.DataFrame) -> pl.DataFrame:
        numbers = [ordered_numbers(frame[name], t.kind, t.dates).drop_nulls() for name, t in binned.items()]
        found = [(name, str(n.min()), str(n.max())) for name, n in zip(binned, numbers, strict=True) if len(n)]
        return pl.DataFrame(found, schema=dict.fromkeys(("name", "low", "high"), pl.String), orient="row")

    found = to_polars(table.mapInArrow(_each_batch(ends), "name string, low string, high string").distinct())
    for name, taken in binned.items():
        read: Callable[[str], Number] = float if taken.kind is Kind.REAL else _exact
        of_column = found.filter(pl.col("name") == name)
        yield name, min(map(read, of_column["low"])), max(map(read, of_column["high"]))


def _exact(text: str) -> Number:
    number = Decimal(text)
    return int(number) if number == number.to_integral_value() else number


def with_cells(rows: SparkFrame, coarse: Coded) -> SparkFrame:
    """Return rows with the coarse cell of each."""
    from pyspark.sql import types as T

    _ = coarse.combinations.places  # made once, and not by every worker
    shared = rows.sparkSession.sparkContext.broadcast(coarse)

    def find(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.Series(CELL, shared.value.find(frame).astype(np.int32)))

    return rows.mapInArrow(_each_batch(find), T.StructType([*rows.schema.fields, T.StructField(CELL, T.IntegerType())]))


def publish_on_workers(
    rows: SparkFrame, publisher: PartPublisher, schema: Any, ec: str, are_classes: bool
) -> SparkFrame:
    """Return the published rows of each part, with their numbers; a secret decides the order of rows."""
    from pyspark.sql.pandas.types import to_arrow_schema

    types = to_arrow_schema(schema)

    def run(part: Any) -> Any:
        with without_cells():
            frame = pl.DataFrame(pl.from_arrow(part)).sort(CHANCE, NUMBER)
            sets = frame[ec].to_numpy() if are_classes else None
            made, _ = publisher(frame, sets, SeededRandomness(0))  # the order of rows is random, so slots need not be
            return made.with_columns(frame[NUMBER]).to_arrow(compat_level=pl.CompatLevel.oldest()).cast(types)

    return rows.groupBy(quoted(PART)).applyInArrow(run, schema)


def in_turns(release: SparkFrame, names: Sequence[str], n_turns: int) -> Iterator[SparkFrame]:
    """Yield rows of a release, some classes at a time; `names` are the columns of its labels."""
    from pyspark.sql import functions as F

    number = F.pmod(F.xxhash64(*(F.col(quoted(name)) for name in names)), F.lit(n_turns))
    for turn in range(n_turns):
        yield release.where(number == turn)
