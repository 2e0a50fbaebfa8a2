"""The engine for tables on a cluster: Spark counts cells and makes rows, the plan is made on the driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from betalike.engines.coding import value_texts
from betalike.engines.combinations import Combinations, TooManyError, combine
from betalike.engines.engine import (
    DrawsLabels,
    Engine,
    ExactRecount,
    Format,
    Recount,
    SingledOut,
)
from betalike.engines.labels import label_series
from betalike.engines.many_cells import too_many
from betalike.engines.recounting import recount_combinations
from betalike.engines.spark.failures import tasks_ended
from betalike.engines.spark.rows import (
    AFTER,
    BEFORE,
    COUNT,
    NUMBER,
    Drawing,
    by_chance,
    count_single,
    counted,
    draw_rows,
    fingerprint,
    ordered_at_random,
    quoted,
    to_polars,
    with_one_zero,
)
from betalike.engines.streams import UNREADABLE
from betalike.errors import GuaranteeError, InputError, ParameterError
from betalike.runtime.arrays import Ints
from betalike.runtime.randomness import Randomness
from betalike.table.cells import Plan
from betalike.table.schema import Schema

SparkFrame = Any

MOST_CELLS = 20_000_000
CHUNK_ROWS = 10_000  # most rows that one row of a plan becomes, so that workers share them
CLASS, RANK, CELL, CHANCE = "betalike class", "betalike rank", "betalike cell", "betalike chance"
CHUNK, PLACE, ENDS, CLASSES = "betalike chunk", "betalike place", "betalike ends", "betalike classes"


@dataclass(frozen=True)
class DrawnFrame:
    """Rows as they were drawn, with their value before and after if it was drawn again, and the labels drawn from."""

    drawn: SparkFrame
    labels: Sequence[str] = ()


class SparkEngine(Engine):
    """Counts the cells of a Spark frame, makes the rows of a release where they are, and writes them as Parquet."""

    name = "spark"

    def __init__(self, table: SparkFrame, schema: Schema, most_cells: int = MOST_CELLS) -> None:
        schema.check_columns(table.columns)
        super().__init__(schema)
        self._table = with_one_zero(table, schema.sensitive_columns)
        self._most_cells = most_cells
        if not table.limit(1).count():
            raise InputError("the table has no rows; there is nothing to publish.")

    @property
    def _session(self) -> Any:
        return self._table.sparkSession

    def _count(self, table: SparkFrame, names: Sequence[str]) -> tuple[pl.DataFrame, Ints]:
        """Return the distinct rows of some columns and their counts; raise TooManyError above the driver's limit."""
        found = to_polars(counted(table, names).limit(self._most_cells + 1))
        if found.height > self._most_cells:
            raise TooManyError
        return found.select(names), found[COUNT].to_numpy().astype(np.int64)

    def _count_combinations(self) -> Combinations:
        try:
            return combine(*self._count(self._table, self._names))
        except TooManyError as error:
            raise InputError(self._too_many) from error

    @property
    def _too_many(self) -> str:
        """What to say of a table with more cells than the driver takes."""
        from pyspark.sql import functions as F

        names = self.schema.quasi_identifier_names
        found = self._table.agg(*(F.approx_count_distinct(quoted(name)) for name in names)).collect()[0]
        text = too_many(self._most_cells, dict(zip(names, found, strict=True)), self.schema, None)
        return f"{text} With --engine local, --round makes cells fewer."

    def _count_columns(self) -> tuple[list[Combinations], Combinations]:
        *columns, sensitive = (self._values_of(name) for name in self._names)
        return columns, sensitive

    def _values_of(self, name: str) -> Combinations:
        """Return the values of a column; refuse more than the driver holds."""
        try:
            values, count = self._count(self._table, [name])
        except TooManyError as error:
            raise InputError(
                f"the column '{name}' has more than {self._most_cells:,} distinct values, more than the driver takes. "
                "Allow more memory (--memory), or leave the column out."
            ) from error
        return combine(values, count)

    def first_rows(self, n_rows: int) -> pl.DataFrame:
        """Return some rows of the table, those of its first partitions."""
        return to_polars(self._table.select([quoted(name) for name in self.schema.names]).limit(n_rows))

    def generalize(self, plan: Plan, randomness: Randomness) -> SparkFrame:
        """Return the release in random order: labels of each row's class, the sensitive value, the kept columns."""
        labels = label_series(plan)
        rows, keys = self._kept_rows(plan, labels, randomness) if self._kept else self._planned_rows(plan, labels)
        shown = [*self._names, *self._kept]
        shuffled = ordered_at_random(rows, keys, plan.cells.n_rows, randomness)
        return shuffled.select([quoted(name) for name in shown])

    def _planned_rows(self, plan: Plan, labels: Sequence[pl.Series]) -> tuple[SparkFrame, list[str]]:
        """Make rows from the plan alone: it says how many rows of each class have each sensitive value."""
        from pyspark.sql import functions as F

        counts = plan.class_counts
        n_chunks = -(-counts.count // CHUNK_ROWS)
        pair = np.repeat(np.arange(len(counts.count)), n_chunks)
        rest = counts.count - (n_chunks - 1) * CHUNK_ROWS
        is_last = np.append(pair[1:] != pair[:-1], True)
        ec, value = (pl.Series(numbers[pair]) for numbers in (counts.ec, counts.value))
        chunks = pl.DataFrame(
            [
                *(column.gather(ec) for column in labels),
                *(column.gather(value) for column in self._sensitive.shown),
                pl.Series(CHUNK, np.arange(len(pair))),
                pl.Series(COUNT, np.where(is_last, rest[pair], CHUNK_ROWS)),
            ]
        )
        rows = self._to_spark(chunks).withColumn(PLACE, F.explode(F.sequence(F.lit(1), F.col(quoted(COUNT)))))
        return rows, [CHUNK, PLACE]

    def _kept_rows(
        self, plan: Plan, labels: Sequence[pl.Series], randomness: Randomness
    ) -> tuple[SparkFrame, list[str]]:
        """Return the rows of the table, each with a class at random among those planned for its cell."""
        from pyspark.sql import functions as F

        sensitive = self.schema.sensitive.name
        table = draw_rows(self._table, [*self._names, *self._kept])
        known = self._to_spark(self._counted.combinations.frame.with_columns(pl.Series(CELL, self._counted.cell_of)))
        classes = pl.Series(CLASS, np.arange(plan.n_classes, dtype=np.int32))
        labelled = self._to_spark(pl.DataFrame([classes, *labels]))
        table, known = table.alias("t"), F.broadcast(known).alias("k")
        is_same = [F.col(f"t.{quoted(name)}").eqNullSafe(F.col(f"k.{quoted(name)}")) for name in self._names]
        kept = [F.col(f"t.{quoted(name)}") for name in (sensitive, *self._kept, NUMBER)]
        rows = table.join(known, is_same).select(*kept, F.col(f"k.{quoted(CELL)}"))
        rows = self._with_classes(rows, plan, randomness)
        return rows.join(F.broadcast(labelled), CLASS), [NUMBER]

    def _with_classes(self, rows: SparkFrame, plan: Plan, randomness: Randomness) -> SparkFrame:
        """Give each row a class at random among those planned for its cell, as often as planned."""
        from pyspark.sql import Window
        from pyspark.sql import functions as F

        rows = rows.withColumn(CHANCE, by_chance([NUMBER], randomness))
        within = Window.partitionBy(quoted(CELL)).orderBy(quoted(CHANCE), quoted(NUMBER))
        rows = rows.withColumn(RANK, F.row_number().over(within))
        rows = rows.join(self._slots(plan), CELL)
        place = F.size(F.filter(F.col(quoted(ENDS)), lambda end: end < F.col(quoted(RANK)))) + 1
        return rows.withColumn(CLASS, F.element_at(F.col(quoted(CLASSES)), place))

    def _written(self, release: SparkFrame, path: Path | None) -> SparkFrame:
        """Return a release as it was written, or as it is where there is no file."""
        return release if path is None else self._session.read.parquet(path.absolute().as_uri())

    def _slots(self, plan: Plan) -> SparkFrame:
        """Return the classes of each cell, and how many of its rows go to each class and those before it."""
        fragments = pl.DataFrame({CELL: plan.cell, CLASSES: plan.ec, ENDS: plan.count})
        return self._to_spark(fragments.group_by(CELL).agg(pl.col(CLASSES), pl.col(ENDS).cum_sum()))

    def _to_spark(self, frame: pl.DataFrame) -> SparkFrame:
        from pyspark.sql.pandas.types import from_arrow_schema

        arrow = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        return self._session.createDataFrame(arrow, from_arrow_schema(arrow.schema, prefer_timestamp_ntz=True))

    def publish_exactly(self, draw: DrawsLabels | None, randomness: Randomness) -> tuple[SparkFrame, DrawnFrame]:
        """Return the rows as they are, in random order; sensitive values are drawn again, or left out."""
        from pyspark.sql import functions as F

        values, n_rows = self._sensitive, self.count_values().n_rows
        names, sensitive = list(self.schema.quasi_identifier_names), self.schema.sensitive.name
        drawing = None if draw is None else Drawing(values, draw)
        drawn = draw_rows(self._table, [*self._names, *self._kept], drawing)
        shown = [*names, *([] if draw is None else [sensitive]), *self._kept]
        if draw is not None:
            values = values.labelled(draw.labels)
            new = self._to_spark(values.shown.with_row_index(AFTER).with_columns(pl.col(AFTER).cast(pl.Int64)))
            drawn = drawn.drop(sensitive).join(F.broadcast(new), AFTER)
        rows = ordered_at_random(drawn, [NUMBER], n_rows, randomness)
        return rows.select([quoted(name) for name in shown]), DrawnFrame(drawn, values.labels)

    def write(self, release: SparkFrame, path: Path, form: Format) -> list[str]:
        """Write a release to a folder of Parquet files, which no spreadsheet runs as formulas."""
        if form is not Format.PARQUET:
            raise ParameterError("the engine 'spark' writes Parquet. Publish with --format parquet.")
        with tasks_ended(self._session):
            release.write.mode("overwrite").parquet(path.absolute().as_uri())
        for file in path.iterdir():
            if not file.name.endswith(".parquet") or file.name.startswith("."):
                file.unlink()  # files that Hadoop adds
        return []

    def give_back(self, release: SparkFrame, path: Path | None, form: Format) -> Callable[[], SparkFrame]:
        """Return how to get a finished release: from the written files, where there are any."""
        written = self._written(release, path)
        return lambda: written

    def recount(self, release: SparkFrame, path: Path | None, form: Format) -> Recount:
        """Recount a release from the files alone, or as it is where there are none."""
        written = self._written(release, path)
        if not set(self._names) <= set(written.columns):
            raise GuaranteeError(UNREADABLE)
        found, count = self._count(written, self._names)
        counted_again = combine(found.select(pl.all().cast(pl.String)), count)
        sensitive = [self.schema.sensitive.name]
        return recount_combinations(counted_again, self.schema.quasi_identifier_names, sensitive, self.sensitive_labels)

    def count_singled_out(
        self, release: SparkFrame, path: Path | None, form: Format, labels: Sequence[str], n_rows: int
    ) -> SingledOut:
        """Count the rows that the kept columns single out, as they were written."""
        written = self._written(release, path)
        return SingledOut(*(count_single(written, names) for names in (self._kept, [*labels, *self._kept])))

    def compare_exactly(self, release: SparkFrame, trace: DrawnFrame, path: Path | None, form: Format) -> ExactRecount:
        """Compare exact rows, as they were written, with the table's as they were drawn; all rows at once."""
        written, names, sensitive = self._written(release, path), release.columns, self.schema.sensitive.name
        n_rows = written.count()
        if not set(names) <= set(written.columns):
            return ExactRecount(n_rows, n_changed=max(n_rows, 1))
        is_same = fingerprint(written, names) == fingerprint(trace.drawn, names)
        n_changed = 0 if is_same else max(n_rows, 1)
        if BEFORE not in trace.drawn.columns:  # the sensitive column was left out
            return ExactRecount(n_rows, n_changed)
        values, count = self._count(written, [sensitive])
        is_known = value_texts(values[sensitive]).is_in(pl.Series(trace.labels).implode())
        n_unknown = int(count[~is_known.to_numpy()].sum())
        moves = np.zeros((len(self.sensitive_labels), len(trace.labels)), dtype=np.int64)
        for before, after, count in trace.drawn.groupBy(quoted(BEFORE), quoted(AFTER)).count().collect():
            moves[before, after] = count
        return ExactRecount(n_rows, n_changed, n_unknown, moves)
