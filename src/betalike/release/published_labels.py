"""Read published labels back exactly: which values of a column each label covers."""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.engines.coding import comparable
from betalike.errors import HierarchyError, InputError
from betalike.io.column_types import guess_type, see
from betalike.release.certificate import ColumnFacts
from betalike.table.exact_numbers import Number, as_numbers, parse_values
from betalike.table.hierarchy import ROOT, Hierarchy
from betalike.table.rounded_axis import FROM, UP_TO, split_label
from betalike.table.rounding import Ends, Rounding, make_rounding
from betalike.table.schema import Kind, RoundEnds

Label = str | None
Codes = NDArray[np.int64]
WHOLE = re.compile(r"^(-?[0-9]+)\.0\Z")  # a whole number, as a column of real numbers has it


def read_number(text: str, kind: Kind) -> Number:
    """Return the number behind a published value, to the last digit; ValueError if it is not of this kind.

    >>> read_number("9007199254740993", Kind.INTEGER)
    9007199254740993
    """
    if "_" in text or text.strip() != text or not text.isascii():  # Python reads it, but no other program does
        raise ValueError("not written as a number")
    number: Number = parse_values([text], kind).tolist()[0]
    if not math.isfinite(number):
        raise ValueError("not a finite number")
    return number


def read_range(label: Label, kind: Kind, rounding: Rounding | None = None) -> Ends | None:
    """Return the two ends of a label, None for a missing value and for `*`; ValueError if it is not a label.

    An open end is the code that stands for it.
    """
    if label is None or label == ROOT:
        return None
    low, high = (read_number(text, kind) for text in split_label(label, rounding))
    if low > high:
        raise ValueError("a range that ends before it begins")
    return low, high


def read_rounding(column: ColumnFacts) -> Rounding | None:
    """Return how a certificate says that the ends of a column's ranges are rounded; None if they are not."""
    wish = RoundEnds(column.round, column.bottom, column.top)
    return make_rounding(column.name, Kind(column.kind), wish)


def read_domain(column: ColumnFacts) -> Ends | None:
    """Return the ends of a certificate's domain; None if it has none."""
    if column.domain is None:
        return None
    low, high = (read_number(text, Kind(column.kind)) for text in column.domain)
    if low > high or not math.isfinite(float(high) - float(low)):
        raise ValueError("a domain that ends before it begins, or is too wide")
    return low, high


def check_column(column: ColumnFacts) -> None:
    """Refuse a domain, a rounding or a hierarchy that cannot be read: a ValueError or an InputError."""
    read_rounding(column)
    if Kind(column.kind).is_ordered:
        read_domain(column)
    tree_of(column)


def tree_of(column: ColumnFacts) -> Hierarchy | None:
    """Return a certificate's hierarchy of a column; None if no leaf is public."""
    if not column.hierarchy:
        return None
    return Hierarchy.from_rows(column.hierarchy, source="the certificate's hierarchy")


@dataclass(frozen=True)
class ShownColumn:
    """The labels of a quasi-identifier with their rows; for numbers and dates, also the ranges they stand for.

    Exact numbers have one range that holds them all, and only the missing ones are counted.
    """

    labels: Mapping[Label, int]
    ranges: Collection[Ends] = ()

    @property
    def n_root(self) -> int:
        """Rows whose label stands for everything."""
        return self.labels.get(ROOT, 0)

    @property
    def hull(self) -> Ends | None:
        """The least and the greatest number that is shown."""
        return (min(low for low, _ in self.ranges), max(high for _, high in self.ranges)) if self.ranges else None

    @property
    def names(self) -> list[str]:
        """The labels without `*` and missing values."""
        return [label for label in self.labels if label is not None and label != ROOT]


def read_labels(column: ColumnFacts, labels: Mapping[Label, int]) -> ShownColumn:
    """Read the labels of a column, each with its rows; ValueError if one is not of its kind."""
    kind = Kind(column.kind)
    if kind.is_ordered:
        rounding = read_rounding(column)
        ends = {read_range(label, kind, rounding) for label in labels}
        ranges = [each for each in ends if each is not None]
        if rounding is not None:
            _check_round(rounding, ranges)
        return ShownColumn(labels, ranges)
    try:
        tree = tree_of(column)
    except HierarchyError as error:
        raise ValueError("not a hierarchy") from error
    shown = ShownColumn(labels)
    if not {*shown.names} <= {*(() if tree is None else tree.labels)}:
        raise ValueError("a label that the hierarchy lacks")
    return shown


def _check_round(rounding: Rounding, ranges: Sequence[Ends]) -> None:
    low, high = (as_numbers([ends[side] for ends in ranges]) for side in (0, 1))
    try:
        are_round = bool(rounding.are_round(low, high).all())
    except InputError as error:
        raise ValueError("numbers that cannot be rounded") from error
    if not are_round:
        raise ValueError("a range that does not end at round numbers")


