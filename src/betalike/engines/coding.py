"""Coding columns: every column becomes an axis and an integer code for each row. Messages never show a cell."""

from __future__ import annotations

import datetime
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.engines.numbers import count_rows, one_zero, to_numbers
from betalike.errors import HierarchyError, SchemaError
from betalike.io.column_types import Seen, TypeGuess, guess_type, has_no_text, is_beyond_floats, see
from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.table.exact_numbers import Number, Numbers, as_numbers, format_values, parse_values
from betalike.table.hierarchy import ROOT, Hierarchy
from betalike.table.rounded_axis import round_axis
from betalike.table.rounding import DISCRETE, make_rounding
from betalike.table.schema import Attribute, DateOrder, Kind

Codes = NDArray[Any]
Counts = NDArray[np.int64]
DENSE_SPAN = 1 << 22
BY_HIERARCHY = "it has a hierarchy"


def code_quasi_identifier(
    column: pl.Series, attribute: Attribute, counts: Counts | None = None, taken: TypeGuess | None = None
) -> tuple[Axis, Codes]:
    """Return the axis of a quasi-identifier and the code of each entry.

    An entry is a row of the table, or stands for as many rows as `counts` says; messages count rows.
    """
    column = empty_to_missing(column)
    taken = taken or read_as(column, attribute, counts)
    if taken.kind is Kind.CATEGORICAL:
        make_rounding(attribute.name, taken.kind, attribute.round_ends)  # an error if some was asked for
        return _code_categories(column, attribute, counts)
    numbers = to_numbers(column, taken.kind, attribute.name, counts, taken.dates or DateOrder.DMY)
    return _code_ordered(numbers, taken, attribute, counts)


def code_sensitive(
    column: pl.Series, attribute: Attribute, missing_is_value: bool, counts: Counts | None = None
) -> tuple[Axis, Codes, pl.Series]:
    """Return the axis of the sensitive column, the code of each entry, and the value to publish for each code."""
    as_given, column = one_zero(column), empty_to_missing(column)
    n_missing = count_rows(column.is_null(), counts)
    if n_missing and not missing_is_value:
        raise SchemaError(
            f"the sensitive column '{attribute.name}' has {n_missing} missing values. Publish them as a value of their "
            "own with --missing-sensitive value (Python: missing_sensitive='value'), or remove those rows first."
        )
    published = column.unique().drop_nulls().sort()
    axis, order = _sensitive_axis(column, published, attribute, n_missing > 0, counts)
    published = published.gather(order)
    codes = codes_of_values(column, published, np.arange(len(published)), len(published))
    first = np.empty(int(codes.max(initial=-1)) + 1, dtype=np.int64)  # a row of each code
    first[codes] = np.arange(len(codes))
    given = as_given.gather(first)
    return (
        axis,
        codes,
        pl.select(pl.when(column.gather(first).is_not_null()).then(given)).to_series().alias(column.name),
    )


@dataclass(frozen=True)
class ValueCodes:
    """The code of each sensitive value, and that of a missing one, to code rows that come later or elsewhere."""

    values: pl.Series
    codes: Codes
    missing: int

    @staticmethod
    def of(values: pl.Series, codes: Codes) -> ValueCodes:
        """Make codes from distinct values and their codes; a missing value may be among them."""
        is_missing = values.is_null().to_numpy()
        missing = int(codes[is_missing][0]) if is_missing.any() else 0
        return ValueCodes(values.filter(pl.Series(~is_missing)), codes[~is_missing], missing)

    def __call__(self, column: pl.Series) -> Codes:
        """Return the code of each row."""
        values = empty_to_missing(self.values)
        return codes_of_values(empty_to_missing(column), values, self.codes, self.missing).astype(np.int32)


def ordered_numbers(column: pl.Series, kind: Kind, dates: DateOrder | None = None) -> pl.Series:
    """Return a column of numbers or dates, whose kind is known, as numbers; missing values are null."""
    column = empty_to_missing(column)
    if kind is Kind.REAL and column.dtype == pl.String:  # NaN among the numbers of a file, read as text
        is_nan = column.str.strip_chars().cast(pl.Float64, strict=False).is_nan().fill_null(False)
        column = column.set(is_nan, None)
    return to_numbers(column, kind, column.name, dates=dates or DateOrder.DMY)


def comparable(column: pl.Series, kind: Kind, dates: DateOrder | None = None) -> pl.Series:
    """Return a column in a form where equal values are equal in Python; categories are the texts they publish as."""
    column = empty_to_missing(column)
    return category_texts(column) if kind is Kind.CATEGORICAL else ordered_numbers(column, kind, dates)


