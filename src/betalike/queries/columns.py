"""Columns as queries see them: which values satisfy a comparison, and which values a published label covers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from betalike.errors import CertificateError, QueryError, suggestion
from betalike.queries.tokens import shortened
from betalike.queries.value_sets import Comparable, Span, ValueSet, exact_arrays, next_number
from betalike.runtime.arrays import Bools, Floats
from betalike.table.axis import OrderedAxis
from betalike.table.exact_numbers import Number, Numbers, exact_number, exact_numbers, parse_values
from betalike.table.hierarchy import ROOT, Hierarchy
from betalike.table.rounded_axis import rounded_like
from betalike.table.rounding import Rounding
from betalike.table.schema import Kind

NANOSECONDS = re.compile(r":\d\d\.\d{9}")


class Literal(NamedTuple):
    """A number or text in a predicate, with the piece of the predicate that messages quote."""

    text: str
    is_number: bool
    piece: str


@dataclass(frozen=True)
class LabelSpans:
    """What each published label covers: an interval, and whether it includes missing values.

    A label of missing values alone has an interval that ends before it starts.
    """

    low: Numbers
    high: Numbers
    missing: Bools
    are_ends_met: bool = True  # whether a row lies at each end of a range; not if the ends are rounded

    @staticmethod
    def of(
        low: Sequence[Comparable], high: Sequence[Comparable], missing: Sequence[bool], are_ends_met: bool = True
    ) -> LabelSpans:
        """Build spans with ends as floats where floats are exact, else as Python numbers."""
        starts, ends = exact_arrays(low, high)
        return LabelSpans(starts, ends, np.array(missing, dtype=bool), are_ends_met)

    @cached_property
    def origin(self) -> Comparable:
        """Where lengths are measured from: 0, or the least end where the ends are too large for floats."""
        if self.low.dtype != object:
            return 0
        return min((end for end in self.low.tolist() if _is_finite(end)), default=0)

    def measured(self, ends: Numbers) -> Floats:
        """Return ends as floats, measured from the origin."""
        if ends.dtype != object:
            return np.asarray(ends - self.origin).astype(np.float64)
        return np.array([_difference(end, self.origin) for end in ends.tolist()], dtype=np.float64)

    @property
    def is_present(self) -> Bools:
        """Which labels cover at least one value that is not missing."""
        return np.asarray(self.low <= self.high)

    @property
    def is_exact(self) -> Bools:
        """Which labels cover a single value."""
        return np.asarray((self.low == self.high) & ~self.missing)

    def touching(self, values: ValueSet) -> Bools:
        """Return which labels have a value in common with a set."""
        return np.asarray(values.meet(self.low, self.high) & self.is_present | self.missing & values.missing)

    def within(self, values: ValueSet) -> Bools:
        """Return which labels lie wholly inside a set."""
        inside = ~self.is_present | values.meet(self.high, self.low)  # one interval has both ends
        return np.asarray(inside & (values.missing | ~self.missing))


@dataclass(frozen=True)
class OrderedColumn:
    """Numbers or dates. Dates count days (datetimes: microseconds) since 1970.

    If the certificate gives no domain, it is taken from the published values, and `*` may cover more. If extremes are
    coded, a range that begins or ends at a code has no end there.
    """

    name: str
    kind: Kind
    domain: Span
    is_domain_given: bool = True
    has_nanoseconds: bool = False
    rounding: Rounding | None = None
    has_missing: bool = True  # where extremes are coded, `*` need not hide a missing value

    @property
    def is_discrete(self) -> bool:
        """Whether its values are whole numbers, days, months or microseconds."""
        return self.kind not in (Kind.REAL, Kind.DECIMAL) and not self.has_nanoseconds

    def compare(self, sign: str, literal: Literal) -> ValueSet:
        """Return the values for which a comparison by =, <, <=, > or >= holds."""
        if sign == "=":
            return self.equal_any([literal])
        (number,) = self._numbers([literal])
        return ValueSet.of([_half_line(sign, number, self.is_discrete)], self.is_discrete)

    def equal_any(self, literals: Sequence[Literal]) -> ValueSet:
        """Return the values that equal one of the literals."""
        numbers = self._numbers(literals)
        if self.is_discrete:  # no whole number equals 30.5
            numbers = [n for n in numbers if isinstance(n, int) or not _is_finite(n) or n == math.floor(n)]
        elif self.kind is Kind.DECIMAL and not any(isinstance(number, float) for number in numbers):
            return ValueSet.of_decimals(numbers)
        return ValueSet.of(((number, number) for number in numbers), self.is_discrete)

    def _numbers(self, literals: Sequence[Literal]) -> list[Comparable]:
        """Return the literals as numbers of this column's type; decimals are sorted and listed once."""
        is_numeric = self.kind.is_number
        day = "a month such as '2024-01'" if self.kind is Kind.MONTH else "a date such as '2024-01-31'"
        wanted = "a number" if is_numeric else day
        try:
            if all(literal.is_number is is_numeric for literal in literals):
                texts = [literal.text for literal in literals]
                if self.kind is Kind.DECIMAL:
                    return exact_numbers(texts)
                if is_numeric:
                    return list(map(float if self.kind is Kind.REAL else exact_number, texts))
                return list(map(comparable_number, parse_values(texts, self.kind).tolist()))
        except (ValueError, TypeError, OverflowError):
            pass
        piece = literals[0].piece
        raise QueryError(f"in '{piece}': the column '{self.name}' is of type {self.kind}; give {wanted}.")

    def spans(self, labels: Sequence[str | None]) -> LabelSpans:
        """Return what published labels cover; `*` covers the whole domain and missing values."""
        missing = [label is None or (label == ROOT and self.has_missing) for label in labels]
        axis, none = OrderedAxis(self.name, self.kind, np.zeros(0), (0, 0)), np.zeros(0)
        if self.rounding is not None:
            axis = rounded_like(axis, none, none, self.rounding)
        low: list[Comparable] = [math.inf] * len(labels)
        high: list[Comparable] = [-math.inf] * len(labels)
        try:
            meanings = axis.meanings(labels)
        except ValueError:  # whole numbers of a frame may be written as 37.0
            meanings = self._whole_meanings(labels)
        for i, meaning in enumerate(meanings):
            if isinstance(meaning, tuple):
                low[i], high[i] = self._opened(*map(comparable_number, meaning))
            elif meaning == ROOT:
                low[i], high[i] = self._opened(*self.domain) if self.is_domain_given else (-math.inf, math.inf)
        return LabelSpans.of(low, high, missing, self.rounding is None)

    def _opened(self, low: Comparable, high: Comparable) -> Span:
        """Return a range without the ends that are codes."""
        bottom, top = (None, None) if self.rounding is None else (self.rounding.bottom, self.rounding.top)
        return (
            -math.inf if bottom is not None and low <= comparable_number(bottom) else low,
            math.inf if top is not None and high >= comparable_number(top) else high,
        )

    def _whole_meanings(self, labels: Sequence[str | None]) -> Sequence[object]:
        try:
            meanings = OrderedAxis(self.name, Kind.REAL, np.zeros(0), (0, 0)).meanings(labels)
        except ValueError:
            raise unreadable(self.name) from None
        if self.kind is not Kind.INTEGER or any(
            end % 1 for pair in meanings if isinstance(pair, tuple) for end in pair
        ):
            raise unreadable(self.name)
        return meanings


