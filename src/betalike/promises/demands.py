"""Caps and floors on the shares of sets of values, and how much of them each class uses."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from betalike.promises.caps import Bound, as_pairs, clip
from betalike.promises.rule import ANYTHING, Rule, count_up
from betalike.promises.sets import Sets
from betalike.runtime.arrays import Floats, Ints
from betalike.runtime.compilation import kernel
from betalike.table.cells import ClassCounts


@dataclass(frozen=True)
class Demands:
    """Caps, and perhaps floors, on the share of each of some sets of values."""

    sets: Sets
    caps: list[Bound]
    floors: list[Bound]

    @property
    def ceilings(self) -> Floats:
        """The caps as floating-point numbers."""
        return np.array([float(cap) for cap in self.caps])

    @property
    def bottoms(self) -> Floats:
        """The floors as floating-point numbers; 0 where there are none."""
        return np.array([float(floor) for floor in self.floors]) if self.floors else np.zeros(len(self.caps))

    def rule(self, k: int, n_values: int, largest: int) -> Rule:
        """Return the demands in the form that kernels take, for classes of up to `largest` tuples.

        A value alone may not exceed the cap of any set that it is in, so its own cap is the least of these.
        """
        caps = [cap.greatest_fraction(clip(largest)) for cap in self.caps]
        floors = [floor.least_fraction(clip(largest)) for floor in self.floors] or [Fraction(0)] * len(caps)
        own = as_pairs([caps[number] for number in self.sets.narrowest(self.ceilings, n_values)])
        ends = (self.sets.first, self.sets.last)
        return ANYTHING._replace(
            k=k,
            cap_numerator=own[0],
            cap_denominator=own[1],
            order=self.sets.order,
            demands=np.ascontiguousarray(np.array([*ends, *as_pairs(caps), *as_pairs(floors)]).T),
        )


def used_by_classes(sets: Sets, caps: Floats, floors: Floats, classes: ClassCounts) -> Floats:
    """Return how much of what it is allowed each class uses: the greatest of q / cap and floor / q over all sets."""
    counted = classes.starts, classes.value, classes.count, classes.n_values
    return _used_by_classes(sets.order, sets.first, sets.last, caps, floors, *counted)


@kernel
def _used_by_classes(
    order: Ints,
    first: Ints,
    last: Ints,
    cap: Floats,
    floor: Floats,
    starts: Ints,
    value: Ints,
    count: Ints,
    n_values: int,
) -> Floats:
    used = np.zeros(len(starts) - 1)
    counts = np.zeros(n_values, dtype=np.int64)
    for ec in range(len(used)):
        counts[:] = 0
        size = 0
        for i in range(starts[ec], starts[ec + 1]):
            counts[value[i]] = count[i]
            size += count[i]
        up_to = count_up(order, counts)
        for s in range(len(first)):
            share = (up_to[last[s] + 1] - up_to[first[s]]) / size
            if share > 0.0:
                used[ec] = max(used[ec], share / cap[s] if cap[s] > 0.0 else np.inf, floor[s] / share)
            elif floor[s] > 0.0:
                used[ec] = np.inf
    return used
