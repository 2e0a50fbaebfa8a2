"""The rows of a table, in batches: of a frame in memory, or of files that are read again each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from betalike.errors import InputError
from betalike.io.damaged_files import NOT_TO_ITS_END, check_read_whole, compiled_code_silenced, damage_refused
from betalike.io.frames import check_years
from betalike.runtime.progress import SILENT, Progress

BATCH_ROWS = 1_000_000


@dataclass(frozen=True)
class Source:
    """A table of `n_rows` rows; `check` refuses one that changed since it was opened."""

    table: pl.DataFrame | pl.LazyFrame
    n_rows: int
    batch_rows: int = BATCH_ROWS
    check: Callable[[], None] = lambda: None
    progress: Progress = SILENT

    @staticmethod
    def of_frame(frame: pl.DataFrame, names: Sequence[str], batch_rows: int, progress: Progress) -> Source:
        """Return the wanted columns of a frame; lists of categories have only the values that occur."""
        frame = check_years(frame.select(names))
        return Source(_only_used(frame), frame.height, batch_rows, progress=progress)

    @property
    def is_held(self) -> bool:
        """Whether all rows are in memory."""
        return isinstance(self.table, pl.DataFrame)

    def types(self, names: Sequence[str]) -> pl.Schema:
        """Return the types of some columns."""
        return self.table.lazy().select(names).collect_schema()

    def first_row(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the first row."""
        return self.table.lazy().select(names).head(1).collect()

    def batches(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield the rows in their order."""
        if isinstance(self.table, pl.DataFrame):
            rows = self.table.select(names).iter_slices(self.batch_rows)
            yield from self.progress.flow(rows, "rows read", self.n_rows)
            return
        n_seen = 0
        with damage_refused(NOT_TO_ITS_END):
            batches = self.table.select(names).collect_batches(chunk_size=self.batch_rows, maintain_order=True)
            for batch in map(check_years, self.progress.flow(batches, "rows read", self.n_rows)):
                n_seen += batch.height
                yield batch
        check_read_whole(n_seen, self.n_rows)
        self.check()


def open_source(
    table: pl.DataFrame | pl.LazyFrame,
    names: Sequence[str],
    batch_rows: int,
    progress: Progress,
    n_rows: int | None = None,
    check: Callable[[], None] = lambda: None,
) -> Source:
    """Return the rows of a frame, which may be lazy; an empty table is refused."""
    if isinstance(table, pl.DataFrame):
        source = Source.of_frame(table, names, batch_rows, progress)
    else:
        with damage_refused(NOT_TO_ITS_END), compiled_code_silenced():
            types = table.collect_schema()
            if n_rows is None:  # a lazy frame of the caller
                n_rows = int(table.select(pl.len()).collect(engine="streaming").item())
        enums = [name for name, dtype in types.items() if isinstance(dtype, pl.Enum)]
        rows = table.with_columns(pl.col(enums).cast(pl.Categorical))  # which lists only the values that occur
        source = Source(rows, n_rows, batch_rows, check, progress)
    if source.n_rows == 0:
        raise InputError("the table has no rows; there is nothing to publish.")
    return source


def _only_used(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame whose lists of categories have the values that occur and no others: the lists are published."""
    narrow = []
    for name, dtype in frame.schema.items():
        if isinstance(dtype, pl.Enum):
            used = set(frame[name].unique().drop_nulls().cast(pl.String))
            categories = pl.Enum([text for text in dtype.categories if text in used])
            narrow.append(frame[name].cast(pl.String).cast(categories))
    return frame.with_columns(narrow)
