"""How well columns identify rows: distinct values, rows that are unique, and pairs of rows that differ.

Columns become 64-bit hashes, and a combination of columns becomes one hash. Up to `EXACT_ROWS` rows everything is
counted. In larger tables, values are counted for a fixed share of all *values* (those whose hash is small), with all
their rows: a sample of rows would make common values look unique. Pairs that differ are counted in a sample of rows.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from betalike.runtime.arrays import Words
from betalike.runtime.randomness import SeededRandomness

EXACT_ROWS = 1_000_000
SEARCH_ROWS = 20_000
MOST_COLUMNS = 12  # of combinations; those that separate rows best
MOST_SHOWN = 3  # combinations of each size


@dataclass(frozen=True)
class Identification:
    """How well some columns together identify rows.

    `unique` is the share of rows that share their values with no other row, and `separation` the share of pairs of rows
    that differ. `unique_people` is the share of people who have values that nobody else has; None if nothing says whose
    row each is.
    """

    columns: tuple[str, ...]
    distinct: int
    unique: float
    separation: float
    unique_people: float | None = None


def hash_column(column: pl.Series) -> Words:
    """Return a hash for each row; equal values, and missing ones, have equal hashes."""
    if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary):
        column = pl.Series(column.name, list(map(repr, column)), dtype=pl.String)
    elif column.dtype.base_type() in (pl.Categorical, pl.Enum):
        column = column.to_physical()  # equal exactly where the texts are
    return column.hash(seed=1).to_numpy()


def mix_hashes(hashes: Sequence[Words]) -> Words:
    """Return one hash for the values of several columns together."""
    mixed = hashes[0].copy()
    for other in hashes[1:]:
        mixed *= np.uint64(0x9E3779B97F4A7C15)  # odd, so that no two hashes become one
        mixed ^= mixed >> np.uint64(29)
        mixed += other
    return mixed


def measure(
    columns: Sequence[str], hashes: Words, persons: Words | None = None, exact_rows: int = EXACT_ROWS
) -> Identification:
    """Count distinct values, unique rows and people, and pairs that differ; in large tables estimate them.

    People are not counted in large tables: one person's rows may have values that are counted and others that are not.
    """
    n_rows = len(hashes)
    if n_rows <= exact_rows:
        sizes, people = _group_sizes(hashes), None if persons is None else count_unique_people(hashes, persons)
        return Identification(tuple(columns), len(sizes), _unique(sizes, n_rows), _separation(sizes), people)
    share = -(-n_rows // (exact_rows // 4))  # a quarter of the rows, as there may be many combinations to measure
    is_small = hashes * np.uint64(0xD1342543DE82EF95) < np.uint64(2**64 // share)
    sizes = _group_sizes(hashes[is_small])
    sampled = _group_sizes(hashes[sample_rows(n_rows, exact_rows // 10)])
    distinct = max(len(sizes) * share, len(sampled))
    if len(sampled) < exact_rows // 1000:  # a sample of rows has nearly all of so few values
        distinct = len(sampled)
    return Identification(tuple(columns), distinct, min(_unique(sizes, n_rows) * share, 1.0), _separation(sampled))


def count_unique_people(hashes: Words, persons: Words) -> float:
    """Return the share of people who have values that nobody else has, in one of their rows or several."""
    held = pl.DataFrame({"values": hashes, "person": persons}).unique()
    alone = held.filter(pl.len().over("values") == 1)
    return alone["person"].n_unique() / held["person"].n_unique()


@functools.lru_cache(4)
def sample_rows(n_rows: int, size: int) -> Words:
    """Return row numbers, the same ones in each run: nobody is protected by this choice."""
    rows = np.unique(SeededRandomness(1).words(size) % np.uint64(n_rows))
    rows.flags.writeable = False  # it is shared
    return rows


def find_worst(
    frame: pl.DataFrame, candidates: Mapping[str, float], persons: Words | None = None
) -> list[Identification]:
    """Return the pairs and triples of columns that make most rows unique, then all columns together.

    Candidates are the columns with how well each separates rows. Combinations are compared in a sample of rows; the
    best are then measured in the whole table, in people too if `persons` says whose row each is.
    """
    names = sorted(candidates, key=lambda name: -candidates[name])[:MOST_COLUMNS]
    if len(names) < 2:
        return []
    groups = [group for size in (2, 3) if size < len(candidates) for group in _promising(frame, names, size)]
    hashes = {name: hash_column(frame[name]) for name in {name for group in groups for name in group}}
    worst = [measure(group, mix_hashes([hashes[name] for name in group]), persons) for group in groups]
    worst.sort(key=lambda found: (-(found.unique_people or 0), -found.unique, -found.separation))
    shown = [[found for found in worst if len(found.columns) == size][:MOST_SHOWN] for size in (2, 3)]
    return [*shown[0], *shown[1], _measure_all(frame, list(candidates), hashes, persons)]


def _promising(frame: pl.DataFrame, names: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """Return the combinations that make most rows of a sample unique, and those that separate its rows best."""
    rows = frame if frame.height <= SEARCH_ROWS else frame[sample_rows(frame.height, SEARCH_ROWS)]
    hashes = {name: hash_column(rows[name]) for name in names}
    found = [
        measure(group, mix_hashes([hashes[name] for name in group])) for group in itertools.combinations(names, size)
    ]
    by_unique = sorted(found, key=lambda one: -one.unique)[:MOST_SHOWN]
    by_separation = sorted(found, key=lambda one: -one.separation)[:MOST_SHOWN]
    return list(dict.fromkeys(one.columns for one in (*by_unique, *by_separation)))


def _measure_all(
    frame: pl.DataFrame, names: list[str], known: Mapping[str, Words], persons: Words | None
) -> Identification:
    """Measure all columns together; only some of their hashes are held at once."""
    mixed = np.zeros(frame.height, dtype=np.uint64)
    for name in names:
        mixed = mix_hashes([mixed, known[name] if name in known else hash_column(frame[name])])
    return measure(names, mixed, persons)


def _group_sizes(hashes: Words) -> Words:
    return pl.Series(hashes).value_counts().to_series(1).to_numpy()


def _unique(sizes: Words, n_rows: int) -> float:
    return float(np.count_nonzero(sizes == 1)) / n_rows


def _separation(sizes: Words) -> float:
    n_rows = float(sizes.sum())
    if n_rows < 2:
        return 0.0
    counted = sizes.astype(np.float64)
    return 1.0 - float((counted * (counted - 1)).sum()) / (n_rows * (n_rows - 1))
