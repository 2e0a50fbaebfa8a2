"""Which sensitive values and which classes come nearest to what a promise allows, from counts alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from betalike.measures.alike import PeopleCounts
from betalike.measures.phrases import FEWEST
from betalike.runtime.arrays import Bools, Floats, Ints
from betalike.table.cells import ClassCounts


@dataclass(frozen=True)
class ExposedClass:
    """A class and its most exposed value: its share in the table, in the class, and the most that is allowed.

    `count` is how many people of the class have the value, and `total` how many of the table; `cap` is None if the
    promise has no limit for each value.
    """

    size: int
    value: int
    count: int
    total: int
    prior: float
    posterior: float
    cap: float | None


def highest_shares(classes: ClassCounts) -> Floats:
    """Return the highest share that each value has in any class; 0 for a value that no class has."""
    highest = np.zeros(classes.n_values)
    np.maximum.at(highest, classes.value, classes.count / classes.sizes[classes.ec])
    return highest


def most_exposed(
    classes: ClassCounts | PeopleCounts, prior_counts: Ints, n_people: int, caps: Floats | None
) -> Iterator[ExposedClass]:
    """Yield the classes, those nearest to their caps first, or without caps those with the largest relative gains."""
    prior = prior_counts / n_people
    posterior = classes.count / classes.sizes[classes.ec]
    used = posterior / (prior if caps is None else caps)[classes.value]
    worst_first = np.lexsort((-posterior, -used))
    _, places = np.unique(classes.ec[worst_first], return_index=True)
    for entry in worst_first[np.sort(places)]:
        value = int(classes.value[entry])
        yield ExposedClass(
            size=int(classes.sizes[classes.ec[entry]]),
            value=value,
            count=int(classes.count[entry]),
            total=int(prior_counts[value]),
            prior=float(prior[value]),
            posterior=float(posterior[entry]),
            cap=None if caps is None else float(caps[value]),
        )


def shown_classes(
    exposed: Iterable[ExposedClass], n_people: int, is_value_shown: Bools, most: int
) -> list[ExposedClass]:
    """Return the first classes whose figures do not show one or two people, not even by subtraction.

    Those with the value, those without it, those outside the class, and those with the value outside all classes that
    are shown are none or at least 3 each.
    """
    shown: list[ExposedClass] = []
    outside: dict[int, int] = {}
    for it in exposed:
        left = outside.get(it.value, it.total) - it.count
        groups = (it.count, it.size - it.count, n_people - it.size, left)
        if is_value_shown[it.value] and all(group <= 0 or group >= FEWEST for group in groups):
            outside[it.value] = left
            shown.append(it)
            if len(shown) == most:
                break
    return shown