def read_as(column: pl.Series, attribute: Attribute, counts: Counts | None = None) -> TypeGuess:
    """Return what a column is taken for: the declared type, or what its values show.

    Decimals that floating-point numbers do not hold stay exact even where these were asked for. Texts that stand for
    missing values are values, unless they were named as missing.
    """
    if attribute.hierarchy is not None:
        return TypeGuess(Kind.CATEGORICAL, BY_HIERARCHY)  # whatever its values show
    return settle_type(see(empty_to_missing(column), counts), column.dtype, attribute)


def settle_type(seen: Seen, dtype: pl.DataType, attribute: Attribute) -> TypeGuess:
    """Return the type of a column from what was seen of its values, and from what was declared."""
    guess = guess_type(seen, attribute.dates)
    kind = Kind.CATEGORICAL if attribute.hierarchy is not None else attribute.kind
    if kind is None:
        if guess.kind.is_ordered and seen.codes:
            return _as_text(guess, seen)
    else:
        if kind is Kind.NUMERIC:
            kind = guess.kind if guess.kind.is_number else Kind.INTEGER if seen.whole == seen.present else Kind.REAL
        if kind is Kind.REAL and dtype.is_decimal() and is_beyond_floats(seen):
            kind = Kind.DECIMAL
        words = BY_HIERARCHY if attribute.hierarchy is not None else "declared"
        is_date = kind in (Kind.DATE, Kind.DATETIME)
        guess = replace(guess, kind=kind, reason=words, is_ambiguous=guess.is_ambiguous and is_date, warning=None)
    if guess.is_ambiguous:
        raise SchemaError(
            f"the column '{attribute.name}' holds dates such as DD/MM/YYYY or MM/DD/YYYY, and its values do not show "
            f"which. Say it with --dates dmy or --dates mdy (Python: dates='dmy'), or make the column categorical "
            f"(--categorical {attribute.name})."
        )
    return guess


def _as_text(guess: TypeGuess, seen: Seen) -> TypeGuess:
    """Return text in place of numbers or dates, because of codes that were not named as missing."""
    n_codes = sum(seen.codes.values())
    shown = ", ".join(guess.codes)
    words = f"text: {n_codes} of {n_codes + seen.present} values are {shown}, all others are {guess.reason}"
    return TypeGuess(Kind.CATEGORICAL, words, codes=guess.codes, warning=words)


def empty_to_missing(column: pl.Series) -> pl.Series:
    """Make empty text and NaN missing values like null, and -0.0 the value 0.0."""
    if has_no_text(column.dtype) or column.dtype == pl.Duration:
        raise SchemaError(
            f"the column '{column.name}' is of type {column.dtype.base_type()}, which betalike does not publish. "
            "Convert it to numbers, dates or text, or leave it out."
        )
    if column.dtype in (pl.Categorical, pl.Enum, pl.Boolean, pl.Time):
        column = column.cast(pl.String)
    if column.dtype == pl.UInt128:
        column = _to_signed(column)
    if column.dtype == pl.String:
        is_empty = column == ""
        return column.set(is_empty, None) if is_empty.any() else column
    return one_zero(column.fill_nan(None)) if column.dtype.is_float() else column


def value_texts(column: pl.Series) -> pl.Series:
    """Return sensitive values as a certificate names them; a missing one is the empty text."""
    column = one_zero(column.fill_nan(None)) if column.dtype.is_float() else column
    return column.cast(pl.String).fill_null("")


def _to_signed(column: pl.Series) -> pl.Series:
    signed = column.cast(pl.Int128, strict=False)
    if signed.null_count() > column.null_count():
        raise SchemaError(f"the column '{column.name}' has numbers from 2^127 on; convert it to text.")
    return signed


def _code_ordered(
    numbers: pl.Series, taken: TypeGuess, attribute: Attribute, counts: Counts | None
) -> tuple[Axis, Codes]:
    kind, has_missing = taken.kind, count_rows(numbers.is_null(), counts) > 0
    values, codes = rank_numbers(numbers)
    rounding = make_rounding(attribute.name, kind, attribute.round_ends)

    def count_outside(low: Number, high: Number) -> str:
        coded = values.tolist() if rounding is None else map(rounding.clamp, values.tolist())
        is_outside = np.array([not low <= value <= high for value in coded])
        return f"{count_rows(pl.Series(np.append(is_outside, False)[codes]), counts)} "

    ends = (values[:1].tolist()[0], values[-1:].tolist()[0]) if len(values) else None
    domain, is_declared = domain_of(attribute, kind, ends, count_outside)
    axis = OrderedAxis(attribute.name, kind, values, domain, has_missing, is_declared, taken.dates)
    if rounding is None:
        return axis, codes
    rounded, bins = round_axis(axis, rounding)
    return rounded, bins[codes]


