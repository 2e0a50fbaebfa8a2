"""Counting the distinct combinations of columns batch by batch, so that the rows need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.engines.coding import codes_of_values, empty_to_missing
from betalike.table import Ids, Ints, fold

MERGE_FROM = 4_000_000  # combinations of several batches that are brought together


class Dictionary:
    """The distinct values of a column, numbered as they are met in batch after batch; a missing value is 0."""

    def __init__(self) -> None:
        self._texts = pl.Categories.random()
        self._anchor = pl.Series([], dtype=pl.Categorical(self._texts))  # without a series Polars numbers anew
        self._number_of_text = np.zeros(0, dtype=np.int32)  # by what Polars numbers it with; 0 is none yet
        self._known: pl.Series | None = None
        self._given: list[pl.Series] = []
        self.size = 1

    def number(self, column: pl.Series) -> Ids:
        """The number of each row's value; new values get new numbers."""
        plain = empty_to_missing(column)
        return self._number_texts(plain, column) if plain.dtype == pl.String else self._number_values(plain, column)

    def _add(self, column: pl.Series, rows: pl.Series) -> Ids:
        """New numbers for the values of some rows, in their order."""
        self._given.append(column.gather(rows))
        self.size += len(rows)
        return np.arange(self.size - len(rows), self.size, dtype=np.int32)

    def _number_texts(self, plain: pl.Series, column: pl.Series) -> Ids:
        places = plain.cast(pl.Categorical(self._texts)).to_physical()
        n_places = int(places.max() or 0) + 1  # type: ignore[arg-type]
        if n_places > len(self._number_of_text):
            more = np.zeros(2 * n_places - len(self._number_of_text), dtype=np.int32)
            self._number_of_text = np.append(self._number_of_text, more)
        firsts = places.arg_unique()
        met = places.gather(firsts)
        is_new = met.is_not_null() & pl.Series(self._number_of_text[met.fill_null(0).to_numpy()] == 0)
        if is_new.any():
            self._number_of_text[met.filter(is_new).to_numpy()] = self._add(column, firsts.filter(is_new))
        return np.where(places.is_null().to_numpy(), 0, self._number_of_text[places.fill_null(0).to_numpy()])

    def _number_values(self, plain: pl.Series, column: pl.Series) -> Ids:
        firsts = plain.arg_unique()
        met = plain.gather(firsts)
        is_new = met.is_not_null()
        if self._known is not None:
            is_new &= ~met.is_in(self._known.implode())
        if is_new.any():
            self._add(column, firsts.filter(is_new))
            fresh = met.filter(is_new)
            self._known = fresh if self._known is None else self._known.append(fresh)
        if self._known is None:
            return np.zeros(len(column), dtype=np.int32)
        return codes_of_values(plain, self._known, np.arange(1, len(self._known) + 1), missing=0)

    @property
    def values(self) -> pl.Series:
        """The values as they were given, by their numbers; the first is missing."""
        given = pl.concat(self._given) if self._given else pl.Series([], dtype=pl.String)
        return pl.concat([pl.Series(given.name, [None], dtype=given.dtype), given])


@dataclass(frozen=True)
class Combinations:
    """Distinct rows of some columns: the values of each column, their numbers in each combination, and its rows."""

    values: dict[str, pl.Series]
    numbers: list[Ids]
    count: Ints
    dictionaries: Sequence[Dictionary] = ()

    def find(self, batch: pl.DataFrame) -> Ids:
        """The combination that each row of a batch is."""
        met = zip(self.numbers, self.dictionaries, self.values, strict=True)
        together = [np.concatenate([known, dictionary.number(batch[name])]) for known, dictionary, name in met]
        _, number = fold(together, [int(column.max()) + 1 for column in together])
        place = np.empty(len(self.count), dtype=np.int32)
        place[number[: len(place)]] = np.arange(len(place), dtype=np.int32)
        return np.asarray(place[number[len(place) :]])

    @property
    def frame(self) -> pl.DataFrame:
        """The combinations as rows."""
        columns = zip(self.values.items(), self.numbers, strict=True)
        return pl.DataFrame([values.gather(pl.Series(numbers)).alias(name) for (name, values), numbers in columns])

    def count_of(self, column: int) -> Ints:
        """How many rows have each value of a column."""
        size = len(list(self.values.values())[column])
        return np.bincount(self.numbers[column], self.count, size).astype(np.int64)


def count_combinations(batches: Iterable[pl.DataFrame], names: Sequence[str]) -> Combinations:
    """Count the distinct combinations of columns; combinations come in no particular order."""
    dictionaries = [Dictionary() for _ in names]
    numbers: list[list[Ids]] = []
    counts: list[Ints] = []
    for batch in batches:
        columns = [dictionary.number(batch[name]) for dictionary, name in zip(dictionaries, names, strict=True)]
        merged, count = add_up(columns, np.ones(batch.height, dtype=np.int64))
        numbers.append(merged)
        counts.append(count)
        if sum(map(len, counts)) > MERGE_FROM and len(counts) > 1:
            numbers, counts = _merge(numbers, counts)
    if not counts:
        return Combinations({name: pl.Series(name, [None]) for name in names}, [_NO_IDS] * len(names), _NO_INTS)
    ((columns,), (count,)) = _merge(numbers, counts)
    values = {name: dictionary.values for name, dictionary in zip(names, dictionaries, strict=True)}
    return Combinations(values, columns, count, dictionaries)


def combine(rows: pl.DataFrame, count: Ints) -> Combinations:
    """Combinations that another engine counted, one in each row."""
    dictionaries = [Dictionary() for _ in rows.columns]
    numbers = [dictionary.number(column) for dictionary, column in zip(dictionaries, rows, strict=True)]
    columns, total = add_up(numbers, count)
    values = {column.name: dictionary.values for dictionary, column in zip(dictionaries, rows, strict=True)}
    return Combinations(values, columns, total, dictionaries)


def count_each(batches: Iterable[pl.DataFrame], names: Sequence[str]) -> list[Combinations]:
    """Count the values of each column by itself, in one pass."""
    dictionaries = [Dictionary() for _ in names]
    counts = [np.zeros(1, dtype=np.int64) for _ in names]
    for batch in batches:
        for place, (name, dictionary) in enumerate(zip(names, dictionaries, strict=True)):
            more = np.bincount(dictionary.number(batch[name]), minlength=dictionary.size)
            more[: len(counts[place])] += counts[place]
            counts[place] = more.astype(np.int64)
    return [
        Combinations({name: dictionary.values}, [np.arange(len(count), dtype=np.int32)], count, [dictionary])
        for name, dictionary, count in zip(names, dictionaries, counts, strict=True)
    ]


def add_up(columns: Sequence[NDArray[np.integer]], counts: Ints) -> tuple[list[Ids], Ints]:
    """Bring rows with the same numbers together: distinct combinations, in the order of their numbers, with counts."""
    firsts, number = fold(columns, [int(column.max(initial=0)) + 1 for column in columns])
    total = np.bincount(number, counts, len(firsts)).astype(np.int64)
    return [np.ascontiguousarray(column[firsts], dtype=np.int32) for column in columns], total


def _merge(numbers: list[list[Ids]], counts: list[Ints]) -> tuple[list[list[Ids]], list[Ints]]:
    columns = [np.concatenate(parts) for parts in zip(*numbers, strict=True)]
    merged, count = add_up(columns, np.concatenate(counts))
    return [merged], [count]


_NO_IDS, _NO_INTS = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
