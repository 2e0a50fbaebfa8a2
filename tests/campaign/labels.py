"""What published labels cover, and what they lose, from the column as it went in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from .jobs import Column
from .reading import read

Label = str | None | tuple[str | None, str | None]  # two texts in the layout `bounds`


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
        if self.column.domain is not None:
            ends = [read(self.column.kind, str(end)) for end in self.column.domain]
            return ends[0], ends[1]
        return (present[0], present[-1]) if present else None

    @cached_property
    def n_leaves(self) -> int:
        """Leaves of the hierarchy, a missing value included."""
        present = [value for value in self.values if value is not None]
        return len(self.column.tree or present or ["none"]) + self.has_missing

    def cover(self, label: Label) -> Cover:
        """What a published label covers; ValueError where it cannot be read."""
        if label is None or label == (None, None):
            return Cover(1 << self.place[None] if self.has_missing else 0, self.has_missing, Fraction(0))
        if self.column.is_categorical:
            return self._cover_node(str(label))
        if isinstance(label, tuple):
            return self._cover_bounds(label)
        if label == "*":
            return Cover(self.everything, self.has_missing, Fraction(1))
        is_range = label.startswith("[")
        ends = label[1:-1].split(", ") if is_range and label.endswith("]") else [label, label]
        low, high = (read(self.column.kind, end) for end in ends)
        is_proper = (low < high) if is_range else True
        return self._cover_range(low, high, is_proper and low in self.place and high in self.place)

    def _cover_range(self, low: Any, high: Any, is_proper: bool) -> Cover:
        bits = sum(1 << i for i, value in enumerate(self.values) if value is not None and low <= value <= high)
        assert self.domain is not None
        width = self.domain[1] - self.domain[0]
        return Cover(bits, is_proper, Fraction(high - low) / width if high > low else Fraction(0), (low, high))

    def _cover_bounds(self, label: tuple[str | None, str | None]) -> Cover:
        if label[0] is None or label[1] is None:
            return Cover(0, False, Fraction(0))
        low, high = (read(self.column.kind, end) for end in label)
        if self.has_missing and (low, high) == self.domain:  # present and missing values together, or all present ones
            covered = self._cover_range(low, high, True)
            return Cover(self.everything, True, covered.loss, (low, high))
        return self._cover_range(low, high, low <= high and low in self.place and high in self.place)

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
