"""The distinct values of a column, numbered as batches of rows bring them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from betalike.engines.coding import codes_of_values, empty_to_missing
from betalike.runtime.arrays import Ids, Words
from betalike.table.kernels import find_rows, number_dense, number_keys_by_hash

MOST_LISTED = 1 << 20
NO_PLACE = (1 << 32) - 1  # of a missing text


class Dictionary:
    """The distinct values of a column, numbered as batches bring them; a missing value is 0."""

    def __init__(self, keys_of: Callable[[pl.Series], Words] | None = None) -> None:
        self._keys_of = keys_of or text_keys  # 64 bits that rarely are the same for two texts
        self._texts = pl.Categories.random()
        self._anchor = pl.Series([], dtype=pl.Categorical(self._texts))  # keeps the numbers that Polars gives to texts
        self._number_of_text = np.zeros(0, dtype=np.int32)  # by what Polars numbers it with; 0 is none yet
        self._keys = np.zeros(0, dtype=np.uint64)  # of each value: 64 bits that differ where values do
        self._is_keyed = True  # whether they are, for texts
        self._known: pl.Series | None = None  # the values that have no keys, or are checked by them
        self._dense: tuple[int, Ids] | None = None  # the least value, and the number of each from there on
        self._given: list[pl.Series] = []
        self._no_value = pl.Series([], dtype=pl.String)  # of the type that the column has
        self.size = 1

    def number(self, column: pl.Series) -> Ids:
        """Return the number of each row's value; new values get new numbers."""
        self._no_value = column.clear()
        if column.dtype == pl.Categorical:
            return self._number_texts(column, column)
        plain = empty_to_missing(column)
        if plain.dtype != pl.String:
            return self._number_values(plain, column)
        if self._is_keyed:
            numbers = self._number_keys(self._keys_of(plain.drop_nulls()), plain, column)
            if numbers is not None:
                return numbers
            self._repeat_texts()
        return self._number_texts(plain, column)

    def _add(self, column: pl.Series, rows: pl.Series) -> Ids:
        """Give new numbers to the values of some rows, in their order."""
        self._given.append(column.gather(rows))
        self.size += len(rows)
        return np.arange(self.size - len(rows), self.size, dtype=np.int32)

    def _number_texts(self, plain: pl.Series, column: pl.Series) -> Ids:
        repeated = plain if plain.dtype == pl.Categorical else plain.cast(pl.Categorical(self._texts))
        places = repeated.to_physical().cast(pl.UInt32)
        by_row, numbers = places.fill_null(NO_PLACE).to_numpy(), np.empty(len(places), dtype=np.int32)
        if number_dense(by_row, 0, self._number_of_text, numbers):
            return numbers
        n_places = int(str(places.max() or 0)) + 1
        if n_places > len(self._number_of_text):
            more = np.zeros(2 * n_places - len(self._number_of_text), dtype=np.int32)
            self._number_of_text = np.append(self._number_of_text, more)
        row_of = np.full(n_places, -1, dtype=np.int64)  # a row of each new text
        find_rows(by_row, self._number_of_text, row_of)
        met = np.flatnonzero(row_of >= 0)
        is_text = (plain.gather(row_of[met]).cast(pl.String) != "").to_numpy()
        self._number_of_text[met[is_text]] = self._add(column, pl.Series(row_of[met[is_text]]))
        number_dense(by_row, 0, self._number_of_text, numbers)
        return numbers

    def _number_values(self, plain: pl.Series, column: pl.Series) -> Ids:
        if self._dense is not None and plain.dtype == pl.Int64 and not plain.null_count():
            numbers = np.empty(len(plain), dtype=np.int32)
            if number_dense(plain.to_numpy(), *self._dense, numbers):
                return numbers
        if (keys := _as_keys(plain.drop_nulls())) is not None:
            by_key = self._number_keys(keys, plain, column)
            assert by_key is not None  # only texts can have the same key
            return by_key
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

    def _number_keys(self, keys: Words, plain: pl.Series, column: pl.Series) -> Ids | None:
        """Number values by keys of 64 bits, known ones first; None if two texts have the same key."""
        is_present = plain.is_not_null() if plain.null_count() else None
        present = plain if is_present is None else plain.filter(is_present)
        n_known = len(self._keys)
        number, firsts = number_keys_by_hash(np.concatenate([self._keys, keys]) if n_known else keys)
        fresh = firsts[n_known:] - n_known
        number = number[n_known:]
        if plain.dtype == pl.String:
            texts = pl.concat([present.clear() if self._known is None else self._known, present.gather(fresh)])
            if not (texts.rechunk().gather(pl.Series(number)) == present).all():
                return None
            self._known = texts
        if len(fresh):
            self._keys = np.append(self._keys, keys[fresh])
            self._dense = _as_list(self._keys) if plain.dtype == pl.Int64 else None
            self._add(column, pl.Series(fresh if is_present is None else is_present.arg_true().to_numpy()[fresh]))
        if is_present is None:
            return number + np.int32(1)
        numbers = np.zeros(len(plain), dtype=np.int32)
        numbers[is_present.to_numpy()] = number + np.int32(1)
        return numbers

    def _repeat_texts(self) -> None:
        """Number the texts known so far as Polars does, which is slower than by their keys."""
        self._is_keyed = False
        if self._known is not None:
            places = self._known.cast(pl.Categorical(self._texts)).to_physical().to_numpy()
            self._number_of_text = np.zeros(int(places.max(initial=0)) + 1, dtype=np.int32)
            self._number_of_text[places] = np.arange(1, len(places) + 1)

    @property
    def values(self) -> pl.Series:
        """The values as they were given, by their numbers; the first is missing."""
        given = pl.concat(self._given) if self._given else self._no_value
        return pl.concat([pl.Series(given.name, [None], dtype=given.dtype), given])


def text_keys(texts: pl.Series) -> Words:
    """Return 64 bits for each text, which hardly ever are the same for two of them."""
    return texts.hash().to_numpy()


def _as_keys(values: pl.Series) -> Words | None:
    """Return values that are not missing as 64 bits each; None for types that need more."""
    if values.dtype.is_temporal():
        values = values.to_physical()
    if values.dtype.is_float():
        return values.cast(pl.Float64).to_numpy().view(np.uint64)
    if not values.dtype.is_integer() or values.dtype in (pl.Int128, pl.UInt128):
        return None
    return values.to_numpy() if values.dtype == pl.UInt64 else values.cast(pl.Int64).to_numpy().view(np.uint64)


def _as_list(keys: Words) -> tuple[int, Ids] | None:
    """Return whole numbers as the least one and a list of places; None if they are too far apart."""
    numbers = keys.view(np.int64)
    low, high = int(numbers.min()), int(numbers.max())
    if high - low >= MOST_LISTED:
        return None
    number_of = np.zeros(high - low + 1, dtype=np.int32)
    number_of[numbers - low] = np.arange(1, len(numbers) + 1)
    return low, number_of
