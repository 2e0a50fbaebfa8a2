"""Counting the distinct combinations of columns batch by batch, so that the rows need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.engines.dictionary import Dictionary
from betalike.errors import InputError
from betalike.runtime.arrays import Ids, Ints
from betalike.table.cells import fold
from betalike.table.kernels import add_to_counts, find_keys, pack_numbers

KEY_BITS = 63
_POOL = ThreadPoolExecutor(2)  # compiled loops let go of the interpreter
pl.Series(np.empty(0))  # Polars loads NumPy when it first needs it, and fails if two threads do so at once
MOST_PLACES = 64  # for numbers of a column that is kept apart from the keys
MOST_SPLIT = 1 << 23  # places of one hash table
OTHER_ROWS = "the table has other rows than when it was counted. Publish it when nothing changes it."
MERGE_FROM = 4_000_000  # combinations of several batches that are merged at once


class TooManyError(Exception):
    """There are more combinations than fit."""


class NumberedColumn(Protocol):
    """A column whose values have numbers; 0 is a missing value."""

    @property
    def size(self) -> int:
        """One more than the greatest number."""
        ...

    @property
    def values(self) -> pl.Series:
        """The value of each number; the first is missing."""
        ...

    def number(self, column: pl.Series) -> Ids:
        """Return the number of each row's value."""
        ...


@dataclass(frozen=True)
class Combinations:
    """Distinct rows of some numbered columns: the number of each column in each combination, and its rows."""

    columns: Mapping[str, NumberedColumn]
    numbers: list[Ids]
    count: Ints

    @cached_property
    def values(self) -> dict[str, pl.Series]:
        """The values of each column, by their numbers; the first is missing."""
        return {name: column.values for name, column in self.columns.items()}

    @cached_property
    def places(self) -> tuple[Tally, Ids] | None:
        """A tally of the combinations, and the combination at each of its places; None if keys would be too long."""
        tally = Tally(len(self.numbers))
        try:
            tally.add(self.numbers, [column.size for column in self.columns.values()], EACH_ROW)
        except OverflowError:
            return None
        combination = np.empty(len(self.count), dtype=np.int32)
        combination[tally.find(self.numbers)] = np.arange(len(self.count), dtype=np.int32)
        return tally, combination

    def find(self, batch: pl.DataFrame) -> Ids:
        """Return the combination of each row of a batch; the table must not have changed since it was counted."""
        rows = number_rows(batch, self.columns)
        if self.places is not None:
            tally, combination = self.places
            return np.asarray(combination[tally.find(rows)])
        together = [np.concatenate(pair) for pair in zip(self.numbers, rows, strict=True)]
        _, number = fold(together, [int(column.max()) + 1 for column in together])
        place = np.empty(len(self.count), dtype=np.int32)
        place[number[: len(place)]] = np.arange(len(place), dtype=np.int32)
        return np.asarray(place[number[len(place) :]])

    def rows(self, which: Ints, names: Sequence[str]) -> pl.DataFrame:
        """Return some columns of some combinations as rows."""
        number_of = dict(zip(self.columns, self.numbers, strict=True))
        return pl.DataFrame([self.values[n].gather(pl.Series(number_of[n][which])).alias(n) for n in names])

    @property
    def frame(self) -> pl.DataFrame:
        """The combinations as rows."""
        return self.rows(np.arange(len(self.count)), list(self.columns))

    def count_of(self, place: int) -> Ints:
        """Count the rows that have each value of a column."""
        size = list(self.columns.values())[place].size
        return np.bincount(self.numbers[place], self.count, size).astype(np.int64)


def number_rows(batch: pl.DataFrame, columns: Mapping[str, NumberedColumn]) -> list[Ids]:
    """Return the numbers of the values of a batch, a column at a time."""
    return list(_POOL.map(lambda name: columns[name].number(batch[name]), columns))


