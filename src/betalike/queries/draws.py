"""Completed tables as frames: the rows of a release, each label replaced by a value that is drawn within it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from betalike.engines.coding import value_texts
from betalike.errors import InputError
from betalike.queries.columns import NamedColumn, OrderedColumn
from betalike.queries.completion import Completion
from betalike.queries.estimator import Estimator, as_published
from betalike.release.certificate import ColumnFacts
from betalike.release.recount import is_exact
from betalike.runtime.arrays import Floats, Ids
from betalike.runtime.randomness import Randomness
from betalike.table.cells import fold
from betalike.table.exact_numbers import format_values
from betalike.table.hierarchy import ROOT
from betalike.table.schema import Kind

MOST_PLACES = 6  # of real numbers that are measured or paid in fixed steps
OTHER_ROWS = "the published table does not have the rows and columns of its certificate."


def draw_frames(frame: pl.DataFrame, release: Estimator, draws: int, randomness: Randomness) -> list[pl.DataFrame]:
    """Return completed tables with the rows and the kept columns of a release, in its order."""
    completion = Completion(release)
    ec, label = _classes_of(frame, release), _sensitive_labels(frame, release)
    return [_complete(frame, completion, *completion.draw(ec, label, randomness)) for _ in range(draws)]


def _classes_of(frame: pl.DataFrame, release: Estimator) -> Ids:
    """Return the class of each row."""
    index, facts = release.index, {column.name: column for column in release.certificate.table.columns}
    ids = []
    for axis, (column, labels) in enumerate(zip(release.quasi_identifiers, index.labels, strict=True)):
        shown = frame[column.name].cast(pl.String).fill_null("")
        if is_exact(release.certificate):
            shown = _as_labels(shown, facts[column.name])
        of_rows = _codes(shown, [label or "" for label in labels])
        ids.append(np.concatenate([of_rows, index.ids[:, axis]]))
    number = fold(ids, index.n_labels)[1]
    class_of = np.full(int(number.max(initial=-1)) + 1, -1, dtype=np.int32)
    class_of[number[frame.height :]] = np.arange(len(index.ids))
    found = class_of[number[: frame.height]]
    if (found < 0).any():
        raise InputError(OTHER_ROWS)
    return found


def _as_labels(texts: pl.Series, facts: ColumnFacts) -> pl.Series:
    """Return exact values in the form of labels: 1.50 and 1,5 are 1.5, and 31.12.1980 is 1980-12-31."""
    given = texts.unique()
    labels = as_published([text or None for text in given], facts)
    return texts.replace_strict(given, [label or "" for label in labels], return_dtype=pl.String)


def _sensitive_labels(frame: pl.DataFrame, release: Estimator) -> Ids:
    """Return the code of each row's published sensitive label; 0 if the column was left out."""
    if release.sensitive.name not in frame.columns:
        return np.zeros(frame.height, dtype=np.int32)
    transition = release.transition
    labels = release.values if transition is None else list(next(iter(transition.values())))
    return _codes(value_texts(frame[release.sensitive.name]), labels)


def _codes(texts: pl.Series, labels: Sequence[str]) -> Ids:
    codes = texts.cast(pl.String).replace_strict(
        list(labels), list(range(len(labels))), default=None, return_dtype=pl.Int32
    )
    if codes.null_count():
        raise InputError(OTHER_ROWS)
    return codes.to_numpy()


def _complete(frame: pl.DataFrame, completion: Completion, drawn: Sequence[Floats], sensitive: Ids) -> pl.DataFrame:
    release = completion.release
    columns = []
    for axis, (column, values) in enumerate(zip(release.quasi_identifiers, drawn, strict=True)):
        if isinstance(column, NamedColumn):
            columns.append(_names(column, values))
        else:
            columns.append(_numbers(column, completion, axis, values))
    columns.append(_sensitive(frame, completion, sensitive))
    kept = [name for name in release.certificate.table.kept if name in frame.columns]
    return pl.DataFrame([*columns, *frame.select(kept)])


def _names(column: NamedColumn, codes: Floats) -> pl.Series:
    """Return the names of leaves; `*` for one that the release does not name."""
    names = pl.Series(column.name, [*column.leaves, *[ROOT] * column.n_unnamed, None], dtype=pl.String)
    return names.gather(pl.Series(np.where(np.isnan(codes), len(names) - 1, codes).astype(np.int64)))


def _numbers(column: OrderedColumn, completion: Completion, axis: int, values: Floats) -> pl.Series:
    """Return numbers or dates of the column's type; fractions have as many places as the labels show."""
    spans = completion.release.index.spans[axis]
    series = pl.Series(column.name, values, nan_to_null=True)
    if column.kind is Kind.INTEGER:
        whole = series.round(0).cast(pl.Int64)
        return whole if spans.origin == 0 else whole.cast(pl.Int128) + int(spans.origin)
    if column.kind is Kind.MONTH:
        months = (series.round(0).cast(pl.Int64) + int(spans.origin)).to_list()
        known = iter(format_values((month for month in months if month is not None), Kind.MONTH))
        return pl.Series(column.name, [None if month is None else next(known) for month in months], dtype=pl.String)
    if column.kind in (Kind.DATE, Kind.DATETIME):
        counted = series.round(0).cast(pl.Int64) + int(spans.origin)
        return counted.cast(pl.Int32).cast(pl.Date) if column.kind is Kind.DATE else counted.cast(pl.Datetime("us"))
    series, places = series + float(spans.origin), _places(completion.release.index.labels[axis])
    is_rounded = (
        column.kind is Kind.DECIMAL or 0 < places <= MOST_PLACES
    )  # reals without a fraction may be rounded ends
    return series.round(places) if is_rounded else series


def _places(labels: Sequence[str | None]) -> int:
    """Return how many places after the point labels show at most; none if some number has an exponent."""
    ends = [end for label in labels if label is not None for end in label.strip("[]").split(", ")]
    return 0 if any("e" in end for end in ends) else max((len(end.partition(".")[2]) for end in ends), default=0)


def _sensitive(frame: pl.DataFrame, completion: Completion, codes: Ids) -> pl.Series:
    """Return the sensitive column as it was published, or as drawn; texts of whole numbers become numbers."""
    release = completion.release
    name, values = release.sensitive.name, release.values
    if completion.chances is None:
        column = frame[name]
    else:
        column = pl.Series(name, [value or None for value in values], dtype=pl.String).gather(pl.Series(codes))
    are_whole = all(
        value == "" or (value.removeprefix("-").isdecimal() and str(int(value)) == value) for value in values
    )
    if are_whole and not column.dtype.is_numeric():
        numbers = column.cast(pl.String).replace("", None).cast(pl.Int64, strict=False)
        return numbers if numbers.null_count() == value_texts(column).eq("").sum() else column
    return column
