"""Compare a published table with the original, exactly: each published row is matched to an original row.

A generalized row fits an original row with the same sensitive value and kept columns whose quasi-identifiers lie inside
its labels. Rows are counted first, so distinct rows with counts are matched.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from betalike.engines.coding import comparable, value_texts
from betalike.engines.combinations import Combinations, add_up, count_combinations, count_each
from betalike.engines.sensitive import join_columns
from betalike.engines.streams import as_plain_text, check_labels
from betalike.errors import InputError
from betalike.measures.transport import unmatched
from betalike.release.certificate import Certificate, ColumnFacts, protected_columns
from betalike.release.published_labels import CodedOriginal, Label, code_original, named_alike
from betalike.runtime.arrays import Ids, Ints
from betalike.table.cells import fold
from betalike.table.schema import Kind

Original = Callable[[], Iterator[pl.DataFrame]]  # opens the table; it may be read twice
Published = Callable[[], Iterable[pl.DataFrame]]
ROWS_AT_ONCE = 20_000_000  # rows of an exact release that are compared in one turn


@dataclass(frozen=True)
class Matched:
    """How a published table compares with the original; no columns if a cell is not of its column's kind."""

    values: dict[str, int]  # how often each sensitive value occurs in the original
    columns: list[CodedOriginal]  # of each quasi-identifier
    n_unmatched: int


def original_columns(certificate: Certificate) -> list[str]:
    """Return the columns of the original that a release is compared with."""
    table = certificate.table
    person = [] if certificate.people is None else [certificate.people.column]
    return [*table.quasi_identifiers, *protected_columns(certificate), *table.kept, *person]


def match_generalized(published: Published, original: Original, certificate: Certificate) -> Matched:
    """Match rows with labels to original rows."""
    facts = certificate.table.columns
    rows, shown = (_count(batches(), certificate) for batches in (original, published))
    labels = [read_shown_labels(shown, place) for place in range(len(facts))]
    values = _by_text(rows, len(facts))
    try:
        coded = [code_original(column, *_distinct(rows, place), labels[place][0]) for place, column in enumerate(facts)]
    except (InputError, ValueError):
        return Matched(values, [], int(shown.count.sum()))
    row_group, label_group = _numbered_together(rows, shown, len(facts))
    points = np.column_stack([row_group, *(column.codes[rows.numbers[i]] for i, column in enumerate(coded))])
    boxes = [column.boxes(texts)[number] for column, (texts, number) in zip(coded, labels, strict=True)]
    low, high = (np.column_stack([label_group, *(box[:, side] for box in boxes)]) for side in (0, 1))
    points, low, high = (codes.astype(np.int32) for codes in (points, low, high))
    n_unmatched = unmatched(points, rows.count, low, high, shown.count)
    n_more = int(rows.count.sum()) - int(shown.count.sum())
    return Matched(values, coded, max(n_unmatched, n_unmatched + n_more))


