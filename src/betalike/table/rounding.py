"""Round ends for published ranges: bins with round ends, and codes for the least and the greatest values.

A bin of whole numbers or days is closed, `[35, 39]`. A bin of reals, decimals or moments holds its lower end and not
its upper one, and is published as `[35.0, 40.0]`. All values up to `bottom` count as `bottom`, and all from `top` on as
`top`.
"""

from __future__ import annotations

import datetime
import math
import operator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from betalike.errors import ParameterError, SchemaError, suggestion
from betalike.runtime.arrays import Bools
from betalike.table.date_units import MONTHS, Unit, around_days, around_moments, around_months
from betalike.table.exact_numbers import MOST_DIGITS, Number, Numbers, as_numbers, format_values, parse_values
from betalike.table.round_numbers import around_numbers
from betalike.table.schema import Kind, RoundEnds

SAFE = 2**61  # whole numbers below this can be added and multiplied by 1 in 64 bits
DISCRETE = (Kind.INTEGER, Kind.DATE, Kind.MONTH)
UNITS = {Kind.DATE: [unit for unit in Unit if unit.is_of_days], Kind.DATETIME: list(Unit), Kind.MONTH: list(MONTHS)}
AROUND = {Kind.DATE: around_days, Kind.DATETIME: around_moments, Kind.MONTH: around_months}
Ends = tuple[Number, Number]


@dataclass(frozen=True)
class Rounding:
    """Bins for the values of a column: how wide they are, and from where on values are coded."""

    kind: Kind
    step: Number | Unit | None = None
    bottom: Number | None = None
    top: Number | None = None

    @property
    def is_discrete(self) -> bool:
        """Whether values are whole numbers, days or months."""
        return self.kind in DISCRETE

    @property
    def texts(self) -> tuple[str | None, str | None, str | None]:
        """The step, the bottom and the top as a certificate has them."""
        step = str(self.step) if isinstance(self.step, Unit) else self._text(self.step)
        return step, self._text(self.bottom), self._text(self.top)

    def _text(self, number: Number | None) -> str | None:
        return None if number is None else format_values([number], self.kind)[0]

    def bins(self, values: Numbers) -> tuple[Numbers, Numbers]:
        """Return the two published ends of each value's bin."""
        low, after = self._bins_between(self._roomy(values))
        high = after - 1 if self.is_discrete and self.step is not None else after
        for code, is_coded in self._coded(values):
            low, high = filled(low, is_coded, code), filled(high, is_coded, code)
        return _narrow(low), _narrow(high)

    def _coded(self, values: Numbers) -> list[tuple[Number, Bools]]:
        """Return each code, and which values it stands for."""
        codes = []
        if self.bottom is not None:
            codes.append((self.bottom, np.asarray(values <= self.bottom, dtype=bool)))
        if self.top is not None:
            codes.append((self.top, np.asarray(values >= self.top, dtype=bool)))
        return codes

    def _roomy(self, values: Numbers) -> Numbers:
        """Return values as Python numbers where 64 bits may not hold the ends of their bins."""
        numbers = [n for n in (self.step, self.bottom, self.top) if isinstance(n, int)]
        is_wide = values.dtype.kind == "i" and (
            any(abs(n) >= SAFE for n in numbers) or (len(values) > 0 and _greatest(values) >= SAFE)
        )
        return values.astype(object) if is_wide else values

    def _bins_between(self, values: Numbers) -> tuple[Numbers, Numbers]:
        """Return where each value's bin begins and where the next one begins, without regard to coded values.

        A bin next to a code that would be narrower than a step is joined with its neighbour.
        """
        if self.step is None:
            return values, values
        low, after = self._around(values)
        for dropped in self._dropped:
            is_begin, is_end = np.asarray(low == dropped, dtype=bool), np.asarray(after == dropped, dtype=bool)
            if is_begin.any():
                low = filled(low, is_begin, self._neighbours(dropped)[0])
            if is_end.any():
                after = filled(after, is_end, self._neighbours(dropped)[1])
        begin, end = self._inner
        if begin is not None:
            low = filled(low, np.asarray(low <= begin, dtype=bool), begin)
        if end is not None:
            after = filled(after, np.asarray(after >= end, dtype=bool), end)
        return low, after

    @cached_property
    def _inner(self) -> tuple[Number | None, Number | None]:
        """Where values begin that are not coded, and where they end."""
        begin = None if self.bottom is None else self.bottom + 1 if self.is_discrete else self.bottom
        return begin, self.top

    @cached_property
    def _dropped(self) -> list[Number]:
        """The boundaries next to a code that would leave a bin narrower than a step; they are joined, lowest first."""
        begin, end = self._inner
        dropped: list[Number] = []
        if begin is not None and self._round_at(begin)[0] != begin:
            dropped.append(self._round_at(begin)[1])
        if end is not None and self._round_at(end)[0] != end:
            dropped.append(self._round_at(end)[0])
        return dropped

    def _neighbours(self, boundary: Number) -> Ends:
        """Return the boundaries before and after one, of those that are not dropped."""
        before, after = self._round_at(self._just_below(boundary))[0], self._round_at(boundary)[1]
        if before in self._dropped and before != boundary:  # no more than two are dropped
            before = self._round_at(self._just_below(before))[0]
        if after in self._dropped and after != boundary:  # equal where the calendar ends
            after = self._round_at(after)[1]
        return before, after

    def _just_below(self, number: Number) -> Number:
        if self.kind is Kind.REAL:
            return math.nextafter(number, -math.inf)
        if isinstance(self.step, Decimal):
            return Decimal(number) - self.step / 2
        return number - 1

    def _round_at(self, number: Number) -> Ends:
        """Return the round number at or below a number, and the next one."""
        low, after = self._around(self._roomy(as_numbers([number])))
        return low.tolist()[0], after.tolist()[0]

    def _around(self, values: Numbers) -> tuple[Numbers, Numbers]:
        """Return the round number at or below each value, and the next one."""
        if isinstance(self.step, Unit):
            return AROUND[self.kind](values, self.step)
        return around_numbers(values, self.step)

    def are_round(self, low: Numbers, high: Numbers) -> Bools:
        """Return which pairs of ends are ends of bins, and not beyond the codes."""
        first, last = self.bins(high)
        is_end = last == high
        if not self.is_discrete:  # a bin ends where the next one begins
            is_end = is_end | (first == high)
        return np.asarray((self.bins(low)[0] == low) & is_end, dtype=bool)

    def domain(self, declared: Ends | None, ends: Ends | None) -> Ends:
        """Return the domain of a column with a least and a greatest value, widened outward to round numbers.

        A declared one may reach beyond the codes.
        """
        hulls = [] if ends is None else [self.hull(ends)]
        if declared is not None:
            hulls.append(self._widened(declared))
        return (min(low for low, _ in hulls), max(high for _, high in hulls)) if hulls else (0, 0)

    def _widened(self, declared: Ends) -> Ends:
        low, high = declared
        if self.bottom is None or low > self.bottom:
            low = self.bins(as_numbers([low]))[0].tolist()[0]
        end = as_numbers([high])
        is_round = bool(self.are_round(self.bins(end)[0], end)[0])
        if (self.top is None or high < self.top) and not is_round:
            high = self.bins(end)[1].tolist()[0]
        return low, high

    def hull(self, ends: Ends) -> Ends:
        """Return the published ends of the bins of a least and a greatest value."""
        low, high = self.bins(as_numbers(ends))
        return low.tolist()[0], high.tolist()[1]

    def clamp(self, number: Number) -> Number:
        """Return a number as it is coded: not below the bottom, and not above the top."""
        if self.bottom is not None and number < self.bottom:
            return self.bottom
        return self.top if self.top is not None and number > self.top else number


