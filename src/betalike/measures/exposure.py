"""Which sensitive values and which classes come nearest to what a promise allows, from counts alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from betalike.runtime.arrays import Floats, Ints
from betalike.table.cells import ClassCounts


@dataclass(frozen=True)
class ExposedClass:
    """A class and its most exposed value: its share in the table, in the class, and the most that is allowed.

    `count` is how many rows of the class have the value; `cap` is None if the promise has no limit for each value.
    """

    size: int
    count: int
    prior: float
    posterior: float
    cap: float | None


def highest_shares(classes: ClassCounts) -> Floats:
    """Return the highest share that each value has in any class; 0 for a value that no class has."""
    highest = np.zeros(classes.n_values)
    np.maximum.at(highest, classes.value, classes.count / classes.sizes[classes.ec])
    return highest


def most_exposed(classes: ClassCounts, prior_counts: Ints, caps: Floats | None, most: int = 10) -> list[ExposedClass]:
    """Return the classes that come nearest to their caps, or without caps those with the largest relative gains."""
    prior = prior_counts / prior_counts.sum()
    posterior = classes.count / classes.sizes[classes.ec]
    used = posterior / (prior if caps is None else caps)[classes.value]
    worst_first = np.lexsort((-posterior, -used))
    _, places = np.unique(classes.ec[worst_first], return_index=True)
    chosen = worst_first[np.sort(places)[:most]]
    return [
        ExposedClass(
            size=int(classes.sizes[classes.ec[entry]]),
            count=int(classes.count[entry]),
            prior=float(prior[classes.value[entry]]),
            posterior=float(posterior[entry]),
            cap=None if caps is None else float(caps[classes.value[entry]]),
        )
        for entry in chosen.tolist()
    ]
