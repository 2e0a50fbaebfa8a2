"""What published labels cover, and what they lose, from the column as it went in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from .jobs import Column
from .reading import read
from .round_ends import RoundEnds

Label = str | None


@dataclass(frozen=True)
class Cover:
    """Which of the column's distinct values a label covers, as bits; whether it is well formed; its loss."""

    bits: int
    is_proper: bool
    loss: Fraction
    ends: tuple[Any, Any] | None = None


@dataclass(frozen=True)
class Scale:
    """A quasi-identifier with its distinct values."""

    column: Column

    @cached_property
    def values(self) -> list[Any]:
        """The distinct values; None is a missing one."""
        return sorted({*self.column.keys}, key=lambda key: (key is None, 0 if key is None else key))

    @cached_property
    def place(self) -> Mapping[Any, int]:
        """The place of each distinct value."""
        return {value: place for place, value in enumerate(self.values)}

    @property
    def has_missing(self) -> bool:
        """Whether a row lacks a value."""
        return None in self.place

    @cached_property
    def everything(self) -> int:
        """All values, as bits."""
        return (1 << len(self.values)) - 1

    @cached_property
    def domain(self) -> tuple[Any, Any] | None:
        """The declared domain, else from the least to the greatest value."""
        present = [value for value in self.values if value is not None]
        declared = None
        if self.column.domain is not None:
            declared = tuple(read(self.column.kind, str(end)) for end in self.column.domain)
        if self.column.ends is not None:
            return self._rounded_domain(self.column.ends, declared, present)
        return declared or ((present[0], present[-1]) if present else None)

    def _rounded_domain(self, ends: RoundEnds, declared: Any, present: list[Any]) -> tuple[Any, Any] | None:
        """From the first bin to the last one; a declared domain may reach beyond the codes."""
        bins = [ends.bin_of(value) for value in present]
        if declared is not None:
            bottom, top = ends.codes
            low, high = ends.bin_of(declared[0])[0], ends.bin_of(declared[1])[1]
            low = declared[0] if bottom is not None and declared[0] <= bottom else low
            high = declared[1] if top is not None and declared[1] >= top else high
            bins.append((low, high))
        return (min(low for low, _ in bins), max(high for _, high in bins)) if bins else None

    @cached_property
    def edges(self) -> tuple[set[Any], set[Any]]:
        """Where a range may begin, and where it may end: at values of the table, or at the ends of their bins."""
        present = [value for value in self.values if value is not None]
        ends = self.column.ends
        bins = [(value, value) if ends is None else ends.bin_of(value) for value in present]
        return {low for low, _ in bins}, {high for _, high in bins}

    @cached_property
    def n_leaves(self) -> int:
        """Leaves of the hierarchy, a missing value included."""
        present = [value for value in self.values if value is not None]
        return len(self.column.tree or present or ["none"]) + self.has_missing

    def cover(self, label: Label) -> Cover:
        """What a published label covers; ValueError where it cannot be read."""
        if label is None:
            return Cover(1 << self.place[None] if self.has_missing else 0, self.has_missing, Fraction(0))
        if self.column.is_categorical:
            return self._cover_node(label)
        bottom, top = (None, None) if self.column.ends is None else self.column.ends.codes
        if label == "*":
            is_coded = bottom in self.edges[1] and top in self.edges[0]
            return Cover(self.everything, self.has_missing or is_coded, Fraction(1))
        if bottom is not None and label.startswith("<= "):
            return self._cover_range(bottom, read(self.column.kind, label[3:]), True, opens_low=True)
        if top is not None and label.endswith("+"):
            return self._cover_range(read(self.column.kind, label[:-1]), top, True, opens_high=True)
        is_range = label.startswith("[")
        ends = label[1:-1].split(", ") if is_range and label.endswith("]") else [label, label]
        low, high = (read(self.column.kind, end) for end in ends)
        return self._cover_range(low, high, (low < high) if is_range else True)

    def _cover_range(
        self, low: Any, high: Any, is_proper: bool, opens_low: bool = False, opens_high: bool = False
    ) -> Cover:
        """What a range covers; an open one has no end where its code is."""
        bits = 0
        for i, value in enumerate(self.values):
            if value is not None and (opens_low or low <= value) and (opens_high or value <= high):
                bits |= 1 << i
        is_proper = is_proper and low in self.edges[0] and high in self.edges[1]
        return Cover(bits, is_proper, self._loss(low, high), (low, high))

    def _loss(self, low: Any, high: Any) -> Fraction:
        """The part of the domain; what is at a code counts up to the end of the domain."""
        assert self.domain is not None
        bottom, top = (None, None) if self.column.ends is None else self.column.ends.codes
        begin = min(low, self.domain[0]) if low == bottom else low
        end = max(high, self.domain[1]) if high == top else high
        return Fraction(end - begin) / (self.domain[1] - self.domain[0]) if end > begin else Fraction(0)

    def _cover_node(self, label: str) -> Cover:
        if label == "*":
            return Cover(self.everything, self.n_leaves > 1, Fraction(1))
        key = read("real", label) if self.column.kind == "real" else label
        if self.column.tree is None:
            return Cover(1 << self.place[key] if key in self.place else 0, key in self.place, Fraction(0))
        leaves = [line[0] for line in self.column.tree if label in line[:-1]]
        bits = sum(1 << self.place[leaf] for leaf in leaves if leaf in self.place)
        is_leaf = len(leaves) == 1
        loss = Fraction(0) if is_leaf else Fraction(len(leaves), self.n_leaves)
        return Cover(bits, bool(leaves) and (not is_leaf or leaves[0] == label), loss)