@dataclass(frozen=True)
class CodedOriginal:
    """The original values of a column in order, a missing one last, and which of them each label covers."""

    codes: Codes  # of the distinct values of the original, as they were counted
    size: int  # codes without the missing one
    ends: Ends | None  # least and greatest value; None if there are no numbers
    n_values: int  # distinct values that occur
    has_missing: bool
    cover: dict[Label, tuple[int, int]]

    def boxes(self, labels: Sequence[Label]) -> Codes:
        """Return the first and the last code that each label covers; (1, 0) for a label that covers nothing."""
        return np.array([self.cover.get(label, (1, 0)) for label in labels], dtype=np.int64).reshape(len(labels), 2)


def code_original(
    column: ColumnFacts, values: pl.Series, counts: NDArray[np.int64], labels: Sequence[Label]
) -> CodedOriginal:
    """Code the distinct values of an original column, and find which of them each published label covers.

    The first value stands for missing ones. ValueError or InputError if a value or label is not of the column's kind.
    """
    kind, values = Kind(column.kind), values.slice(1)
    tree = None if kind.is_ordered else tree_of(column)
    leaves = () if tree is None else tree.leaves
    plain = comparable(values, kind, column.dates).to_list() if kind.is_ordered else named_alike(values, leaves)
    has_missing = bool(counts[0]) or any(
        value is None and count for value, count in zip(plain, counts[1:].tolist(), strict=True)
    )
    used = {value for value, count in zip(plain, counts[1:].tolist(), strict=True) if count and value is not None}
    order: list[Any]
    if not kind.is_ordered:
        order = [*leaves, *sorted(used - {*leaves})]
        cover, ends = _cover_categories(tree, order), None
    else:
        order = sorted(used)
        cover = _cover_numbers(column, order, list(dict.fromkeys(labels)))
        ends = (order[0], order[-1]) if order else None
    place = {value: number for number, value in enumerate(order)}
    codes = [len(order), *(len(order) if value is None else place.get(value, len(order)) for value in plain)]
    return CodedOriginal(np.array(codes, dtype=np.int64), len(order), ends, len(used), has_missing, cover)


def named_alike(column: pl.Series, names: Collection[str]) -> list[str | None]:
    """Return the distinct categories of a table by the names that another form of the table has for them.

    Texts are compared as texts. Only a column of numbers may be `37` in one file and `37.0` in another, and only if no
    two of its values, and no two names, would become one.
    """
    texts = comparable(column, Kind.CATEGORICAL).to_list()
    known, values = {*names}, {*texts} - {None}
    if values <= known or known <= values or not any(text.endswith(".0") for text in values | known):
        return texts
    name_of, plain = {_without_point(name): name for name in known}, {*map(_without_point, values)}
    if len(name_of) < len(known) or len(plain) < len(values) or not _are_numbers(column):
        return texts
    return [text if text is None else name_of.get(_without_point(text), text) for text in texts]


def _without_point(text: str) -> str:
    return WHOLE.sub(r"\1", text)


def _are_numbers(column: pl.Series) -> bool:
    """Whether a column has numbers, or texts that are all taken for numbers, as in a CSV file."""
    seen = see(column)
    return column.dtype.is_numeric() or (not seen.codes and guess_type(seen).kind.is_ordered)


def _cover_numbers(column: ColumnFacts, order: list[Number], labels: Sequence[Label]) -> dict[Label, tuple[int, int]]:
    """Return which of some numbers in order each label covers; `<= 18` and `90+` cover all that is coded there."""
    kind, missing, rounding = Kind(column.kind), len(order), read_rounding(column)
    bottom, top = (None, None) if rounding is None else (rounding.bottom, rounding.top)
    cover: dict[Label, tuple[int, int]] = {None: (missing, missing), ROOT: (0, missing)}
    for label in labels:
        ends = read_range(label, kind, rounding)
        if ends is not None and label is not None:
            low, high = ends
            is_from_start = low == bottom and label.startswith(UP_TO)
            is_to_end = high == top and label.endswith(FROM)
            first = 0 if is_from_start else bisect.bisect_left(order, low)
            cover[label] = (first, missing - 1 if is_to_end else bisect.bisect_right(order, high) - 1)
    return cover


def _cover_categories(tree: Hierarchy | None, order: Sequence[str]) -> dict[Label, tuple[int, int]]:
    """Return which of some values each label covers: those of a hierarchy come first, in its order."""
    cover: dict[Label, tuple[int, int]] = {text: (number, number) for number, text in enumerate(order)}
    if tree is not None:
        nodes = zip(tree.labels, tree.first.tolist(), tree.last.tolist(), strict=True)
        cover |= {label: (first, last) for label, first, last in nodes}
    cover[None], cover[ROOT] = (len(order), len(order)), (0, len(order))
    return cover