class _Half:
    """A hash table of half of the keys, which grows: keys in the order they came, and counts for each."""

    def __init__(self, half: int, stride: int) -> None:
        self.half, self.stride, self.n_pairs = half, stride, 0
        self._resize(1 << 15)

    def _resize(self, room: int) -> None:
        self.known = np.empty(room, dtype=np.uint64)
        self.total = np.empty(room * self.stride, dtype=np.int64)
        self.slots = np.full(2 * room, -1, dtype=np.int32)
        self.n_known = 0

    def add(self, keys: NDArray[np.uint64], values: Ids, counts: Ints) -> None:
        done = self._add_from(keys, values, counts, 0)
        while done < len(keys):
            self._grow()
            done = self._add_from(keys, values, counts, done)

    def _add_from(self, keys: NDArray[np.uint64], values: Ids, counts: Ints, begin: int) -> int:
        table = (self.slots, self.known, self.total, self.half)
        done, self.n_known, n_new = add_to_counts(keys, values, counts, begin, self.n_known, *table)
        self.n_pairs += n_new
        return done

    def _grow(self) -> None:
        known, total, n_pairs = self.known, self.total, self.n_pairs
        self._resize(2 * len(known))
        self._add_from(known, np.zeros(len(known), dtype=np.int32), EACH_ROW, 0)  # in the same order
        self.total[: len(total)] = total
        self.n_pairs = n_pairs

    @property
    def places(self) -> Ints:
        """Where counts are not 0."""
        return np.flatnonzero(self.total[: self.n_known * self.stride])


