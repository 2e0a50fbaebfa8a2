"""The rows of a table by person: distinct rows with their counts, in an order that follows from their values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from betalike.engines.combinations import Combinations, count_combinations
from betalike.engines.sensitive import label_joined
from betalike.engines.streams import as_plain_text, check_labels
from betalike.errors import SchemaError
from betalike.promises.people import Holdings
from betalike.promises.sets import Sets
from betalike.runtime.arrays import Ids
from betalike.table.cells import fold


@dataclass(frozen=True)
class PersonColumns:
    """The columns that people are counted with."""

    quasi_identifiers: Sequence[str]
    sensitive: Sequence[str]
    kept: Sequence[str]
    person: str

    @property
    def names(self) -> list[str]:
        """All of them."""
        return [*self.quasi_identifiers, *self.sensitive, *self.kept, self.person]


@dataclass(frozen=True)
class PersonRows:
    """Distinct rows of a table with their counts: quasi-identifiers, sensitive value, kept columns and person."""

    rows: Combinations
    columns: PersonColumns
    labels: Sequence[str]  # the sensitive values in the order of their codes

    @staticmethod
    def read(batches: Iterable[pl.DataFrame], columns: PersonColumns, labels: Sequence[str]) -> PersonRows:
        """Read a table; refuse rows without a person."""
        names = [str(place) for place in range(len(columns.quasi_identifiers) + 1 + len(columns.kept) + 1)]
        rows = count_combinations((_by_place(batch, columns) for batch in batches), names)
        n_missing = int(rows.count_of(len(names) - 1)[0])
        if n_missing:
            raise SchemaError(
                f"the person column '{columns.person}' has {n_missing} missing values. Every row must name its person: "
                "fill them in, remove those rows, or leave the person column out."
            )
        return PersonRows(rows, columns, labels)

    @property
    def n_axes(self) -> int:
        """Quasi-identifiers, which come first."""
        return len(self.columns.quasi_identifiers)

    def find(self, batch: pl.DataFrame) -> Ids:
        """Return the place of each row of a batch among the distinct rows."""
        return self.rows.find(_by_place(batch, self.columns))

    @cached_property
    def value(self) -> Ids:
        """The code of the sensitive value."""
        code = {label: number for number, label in enumerate(self.labels)}
        texts = self._texts(self.n_axes)
        used = np.unique(self.rows.numbers[self.n_axes])
        codes = np.zeros(len(texts), dtype=np.int32)
        codes[used] = [code[texts[number] or ""] for number in used.tolist()]
        return np.asarray(codes[self.rows.numbers[self.n_axes]])

    @cached_property
    def kept(self) -> list[Ids]:
        """The rank of each kept column's value."""
        return [self._ranks(place) for place in self.kept_places]

    @property
    def kept_places(self) -> range:
        """Where the kept columns are."""
        return range(self.n_axes + 1, len(self.rows.numbers) - 1)

    @cached_property
    def group(self) -> Ids:
        """The number of the sensitive value and the kept columns together, in an order that follows from them."""
        columns = [self.value, *self.kept]
        return fold(columns, [int(column.max()) + 1 for column in columns])[1]

    @cached_property
    def person(self) -> Ids:
        """The number of the person, in the order of their texts."""
        return self._ranks(len(self.rows.numbers) - 1)

    def _texts(self, place: int) -> list[str | None]:
        return as_plain_text(list(self.rows.values.values())[place]).to_list()

    def _ranks(self, place: int) -> Ids:
        """Return the place of each row's value among the values that occur, sorted as text; a missing one is first."""
        numbers, texts = self.rows.numbers[place], self._texts(place)
        used = np.unique(numbers)
        rank = {text: number for number, text in enumerate(sorted({texts[number] or "" for number in used.tolist()}))}
        ranks = np.zeros(len(texts), dtype=np.int32)
        ranks[used] = [rank[texts[number] or ""] for number in used.tolist()]
        return np.asarray(ranks[numbers])

    def held(self, sets: Sets) -> Holdings:
        """Return what people have in the whole table, as one class."""
        return Holdings.of(np.zeros(len(self.value), dtype=np.int64), self.person, self.value, sets, len(self.labels))


def _by_place(batch: pl.DataFrame, columns: PersonColumns) -> pl.DataFrame:
    check_labels(batch.select(columns.person))
    batch = batch.with_columns(person_keys(batch[columns.person]))
    return name_by_place(batch, columns.quasi_identifiers, columns.sensitive, [*columns.kept, columns.person])


def person_keys(column: pl.Series) -> pl.Series:
    """Return the keys of persons: `7`, `7.0` and ` 7` are one person, who would otherwise count as several."""
    if column.dtype != pl.String:
        return column
    keys = column.str.strip_chars().str.replace(r"^(\d+)\.0+$", "$1")
    return keys.set((keys == "").fill_null(False), None)


def name_by_place(
    batch: pl.DataFrame, first: Sequence[str], sensitive: Sequence[str], last: Sequence[str]
) -> pl.DataFrame:
    """Return columns named by their places, because names may clash, with the text of the sensitive value between."""
    check_labels(batch.select(sensitive))
    parts = [*batch.select(first), label_joined(batch, list(sensitive)), *batch.select(last)]
    return pl.DataFrame([part.alias(str(place)) for place, part in enumerate(parts)])
