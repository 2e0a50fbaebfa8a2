"""Risks of being found in a table, in the words that regulators use, from the sizes of its classes alone.

A class is a set of rows with the same quasi-identifiers. Before publishing, these are the original ones; after it, the
published labels. One measure serves both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from betalike.errors import ParameterError
from betalike.runtime.arrays import Ints

THRESHOLDS = (0.05, 0.09, 0.2)  # of 20, 11 and 5 people who look alike: what regulators and data holders ask for


@dataclass(frozen=True)
class Risk:
    """How surely a reader finds a person's row.

    `prosecutor` risks are those of a person whom the reader knows to be in the table: 1 over the size of the class.
    `journalist` risks are those of a person of the population, of which the table is a sample: None without its size.
    `marketer` is the share of all rows that a reader who links each row to one person of its class finds on average.
    `above` is the share of rows whose prosecutor risk exceeds each threshold; `unique` the share of rows that are alone
    in their class.
    """

    rows: int
    classes: int
    prosecutor_maximum: float
    prosecutor_average: float
    journalist_maximum: float | None
    journalist_average: float | None
    marketer: float
    above: dict[float, float]
    unique: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name, with thresholds as text."""
        return {**vars(self), "above": {f"{threshold:g}": share for threshold, share in self.above.items()}}


def measure_risk(sizes: Ints, population: int | None = None, thresholds: Sequence[float] = THRESHOLDS) -> Risk:
    """Return the risks of a table with classes of these sizes, in a population of this size if it is known.

    A class is taken to be as large a part of the population as of the table.
    """
    rows, classes = int(sizes.sum()), len(sizes)
    if population is not None and population < rows:
        raise ParameterError(
            f"the population is {population:,} people, but the table has {rows:,} rows; it must be at least as many."
        )
    for threshold in thresholds:
        if not 0 < threshold <= 1:
            raise ParameterError(f"a threshold is {threshold!r}; it must be a risk above 0 and up to 1, such as 0.09.")
    sampled = 1.0 if population is None else rows / population  # a person's chance to be in the table
    average, greatest = classes / rows, 1 / int(sizes.min())
    return Risk(
        rows=rows,
        classes=classes,
        prosecutor_maximum=greatest,
        prosecutor_average=average,
        journalist_maximum=None if population is None else greatest * sampled,
        journalist_average=None if population is None else average * sampled,
        marketer=average * sampled,
        above={float(threshold): _share_above(sizes, threshold) for threshold in thresholds},
        unique=int((sizes == 1).sum()) / rows,
    )


def _share_above(sizes: Ints, threshold: float) -> float:
    """Return the share of rows in classes with a risk above a threshold; 1 / 5 is not above 0.2."""
    risky = sizes[1 / sizes > np.nextafter(threshold, 1.0)]
    return int(risky.sum()) / int(sizes.sum())