@dataclass(frozen=True)
class NamedColumn:
    """Names: the leaves of a hierarchy, or the sensitive values. A leaf's code is its place in the list.

    Leaves that the release does not name come last; only their number is known.
    """

    name: str
    leaves: tuple[str, ...]
    nodes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    n_unnamed: int = 0
    has_missing: bool = False
    tree: Hierarchy | None = None

    is_discrete = True

    @property
    def n_leaves(self) -> int:
        """Leaves with and without a name."""
        return len(self.leaves) + self.n_unnamed

    @cached_property
    def codes(self) -> dict[str, int]:
        """The code of each leaf."""
        return {leaf: code for code, leaf in enumerate(self.leaves)}

    @cached_property
    def are_numbers(self) -> bool:
        """Whether every leaf is a number."""
        return _all_of(self.leaves, Kind.REAL) is not None

    @cached_property
    def numbers(self) -> Numbers | None:
        """The leaves as numbers or datetimes, if all of them are; only then can they be compared with < or >."""
        return _all_of(self.leaves, Kind.REAL if self.are_numbers else self._kind_of_dates)

    @cached_property
    def _kind_of_dates(self) -> Kind:
        return Kind.DATETIME if _all_of(self.leaves, Kind.MONTH) is None else Kind.MONTH

    @cached_property
    def codes_of_numbers(self) -> dict[Comparable, list[int]]:
        """The leaves that are equal as numbers, such as 5 and 5.0."""
        same: dict[Comparable, list[int]] = {}
        for code, number in enumerate([] if self.numbers is None else self.numbers.tolist()):
            same.setdefault(number, []).append(code)
        return same

    def compare(self, sign: str, literal: Literal) -> ValueSet:
        """Return the leaves for which a comparison holds; the name of an inner node means all leaves under it."""
        if sign == "=":
            return self.equal_any([literal])
        if self.numbers is None or literal.is_number is not self.are_numbers:
            raise QueryError(
                f"in '{literal.piece}': the column '{self.name}' holds names that have no order; use =, <> or IN."
                if self.numbers is None
                else f"in '{literal.piece}': compare '{self.name}' with a {'number' if self.are_numbers else 'date'}."
            )
        low, high = _half_line(sign, self._number(literal), is_discrete=False)
        held = np.flatnonzero((self.numbers >= low) & (self.numbers <= high))
        return ValueSet.of([(code, code) for code in held.tolist()], is_discrete=True)

    def equal_any(self, literals: Sequence[Literal]) -> ValueSet:
        """Return the leaves that the literals name; the name of an inner node means all leaves under it."""
        spans: list[Span] = []
        for literal in literals:
            code = self.codes.get(literal.text)
            if code is not None:
                spans.append((code, code))
            elif literal.text in self.nodes:
                spans.append(self.nodes[literal.text])
            elif literal.is_number and self.are_numbers:
                spans += [(same, same) for same in self.codes_of_numbers.get(self._number(literal), [])]
            else:
                raise self._unknown(literal)
        return ValueSet.of(spans, is_discrete=True)

    def _number(self, literal: Literal) -> Comparable:
        try:
            if literal.is_number:
                is_float = self.numbers is not None and self.numbers.dtype == np.float64
                return float(literal.text) if is_float else exact_number(literal.text)
            return comparable_number(parse_values([literal.text], self._kind_of_dates).tolist()[0])
        except (ValueError, TypeError, OverflowError) as error:
            raise QueryError(f"in '{literal.piece}': '{shortened(literal.text)}' is not a date.") from error

    def _unknown(self, literal: Literal) -> QueryError:
        close = suggestion(literal.text, [*self.leaves, *self.nodes])
        unnamed = (
            f" {self.n_unnamed} of its values are not named in the release; a hierarchy (--hierarchies) names them."
            if self.n_unnamed
            else ""
        )
        return QueryError(
            f"in '{literal.piece}': the column '{self.name}' has no value '{shortened(literal.text)}'.{close}{unnamed}"
        )

    def spans(self, labels: Sequence[str | None]) -> LabelSpans:
        """Return what published labels cover; `*` covers all leaves, and missing values if the column has any."""
        low, high = np.full(len(labels), np.inf), np.full(len(labels), -np.inf)
        for i, label in enumerate(labels):
            if label == ROOT:
                low[i], high[i] = 0, self.n_leaves - 1
            elif label is None:
                continue
            elif label in self.codes:
                low[i] = high[i] = self.codes[label]
            elif label in self.nodes:
                low[i], high[i] = self.nodes[label]
            elif label.removesuffix(".0") in self.codes:  # codes of a frame may be written as 5.0
                low[i] = high[i] = self.codes[label.removesuffix(".0")]
            else:
                raise unreadable(self.name)
        missing = [label is None or (label == ROOT and self.has_missing) for label in labels]
        return LabelSpans(low, high, np.array(missing, dtype=bool))


