"""The engine for tables on a cluster: Spark counts cells and makes rows, the plan is made on the driver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.drafts import Draw
from betalike.engines.cells import Coded, code_combinations, code_margins
from betalike.engines.coding import ValueCodes
from betalike.engines.combinations import Combinations, combine, combine_each
from betalike.engines.memory import check_distinct_names, class_columns, label_columns, label_values, recount_distinct
from betalike.engines.spark.rows import (
    AFTER,
    BEFORE,
    NUMBER,
    Drawing,
    draw_rows,
    fingerprint,
    ordered_at_random,
    quoted,
    to_polars,
)
from betalike.engines.streams import rows_of_files
from betalike.errors import GuaranteeError, InputError, ParameterError
from betalike.publication import ExactRecount, Format, Layout, Recount
from betalike.randomness import Randomness
from betalike.schema import Schema
from betalike.table import Cells, Margins, Plan

Ints = NDArray[np.int64]
SparkFrame = Any

MOST_CELLS = 20_000_000
CHUNK_ROWS = 10_000  # that one row of a plan becomes at most, so that the work is shared out
COUNT, CELL, CLASS, RANK = "betalike count", "betalike cell", "betalike class", "betalike rank"
CHUNK, PLACE, ENDS, CLASSES = "betalike chunk", "betalike place", "betalike ends", "betalike classes"


@dataclass(frozen=True)
class Assignment:
    """A plan, and the randomness with which its rows will be handed out and shuffled."""

    plan: Plan
    randomness: Randomness


@dataclass(frozen=True)
class Trace:
    """Rows as they were drawn, with their value before and after if it was drawn anew."""

    drawn: SparkFrame
    has_values: bool


class SparkEngine:
    """Counts the cells of a Spark frame, makes the rows of a release where they are, and writes them as Parquet."""

    name = "spark"
    is_coarse = False

    def __init__(self, table: SparkFrame, schema: Schema, most_cells: int = MOST_CELLS) -> None:
        schema.check_columns(table.columns)
        self.schema = schema
        self._table = table
        self._most_cells = most_cells
        self._names = [*schema.quasi_identifier_names, schema.sensitive.name]
        self._kept = [attribute.name for attribute in schema.kept]
        if not table.limit(1).count():
            raise InputError("the table has no rows; there is nothing to publish.")

    @property
    def _session(self) -> Any:
        return self._table.sparkSession

    def _count(self, table: SparkFrame, names: Sequence[str]) -> tuple[pl.DataFrame, Ints]:
        """The distinct rows of some columns and how many have each; they alone come to the driver, and only so many."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        grouped = table.groupBy([F.col(quoted(name)) for name in names]).agg(F.count(F.lit(1)).alias(COUNT))
        found = to_polars(grouped.limit(self._most_cells + 1))
        if found.height > self._most_cells:
            raise InputError(
                f"the table has more than {self._most_cells:,} distinct combinations of quasi-identifiers and "
                "sensitive value, more than a plan can take on. Round numbers that are finer than anybody needs, or "
                "leave a column out."
            )
        return found.select(names), found[COUNT].to_numpy().astype(np.int64)

    @cached_property
    def _combinations(self) -> Combinations:
        return combine(*self._count(self._table, self._names))

    @cached_property
    def _coded(self) -> Coded:
        return code_combinations(self._combinations, self.schema)

    @cached_property
    def _columns(self) -> list[Combinations]:
        """The values of each column by itself."""
        found = ((name, *self._count(self._table, [name])) for name in self._names)
        return [combine_each(values[name], count) for name, values, count in found]

    @cached_property
    def _margins(self) -> tuple[Margins, NDArray[np.int32], pl.Series]:
        return code_margins(self._columns, self.schema)

    def count_cells(self) -> Cells:
        """Fold the table into cells."""
        return self._coded.cells

    def count_values(self) -> Margins:
        """Count the sensitive values alone."""
        return self._margins[0]

    @property
    def _published_values(self) -> pl.Series:
        return self._margins[2] if "_margins" in self.__dict__ else self._coded.published

    @property
    def sensitive_labels(self) -> list[str]:
        """The sensitive values as text, for a certificate; a missing value is the empty text."""
        return label_values(self._published_values)

    def assign(self, plan: Plan, randomness: Randomness) -> Assignment:
        """Rows are handed out when they are made."""
        return Assignment(plan, randomness)

    def generalize(self, assignment: Assignment, layout: Layout = Layout.LABELS) -> SparkFrame:
        """The release as rows in random order: labels of each row's class, the sensitive value, the kept columns."""
        cells = assignment.plan.cells
        check_distinct_names(self.schema, cells.axes, layout)
        rows, keys = self._kept_rows(assignment, layout) if self._kept else self._planned_rows(assignment, layout)
        shown = [*self._label_names(layout), self.schema.sensitive.name, *self._kept]
        shuffled = ordered_at_random(rows, keys, cells.n_rows, assignment.randomness)
        return shuffled.select([quoted(name) for name in shown])

    def _label_names(self, layout: Layout) -> list[str]:
        return [name for group in label_columns(self.count_cells().axes, layout) for name in group]

    def _labels(self, plan: Plan, layout: Layout) -> list[pl.Series]:
        """The published columns of the quasi-identifiers, with one entry for each class."""
        low, high = (side.astype(np.int64) for side in plan.boxes)
        axes = enumerate(plan.cells.axes)
        return [column for i, axis in axes for column in class_columns(axis, low[:, i], high[:, i], layout)]

    def _planned_rows(self, assignment: Assignment, layout: Layout) -> tuple[SparkFrame, list[str]]:
        """Rows from the plan alone: it tells how many rows of each class have each sensitive value."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        counts = assignment.plan.class_counts
        n_chunks = -(-counts.count // CHUNK_ROWS)
        pair = np.repeat(np.arange(len(counts.count)), n_chunks)
        rest = counts.count - (n_chunks - 1) * CHUNK_ROWS
        is_last = np.append(pair[1:] != pair[:-1], True)
        ec, value = (pl.Series(numbers[pair]) for numbers in (counts.ec, counts.value))
        chunks = pl.DataFrame(
            [
                *(column.gather(ec) for column in self._labels(assignment.plan, layout)),
                self._published_values.gather(value).alias(self.schema.sensitive.name),
                pl.Series(CHUNK, np.arange(len(pair))),
                pl.Series(COUNT, np.where(is_last, rest[pair], CHUNK_ROWS)),
            ]
        )
        rows = self._to_spark(chunks).withColumn(PLACE, F.explode(F.sequence(F.lit(1), F.col(quoted(COUNT)))))
        return rows, [CHUNK, PLACE]

    def _kept_rows(self, assignment: Assignment, layout: Layout) -> tuple[SparkFrame, list[str]]:
        """The rows of the table, each with a class that its cell was planned for: at random, and just as many."""
        from pyspark.sql import Window
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        plan, sensitive = assignment.plan, self.schema.sensitive.name
        table = draw_rows(self._table, [*self._names, *self._kept])
        known = self._to_spark(self._combinations.frame.with_columns(pl.Series(CELL, self._coded.cell_of)))
        labels = self._to_spark(
            pl.DataFrame([pl.Series(CLASS, np.arange(plan.n_classes, dtype=np.int32)), *self._labels(plan, layout)])
        )
        table, known = table.alias("t"), F.broadcast(known).alias("k")
        is_same = [F.col(f"t.{quoted(name)}").eqNullSafe(F.col(f"k.{quoted(name)}")) for name in self._names]
        kept = [F.col(f"t.{quoted(name)}") for name in (sensitive, *self._kept, NUMBER)]
        rows = table.join(known, is_same).select(*kept, F.col(f"k.{quoted(CELL)}"))
        secret = F.lit(int(assignment.randomness.words(1)[0] >> np.uint64(1)))
        chance = F.xxhash64(secret, F.col(quoted(NUMBER)))
        within = Window.partitionBy(quoted(CELL)).orderBy(chance, quoted(NUMBER))
        rows = rows.withColumn(RANK, F.row_number().over(within))
        rows = rows.join(self._slots(plan), CELL)
        place = F.size(F.filter(F.col(quoted(ENDS)), lambda end: end < F.col(quoted(RANK)))) + 1
        rows = rows.withColumn(CLASS, F.element_at(F.col(quoted(CLASSES)), place))
        return rows.join(F.broadcast(labels), CLASS), [NUMBER]

    def _slots(self, plan: Plan) -> SparkFrame:
        """For each cell its classes, and how many of its rows go to them and those before."""
        fragments = pl.DataFrame({CELL: plan.cell, CLASSES: plan.ec, ENDS: plan.count})
        return self._to_spark(fragments.group_by(CELL).agg(pl.col(CLASSES), pl.col(ENDS).cum_sum()))

    def _to_spark(self, frame: pl.DataFrame) -> SparkFrame:
        from pyspark.sql.pandas.types import from_arrow_schema

        arrow = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        return self._session.createDataFrame(arrow, from_arrow_schema(arrow.schema, prefer_timestamp_ntz=True))

    def publish_exactly(self, draw: Draw | None, randomness: Randomness) -> tuple[SparkFrame, Trace]:
        """The rows as they are, in random order; sensitive values are drawn anew, or left out."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        margins, code_of, published = self._margins
        names, sensitive = list(self.schema.quasi_identifier_names), self.schema.sensitive.name
        values = self._columns[-1].values[sensitive].slice(1)
        codes = ValueCodes(values, code_of[1:], int(code_of[0]))
        drawing = None if draw is None else Drawing(sensitive, codes, draw)
        drawn = draw_rows(self._table, [*self._names, *self._kept], drawing)
        shown = [*names, *([] if draw is None else [sensitive]), *self._kept]
        if draw is not None:
            after = pl.Series(AFTER, np.arange(len(published)))
            new = self._to_spark(pl.DataFrame([after, published.alias(sensitive)]))
            drawn = drawn.drop(sensitive).join(F.broadcast(new), AFTER)
        rows = ordered_at_random(drawn, [NUMBER], margins.n_rows, randomness)
        return rows.select([quoted(name) for name in shown]), Trace(drawn, draw is not None)

    def write(self, release: SparkFrame, path: Path, form: Format) -> None:
        """Write a release to a folder of Parquet files."""
        if form is not Format.PARQUET:
            raise ParameterError("the engine 'spark' writes Parquet. Publish with --format parquet.")
        release.write.mode("overwrite").parquet(path.absolute().as_uri())
        for file in path.iterdir():
            if not file.name.endswith(".parquet") or file.name.startswith("."):
                file.unlink()  # marks of Hadoop

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

    def compare_exactly(self, release: SparkFrame, trace: Trace, path: Path | None, form: Format) -> ExactRecount:
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
        moves = np.zeros((len(self._published_values),) * 2, dtype=np.int64)
        for before, after, count in trace.drawn.groupBy(quoted(BEFORE), quoted(AFTER)).count().collect():
            moves[before, after] = count
        return ExactRecount(n_rows, n_changed, n_unknown, moves)
