"""Sets of sensitive values that are promised together: values by themselves, nodes of a hierarchy, intervals."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from betalike.errors import ParameterError, SchemaError, suggestion
from betalike.runtime.arrays import Ints
from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.table.joint import JointAxis
from betalike.table.schema import Kind


@dataclass(frozen=True)
class Sets:
    """Sets of values, each an interval of places, and the value at each place; a value may have several places."""

    order: Ints
    first: Ints
    last: Ints

    @staticmethod
    def of(members: Sequence[Sequence[int]]) -> Sets:
        """Return sets with these values."""
        ends = np.cumsum([len(values) for values in members], dtype=np.int64)
        order = np.array([value for values in members for value in values], dtype=np.int64)
        return Sets(order, np.append(0, ends[:-1]), ends - 1)

    @staticmethod
    def singletons(n_values: int) -> Sets:
        """Return one set for each value."""
        every = np.arange(n_values)
        return Sets(every, every, every)

    def totals(self, counts: Ints) -> Ints:
        """Return how often the values of each set occur together."""
        up_to = np.append(0, np.cumsum(counts[self.order]))
        return np.asarray(up_to[self.last + 1] - up_to[self.first])

    def of_value(self, n_values: int) -> Ints | None:
        """Return the one set of each value; None if a value is in several of them."""
        if len(self.order) != n_values or (self.last - self.first + 1).sum() != n_values:
            return None
        number = np.empty(n_values, dtype=np.int64)
        number[self.order] = np.repeat(np.arange(len(self.first)), self.last - self.first + 1)
        return number

    def narrowest(self, caps: NDArray[np.float64], n_values: int) -> Ints:
        """Return for each value the set with the least cap that it is in."""
        least, chosen = np.full(len(self.order), np.inf), np.zeros(len(self.order), dtype=np.int64)
        for number in range(len(self.first)):
            places = slice(self.first[number], self.last[number] + 1)
            chosen[places] = np.where(caps[number] < least[places], number, chosen[places])
            least[places] = np.minimum(caps[number], least[places])
        by_cap = np.argsort(-least, kind="stable")  # the least is written last
        found = np.zeros(n_values, dtype=np.int64)
        found[self.order[by_cap]] = chosen[by_cap]
        return found


class Span(ABC):
    """What a promise is about: the sets of values that are promised together."""

    suffix: ClassVar[str]  # of the promise's name

    @abstractmethod
    def sets(self, sensitive: Axis, n_values: int) -> Sets:
        """Return the sets of values of an attribute."""

    def check(self, sensitive: Axis) -> None:
        """Refuse an attribute without such sets."""
        return


@dataclass(frozen=True)
class EachValue(Span):
    """Every value by itself: likeness as the paper defines it."""

    suffix = ""

    def sets(self, sensitive: Axis, n_values: int) -> Sets:
        """Return one set for each value."""
        return Sets.singletons(n_values)


@dataclass(frozen=True)
class Nodes(Span):
    """The values under each of some nodes together, and every value under none of them by itself. Paper: Section 7.

    With values, each value is promised by itself too.
    """

    suffix = "-of-groups"
    groups: tuple[str, ...]
    with_values: bool = False

    def sets(self, sensitive: Axis, n_values: int) -> Sets:
        """Return a set for each node, and for each value that is promised by itself."""
        paths = sensitive.hierarchy.paths if isinstance(sensitive, HierarchyAxis) else ()
        members = [[leaf for leaf, path in enumerate(paths) if label in path[:-1]] for label in self.groups]
        grouped = {leaf for leaves in members for leaf in leaves}
        alone = [[value] for value in range(n_values) if self.with_values or value not in grouped]
        return Sets.of([*(leaves for leaves in members if leaves), *alone])

    def check(self, sensitive: Axis) -> None:
        """Refuse nodes that the sensitive column's hierarchy does not have, or that hold everything."""
        if not isinstance(sensitive, HierarchyAxis) or not sensitive.is_declared:
            raise ParameterError(
                f"groups are nodes of a hierarchy, but the sensitive column '{sensitive.name}' has none. Give one: "
                f"{sensitive.name}.csv in the folder of hierarchies, or in the mapping of hierarchies."
            )
        paths = sensitive.hierarchy.paths
        known = sorted({label for path in paths for label in path[1:-1]})
        for label in self.groups:
            n_under = sum(label in path[:-1] for path in paths)
            if not n_under:
                raise ParameterError(
                    f"the hierarchy of '{sensitive.name}' has no node '{label}' with values of the table under it. "
                    f"Choose from: {', '.join(known) or 'none'}.{suggestion(label, known)}"
                )
            if n_under == sensitive.size:
                raise ParameterError(
                    f"all values of the table are under the node '{label}', so its share is 100 % everywhere and "
                    "nothing is promised. Choose nodes further down."
                )


