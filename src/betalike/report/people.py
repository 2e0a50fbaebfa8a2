"""Risks in people, where a column of the original names the person of each row and a person may have several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from betalike.errors import ParameterError
from betalike.measures.risk import PeopleRisk, Risk, check_population, measure_people_risk, threshold_name
from betalike.promises.people import Holdings
from betalike.release.certificate import PeopleFacts, PeopleRiskFacts
from betalike.runtime.arrays import Ids
from betalike.table.cells import fold


@dataclass(frozen=True)
class OriginalPeople:
    """The risks of the original table in people, its combinations of quasi-identifiers, and most rows of a person."""

    risk: PeopleRisk
    classes: int
    most_rows: int


def count_people(frame: pl.DataFrame, quasi_identifiers: Sequence[str], person: str) -> OriginalPeople:
    """Count the people of the original table."""
    codes = [_codes(frame[name]) for name in quasi_identifiers]
    first, ec = fold(codes, [int(code.max()) + 1 for code in codes])
    who = _codes(frame[person]).astype(np.int64)
    place, held = np.divmod(np.unique(ec.astype(np.int64) * (int(who.max()) + 1) + who), int(who.max()) + 1)
    risk = measure_people_risk(Holdings(place, held, np.zeros_like(place), 1))
    return OriginalPeople(risk, len(first), int(np.bincount(who).max()))


def _codes(column: pl.Series) -> Ids:
    return np.asarray(column.cast(pl.String).fill_null("").rank("dense").to_numpy() - 1, dtype=np.int32)


def risk_in_people(
    found: PeopleRisk | PeopleRiskFacts,
    people: PeopleFacts,
    classes: int,
    population: int | None,
    thresholds: Sequence[float],
) -> Risk:
    """Return risks that were counted in people, by the names of those that are counted in rows."""
    check_population(population, people.people, "people")
    unknown = [threshold for threshold in thresholds if threshold_name(threshold) not in found.above]
    if unknown:
        raise ParameterError(
            f"this release is counted in people, and its certificate has no figure for the threshold {unknown[0]}; it "
            f"has: {', '.join(found.above)}."
        )
    sampled = 1.0 if population is None else people.people / population
    return Risk(
        rows=people.people,
        classes=classes,
        prosecutor_maximum=found.prosecutor_maximum,
        prosecutor_average=found.prosecutor_average,
        journalist_maximum=None if population is None else found.prosecutor_maximum * sampled,
        journalist_average=None if population is None else found.prosecutor_average * sampled,
        marketer=found.prosecutor_average * sampled,
        above={float(threshold): found.above[threshold_name(threshold)] for threshold in thresholds},
        unique=found.unique,
    )