def filled(numbers: Numbers, is_meant: Bools, number: Number) -> Numbers:
    """Return numbers with another one in some places; as Python numbers where 64 bits do not hold it."""
    if not is_meant.any():
        return numbers
    if numbers.dtype.kind == "i" and not -(2**63) <= number < 2**63:
        numbers = numbers.astype(object)
    filled = numbers.copy()
    filled[is_meant] = number
    return filled


def _narrow(numbers: Numbers) -> Numbers:
    return as_numbers(numbers.tolist()) if numbers.dtype == object else numbers


def _greatest(values: Numbers) -> int:
    return max(abs(int(values.min())), abs(int(values.max())))


def make_rounding(name: str, kind: Kind, wish: RoundEnds | None) -> Rounding | None:
    """Return the rounding that was asked for a column of this kind, each number as given or as text; None if none."""
    if wish is None or wish == RoundEnds():
        return None
    if not kind.is_ordered:
        raise SchemaError(
            f"the column '{name}' is categorical, so round, bottom and top have no meaning for it. Leave them out, or "
            "build a hierarchy."
        )
    bottom, top = (_read_end(name, word, end, kind) for word, end in (("bottom", wish.bottom), ("top", wish.top)))
    if bottom is not None and top is not None and bottom >= top:
        raise ParameterError(f"'{name}' has the bottom {wish.bottom} and the top {wish.top}; exchange them.")
    return Rounding(kind, _read_step(name, wish.round, kind), bottom, top)


def _read_step(name: str, given: Any, kind: Kind) -> Number | Unit | None:
    if given is None:
        return None
    units = UNITS.get(kind)
    if units is not None:
        if str(given) not in units:
            raise ParameterError(
                f"round of '{name}' is {given!r}, but the column is of type {kind}; round to one of: "
                f"{', '.join(units)}.{suggestion(str(given), units)}"
            )
        return Unit(given)
    step = _read_number(given, kind)
    if step is None or step <= 0:
        whole = "whole " if kind is Kind.INTEGER else ""
        raise ParameterError(f"round of '{name}' is {given!r}; it must be a {whole}number above 0, such as 5.")
    return step


def _read_end(name: str, word: str, given: Any, kind: Kind) -> Number | None:
    if given is None:
        return None
    end = _read_number(given, kind)
    if end is None:
        raise ParameterError(f"the {word} of '{name}' is '{given}', which is not of type {kind}.")
    return end


def _read_number(given: Any, kind: Kind) -> Number | None:
    """Return a number or date, given as such or as text, as an exact number of a kind; None if it is not one."""
    try:
        if isinstance(given, bool):
            return None
        if isinstance(given, datetime.date | np.datetime64):
            given = str(given)
        if isinstance(given, str):
            number: Number = parse_values([given], kind).tolist()[0]
        elif not kind.is_number:
            return None
        elif kind is Kind.INTEGER:
            number = int(given) if isinstance(given, float | Decimal) and given == int(given) else operator.index(given)
        else:
            number = float(given) if kind is Kind.REAL else Decimal(str(given))
        is_held = math.isfinite(number) and (kind is Kind.REAL or abs(number) < 10**MOST_DIGITS)
        return number if is_held else None
    except (TypeError, ValueError, ArithmeticError):
        return None
