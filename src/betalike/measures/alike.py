"""How many people look alike with each person, and which of such figures hide single people from subtraction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from betalike.measures.phrases import FEWEST
from betalike.runtime.arrays import Bools, Ints

FEW_CLASSES = 12  # with no more, a reader may know the size of every class, and count what a share of it is


@dataclass(frozen=True)
class LookAlikes:
    """The numbers of people who look alike, in ascending order, and how many people have each."""

    numbers: Ints
    people: Ints

    @staticmethod
    def of_classes(sizes: Ints) -> LookAlikes:
        """Return the people of classes of these sizes."""
        numbers, classes = np.unique(sizes, return_counts=True)
        return LookAlikes(numbers, numbers * classes)

    @property
    def n_people(self) -> int:
        """All people."""
        return int(self.people.sum())

    def fewer_than(self, number: int) -> int:
        """Count the people with fewer look-alikes than this, the person included."""
        return int(self.people[self.numbers < number].sum())

    def share_above(self, threshold: float) -> float:
        """Return the share of people whose risk is above a threshold; 1 / 5 is not above 0.2."""
        return int(self.people[1 / self.numbers > np.nextafter(threshold, 1.0)].sum()) / self.n_people


def safe_cuts(
    series: Sequence[tuple[Mapping[int, int], int]], cuts: Iterable[int], shown: Sequence[Iterable[int]] = ()
) -> list[int]:
    """Return the cuts whose counts can be shown together: no difference between two of them is one or two people.

    Each of `series` says how many people are below each cut, and how many there are; `shown` has the cuts that are
    shown of it already. Earlier cuts are preferred.

    >>> safe_cuts([({2: 1, 3: 5, 5: 9}, 10)], [2, 3, 5])
    [3]
    """
    chosen: list[int] = []
    known = list(shown) or [()] * len(series)
    for cut in cuts:
        with_it = [*chosen, cut]
        if all(
            _is_safe([below[each] for each in (*of, *with_it)], n) for (below, n), of in zip(series, known, strict=True)
        ):
            chosen = with_it
    return sorted(chosen)


def _is_safe(counts: Iterable[int], total: int) -> bool:
    steps = np.diff(sorted({0, *counts, total}))
    return bool((steps >= FEWEST).all())


@dataclass(frozen=True)
class PeopleCounts:
    """How many people of each class have each value there, and how many people it has: of whom some have several."""

    ec: Ints
    value: Ints
    count: Ints
    sizes: Ints


def are_few(counts: Ints, are_people: bool) -> bool:
    """Return whether groups together may be one or two people: of rows, or of people who may be in several groups."""
    total = int(counts.max(initial=0) if are_people else counts.sum())
    return 0 < total < FEWEST


def visible_values(totals: Ints, table: Ints | None, are_people: bool) -> Bools:
    """Return which values can be shown so that no value of one or two people follows by subtraction.

    `totals` has the people with each value, and `table` those in each class, where a reader may know its size.
    """
    groups = totals[None, :] if table is None else np.vstack([totals, table])
    is_shown: Bools = ((groups == 0) | (groups >= FEWEST)).all(axis=0) & (totals > 0)
    by_size = np.argsort(totals, kind="stable")
    while True:
        few = [group for group in groups if are_few(group[~is_shown], are_people)]
        if not few:
            return is_shown
        others = [place for place in by_size.tolist() if is_shown[place] and few[0][place] > 0]
        if not others:
            return np.zeros_like(is_shown)
        is_shown[others[0]] = False