def domain_of(
    attribute: Attribute, kind: Kind, ends: tuple[Number, Number] | None, count_outside: Callable[..., str]
) -> tuple[tuple[Number, Number], bool]:
    """Return the domain of a column with these ends, if it has values, and whether the domain was declared.

    `count_outside` says how many values are outside a domain, for the message. The domain of a column with round ends
    is widened to them.
    """
    rounding = make_rounding(attribute.name, kind, attribute.round_ends)
    if rounding is not None and ends is not None:
        ends = rounding.clamp(ends[0]), rounding.clamp(ends[1])
    low, high = ends or (0, 0)
    declared = declared_domain(attribute, kind)
    for least, greatest in ((low, high), declared or (0, 0)):
        if kind is Kind.REAL and not math.isfinite(float(greatest) - float(least)):
            raise SchemaError(f"the values of '{attribute.name}' are too far apart to be measured; scale or fix them.")
    if declared is not None and ends is not None and (declared[0] > low or declared[1] < high):
        raise SchemaError(
            f"the column '{attribute.name}' has {count_outside(*declared)}values outside its declared domain. Widen "
            "the domain or fix the values."
        )
    domain = declared or (low, high)
    return domain if rounding is None else rounding.domain(declared, ends), declared is not None


def declared_domain(attribute: Attribute, kind: Kind) -> tuple[Number, Number] | None:
    """Return the ends of a column's declared domain as exact numbers; None if none was declared."""
    if attribute.domain is None:
        return None
    low, high = (_declared(end, kind, attribute.name) for end in attribute.domain)
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise SchemaError(f"the domain of '{attribute.name}' must be two numbers, the least and the greatest.")
    return (math.floor(low), math.ceil(high)) if kind in DISCRETE else (low, high)


def _declared(end: Any, kind: Kind, name: str) -> Number:
    try:
        if isinstance(end, datetime.date):
            end = end.isoformat()
        if isinstance(end, str):
            number: Number = parse_values([end], kind).tolist()[0]
        elif kind is Kind.REAL:
            number = float(end)
        elif kind is Kind.DECIMAL:
            number = Decimal(str(end))
        else:
            number = end if isinstance(end, float | Decimal) else operator.index(end)
        float(number)  # an error beyond what can be measured
        if not kind.is_number:
            format_values([number], kind)  # an error outside the years that a date can have
        return number
    except (TypeError, ValueError, ArithmeticError) as error:
        raise SchemaError(f"the domain of '{name}' has '{end}', which is not of type {kind}.") from error


def rank_numbers(numbers: pl.Series) -> tuple[Numbers, Codes]:
    """Return the distinct numbers in order, and the place of each row's number; missing ones come last."""
    if numbers.dtype == pl.Float64 and not numbers.null_count():
        return _rank_reals(numbers.to_numpy())
    ordered = numbers.unique().drop_nulls().sort()
    if numbers.dtype.is_integer():
        codes = codes_of_values(numbers, ordered, np.arange(len(ordered)), len(ordered))
    else:
        ranks = numbers.rank("dense").cast(pl.Int64) - 1
        codes = ranks.fill_null(len(ordered)).to_numpy()
    if numbers.dtype == pl.Int128 or numbers.dtype.is_decimal():
        return as_numbers(ordered.to_list()), codes
    return ordered.to_numpy().astype(np.int64 if numbers.dtype.is_integer() else np.float64), codes