class Tally:
    """How many rows have each combination of numbers, kept in two hash tables that are filled side by side.

    With `is_split` the last column is not part of the key: every key has a count for each of its numbers. That is
    faster where most of these are used, and given up where they are not.
    """

    def __init__(self, n_columns: int, is_split: bool = False) -> None:
        self._is_split = is_split
        self._bits = [4] * (n_columns - is_split)
        self._clear(1)

    def _clear(self, stride: int) -> None:
        self._halves = [_Half(0, stride), _Half(1, stride)]

    @property
    def _stride(self) -> int:
        return self._halves[0].stride

    def add(self, columns: Sequence[Ids], sizes: Sequence[int], counts: Ints) -> None:
        """Add rows, each as often as `counts` says; `sizes` are above the numbers of each column."""
        self._make_room(sizes)
        self._add(columns, counts)

    def _make_room(self, sizes: Sequence[int]) -> None:
        """Give numbers as many bits as they need, and the last column as many places."""
        is_split = self._is_split and sizes[-1] <= MOST_PLACES and len(self._halves[0].total) <= MOST_SPLIT
        keyed = sizes[: len(sizes) - is_split]
        old = [*self._bits, *([4] if is_split < self._is_split else [])]
        bits = [max(int(size - 1).bit_length(), known) for size, known in zip(keyed, old, strict=True)]
        if sum(bits) > KEY_BITS:
            raise OverflowError
        stride = max(self._stride, sizes[-1]) if is_split else 1
        if (bits, stride) == (self._bits, self._stride):
            return
        known, total = self.numbers, self.total
        wider = [min(each + 1, 31) if each > before else before for each, before in zip(bits, old, strict=True)]
        self._bits, self._is_split = wider if sum(wider) <= KEY_BITS else bits, is_split
        self._clear(stride)
        self._add(known, total)

    def __len__(self) -> int:
        """Count the combinations."""
        return sum(half.n_pairs for half in self._halves)

    def find(self, columns: Sequence[Ids]) -> Ids:
        """Return the place of each row's combination, which was added before; not if the last column is split."""
        if any(len(column) and int(column.max()) >> bits for column, bits in zip(columns, self._bits, strict=True)):
            raise InputError(OTHER_ROWS)
        keys = self._keys(columns)
        found = np.empty(len(keys), dtype=np.int32)
        first = 0
        for half in self._halves:
            find_keys(keys, half.slots, half.known, half.half, first, found)
            first += half.n_known
        if found.min(initial=0) < 0:
            raise InputError(OTHER_ROWS)
        return found

    def _keys(self, columns: Sequence[Ids]) -> NDArray[np.uint64]:
        keys = np.zeros(len(columns[0]), dtype=np.uint64)
        shift = 0
        for column, bits in zip(columns, self._bits, strict=not self._is_split):
            pack_numbers(keys, np.ascontiguousarray(column), shift)
            shift += bits
        return keys

    def _add(self, columns: Sequence[Ids], counts: Ints) -> None:
        keys = self._keys(columns)
        values = np.ascontiguousarray(columns[-1]) if self._is_split else np.zeros(len(keys), dtype=np.int32)
        list(_POOL.map(lambda half: half.add(keys, values, counts), self._halves))

    @property
    def numbers(self) -> list[Ids]:
        """The numbers of each combination, a column at a time."""
        places = [half.places for half in self._halves]
        keys = np.concatenate(
            [half.known[place // self._stride] for half, place in zip(self._halves, places, strict=True)]
        )
        shifts = np.cumsum([0, *self._bits])
        masks = [np.uint64((1 << bits) - 1) for bits in self._bits]
        columns = [
            ((keys >> np.uint64(shift)) & mask).astype(np.int32) for shift, mask in zip(shifts, masks, strict=False)
        ]
        last = [(np.concatenate(places) % self._stride).astype(np.int32)] if self._is_split else []
        return columns + last

    @property
    def total(self) -> Ints:
        """How many rows have each combination."""
        return np.concatenate([half.total[half.places] for half in self._halves])


def count_combinations(
    batches: Iterable[pl.DataFrame],
    names: Sequence[str],
    most: int = np.iinfo(np.int32).max,
    rounded: Mapping[str, NumberedColumn] | None = None,
    merge_from: int = MERGE_FROM,
) -> Combinations:
    """Count the distinct combinations of columns, in any order; raise TooManyError above `most`.

    Columns are counted value by value, but those that are `rounded` in their bins.
    """
    columns: dict[str, NumberedColumn] = {**{name: Dictionary() for name in names}, **(rounded or {})}
    tally: Tally | None = Tally(len(names), is_split=len(names) > 1)
    numbers: list[list[Ids]] = []
    counts: list[Ints] = []
    for batch in batches:
        rows = number_rows(batch, columns)
        if tally is not None:
            try:
                tally.add(rows, [column.size for column in columns.values()], EACH_ROW)
                _check_fits(len(tally), most)
                continue
            except OverflowError:  # more values than fit into a key: from here on sorted and merged
                numbers, counts = ([tally.numbers], [tally.total]) if len(tally) else ([], [])
                tally = None
        merged, count = add_up(rows, np.ones(batch.height, dtype=np.int64))
        numbers.append(merged)
        counts.append(count)
        if sum(map(len, counts)) > merge_from and len(counts) > 1:
            numbers, counts = _merge(numbers, counts)
            _check_fits(len(counts[0]), most)
    if tally is not None:  # which has each combination once
        numbers, counts = [tally.numbers], [tally.total]
    elif len(counts) > 1:
        numbers, counts = _merge(numbers, counts)
    _check_fits(len(counts[0]), most)
    return Combinations(columns, numbers[0], counts[0])


def _check_fits(number: int, most: int) -> None:
    if number > most:
        raise TooManyError


def combine(rows: pl.DataFrame, count: Ints) -> Combinations:
    """Return combinations that another engine counted, one in each row."""
    columns = {name: Dictionary() for name in rows.columns}
    return Combinations(columns, *add_up(number_rows(rows, columns), count))


def count_each(batches: Iterable[pl.DataFrame], names: Sequence[str]) -> list[Combinations]:
    """Count the values of each column by itself in one pass: first the missing one, even if no row lacks a value."""
    columns = {name: Dictionary() for name in names}
    counts = {name: np.zeros(1, dtype=np.int64) for name in names}
    for batch in batches:
        for (name, column), numbers in zip(columns.items(), number_rows(batch, columns), strict=True):
            more = np.bincount(numbers, minlength=column.size).astype(np.int64)
            more[: len(counts[name])] += counts[name]
            counts[name] = more
    every = {name: [np.arange(len(count), dtype=np.int32)] for name, count in counts.items()}
    return [Combinations({name: column}, every[name], counts[name]) for name, column in columns.items()]


def add_up(columns: Sequence[NDArray[np.integer]], counts: Ints) -> tuple[list[Ids], Ints]:
    """Add up the counts of rows with the same numbers; return the distinct rows in order, and their counts."""
    firsts, number = fold(columns, [int(column.max(initial=0)) + 1 for column in columns])
    total = np.bincount(number, counts, len(firsts)).astype(np.int64)
    return [np.ascontiguousarray(column[firsts], dtype=np.int32) for column in columns], total


def _merge(numbers: list[list[Ids]], counts: list[Ints]) -> tuple[list[list[Ids]], list[Ints]]:
    columns = [np.concatenate(parts) for parts in zip(*numbers, strict=True)]
    merged, count = add_up(columns, np.concatenate(counts))
    return [merged], [count]


EACH_ROW = np.zeros(0, dtype=np.int64)  # counts of rows that count once each
