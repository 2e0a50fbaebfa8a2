"""The engine for tables on a cluster: Spark counts cells and makes rows, the plan is made on the driver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from betalike.engines.coarse import Coarse
from betalike.engines.coding import ValueCodes
from betalike.engines.combinations import Combinations, TooManyError, combine, combine_each
from betalike.engines.counting import CountingEngine
from betalike.engines.engine import Assignment, Draw, ExactRecount, Format, Layout, PartsRecount, Recount
from betalike.engines.labels import check_distinct_names, label_columns, label_series
from betalike.engines.parts import PartPublisher, Refine
from betalike.engines.recounting import recount_distinct
from betalike.engines.sensitive import label_values
from betalike.engines.spark.failures import tasks_ended
from betalike.engines.spark.parts import CELL, CHANCE, PART, count_on_spark, in_turns, publish_on_workers, with_cells
from betalike.engines.spark.rows import (
    AFTER,
    BEFORE,
    COUNT,
    NUMBER,
    Drawing,
    by_chance,
    counted,
    draw_rows,
    fingerprint,
    ordered_at_random,
    quoted,
    to_polars,
)
from betalike.engines.streams import rows_of_files
from betalike.errors import GuaranteeError, InputError, ParameterError
from betalike.runtime.arrays import Ints
from betalike.runtime.randomness import Randomness
from betalike.table.cells import Plan
from betalike.table.schema import Schema

SparkFrame = Any

MOST_CELLS = 20_000_000
CHUNK_ROWS = 10_000  # that one row of a plan becomes at most, so that the work is shared out
CLASS, RANK = "betalike class", "betalike rank"
CHUNK, PLACE, ENDS, CLASSES = "betalike chunk", "betalike place", "betalike ends", "betalike classes"


@dataclass(frozen=True)
class DrawnFrame:
    """Rows as they were drawn, with their value before and after if it was drawn again."""

    drawn: SparkFrame
    has_values: bool


@dataclass(frozen=True)
class PartedFrame:
    """Rows as they were made part by part, and the names of the columns that are published."""

    made: SparkFrame
    names: list[str]
    n_classes: int | None = None  # workers do not report it


class SparkEngine(CountingEngine):
    """Counts the cells of a Spark frame, makes the rows of a release where they are, and writes them as Parquet."""

    name = "spark"
    part_rows = 200_000  # of a part that a worker splits on its own

    def __init__(self, table: SparkFrame, schema: Schema, most_cells: int = MOST_CELLS) -> None:
        schema.check_columns(table.columns)
        super().__init__(schema)
        self._table = table
        self._most_cells = most_cells
        if not table.limit(1).count():
            raise InputError("the table has no rows; there is nothing to publish.")

    @property
    def _session(self) -> Any:
        return self._table.sparkSession

    def _count(self, table: SparkFrame, names: Sequence[str]) -> tuple[pl.DataFrame, Ints]:
        """The distinct rows of some columns and how many have each; they alone come to the driver, and only so many."""
        found = to_polars(counted(table, names).limit(self._most_cells + 1))
        if found.height > self._most_cells:
            raise TooManyError
        return found.select(names), found[COUNT].to_numpy().astype(np.int64)

    def _count_combinations(self) -> Combinations:
        return combine(*self._count(self._table, self._names))

    def _count_coarsely(self) -> Coarse:
        return count_on_spark(self._table, self.schema, self._most_cells, self._values_of)

    def _count_columns(self) -> tuple[list[Combinations], Combinations]:
        *columns, sensitive = (self._values_of(name) for name in self._names)
        return columns, sensitive

    def _values_of(self, name: str) -> Combinations:
        """The values of a column; a clear error if there are too many."""
        try:
            values, count = self._count(self._table, [name])
        except TooManyError as error:
            raise InputError(
                f"the column '{name}' has more than {self._most_cells:,} distinct values, more than the driver takes. "
                "Allow more memory (--memory), or leave the column out."
            ) from error
        return combine_each(values[name], count)

    def generalize(self, assignment: Assignment, layout: Layout = Layout.LABELS) -> SparkFrame:
        """The release as rows in random order: labels of each row's class, the sensitive value, the kept columns."""
        cells = assignment.plan.cells
        check_distinct_names(self.schema, cells.axes, layout)
        rows, keys = self._kept_rows(assignment, layout) if self._kept else self._planned_rows(assignment, layout)
        shown = [*self._label_names(layout), self.schema.sensitive.name, *self._kept]
        shuffled = ordered_at_random(rows, keys, cells.n_rows, assignment.randomness)
        return shuffled.select([quoted(name) for name in shown])

    def _planned_rows(self, assignment: Assignment, layout: Layout) -> tuple[SparkFrame, list[str]]:
        """Rows from the plan alone: it tells how many rows of each class have each sensitive value."""
        from pyspark.sql import functions as F

        counts = assignment.plan.class_counts
        n_chunks = -(-counts.count // CHUNK_ROWS)
        pair = np.repeat(np.arange(len(counts.count)), n_chunks)
        rest = counts.count - (n_chunks - 1) * CHUNK_ROWS
        is_last = np.append(pair[1:] != pair[:-1], True)
        ec, value = (pl.Series(numbers[pair]) for numbers in (counts.ec, counts.value))
        chunks = pl.DataFrame(
            [
                *(column.gather(ec) for column in label_series(assignment.plan, layout)),
                *(column.gather(value) for column in self._sensitive.shown),
                pl.Series(CHUNK, np.arange(len(pair))),
                pl.Series(COUNT, np.where(is_last, rest[pair], CHUNK_ROWS)),
            ]
        )
        rows = self._to_spark(chunks).withColumn(PLACE, F.explode(F.sequence(F.lit(1), F.col(quoted(COUNT)))))
        return rows, [CHUNK, PLACE]

    def _kept_rows(self, assignment: Assignment, layout: Layout) -> tuple[SparkFrame, list[str]]:
        """The rows of the table, each with a class that its cell was planned for: at random, and just as many."""
        from pyspark.sql import functions as F

        plan, sensitive = assignment.plan, self.schema.sensitive.name
        table = draw_rows(self._table, [*self._names, *self._kept])
        known = self._to_spark(self._combinations.frame.with_columns(pl.Series(CELL, self._counted.cell_of)))
        labels = self._to_spark(
            pl.DataFrame([pl.Series(CLASS, np.arange(plan.n_classes, dtype=np.int32)), *label_series(plan, layout)])
        )
        table, known = table.alias("t"), F.broadcast(known).alias("k")
        is_same = [F.col(f"t.{quoted(name)}").eqNullSafe(F.col(f"k.{quoted(name)}")) for name in self._names]
        kept = [F.col(f"t.{quoted(name)}") for name in (sensitive, *self._kept, NUMBER)]
        rows = table.join(known, is_same).select(*kept, F.col(f"k.{quoted(CELL)}"))
        rows = self._with_classes(rows, plan, assignment.randomness)
        return rows.join(F.broadcast(labels), CLASS), [NUMBER]

    def _with_classes(self, rows: SparkFrame, plan: Plan, randomness: Randomness) -> SparkFrame:
        """Rows with a class that their cell was planned for: at random, and just as many."""
        from pyspark.sql import Window
        from pyspark.sql import functions as F

        rows = rows.withColumn(CHANCE, by_chance([NUMBER], randomness))
        within = Window.partitionBy(quoted(CELL)).orderBy(quoted(CHANCE), quoted(NUMBER))
        rows = rows.withColumn(RANK, F.row_number().over(within))
        rows = rows.join(self._slots(plan), CELL)
        place = F.size(F.filter(F.col(quoted(ENDS)), lambda end: end < F.col(quoted(RANK)))) + 1
        return rows.withColumn(CLASS, F.element_at(F.col(quoted(CLASSES)), place))

    def publish_parts(
        self, sets: Plan, refine: Refine | None, layout: Layout, randomness: Randomness
    ) -> tuple[SparkFrame, PartedFrame]:
        """The rows of all sets, split further or as they are, by the workers; in random order."""
        from pyspark import StorageLevel
        from pyspark.sql import functions as F

        assert isinstance(self._counted, Coarse)
        check_distinct_names(self.schema, sets.cells.axes, layout)
        publisher = PartPublisher.of(self.schema, self._counted, refine, layout)
        names = [*self._names, *self._kept]
        rows = self._with_classes(with_cells(draw_rows(self._table, names), self._counted), sets, randomness)
        n_parts = sets.n_classes if refine is not None else -(-sets.cells.n_rows // self.part_rows)
        rows = rows.withColumn(PART, F.floor(F.col(quoted(CLASS)).cast("long") * n_parts / sets.n_classes))
        one = to_polars(self._table.select(names).limit(1))  # for the types of what will be made of it
        example, _ = publisher(one, np.zeros(1, dtype=np.int32), randomness)
        numbered = self._to_spark(example.with_columns(pl.Series(NUMBER, [0], dtype=pl.Int64)))
        made = publish_on_workers(rows, publisher, numbered.schema, CLASS, refine is None)
        made = made.persist(StorageLevel.DISK_ONLY)
        shuffled = ordered_at_random(made, [NUMBER], sets.cells.n_rows, randomness)
        return shuffled.select([quoted(name) for name in example.columns]), PartedFrame(made, example.columns)

    def read_parts(
        self, release: SparkFrame, trace: PartedFrame, path: Path | None, form: Format, layout: Layout
    ) -> PartsRecount:
        """Count a release again, some of its classes at a time."""
        written = release if path is None else self._session.read.parquet(path.absolute().as_uri())
        flat = self._label_names(layout)
        if not set(trace.names) <= set(written.columns):
            raise GuaranteeError("what was written cannot be read back. Nothing was published.")
        n_turns = -(-self.count_cells().n_rows // self._most_cells)
        turns = (self.count_again(rows, layout) for rows in in_turns(written, flat, n_turns))

        def is_as_made() -> bool:
            found = fingerprint(written, trace.names) == fingerprint(trace.made, trace.names)
            trace.made.unpersist()
            return found

        return PartsRecount(turns, is_as_made)

    def _slots(self, plan: Plan) -> SparkFrame:
        """For each cell its classes, and how many of its rows go to them and those before."""
        fragments = pl.DataFrame({CELL: plan.cell, CLASSES: plan.ec, ENDS: plan.count})
        return self._to_spark(fragments.group_by(CELL).agg(pl.col(CLASSES), pl.col(ENDS).cum_sum()))

    def _to_spark(self, frame: pl.DataFrame) -> SparkFrame:
        from pyspark.sql.pandas.types import from_arrow_schema

        arrow = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        return self._session.createDataFrame(arrow, from_arrow_schema(arrow.schema, prefer_timestamp_ntz=True))

    def publish_exactly(self, draw: Draw | None, randomness: Randomness) -> tuple[SparkFrame, DrawnFrame]:
        """The rows as they are, in random order; sensitive values are drawn anew, or left out."""
        from pyspark.sql import functions as F

        margins, code_of = self._margins.counts, self._margins.code_of
        names, sensitive = list(self.schema.quasi_identifier_names), self.schema.sensitive.name
        values = self._columns[1].values[sensitive].slice(1)
        codes = ValueCodes(values, code_of[1:], int(code_of[0]))
        drawing = None if draw is None else Drawing(sensitive, codes, draw)
        drawn = draw_rows(self._table, [*self._names, *self._kept], drawing)
        shown = [*names, *([] if draw is None else [sensitive]), *self._kept]
        if draw is not None:
            values_by_code = self._margins.sensitive.shown.with_row_index(AFTER)
            new = self._to_spark(values_by_code.with_columns(pl.col(AFTER).cast(pl.Int64)))
            drawn = drawn.drop(sensitive).join(F.broadcast(new), AFTER)
        rows = ordered_at_random(drawn, [NUMBER], margins.n_rows, randomness)
        return rows.select([quoted(name) for name in shown]), DrawnFrame(drawn, draw is not None)

    def write(self, release: SparkFrame, path: Path, form: Format) -> list[str]:
        """Write a release to a folder of Parquet files, which no spreadsheet runs as formulas."""
        if form is not Format.PARQUET:
            raise ParameterError("the engine 'spark' writes Parquet. Publish with --format parquet.")
        with tasks_ended(self._session):
            release.write.mode("overwrite").parquet(path.absolute().as_uri())
        for file in path.iterdir():
            if not file.name.endswith(".parquet") or file.name.startswith("."):
                file.unlink()  # marks of Hadoop
        return []

    def give_back(self, release: SparkFrame, path: Path | None, form: Format) -> SparkFrame:
        """Return a finished release: the written files, where there are any."""
        return release if path is None else self._session.read.parquet(path.absolute().as_uri())

    def rows_of_files(self, path: Path, n_rows: int) -> dict[str, int]:
        """The files of the folder that the release was written to."""
        return rows_of_files(path, n_rows)

    def read_back(self, path: Path, form: Format, layout: Layout) -> Recount:
        """Count a written release again, from the files alone."""
        return self.count_again(self._session.read.parquet(path.absolute().as_uri()), layout)

    def count_again(self, release: SparkFrame, layout: Layout) -> Recount:
        """Count a release again."""
        names = label_columns(self.count_cells().axes, layout)
        columns = [*self._label_names(layout), self.schema.sensitive.name]
        if not set(columns) <= set(release.columns):
            raise GuaranteeError("what was written cannot be read back. Nothing was published.")
        found, count = self._count(release, columns)
        if not found.height:
            raise GuaranteeError("no rows were written. Nothing was published.")
        texts = combine(found.select(pl.all().cast(pl.String)), count)
        return recount_distinct(texts.frame, texts.numbers, texts.count, names, self.sensitive_labels)

    def compare_exactly(self, release: SparkFrame, trace: DrawnFrame, path: Path | None, form: Format) -> ExactRecount:
        """Compare exact rows, as they were written, with the table's as they were drawn; all rows at once."""
        written = release if path is None else self._session.read.parquet(path.absolute().as_uri())
        names, sensitive = release.columns, self.schema.sensitive.name
        n_rows = written.count()
        if not set(names) <= set(written.columns):
            return ExactRecount(n_rows, n_changed=max(n_rows, 1))
        is_same = fingerprint(written, names) == fingerprint(trace.drawn, names)
        n_changed = 0 if is_same else max(n_rows, 1)
        if not trace.has_values:
            return ExactRecount(n_rows, n_changed)
        values, count = self._count(written, [sensitive])
        is_known = pl.Series(label_values(values[sensitive])).is_in(pl.Series(self.sensitive_labels).implode())
        n_unknown = int(count[~is_known.to_numpy()].sum())
        moves = np.zeros((len(self.sensitive_labels),) * 2, dtype=np.int64)
        for before, after, count in trace.drawn.groupBy(quoted(BEFORE), quoted(AFTER)).count().collect():
            moves[before, after] = count
        return ExactRecount(n_rows, n_changed, n_unknown, moves)
