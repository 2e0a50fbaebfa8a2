"""Count the people of each class of a release: its rows are matched to the rows of the table, which name persons.

A release has no persons, and the labels of several classes may cover a row of the table. So rows are matched in one way
that follows from the table and the release alone, whatever the order of their rows. It is the same when a release is
published and when it is verified: small boxes choose first, and rows of one person with the same quasi-identifiers and
value stay together where they can.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.engines.combinations import Combinations, add_up, count_combinations
from betalike.errors import InputError
from betalike.measures.risk import measure_people_risk
from betalike.measures.transport import share_out
from betalike.promises import Model
from betalike.promises.people import Holdings, judge_in_people
from betalike.promises.sets import Columns, Sets
from betalike.release.certificate import ColumnFacts
from betalike.release.original_rows import codes_together, read_shown_labels
from betalike.release.person_rows import PersonRows, name_by_place
from betalike.release.published_labels import Label, code_original
from betalike.release.verify import PeopleFigures
from betalike.runtime.arrays import Ids, Ints
from betalike.table.axis import Axis
from betalike.table.cells import fold
from betalike.table.joint import JointAxis

Numbers = NDArray[np.integer]


@dataclass(frozen=True)
class PlacedRows:
    """Rows of a table in the classes of a release: the class, the person and the value of each."""

    ec: Numbers
    person: Numbers
    value: Numbers
    n_values: int

    def held(self, sets: Sets) -> Holdings:
        """Return which people are in which class, and which sets of values they have there."""
        return Holdings.of(self.ec, self.person, self.value, sets, self.n_values)


@dataclass(frozen=True)
class ShownRows:
    """The rows of a release: the labels of each class, and how many rows of each group a class has."""

    labels: Sequence[Sequence[Label]]  # of each quasi-identifier, one for each class
    ec: Numbers
    group: Numbers
    count: Ints


def count_people(
    table: PersonRows, shown: ShownRows, facts: Sequence[ColumnFacts], model: Model, axis: Axis
) -> PeopleFigures | None:
    """Judge the classes of a release in people; None if its rows are not those of the table."""
    n_values = len(table.labels)
    found = people_of(table, shown, facts)
    if found is None:
        return None
    held, value_counts = found.held(model.sets(n_values, axis)), table.held(Sets.singletons(n_values)).totals
    risk = measure_people_risk(found.held(sets_of_values(axis, n_values)))
    return PeopleFigures(table.columns.person, judge_in_people(model, held), value_counts, held.totals, model, risk)


def sets_of_values(axis: Axis, n_values: int) -> Sets:
    """Return the values that can be guessed: each by itself, or each of every column if there are several."""
    if isinstance(axis, JointAxis):
        return Columns(axis.columns).sets(axis, n_values)
    return Sets.singletons(n_values)


def read_shown(batches: Iterable[pl.DataFrame], names: Sequence[str], table: PersonRows) -> ShownRows | None:
    """Read the rows of a release, whose labels are in these columns; None if a value is not of the table."""
    columns = table.columns
    places = [str(place) for place in range(len(names) + 1 + len(columns.kept))]
    named = (name_by_place(batch, names, columns.sensitive, columns.kept) for batch in batches)
    rows = count_combinations(named, places)
    labels = [read_shown_labels(rows, place) for place in range(len(names))]
    numbers = [number for _, number in labels]
    firsts, ec = fold(numbers, [int(number.max(initial=0)) + 1 for number in numbers])
    of_class = [[texts[i] for i in number[firsts].tolist()] for texts, number in labels]
    group = _groups_of(rows, len(names), table)
    return None if group is None else ShownRows(of_class, ec, group, rows.count)


def _groups_of(rows: Combinations, first: int, table: PersonRows) -> Ids | None:
    """Return the group of each row of a release by the numbers of the table; None if the table lacks one."""
    texts = list(rows.values.values())[first].to_list()
    code = {label: number for number, label in enumerate(table.labels)}
    columns = [np.array([code.get(text or "", -1) for text in texts], dtype=np.int32)[rows.numbers[first]]]
    for place, ranks in zip(table.kept_places, table.kept, strict=True):
        further = first + len(columns)
        mine, theirs = codes_together(
            list(table.rows.values.values())[place], list(rows.values.values())[further], None
        )
        rank_of = np.full(int(max(mine.max(), theirs.max())) + 1, -1, dtype=np.int32)
        rank_of[mine[table.rows.numbers[place]]] = ranks
        columns.append(rank_of[theirs[rows.numbers[further]]])
    if any((column < 0).any() for column in columns):
        return None
    together = [np.concatenate(pair) for pair in zip([table.value, *table.kept], columns, strict=True)]
    _, number = fold(together, [int(column.max()) + 1 for column in together])
    return number[len(table.value) :]


def people_of(table: PersonRows, shown: ShownRows, facts: Sequence[ColumnFacts]) -> PlacedRows | None:
    """Return which people are in which class, with which values; None if the rows are not those of the table."""
    values = list(table.rows.values.values())
    try:
        coded = [
            code_original(column, values[i], table.rows.count_of(i), labels)
            for i, (column, labels) in enumerate(zip(facts, shown.labels, strict=True))
        ]
    except (InputError, ValueError):
        return None
    codes = [column.codes[table.rows.numbers[i]].astype(np.int32) for i, column in enumerate(coded)]
    firsts, cell = fold([table.group, *codes], [int(column.max()) + 1 for column in (table.group, *codes)])
    points = np.column_stack([table.group[firsts], *(column[firsts] for column in codes)])
    supply = np.bincount(cell, table.rows.count, len(firsts)).astype(np.int64)
    by_label = _in_order(shown.labels)
    rank = np.empty(len(by_label), dtype=np.int32)
    rank[by_label] = np.arange(len(by_label), dtype=np.int32)
    (group, place), need = add_up([shown.group, rank[shown.ec]], shown.count)
    ec = by_label[place]
    boxes = [column.boxes(labels)[ec] for column, labels in zip(coded, shown.labels, strict=True)]
    low, high = (np.column_stack([group, *(box[:, side] for box in boxes)]).astype(np.int32) for side in (0, 1))
    shared = share_out(points.astype(np.int32), supply, low, high, need)
    if shared.unmet or int(need.sum()) != int(supply.sum()):
        return None
    row, box = _deal(cell, table.person, table.rows.count, shared.point, shared.box, shared.amount)
    return PlacedRows(ec[box], table.person[row], table.value[row], len(table.labels))


def _in_order(labels: Sequence[Sequence[Label]]) -> Ints:
    """Return the classes in the order of their labels."""
    keys = [tuple(label or "" for label in of_class) for of_class in zip(*labels, strict=True)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _deal(cell: Ids, person: Ids, count: Ints, point: Ints, box: Ints, amount: Ints) -> tuple[NDArray[np.intp], Ints]:
    """Give the rows of each cell to the boxes that take some, persons and boxes in order: most persons stay together.

    Return the pairs of row and box that have something in common.
    """
    rows, given = np.lexsort((person, cell)), np.lexsort((box, point))
    row_ends, box_ends = np.cumsum(count[rows]), np.cumsum(amount[given])
    ends = np.union1d(row_ends, box_ends)
    return rows[np.searchsorted(row_ends, ends)], box[given][np.searchsorted(box_ends, ends)]
