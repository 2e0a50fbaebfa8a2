"""The engine for tables larger than memory, on Polars: rows pass by in batches, only cells stay."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.drafts import Draw
from betalike.engines.cells import Coded, code_combinations, code_margins
from betalike.engines.combinations import Combinations, count_combinations, count_each
from betalike.engines.memory import (
    check_distinct_names,
    class_columns,
    label_columns,
    label_values,
    recount_distinct,
)
from betalike.engines.scattering import in_random_order
from betalike.engines.streams import BATCH_ROWS, Stream, fingerprint, rows_of_files, scan_written, sink, written_names
from betalike.errors import FileError, GuaranteeError, InputError
from betalike.publication import ExactRecount, Format, Layout, Recount
from betalike.randomness import Randomness
from betalike.schema import Schema
from betalike.table import Cells, Margins, Plan, shuffled_slots
from betalike.table_kernels import count_pairs, hand_out

Ids = NDArray[np.int32]
Ints = NDArray[np.int64]

WRITTEN_ROWS = 250_000
PART_AT_ONCE = 16  # of the memory, one part in so many is for rows that are put in random order
PAIR = "class and value"  # a column of rows that are not published yet: which class, with which sensitive value


@dataclass
class Trace:
    """What was seen of rows when they were drawn: which values became which, and a fingerprint of all rows."""

    moves: Ints | None
    fingerprint: int = 0


@dataclass(frozen=True)
class Assignment:
    """A plan, and the randomness with which its rows will be handed out and shuffled."""

    plan: Plan
    randomness: Randomness


class OutOfCoreEngine:
    """Counts the cells of a lazy Polars frame, makes the rows of a release from their plan and writes them.

    Without kept columns a release needs no second look at the table: the plan tells how many rows of each class have
    each sensitive value.
    """

    name = "outofcore"

    def __init__(
        self, table: pl.LazyFrame, schema: Schema, memory: int = 2 << 30, batch_rows: int = BATCH_ROWS
    ) -> None:
        schema.check_columns(table.collect_schema().names())
        self.schema = schema
        self._table = table
        self._memory = memory
        self._batch_rows = batch_rows
        self._names = [*schema.quasi_identifier_names, schema.sensitive.name]
        self._kept = [attribute.name for attribute in schema.kept]
        if table.select(self._names[:1]).head(1).collect().height == 0:
            raise InputError("the table has no rows; there is nothing to publish.")

    def _batches(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The table's rows in their order."""
        try:
            yield from self._table.select(names).collect_batches(chunk_size=self._batch_rows, maintain_order=True)
        except (pl.exceptions.PolarsError, OSError) as error:  # its message may show cells of the table
            raise FileError("the table cannot be read to its end; is it damaged, or cut off?") from error

    @cached_property
    def _combinations(self) -> Combinations:
        return count_combinations(self._batches(self._names), self._names)

    @cached_property
    def _coded(self) -> Coded:
        return code_combinations(self._combinations, self.schema)

    @cached_property
    def _columns(self) -> list[Combinations]:
        """The values of each column by itself."""
        return count_each(self._batches(self._names), self._names)

    @cached_property
    def _margins(self) -> tuple[Margins, Ids, pl.Series]:
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
        """Rows are handed out when they are written."""
        return Assignment(plan, randomness)

    def generalize(self, assignment: Assignment, layout: Layout = Layout.LABELS) -> Stream:
        """The release as rows in random order: labels of each row's class, the sensitive value, the kept columns."""
        plan, cells = assignment.plan, assignment.plan.cells
        check_distinct_names(self.schema, cells.axes, layout)
        low, high = (side.astype(np.int64) for side in plan.boxes)
        labels = [
            of_class
            for i, axis in enumerate(cells.axes)
            for of_class in class_columns(axis, low[:, i], high[:, i], layout)
        ]
        values = self._published_values.alias(self.schema.sensitive.name)
        counts = plan.class_counts
        kept = self._table.select(self._kept).collect_schema()
        schema = pl.Schema({**{s.name: s.dtype for s in labels}, values.name: values.dtype, **kept})

        def rows(scratch: Path) -> Iterator[pl.DataFrame]:
            pairs = self._kept_pairs(assignment) if self._kept else _repeated(counts.count, self._batch_rows)
            ec, value = pl.Series(counts.ec), pl.Series(counts.value)
            for shuffled in self._in_random_order(pairs, cells.n_rows, scratch, assignment.randomness):
                for part in shuffled.iter_slices(WRITTEN_ROWS):
                    pair = part[PAIR]
                    classes = ec.gather(pair)
                    yield pl.DataFrame(
                        [
                            *(column.gather(classes) for column in labels),
                            values.gather(value.gather(pair)),
                            *part.select(self._kept),
                        ]
                    )

        return Stream(schema, rows)

    def _in_random_order(
        self, batches: Iterator[pl.DataFrame], n_rows: int, scratch: Path, randomness: Randomness
    ) -> Iterator[pl.DataFrame]:
        return in_random_order(batches, n_rows, self._memory // PART_AT_ONCE, scratch, randomness)

    def _kept_pairs(self, assignment: Assignment) -> Iterator[pl.DataFrame]:
        """The rows of the table with the class and value that each is published with."""
        plan, counts = assignment.plan, assignment.plan.class_counts
        next_slot, slots = shuffled_slots(plan, assignment.randomness)
        keys = counts.ec * counts.n_values + counts.value
        for batch in self._batches([*self._names, *self._kept]):
            cell = self._coded.cell_of[self._combinations.find(batch)]
            ec = hand_out(cell, next_slot, slots).astype(np.int64)
            pair = np.searchsorted(keys, ec * counts.n_values + plan.cells.value[cell])
            yield batch.select(self._kept).with_columns(pl.Series(PAIR, pair.astype(np.int32)))

    def publish_exactly(self, draw: Draw | None, randomness: Randomness) -> tuple[Stream, Trace]:
        """The rows as they are, in random order; sensitive values are drawn anew, or left out."""
        margins, code_of_number, published = self._margins
        sensitive, n_values = self.schema.sensitive.name, len(self._margins[2])
        names = list(self.schema.quasi_identifier_names)
        shown = [*names, *([] if draw is None else [sensitive]), *self._kept]
        table = self._table.select([*self._names, *self._kept]).collect_schema()
        schema = pl.Schema({name: published.dtype if name == sensitive else table[name] for name in shown})
        moves = np.zeros((n_values, n_values), dtype=np.int64)
        trace = Trace(None if draw is None else moves)
        dictionary = self._columns[-1].dictionaries[0]

        def drawn() -> Iterator[pl.DataFrame]:
            first = trace.fingerprint = 0
            moves[:] = 0
            for batch in self._batches([*self._names, *self._kept]):
                if draw is not None:
                    before = code_of_number[dictionary.number(batch[sensitive])].astype(np.int32)
                    after = draw(before, first)
                    np.add(moves, count_pairs(before, after, n_values), out=moves)
                    batch = batch.with_columns(published.gather(pl.Series(after)).alias(sensitive))
                first += batch.height
                batch = batch.select(shown)
                trace.fingerprint += fingerprint(batch, as_text=[sensitive])
                yield batch

        def rows(scratch: Path) -> Iterator[pl.DataFrame]:
            for shuffled in self._in_random_order(drawn(), margins.n_rows, scratch, randomness):
                yield from shuffled.iter_slices(WRITTEN_ROWS)

        return Stream(schema, rows), trace

    def write(self, release: Stream, path: Path, form: Format) -> None:
        """Write a release to a file."""
        sink(release, path, form)

    def rows_of_files(self, path: Path, n_rows: int) -> dict[str, int]:
        """The file, or the files of the folder, that the release was written to."""
        return rows_of_files(path, n_rows)

    def read_back(self, path: Path, form: Format, layout: Layout) -> Recount:
        """Count a written release again, from the file alone."""
        types = dict.fromkeys(self._counted_columns(layout), pl.String)
        return self._recount(scan_written(path, form, types, self._batch_rows), layout)

    def _counted_columns(self, layout: Layout) -> list[str]:
        names = label_columns(self.count_cells().axes, layout)
        return [*(name for group in names for name in group), self.schema.sensitive.name]

    def _recount(self, batches: Iterator[pl.DataFrame], layout: Layout) -> Recount:
        counted = count_combinations(batches, self._counted_columns(layout))
        if not len(counted.count):
            raise GuaranteeError("no rows were written. Nothing was published.")
        names = label_columns(self.count_cells().axes, layout)
        return recount_distinct(counted.frame, counted.numbers, counted.count, names, self.sensitive_labels)

    def count_again(self, release: Stream, layout: Layout) -> Recount:
        """Count a release again as it would be written."""
        with tempfile.TemporaryDirectory() as scratch:
            columns = pl.col(self._counted_columns(layout)).cast(pl.String)
            return self._recount((batch.select(columns) for batch in release.make(Path(scratch))), layout)

    def compare_exactly(self, release: Stream, trace: Trace, path: Path | None, form: Format) -> ExactRecount:
        """Compare exact rows, as they were written, with the table's as they were drawn; all rows at once."""
        sensitive = self.schema.sensitive.name
        types: dict[str, Any] = {
            name: pl.String if name == sensitive else dtype for name, dtype in release.schema.items()
        }
        if path is None:
            with tempfile.TemporaryDirectory() as scratch:
                return self._compare(list(release.schema), release.make(Path(scratch)), trace)
        if not set(types) <= set(written_names(path, form)):
            return ExactRecount(0, n_changed=1)
        return self._compare(list(release.schema), scan_written(path, form, types, self._batch_rows), trace)

    def _compare(self, names: list[str], batches: Iterator[pl.DataFrame], trace: Trace) -> ExactRecount:
        sensitive, labels = self.schema.sensitive.name, pl.Series(self.sensitive_labels).implode()
        n_rows = n_unknown = found = 0
        for batch in batches:
            n_rows += batch.height
            found += fingerprint(batch.select(names), as_text=[sensitive])
            if trace.moves is not None:
                n_unknown += int((~batch[sensitive].cast(pl.String).fill_null("").is_in(labels)).sum())
        n_changed = 0 if (found - trace.fingerprint) % 2**64 == 0 else max(n_rows, 1)
        return ExactRecount(n_rows, n_changed, n_unknown, trace.moves)


def _repeated(counts: Ints, rows: int) -> Iterator[pl.DataFrame]:
    """Each number as often as its count tells, so many rows at once."""
    ends = np.cumsum(counts)
    for begin in range(0, int(ends[-1]), rows):
        places = np.arange(begin, min(begin + rows, int(ends[-1])))
        yield pl.DataFrame([pl.Series(PAIR, np.searchsorted(ends, places, side="right").astype(np.int32))])