QueryColumn = OrderedColumn | NamedColumn  # a column that predicates may name


def _all_of(texts: Sequence[str], kind: Kind) -> Numbers | None:
    """Return texts as numbers of a kind, exact where floats are not; None if some text is not of that kind."""
    try:
        numbers: list[Comparable] = [comparable_number(number) for number in parse_values(texts, kind).tolist()]
        if kind is Kind.REAL and any(not -(2**53) <= number <= 2**53 for number in numbers):
            numbers = [exact_number(text) for text in texts]
    except (ValueError, TypeError, OverflowError):
        return None
    is_float = all(isinstance(number, float) for number in numbers)
    return np.array(numbers, dtype=np.float64 if is_float else object) if all(map(_is_finite, numbers)) else None


def _difference(number: Comparable, origin: Comparable) -> float:
    """Subtract two numbers and round once; much faster than with fractions, which are reduced first."""
    if isinstance(number, float) or isinstance(origin, float):
        return float(number - origin)
    above, below = number.denominator, origin.denominator
    return (number.numerator * below - origin.numerator * above) / (above * below)


def _is_finite(number: Comparable) -> bool:
    return -math.inf < number < math.inf


def comparable_number(number: Number) -> Comparable:
    """Return a number that compares exactly with any other; Python's decimals do not."""
    return Fraction(number) if isinstance(number, Decimal) else number


def has_nanoseconds(labels: Sequence[str | None]) -> bool:
    """Whether some labels are times that are not whole microseconds."""
    return any(label is not None and NANOSECONDS.search(label) is not None for label in labels)


def _half_line(sign: str, number: Comparable, is_discrete: bool) -> Span:
    """Return the closed interval of numbers below or above another one."""
    ends: tuple[Comparable, Comparable, Comparable, Comparable]
    if is_discrete and _is_finite(number):
        floor, ceiling = math.floor(number), math.ceil(number)
        ends = ceiling - 1, floor, ceiling, floor + 1
    else:
        ends = next_number(number, -1), number, number, next_number(number, 1)
    before, upto, since, after = ends
    below, above = {"<": before, "<=": upto}, {">": after, ">=": since}
    return (-math.inf, below[sign]) if sign in below else (above[sign], math.inf)


def unreadable(name: str) -> CertificateError:
    """Return the error for a published label that the certificate does not explain."""
    return CertificateError(
        f"the column '{name}' of the release has a label that its certificate does not explain. If it comes from a "
        "hierarchy, name its folder (--hierarchies); else the release was changed after it was published."
    )