def _rank_reals(numbers: NDArray[np.float64]) -> tuple[Numbers, Codes]:
    """Return the distinct numbers in order, and the place of each; none is missing, so one sort is enough."""
    order = np.argsort(numbers)
    ordered = numbers[order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    codes = np.empty(len(order), dtype=np.int64)
    codes[order] = np.cumsum(is_new) - 1
    return ordered[is_new], codes


def category_texts(column: pl.Series) -> pl.Series:
    """Return the text that each value of a categorical column is published as."""
    if column.dtype.is_float():  # whole numbers that passed through a frame with missing values
        whole = column.cast(pl.Int64, strict=False)
        if whole.null_count() == column.null_count() and (whole.cast(pl.Float64) == column.cast(pl.Float64)).all():
            return whole.cast(pl.String)
    return column.cast(pl.String)


def _code_categories(column: pl.Series, attribute: Attribute, counts: Counts | None) -> tuple[Axis, Codes]:
    distinct = column.unique().drop_nulls()
    texts = category_texts(distinct)
    if (texts == ROOT).any():
        raise SchemaError(f"the column '{attribute.name}' holds '*', which is the label of everything generalized.")
    hierarchy = attribute.hierarchy or Hierarchy.flat(_in_natural_order(texts) or ["(none)"])
    leaves = np.array(_leaves_of(texts, hierarchy, column, distinct, attribute.name, counts), dtype=np.int32)
    axis = HierarchyAxis(
        attribute.name,
        hierarchy,
        count_rows(column.is_null(), counts) > 0,
        is_declared=attribute.hierarchy is not None,
    )
    return axis, codes_of_values(column, distinct, leaves, missing=hierarchy.n_leaves)


def _in_natural_order(texts: pl.Series) -> list[str]:
    numbers = texts.cast(pl.Float64, strict=False)
    if numbers.null_count():
        return texts.sort().to_list()
    return pl.DataFrame([texts.alias("text"), numbers.alias("number")]).sort("number", "text")["text"].to_list()


def _leaves_of(
    texts: pl.Series, hierarchy: Hierarchy, column: pl.Series, distinct: pl.Series, name: str, counts: Counts | None
) -> list[int]:
    leaf = {label: number for number, label in enumerate(hierarchy.leaves)}
    absent = [i for i, text in enumerate(texts) if text not in leaf]
    if absent:
        n_rows = count_rows(column.is_in(distinct.gather(absent).implode()), counts)
        raise HierarchyError(
            f"the hierarchy {name}.csv lacks {len(absent)} of the values of the column '{name}', which occur in "
            f"{n_rows} rows. Add a line for each: the value; its ancestors; '*'."
        )
    return [leaf[text] for text in texts]


def _dense_span(values: pl.Series) -> tuple[int, int] | None:
    """Return the least and greatest of whole numbers that are close enough to look up in a list, else None."""
    if not values.dtype.is_integer() or not len(values):
        return None
    low, high = int(str(values.min())), int(str(values.max()))
    return (low, high) if high - low < DENSE_SPAN and low >= -(2**63) and high < 2**63 else None


def codes_of_values(column: pl.Series, values: pl.Series, codes: Codes, missing: int) -> Codes:
    """Return each row's code, given the distinct values, the code of each, and that of a missing value."""
    coded = np.append(codes, missing).astype(np.int32)
    if (span := _dense_span(values)) is not None:
        low, high = span
        by_number = np.full(high - low + 2, missing, dtype=np.int32)
        by_number[values.cast(pl.Int64).to_numpy() - low] = coded[:-1]
        return np.asarray(by_number[(column.cast(pl.Int64) - low).fill_null(high - low + 1).to_numpy()])
    if column.dtype == pl.String:
        places = column.cast(pl.Enum(values)).to_physical()
    else:
        places = column.replace_strict(values, pl.Series(np.arange(len(values))), default=None)
    return np.asarray(coded[places.cast(pl.Int32).fill_null(len(values)).to_numpy()])


def _sensitive_axis(
    column: pl.Series, published: pl.Series, attribute: Attribute, has_missing: bool, counts: Counts | None
) -> tuple[Axis, NDArray[np.int64]]:
    """Return the axis of the sensitive values, which says how far apart they are, and their order on it."""
    texts = category_texts(published)
    if not len(published):
        return HierarchyAxis(attribute.name, Hierarchy.flat(["(none)"]), has_missing), np.arange(0)
    if attribute.hierarchy is not None:
        order = np.argsort(_leaves_of(texts, attribute.hierarchy, column, published, attribute.name, counts))
        tree = attribute.hierarchy.restricted_to(texts)
        return HierarchyAxis(attribute.name, tree, has_missing, is_declared=True), order
    numbers = texts.cast(pl.Float64, strict=False)
    if published.dtype.is_temporal():
        numbers = published.to_physical().cast(pl.Float64)
    is_ordered = attribute.kind is None or attribute.kind.is_ordered
    if is_ordered and numbers.null_count() == 0 and numbers.is_finite().all() and numbers.n_unique() == len(numbers):
        order = numbers.arg_sort().to_numpy().astype(np.int64)
        values = numbers.gather(order).to_numpy()
        kind = {pl.Date: Kind.DATE, pl.Datetime: Kind.DATETIME}.get(published.dtype.base_type(), Kind.REAL)
        return OrderedAxis(attribute.name, kind, values, (values[0], values[-1]), has_missing), order
    flat = Hierarchy.flat(map(str, range(len(texts))))  # any labels do: a sensitive value is published as it is
    return HierarchyAxis(attribute.name, flat, has_missing), np.arange(len(texts))