@dataclass(frozen=True)
class Windows(Span):
    """All values in any interval of a given width together, wherever it lies between the least and the greatest value.

    With values, each value is promised by itself too. A missing value is always by itself. Paper: Sections 7 and 8.
    """

    suffix = "-of-intervals"
    width: float
    with_values: bool = False

    def sets(self, sensitive: Axis, n_values: int) -> Sets:
        """Return a set for each interval that holds other values than the others, and for each value by itself."""
        numbers = _numbers(sensitive)
        intervals = windows(numbers, self._exact_width)
        alone = range(n_values) if self.with_values else range(len(numbers), n_values)
        ends = np.array(sorted({*intervals, *((value, value) for value in alone)}), dtype=np.int64)
        return Sets(np.arange(n_values), *np.ascontiguousarray(ends.T))

    @cached_property
    def _exact_width(self) -> Fraction:
        """The width as typed, as the values are taken too."""
        return Fraction(repr(float(self.width)))

    def check(self, sensitive: Axis) -> None:
        """Refuse values without distances between them, and a width that takes in all of them."""
        if not isinstance(sensitive, OrderedAxis) or sensitive.kind is Kind.DATETIME:
            raise ParameterError(
                f"a width needs numbers or dates, but the sensitive column '{sensitive.name}' holds "
                f"{'moments' if sensitive.kind is Kind.DATETIME else 'categories'}. "
                "Turn them into numbers or dates, or promise groups of values along a hierarchy (--groups)."
            )
        numbers = _numbers(sensitive)
        if self._exact_width >= numbers[-1] - numbers[0]:
            raise ParameterError(
                f"the width is {self.width:g}, and no two values of '{sensitive.name}' are farther apart, so that one "
                "interval holds everybody and nothing is promised. Choose a smaller width."
            )


@dataclass(frozen=True)
class Columns(Span):
    """Every value of each of several columns by itself, whatever the others are."""

    suffix = "-of-each-column"
    columns: tuple[str, ...]

    def sets(self, sensitive: Axis, n_values: int) -> Sets:
        """Return, for each value of each column, the combinations that it is in."""
        codes = sensitive.codes if isinstance(sensitive, JointAxis) else np.arange(n_values)[:, None]
        members = [np.flatnonzero(of_column == code) for of_column in codes.T for code in range(of_column.max() + 1)]
        return Sets.of([combinations.tolist() for combinations in members])

    def check(self, sensitive: Axis) -> None:
        """Refuse other columns than those, and one with a single value."""
        if not isinstance(sensitive, JointAxis) or sensitive.columns != self.columns:
            raise ParameterError("the promise is not about these columns.")
        for column, codes in zip(sensitive.columns, sensitive.codes.T, strict=True):
            if codes.max() == 0:
                raise SchemaError(
                    f"the sensitive column '{column}' has 1 distinct value, so everybody's is known beforehand and "
                    "there is nothing to protect. Leave it out, or choose a column with at least two values."
                )


def _numbers(sensitive: Axis) -> list[Fraction]:
    """Return the values as typed: a machine's number is taken for the shortest decimal that it stands for."""
    values = sensitive.values if isinstance(sensitive, OrderedAxis) else ()
    return [Fraction(repr(float(value))) for value in values]


def windows(numbers: Sequence[Fraction], width: Fraction) -> list[tuple[int, int]]:
    """Return the first and last value in each closed interval of this width between the least and the greatest.

    What an interval holds changes only where one of its ends meets a value, so those places and the gaps
    between are enough.

    >>> windows([Fraction(n) for n in (0, 1, 5, 6)], Fraction(2))
    [(0, 1), (1, 1), (2, 2), (2, 3)]
    """
    scale = 2 * math.lcm(width.denominator, *(number.denominator for number in numbers))
    values, reach = [int(number * scale) for number in numbers], int(width * scale)
    least, greatest = values[0], values[-1] - reach
    meets = sorted({start for value in values for start in (value, value - reach) if least <= start <= greatest})
    between = [(one + other) // 2 for one, other in itertools.pairwise(meets)]
    found: list[tuple[int, int]] = []
    first, last = 0, -1
    for start in sorted([*meets, *between]):
        while values[first] < start:
            first += 1
        while last + 1 < len(values) and values[last + 1] <= start + reach:
            last += 1
        if last >= first and (first, last) not in found[-1:]:
            found.append((first, last))
    return found