def match_exact(
    published: Published,
    original: Original,
    certificate: Certificate,
    n_rows: int,
    rows_at_once: int = ROWS_AT_ONCE,
) -> Matched:
    """Compare rows that have exact quasi-identifiers with original rows, apart from their sensitive values."""
    table = certificate.table
    n_columns, names = len(table.columns), [*table.quasi_identifiers, *table.kept]
    mine = count_each((_renamed(batch, certificate, names, True) for batch in original()), _names(len(names) + 1))
    theirs = count_each((_renamed(batch, certificate, names, False) for batch in published()), _names(len(names)))
    values = _by_text(mine[-1], 0)
    facts = [*table.columns, *[None] * len(table.kept)]
    try:
        coded = [
            code_original(column, *_distinct(found, 0), [])
            for column, found in zip(table.columns, mine[:n_columns], strict=True)
        ]
        codes = [
            codes_together(_distinct(one, 0)[0], _distinct(other, 0)[0], column)
            for one, other, column in zip(mine[:-1], theirs, facts, strict=True)
        ]
    except (InputError, ValueError):
        return Matched(values, [], n_rows)
    n_turns, n_unmatched = max(-(-n_rows // rows_at_once), 1), 0
    for turn in range(n_turns):
        rows = (_renamed(batch, certificate, names, False) for batch in original())
        here = _count_coded(rows, mine[:-1], [one for one, _ in codes], turn, n_turns)
        rows = (_renamed(batch, certificate, names, False) for batch in published())
        there = _count_coded(rows, theirs, [other for _, other in codes], turn, n_turns)
        n_unmatched += _n_different(here, there)
    return Matched(values, coded, n_unmatched)


def _names(number: int) -> list[str]:
    return [str(place) for place in range(number)]


def _count(batches: Iterable[pl.DataFrame], certificate: Certificate) -> Combinations:
    """Count distinct rows: the quasi-identifiers, the sensitive values, the kept columns."""
    table = certificate.table
    names = [*table.quasi_identifiers, *table.kept]
    renamed = (_renamed(batch, certificate, names, True, len(table.quasi_identifiers)) for batch in batches)
    return count_combinations(renamed, _names(len(names) + 1))


def _renamed(
    batch: pl.DataFrame, certificate: Certificate, names: Sequence[str], has_values: bool, place: int | None = None
) -> pl.DataFrame:
    """Name columns by their places, because names may clash; put sensitive values at a place, or at the end."""
    columns = [batch[name] for name in names]
    if has_values:
        name, parts = certificate.table.sensitive, certificate.table.sensitive_columns
        values = join_columns(batch.select(parts), parts, name)[name] if parts else batch[name]
        check_labels(values.to_frame())
        columns.insert(len(columns) if place is None else place, value_texts(values))
    return pl.DataFrame([column.alias(str(number)) for number, column in enumerate(columns)])


def _distinct(rows: Combinations, place: int) -> tuple[pl.Series, Ints]:
    return list(rows.values.values())[place], rows.count_of(place)


def read_shown_labels(rows: Combinations, place: int) -> tuple[list[Label], Ids]:
    """Return the distinct labels of a quasi-identifier, and the number of each row's label."""
    return as_plain_text(list(rows.values.values())[place]).to_list(), rows.numbers[place]


def _by_text(rows: Combinations, place: int) -> dict[str, int]:
    """Return how many rows have each value of a column, as text; a missing one is the empty text."""
    values, counts = _distinct(rows, place)
    found: dict[str, int] = {}
    for text, count in zip(value_texts(values).to_list(), counts.tolist(), strict=True):
        if count:
            found[text] = found.get(text, 0) + count
    return found


def _numbered_together(rows: Combinations, shown: Combinations, first: int) -> tuple[Ids, Ids]:
    """Number the combinations of sensitive value and kept columns, the same in both tables, from a place on."""
    columns = []
    for place in range(first, len(rows.numbers)):
        mine, theirs = codes_together(_distinct(rows, place)[0], _distinct(shown, place)[0], None)
        columns.append(np.concatenate([mine[rows.numbers[place]], theirs[shown.numbers[place]]]))
    _, number = fold(columns, [int(column.max(initial=0)) + 1 for column in columns])
    return number[: len(rows.count)], number[len(rows.count) :]


def codes_together(mine: pl.Series, theirs: pl.Series, facts: ColumnFacts | None) -> tuple[Ids, Ids]:
    """Give equal values of the original and of a release the same code."""
    code: dict[object, int] = {}
    one, other = (
        [code.setdefault(value, len(code)) for value in side] for side in _alike(mine.slice(1), theirs.slice(1), facts)
    )
    return np.array(one, dtype=np.int32), np.array(other, dtype=np.int32)


def _alike(mine: pl.Series, theirs: pl.Series, facts: ColumnFacts | None) -> list[list[object]]:
    """Return values in forms that are equal where the values are; a missing one, which has no place here, comes first.

    Numbers and dates are compared by value, other columns by text. A kept number is compared as a number, because its
    text depends on the file, unless that would make two values one.
    """
    sides: list[list[Any]]
    if facts is None:
        sides = [as_plain_text(column).to_list() for column in (mine, theirs)]
        if mine.dtype.is_float():
            numbers = [[_as_number(text) for text in side] for side in sides]
            sides = numbers if all(map(_are_apart, numbers)) else sides
    elif (kind := Kind(facts.kind)).is_ordered:
        sides = [comparable(column, kind, facts.dates).to_list() for column in (mine, theirs)]
    else:
        names = comparable(theirs, kind).to_list()
        sides = [named_alike(mine, {*names} - {None}), names]
    return [[None, *side] for side in sides]


def _are_apart(values: Sequence[object]) -> bool:
    present = [value for value in values if value is not None]
    return len({*present}) == len(present)


def _as_number(text: str | None) -> object:
    try:
        number = None if not text else float(text)
    except ValueError:
        return text
    return None if number is not None and math.isnan(number) else number


def _count_coded(
    batches: Iterable[pl.DataFrame], columns: Sequence[Combinations], codes: Sequence[Ids], turn: int, n_turns: int
) -> tuple[list[Ids], Ints]:
    """Count the distinct coded rows of one turn."""
    found: list[list[Ids]] = []
    counts: list[Ints] = []
    for batch in batches:
        pairs = zip(codes, columns, batch.get_columns(), strict=True)
        coded = [code[column.columns[cells.name].number(cells)] for code, column, cells in pairs]
        if n_turns > 1:
            mixed = np.zeros(batch.height, dtype=np.uint64)
            for code in coded:
                mixed = (mixed + code.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
            coded = [code[(mixed >> np.uint64(32)) % np.uint64(n_turns) == turn] for code in coded]
        merged, count = add_up(coded, np.ones(len(coded[0]), dtype=np.int64))
        found.append(merged)
        counts.append(count)
    if not found:
        return [np.zeros(0, dtype=np.int32) for _ in codes], np.zeros(0, dtype=np.int64)
    return add_up([np.concatenate(parts) for parts in zip(*found, strict=True)], np.concatenate(counts))


def _n_different(one: tuple[list[Ids], Ints], other: tuple[list[Ids], Ints]) -> int:
    """Return how many rows of either table have no partner in the other."""
    columns = [np.concatenate(pair) for pair in zip(one[0], other[0], strict=True)]
    _, number = fold(columns, [int(column.max(initial=0)) + 1 for column in columns])
    difference = np.zeros(int(number.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(difference, number, np.concatenate([one[1], -other[1]]))
    return int(np.abs(difference).sum())
