"""The engine for one machine, on Polars: rows pass by in batches, and only their counts stay."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from betalike.engines.combinations import Combinations, TooManyError, count_combinations, count_each
from betalike.engines.engine import (
    DrawsLabels,
    Engine,
    ExactRecount,
    Format,
    Recount,
    SingledOut,
)
from betalike.engines.labels import label_series
from betalike.engines.many_cells import count_many
from betalike.engines.recounting import as_texts, recount
from betalike.engines.scattering import in_random_order
from betalike.engines.sensitive import label_joined
from betalike.engines.singling_out import count_singled_out
from betalike.engines.streams import (
    UNREADABLE,
    WRITTEN_ROWS,
    Stream,
    count_changed,
    fingerprint,
    scan_columns,
    scan_release,
    scan_written,
    sink,
    written_names,
)
from betalike.engines.value_binning import bin_source
from betalike.errors import GuaranteeError, InputError
from betalike.io import categories
from betalike.io.copies import ValueLabels
from betalike.io.tables import BATCH_ROWS, Source
from betalike.runtime.arrays import Ids, Ints
from betalike.runtime.progress import SILENT, Progress
from betalike.runtime.randomness import Randomness
from betalike.runtime.scratch import private_folder
from betalike.table.cells import Plan, shuffled_slots
from betalike.table.kernels import assign_slots, count_pairs
from betalike.table.schema import Schema

PER_CELL = 150  # bytes, measured: of a cell while it is counted and planned
SHUFFLED_SHARE = 8  # one part in eight of the memory is for rows that are put in random order
PAIR = "class and value"  # of rows that are not published yet: the class, with the sensitive value

Rows = Stream | pl.DataFrame  # a release: made when it is written, or held


@dataclass
class Trace:
    """What was seen of rows while they were made: a fingerprint of all, and which value got which label."""

    moves: Ints | None = None
    labels: Sequence[str] = ()
    fingerprint: int = 0

    def add(self, rows: pl.DataFrame, sensitive: Sequence[str]) -> None:
        """Add some rows to the fingerprint."""
        self.fingerprint = (self.fingerprint + fingerprint(rows, as_text=sensitive)) % 2**64


class LocalEngine(Engine):
    """Counts the cells of a table, makes the rows of a release from their plan, writes them and counts them again.

    The table is a frame in memory, or a lazy one that is read again each time. Without kept columns a release needs no
    second pass over the table: the plan says how many rows of each class have each sensitive value.
    """

    name = "local"

    def __init__(
        self,
        table: pl.DataFrame | pl.LazyFrame | Source,
        schema: Schema,
        memory: int = 2 << 30,
        batch_rows: int = BATCH_ROWS,
        most_cells: int | None = None,
        progress: Progress = SILENT,
        holds_release: bool = False,
        value_labels: ValueLabels | None = None,
    ) -> None:
        super().__init__(schema)
        source = table if isinstance(table, Source) else Source.of(table)
        schema.check_columns(source.table.collect_schema().names())
        if source.n_rows == 0:
            raise InputError("the table has no rows; there is nothing to publish.")
        source = replace(source.select(schema.names), batch_rows=batch_rows, progress=progress)
        self._source, self.ranges = bin_source(source, schema)
        self._memory, self._batch_rows, self._progress = memory, batch_rows, progress
        self._value_labels = {n: labels for n, labels in (value_labels or {}).items() if n not in self.ranges}
        self._most_cells = most_cells or (np.iinfo(np.int32).max if self._source.is_held else memory // PER_CELL)
        self._holds_release = holds_release or self._source.is_held

    def _count_combinations(self) -> Combinations:
        read = partial(self._source.batches, self._names)
        try:
            return count_combinations(read(), self._names, self._most_cells)
        except TooManyError:
            return count_many(read, self.schema, self._source.n_rows, self._most_cells)

    def _count_columns(self) -> tuple[list[Combinations], Combinations]:
        names = self.schema.sensitive_columns
        columns = count_each(self._source.batches(self._names), self._names)
        several = count_combinations(self._source.batches(names), names) if len(names) > 1 else columns[-1]
        return columns[: -len(names)], several

    @property
    def cell_of_rows(self) -> Ids:
        """The cell of each row."""
        return np.concatenate([self._counted.find(batch) for batch in self._source.batches(self._names)])

    def generalize(self, plan: Plan, randomness: Randomness) -> Rows:
        """Return the release in random order: labels of each row's class, the sensitive value, the kept columns."""
        labels = [_repeated_text(column) for column in label_series(plan)]
        values = [_repeated_text(column) for column in self._sensitive.shown]
        counts = plan.class_counts
        types = {column.name: column.dtype for column in (*labels, *values)}

        def rows(scratch: Path) -> Iterator[pl.DataFrame]:
            pairs = self._kept_pairs(plan, randomness) if self._kept else _repeated(counts.count, self._batch_rows)
            of_pair = [column.gather(pl.Series(counts.ec)) for column in labels]
            of_pair += [column.gather(pl.Series(counts.value)) for column in values]
            with ThreadPoolExecutor(2) as pool:
                for part in self._in_random_order(pairs, scratch, randomness):
                    columns = pool.map(lambda column, pair=part[PAIR]: column.gather(pair), of_pair)
                    yield pl.DataFrame([*columns, *part.select(self._kept)])

        return self._made(Stream(pl.Schema({**types, **self._source.types(self._kept)}), rows))

    def _made(self, stream: Stream) -> Rows:
        if self._source.is_held:
            return stream.collect(Path())  # which needs no scratch files
        if not self._holds_release:
            return stream
        with private_folder(Path(tempfile.gettempdir())) as scratch:
            return stream.collect(scratch)

    def _in_random_order(
        self, batches: Iterator[pl.DataFrame], scratch: Path, randomness: Randomness
    ) -> Iterator[pl.DataFrame]:
        most_bytes = 1 << 62 if self._source.is_held else self._memory // SHUFFLED_SHARE
        for shuffled in in_random_order(batches, self._source.n_rows, most_bytes, scratch, randomness):
            yield from shuffled.iter_slices(WRITTEN_ROWS)

    def _kept_pairs(self, plan: Plan, randomness: Randomness) -> Iterator[pl.DataFrame]:
        """Yield the kept columns of all rows, with the class and value that each row is published with."""
        counts = plan.class_counts
        known = counts.ec * counts.n_values + counts.value
        for batch, cell, ec in self._classes_of_rows(plan, randomness):
            keys = ec.astype(np.int64) * counts.n_values + plan.cells.value[cell]
            pair = np.searchsorted(known, keys).astype(np.int32)
            yield batch.select(self._kept).with_columns(pl.Series(PAIR, pair))

    def _classes_of_rows(self, plan: Plan, randomness: Randomness) -> Iterator[tuple[pl.DataFrame, Ids, Ids]]:
        """Yield all rows, with the cell and the class of each: the one decided already, or one at random."""
        slots = None if plan.row_classes is not None else shuffled_slots(plan, randomness)
        first = 0
        for batch in self._source.batches([*self._names, *self._kept]):
            cell = self._counted.find(batch)
            if plan.row_classes is not None:
                ec = plan.row_classes[first : first + batch.height]
            else:
                assert slots is not None
                ec = assign_slots(cell, *slots)
            yield batch, cell, ec
            first += batch.height

    def first_rows(self, n_rows: int) -> pl.DataFrame:
        """Return the first rows of the table."""
        found, n_found = [], 0
        for batch in self._source.batches(self.schema.names):
            found.append(batch.head(n_rows - n_found))
            n_found += found[-1].height
            if n_found == n_rows:
                break
        return pl.concat(found)

    def read_rows(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield columns of the table, batch by batch."""
        return self._source.batches(names)

    def assign_rows(self, plan: Plan, randomness: Randomness) -> Ids:
        """Return a class for each row of the table, at random among those that its cell was planned for."""
        return np.concatenate([ec for _, _, ec in self._classes_of_rows(plan, randomness)])

    def reread(self, release: Rows, path: Path | None, form: Format) -> Iterator[pl.DataFrame]:
        """Yield the rows of a release as they were written, or as they are where there is no file."""
        return self._written(release, path, form)

    def _written(self, release: Rows, path: Path | None, form: Format) -> Iterator[pl.DataFrame]:
        """Yield the rows of a release as they were written, or as they are where there is no file."""
        if path is None:
            yield from self._unwritten(release)
            return
        texts = dict.fromkeys(self.schema.sensitive_columns, pl.String)
        types: dict[str, Any] = {name: texts.get(name, dtype) for name, dtype in release.schema.items()}
        if set(types) != set(written_names(path, form)):
            raise GuaranteeError(UNREADABLE)
        yield from scan_written(path, form, types, self._batch_rows)

    def _unwritten(self, release: Rows) -> Iterator[pl.DataFrame]:
        if isinstance(release, pl.DataFrame):
            yield from release.iter_slices(self._batch_rows)
            return
        with private_folder(Path(tempfile.gettempdir())) as scratch:
            yield from release.make(scratch)

    def publish_exactly(self, draw: DrawsLabels | None, randomness: Randomness) -> tuple[Rows, Trace]:
        """Return the rows as they are, in random order; sensitive values are drawn again, or left out."""
        values, sensitive = self._sensitive, self.schema.sensitive_columns
        shown = [*self.schema.quasi_identifier_names, *([] if draw is None else sensitive), *self._kept]
        labels = values.labelled(None if draw is None else draw.labels)
        types = {**self._source.types([*self._names, *self._kept]), **labels.shown.schema}
        moves = np.zeros((values.shown.height, labels.shown.height), dtype=np.int64)
        seen = Trace(None if draw is None else moves, labels.labels)

        def drawn() -> Iterator[pl.DataFrame]:
            first = seen.fingerprint = 0
            moves[:] = 0
            for batch in self._source.batches([*self._names, *self._kept]):
                if draw is not None:
                    before = values.code(batch)
                    after = draw(before, first)
                    np.add(moves, count_pairs(before, after, *moves.shape), out=moves)
                    batch = batch.with_columns(column.gather(pl.Series(after)) for column in labels.shown)
                first += batch.height
                batch = batch.select(shown)
                if not self._holds_release:
                    seen.add(batch, sensitive)
                yield batch

        def rows(scratch: Path) -> Iterator[pl.DataFrame]:
            yield from self._in_random_order(drawn(), scratch, randomness)

        return self._made(Stream(pl.Schema({name: types[name] for name in shown}), rows)), seen

    def write(self, release: Rows, path: Path, form: Format) -> list[str]:
        """Write a release; return the columns with cells that a spreadsheet would run as formulas."""
        if isinstance(release, pl.DataFrame):
            release = Stream.of(release if form.is_csv else _plain(release, self._shared_texts(release)))

        def rows(scratch: Path) -> Iterator[pl.DataFrame]:
            yield from self._progress.flow(release.make(scratch), "rows written", self._source.n_rows)

        return sink(Stream(release.schema, rows), path, form, self._value_labels)

    def _shared_texts(self, release: pl.DataFrame) -> list[str]:
        """Return the columns of a held release whose repeated texts are kept once while it is made and written."""
        own = {**self._source.types(self._kept), **self._sensitive.shown.schema}
        return [name for name, dtype in release.schema.items() if dtype == pl.Categorical and own.get(name) != dtype]

    def give_back(self, release: Rows, path: Path | None, form: Format) -> Callable[[], pl.DataFrame | pl.LazyFrame]:
        """Return how to get a finished release: from its rows if they are held, else from the written files."""
        if isinstance(release, pl.DataFrame):
            return partial(_plain, release, self._shared_texts(release))
        assert path is not None
        return partial(scan_release, path, form)

    def recount(self, release: Rows, path: Path | None, form: Format) -> Recount:
        """Recount a release from the file alone, or as it is where there is none."""
        columns = [*self.schema.quasi_identifier_names, *self.schema.sensitive_columns]
        if path is not None:
            types = dict.fromkeys(columns, pl.Categorical)
            return self._recount(scan_written(path, form, types, self._batch_rows))
        return self._recount(as_texts(batch.select(columns)) for batch in self._unwritten(release))

    def count_singled_out(
        self, release: Rows, path: Path | None, form: Format, labels: Sequence[str], n_rows: int
    ) -> SingledOut:
        """Count the rows that the kept columns single out, as they were written."""
        names = [*labels, *self._kept]

        def batches() -> Iterator[pl.DataFrame]:
            if path is None:
                return (batch.select(names) for batch in self._unwritten(release))
            return scan_columns(path, form, names, self._batch_rows)

        return count_singled_out(batches, self._kept, labels, n_rows)

    def _recount(self, batches: Iterator[pl.DataFrame]) -> Recount:
        names = self.schema.quasi_identifier_names
        watched = self._progress.flow(batches, "rows counted again", self._source.n_rows)
        return recount(watched, names, self.schema.sensitive_columns, self.sensitive_labels)

    def compare_exactly(self, release: Rows, trace: Trace, path: Path | None, form: Format) -> ExactRecount:
        """Compare exact rows with those made: row by row if these are held, else by a fingerprint of all rows."""
        sensitive = self.schema.sensitive_columns
        if path is not None and set(release.schema) != set(written_names(path, form)):
            return ExactRecount(0, n_changed=1)
        labels = pl.Series(trace.labels).implode()
        found, n_rows, n_unknown, n_changed = Trace(), 0, 0, 0
        for batch in self._written(release, path, form):
            if trace.moves is not None:
                n_unknown += int((~label_joined(batch, sensitive).is_in(labels)).sum())
            if isinstance(release, pl.DataFrame):
                made = release.slice(n_rows, batch.height)
                n_changed += sum(count_changed(batch[name].head(made.height), made[name]) for name in release.columns)
            else:
                found.add(batch.select(list(release.schema)), sensitive)
            n_rows += batch.height
        if found.fingerprint != trace.fingerprint:
            n_changed = max(n_rows, 1)
        return ExactRecount(n_rows, n_changed, n_unknown, trace.moves)


def _plain(release: pl.DataFrame, texts: Sequence[str]) -> pl.DataFrame:
    """Return a held release with text as text."""
    return release.with_columns(categories.as_texts(release[name]) for name in texts)


def _repeated_text(column: pl.Series) -> pl.Series:
    """Return texts that many rows share as categories: they are written and read several times as fast."""
    return column.cast(pl.Categorical) if column.dtype == pl.String else column


def _repeated(counts: Ints, rows: int) -> Iterator[pl.DataFrame]:
    """Yield each number as often as its count says, about `rows` rows at once."""
    ends = np.cumsum(counts)
    begin = 0
    while begin < len(counts):
        before = ends[begin - 1] if begin else 0
        end = max(int(np.searchsorted(ends, before + rows, side="right")), begin + 1)
        yield pl.DataFrame([pl.Series(PAIR, np.repeat(np.arange(begin, end, dtype=np.int32), counts[begin:end]))])
        begin = end
