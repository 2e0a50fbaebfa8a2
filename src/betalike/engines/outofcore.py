"""The engine for tables larger than memory, on Polars: rows pass by in batches, only cells stay."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from betalike.engines.cells import Coded, code_combinations, code_margins
from betalike.engines.coarse import Coarse, count_coarsely, make_bins
from betalike.engines.combinations import Combinations, TooManyError, count_combinations, count_each
from betalike.engines.engine import Draw, ExactRecount, Format, Layout, PartsRecount, Recount
from betalike.engines.memory import (
    check_distinct_names,
    label_columns,
    label_values,
    recount_distinct,
)
from betalike.engines.parts import PartPublisher, Refine, label_series
from betalike.engines.scattering import Buckets, in_random_order
from betalike.engines.streams import (
    BATCH_ROWS,
    UNREADABLE,
    Stream,
    fingerprint,
    rows_of_files,
    scan_written,
    sink,
    written_names,
)
from betalike.errors import GuaranteeError, InputError
from betalike.io.damaged_files import NOT_TO_ITS_END, check_read_whole, compiled_code_silenced, damage_refused
from betalike.io.frames import check_years
from betalike.runtime.arrays import Ids, Ints
from betalike.runtime.progress import SILENT, Progress
from betalike.runtime.randomness import Randomness
from betalike.runtime.scratch import private_folder
from betalike.table.cells import Cells, Plan, ValueCounts, shuffled_slots
from betalike.table.kernels import assign_slots, count_pairs, draw_fragments
from betalike.table.schema import Schema

WRITTEN_ROWS = 250_000
SAMPLE_ROWS = 200_000
# Bytes, measured: of a cell while it is counted and planned, of a row of a part, of a row that is counted again.
PER_CELL, PER_PART_ROW, PER_RECOUNTED_ROW = 150, 2000, 200
PART_AT_ONCE = 8  # of the memory, one part in so many is for rows that are put in random order
PAIR = "class and value"  # a column of rows that are not published yet: which class, with which sensitive value


@dataclass
class Trace:
    """What was seen of rows when they were drawn: which values became which, and a fingerprint of all rows."""

    moves: Ints | None
    fingerprint: int = 0


@dataclass
class PartsTrace:
    """What was seen of rows that were published in parts: how many parts and classes, and a fingerprint of all rows."""

    n_parts: int
    n_classes: int = 0
    fingerprint: int = 0

    def clear(self) -> None:
        """Begin anew."""
        self.n_classes = self.fingerprint = 0

    def see(self, rows: pl.DataFrame, n_classes: int, sensitive: str) -> None:
        """Remember some more rows."""
        self.n_classes += n_classes
        self.fingerprint = (self.fingerprint + fingerprint(rows, as_text=[sensitive])) % 2**64


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
        self,
        table: pl.LazyFrame,
        schema: Schema,
        memory: int = 2 << 30,
        batch_rows: int = BATCH_ROWS,
        most_cells: int | None = None,
        progress: Progress = SILENT,
        n_rows: int | None = None,
        check_source: Callable[[], None] = lambda: None,
    ) -> None:
        with damage_refused(NOT_TO_ITS_END), compiled_code_silenced():
            columns = table.collect_schema()
            schema.check_columns(columns.names())
            if n_rows is None:  # a lazy frame, made by someone else
                n_rows = int(table.select(pl.len()).collect(engine="streaming").item())
        enums = [name for name, dtype in columns.items() if isinstance(dtype, pl.Enum)]
        self.schema = schema
        self._table = table.with_columns(pl.col(enums).cast(pl.Categorical))  # which lists the values that occur alone
        self._memory = memory
        self._batch_rows = batch_rows
        self._progress = progress
        self._most_cells = memory // PER_CELL if most_cells is None else most_cells
        self._n_rows = n_rows
        self._check_source = check_source
        self._names = [*schema.quasi_identifier_names, schema.sensitive.name]
        self._kept = [attribute.name for attribute in schema.kept]
        if n_rows == 0:
            raise InputError("the table has no rows; there is nothing to publish.")

    def _batches(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The table's rows in their order."""
        n_seen = 0
        with damage_refused(NOT_TO_ITS_END):
            batches = self._table.select(names).collect_batches(chunk_size=self._batch_rows, maintain_order=True)
            for batch in map(check_years, self._progress.flow(batches, "rows read", self._n_rows)):
                n_seen += batch.height
                yield batch
        check_read_whole(n_seen, self._n_rows)
        self._check_source()

    @cached_property
    def _combinations(self) -> Combinations:
        return count_combinations(self._batches(self._names), self._names, self._most_cells)

    @cached_property
    def _counted(self) -> Coded | Coarse:
        """The table in cells, or in coarse ones if there are more of them than memory."""
        try:
            return code_combinations(self._combinations, self.schema)
        except TooManyError:
            columns = make_bins(self.schema, self._sample())
            return count_coarsely(self._batches(self._names), columns, self.schema, self._most_cells)

    def _sample(self) -> pl.DataFrame:
        """Rows from all over the table, always the same ones."""
        step = -(-self._n_rows // SAMPLE_ROWS)
        return pl.concat([batch.gather_every(step) for batch in self._batches(self._names)])

    @property
    def is_coarse(self) -> bool:
        """Whether the cells are coarse."""
        return isinstance(self._counted, Coarse)

    @property
    def _coded(self) -> Coded:
        assert isinstance(self._counted, Coded)
        return self._counted

    @cached_property
    def _columns(self) -> list[Combinations]:
        """The values of each column by itself."""
        return count_each(self._batches(self._names), self._names)

    @cached_property
    def _margins(self) -> tuple[ValueCounts, Ids, pl.Series]:
        return code_margins(self._columns, self.schema)

    def count_cells(self) -> Cells:
        """Fold the table into cells."""
        return self._counted.cells

    def count_values(self) -> ValueCounts:
        """Count the sensitive values alone."""
        return self._margins[0]

    @property
    def _published_values(self) -> pl.Series:
        return self._margins[2] if "_margins" in self.__dict__ else self._counted.published

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
        labels = [_repeated_text(column) for column in label_series(plan, layout)]
        values = _repeated_text(self._published_values.alias(self.schema.sensitive.name))
        counts = plan.class_counts
        kept = self._table.select(self._kept).collect_schema()
        schema = pl.Schema({**{s.name: s.dtype for s in labels}, values.name: values.dtype, **kept})

        def rows(scratch: Path) -> Iterator[pl.DataFrame]:
            pairs = self._kept_pairs(assignment) if self._kept else _repeated(counts.count, self._batch_rows)
            of_pair = [column.gather(pl.Series(counts.ec)) for column in labels]
            of_pair.append(values.gather(pl.Series(counts.value)))
            with ThreadPoolExecutor(2) as pool:
                for shuffled in self._in_random_order(pairs, cells.n_rows, scratch, assignment.randomness):
                    for part in shuffled.iter_slices(WRITTEN_ROWS):
                        columns = pool.map(lambda column, pair=part[PAIR]: column.gather(pair), of_pair)
                        yield pl.DataFrame([*columns, *part.select(self._kept)])

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
            ec = assign_slots(cell, next_slot, slots).astype(np.int64)
            pair = np.searchsorted(keys, ec * counts.n_values + plan.cells.value[cell])
            yield batch.select(self._kept).with_columns(pl.Series(PAIR, pair.astype(np.int32)))

    @property
    def part_rows(self) -> int:
        """About how many rows a part may have."""
        return max(self._memory // PER_PART_ROW, 1)

    def publish_parts(
        self, sets: Plan, refine: Refine | None, layout: Layout, randomness: Randomness
    ) -> tuple[Stream, PartsTrace]:
        """The rows of all sets, split further or as they are, in random order."""
        assert isinstance(self._counted, Coarse)
        coarse, n_rows = self._counted, sets.cells.n_rows
        check_distinct_names(self.schema, sets.cells.axes, layout)
        publish_part = PartPublisher.of(self.schema, coarse, refine, layout)
        trace = PartsTrace(sets.n_classes if refine is not None else -(-n_rows // self.part_rows))
        names = [*self._names, *self._kept]
        by_cell = np.argsort(sets.cell, kind="stable")
        starts = np.searchsorted(sets.cell[by_cell], np.arange(len(sets.cells.count) + 1))

        def parted(scratch: Path) -> Iterator[pl.DataFrame]:
            trace.clear()
            left = sets.count[by_cell]
            buckets = Buckets(scratch, trace.n_parts, self._memory // PART_AT_ONCE)
            for batch in self._batches(names):
                fragment = draw_fragments(coarse.find(batch), starts, left, randomness.words(batch.height))
                ec = sets.ec[by_cell[fragment]]
                part = ec if refine is not None else (ec.astype(np.int64) * trace.n_parts // sets.n_classes)
                buckets.add(batch.with_columns(pl.Series(PAIR, ec)), part.astype(np.int32))
            for rows in buckets.take():
                made, n_classes = publish_part(rows, None if refine else rows[PAIR].to_numpy(), randomness)
                trace.see(made, n_classes, self.schema.sensitive.name)
                yield made

        def rows(scratch: Path) -> Iterator[pl.DataFrame]:
            for place in ("parts", "rows"):
                (scratch / place).mkdir()
            for shuffled in self._in_random_order(parted(scratch / "parts"), n_rows, scratch / "rows", randomness):
                yield from shuffled.iter_slices(WRITTEN_ROWS)

        example, _ = publish_part(self._table.select(names).head(1).collect(), np.zeros(1, dtype=np.int32), randomness)
        return Stream(example.schema, rows), trace

    def read_parts(
        self, release: Stream, trace: PartsTrace, path: Path | None, form: Format, layout: Layout
    ) -> PartsRecount:
        """Count a written release again, some of its classes at a time."""
        assert path is not None
        names = label_columns(self.count_cells().axes, layout)
        flat, sensitive = [name for group in names for name in group], self.schema.sensitive.name
        types: dict[str, Any] = {
            name: pl.String if name == sensitive else dtype for name, dtype in release.schema.items()
        }
        if not set(types) <= set(written_names(path, form)):
            raise GuaranteeError(UNREADABLE)
        seen = PartsTrace(trace.n_parts)

        def rows(turn: int, n_turns: int) -> Iterator[pl.DataFrame]:
            for batch in scan_written(path, form, types, self._batch_rows):
                mine = batch.filter((batch.select(flat).hash_rows() % n_turns) == turn)
                seen.see(mine, 0, sensitive)
                yield mine.select(pl.col(*flat, sensitive).cast(pl.String))

        n_turns = -(-self.count_cells().n_rows // (self._memory // PER_RECOUNTED_ROW))
        turns = (self._recount(rows(turn, n_turns), layout) for turn in range(n_turns))
        return PartsRecount(turns, lambda: seen.fingerprint == trace.fingerprint)

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

    def write(self, release: Stream, path: Path, form: Format) -> list[str]:
        """Write a release to a file; names the columns with cells that a spreadsheet would run as formulas."""

        def rows(scratch: Path) -> Iterator[pl.DataFrame]:
            yield from self._progress.flow(release.make(scratch), "rows written", self._n_rows)

        return sink(Stream(release.schema, rows), path, form)

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
        watched = self._progress.flow(batches, "rows counted again", self._n_rows)
        counted = count_combinations(watched, self._counted_columns(layout))
        if not len(counted.count):
            raise GuaranteeError("no rows were written. Nothing was published.")
        names = label_columns(self.count_cells().axes, layout)
        return recount_distinct(counted.frame, counted.numbers, counted.count, names, self.sensitive_labels)

    def count_again(self, release: Stream, layout: Layout) -> Recount:
        """Count a release again as it would be written."""
        with private_folder(Path(tempfile.gettempdir())) as scratch:
            columns = pl.col(self._counted_columns(layout)).cast(pl.String)
            return self._recount((batch.select(columns) for batch in release.make(scratch)), layout)

    def compare_exactly(self, release: Stream, trace: Trace, path: Path | None, form: Format) -> ExactRecount:
        """Compare exact rows, as they were written, with the table's as they were drawn; all rows at once."""
        sensitive = self.schema.sensitive.name
        types: dict[str, Any] = {
            name: pl.String if name == sensitive else dtype for name, dtype in release.schema.items()
        }
        if path is None:
            with private_folder(Path(tempfile.gettempdir())) as scratch:
                return self._compare(list(release.schema), release.make(scratch), trace)
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


def _repeated_text(column: pl.Series) -> pl.Series:
    """Texts that many rows share, so that they are kept once: written and read several times as fast."""
    return column.cast(pl.Categorical) if column.dtype == pl.String else column


def _repeated(counts: Ints, rows: int) -> Iterator[pl.DataFrame]:
    """Each number as often as its count tells, about so many rows at once."""
    ends = np.cumsum(counts)
    begin = 0
    while begin < len(counts):
        before = ends[begin - 1] if begin else 0
        end = max(int(np.searchsorted(ends, before + rows, side="right")), begin + 1)
        yield pl.DataFrame([pl.Series(PAIR, np.repeat(np.arange(begin, end, dtype=np.int32), counts[begin:end]))])
        begin = end
