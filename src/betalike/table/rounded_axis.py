"""An axis of bins with round ends, for a column whose published ranges must not end at the values of real people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from betalike.runtime.arrays import Bools, Floats, Ints
from betalike.table.axis import OrderedAxis
from betalike.table.exact_numbers import Number, Numbers, as_numbers, parse_values
from betalike.table.hierarchy import ROOT
from betalike.table.rounding import Rounding, filled

UP_TO, FROM = "<= ", "+"


@dataclass(frozen=True, kw_only=True)
class RoundedAxis(OrderedAxis):
    """Numbers or dates in bins: `values` are the lower ends of the bins, `highs` the upper ones.

    A bin of coded values has the code as both of its ends. Its loss counts up to the end of the domain, which is the
    code itself if no wider domain was declared.
    """

    highs: Numbers
    rounding: Rounding

    @property
    def uppers(self) -> Numbers:
        """The upper end of each bin."""
        return self.highs

    @property
    def positions(self) -> Floats:
        """Position of the middle of each bin in the unit interval; missing values are at the upper end.

        The distance of two middles is what their bins lose together beyond what one of them loses by itself.
        """
        begin = np.repeat(as_numbers([self.domain[0]]), len(self.values))
        middles = (self._parts_of_domain(begin, self.values) + self._parts_of_domain(begin, self.highs)) / 2
        return np.append(middles.clip(0.0, 1.0), [1.0] * self.has_missing)

    def losses(self, low: Ints, high: Ints) -> Floats:
        """Return the width of each published range over the width of the domain. Paper: Eq. 2."""
        missing = len(self.values)
        if not missing:
            return np.zeros(len(low))
        lows, highs = (np.append(ends, ends[-1:]) for ends in (self.values, self.highs))  # and for missing values
        loss = np.where(low == missing, 0.0, self._parts_of_domain(lows[low], highs[high]))
        return np.where(self.is_mixed(low, high), 1.0, loss)

    def _parts_of_domain(self, low: Numbers, high: Numbers) -> Floats:
        """Return the part of the domain between each pair of numbers; a code counts up to the end of the domain."""
        bottom, top = self.rounding.bottom, self.rounding.top
        if bottom is not None and self.domain[0] < bottom:
            low = filled(low, np.asarray(low == bottom, dtype=bool), self.domain[0])
        if top is not None and self.domain[1] > top:
            high = filled(high, np.asarray(high == top, dtype=bool), self.domain[1])
        return super()._parts_of_domain(low, high)

    def labels(self, low: Ints, high: Ints) -> list[str | None]:
        """Return `[35, 39]`, `<= 18`, `90+`, `*` for everything, or None if all values are missing."""
        labels = super().labels(low, high)
        is_mixed, starts, ends = self.is_mixed(low, high), self._ends(low, self.values), self._ends(high, self.highs)
        is_low, is_high = self._is_coded(low, self.rounding.bottom), self._is_coded(high, self.rounding.top)
        for i in np.flatnonzero((is_low | is_high) & ~is_mixed):
            if is_low[i] and is_high[i]:
                labels[i] = ROOT
            else:
                labels[i] = f"{UP_TO}{ends[i]}" if is_low[i] else f"{starts[i]}{FROM}"
        return labels

    def _is_coded(self, codes: Ints, code: Number | None) -> Bools:
        """Return which codes are bins of coded values."""
        if code is None:
            return np.zeros(len(codes), dtype=bool)
        is_coded = np.asarray((self.values == code) & (self.highs == code), dtype=bool)
        return np.append(is_coded, False)[codes]

    def _parse(self, labels: Sequence[str | None]) -> tuple[list[int], Numbers, Numbers]:
        """Return which labels are ranges, and their ends; ValueError if one is not an end of a bin."""
        shown = [i for i, label in enumerate(labels) if label is not None and label != ROOT]
        ends = [split_label(str(labels[i]), self.rounding) for i in shown]
        low, high = (parse_values([pair[side] for pair in ends], self.kind) for side in (0, 1))
        if not self.rounding.are_round(low, high).all():
            raise ValueError("a range that does not end at round numbers")
        return shown, low, high


def split_label(label: str, rounding: Rounding | None) -> tuple[str, str]:
    """Return the texts of the two ends of a label; an open end is the code that stands for it.

    >>> split_label("[35, 39]", None)
    ('35', '39')
    """
    _, bottom, top = (None, None, None) if rounding is None else rounding.texts
    if bottom is not None and label.startswith(UP_TO):
        return bottom, label.removeprefix(UP_TO)
    if top is not None and label.endswith(FROM):
        return label.removesuffix(FROM), top
    if not (label.startswith("[") and label.endswith("]")):
        return label, label
    low, comma, high = label[1:-1].partition(", ")
    if not comma or ", " in high:
        raise ValueError("not a range of two ends")
    return low, high


def round_axis(axis: OrderedAxis, rounding: Rounding) -> tuple[RoundedAxis, Ints]:
    """Return an axis with its values in bins, and the bin of each of its codes, a missing value last."""
    low, high = rounding.bins(axis.values)
    is_new = np.ones(len(low), dtype=bool)
    is_new[1:] = np.asarray((low[1:] != low[:-1]) | (high[1:] != high[:-1]), dtype=bool)
    bins = np.append(np.cumsum(is_new) - 1, is_new.sum())
    return rounded_like(axis, low[is_new], high[is_new], rounding), bins


def rounded_like(axis: OrderedAxis, low: Numbers, high: Numbers, rounding: Rounding) -> RoundedAxis:
    """Return an axis of bins in the place of another one."""
    return RoundedAxis(
        axis.name,
        axis.kind,
        low,
        axis.domain,
        axis.has_missing,
        axis.is_domain_declared,
        axis.dates,
        highs=high,
        rounding=rounding,
    )
