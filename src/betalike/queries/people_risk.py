"""Risks in people, where a column of the original names the person of each row and a person may have several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from betalike.errors import ParameterError
from betalike.measures.risk import (
    PeopleRisk,
    Risk,
    check_population,
    check_thresholds,
    measure_people_risk,
    threshold_name,
)
from betalike.promises.people import Holdings
from betalike.promises.sets import Sets
from betalike.queries.original import CountedOriginal
from betalike.release.certificate import PeopleFacts, PeopleRiskFacts


def people_risk_before(original: CountedOriginal, thresholds: Sequence[float]) -> PeopleRisk:
    """Return the risks of the people of an original table: its classes are those with the same quasi-identifiers."""
    cells, held = original.cells, original.holders
    assert held is not None
    n_values = len(cells.value_counts)
    point, value = cells.point[held.row], cells.value[held.row]
    return measure_people_risk(Holdings.of(point, held.person, value, Sets.singletons(n_values), n_values), thresholds)


def risk_in_people(
    found: PeopleRisk | PeopleRiskFacts,
    people: PeopleFacts,
    classes: int,
    population: int | None,
    thresholds: Sequence[float],
) -> Risk:
    """Return risks that were counted in people, by the names of those that are counted in rows.

    What a certificate says about people has figures for some thresholds only.
    """
    check_population(population, people.people, "people")
    check_thresholds(thresholds)
    if isinstance(found, PeopleRisk):
        above = {float(threshold): found.alike.share_above(threshold) for threshold in thresholds}
    else:
        unknown = [threshold for threshold in thresholds if threshold_name(threshold) not in found.above]
        if unknown:
            raise ParameterError(
                f"this release is counted in people, and its certificate has no figure for the threshold {unknown[0]}; "
                f"it has: {', '.join(found.above)}. Name the original table too, so that people can be counted."
            )
        above = {float(threshold): found.above[threshold_name(threshold)] for threshold in thresholds}
    sampled = 1.0 if population is None else people.people / population
    return Risk(
        rows=people.people,
        classes=classes,
        prosecutor_maximum=found.prosecutor_maximum,
        prosecutor_average=found.prosecutor_average,
        journalist_maximum=None if population is None else found.prosecutor_maximum * sampled,
        journalist_average=None if population is None else found.prosecutor_average * sampled,
        marketer=found.prosecutor_average * sampled,
        above=above,
        unique=found.unique,
    )


def classes_before(original: CountedOriginal) -> int:
    """Return how many combinations of quasi-identifiers an original table has."""
    return len(np.unique(original.cells.point))
