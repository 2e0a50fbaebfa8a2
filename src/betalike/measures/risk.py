"""Risks of the people in a table, in the words that regulators use, from the counts of its classes alone.

A class is a set of rows with the same quasi-identifiers. Before publishing, these are the original ones; after it, the
published labels. One measure serves both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from betalike.errors import ParameterError
from betalike.measures.alike import LookAlikes, PeopleCounts, safe_cuts
from betalike.measures.phrases import at_most, percent, share_of_people
from betalike.promises.people import Holdings
from betalike.promises.wording import at_most_times
from betalike.runtime.arrays import Floats, Ints
from betalike.table.cells import ClassCounts

THRESHOLDS = (0.05, 0.09, 0.2)  # about 20, 11 and 5 people who look alike: what regulators and data holders ask for


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
        return {**vars(self), "above": {threshold_name(threshold): share for threshold, share in self.above.items()}}


def measure_risk(sizes: Ints, population: int | None = None, thresholds: Sequence[float] = THRESHOLDS) -> Risk:
    """Return the risks of a table with classes of these sizes, in a population of this size if it is known.

    A class is taken to be as large a part of the population as of the table.
    """
    rows, classes = int(sizes.sum()), len(sizes)
    check_population(population, rows, "rows")
    check_thresholds(thresholds)
    alike = LookAlikes.of_classes(sizes)
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
        above={float(threshold): alike.share_above(threshold) for threshold in thresholds},
        unique=alike.fewer_than(2) / rows,
    )


def check_thresholds(thresholds: Sequence[float]) -> None:
    """Refuse a threshold that is no risk."""
    for threshold in thresholds:
        if not 0 < threshold <= 1:
            raise ParameterError(f"a threshold is {threshold!r}; it must be a risk above 0 and up to 1, such as 0.09.")


def check_population(population: int | None, number: int, unit: str) -> None:
    """Refuse a population that has fewer people than the table."""
    if population is not None and population < number:
        raise ParameterError(
            f"the population is {population:,} people, but the table has {number:,} {unit}; "
            "it must be at least as many."
        )


def threshold_name(threshold: float) -> str:
    """Return a threshold as text, with all its digits."""
    return repr(threshold).removesuffix(".0")


def people_enough(threshold: float) -> int:
    """Return how many people must look alike so that their risk is not above a threshold.

    >>> [people_enough(threshold) for threshold in (0.05, 0.09, 0.2)]
    [20, 12, 5]
    """
    people = round(1 / threshold)
    return people if 1 / people <= math.nextafter(threshold, 1.0) else people + 1


@dataclass(frozen=True)
class PeopleRisk:
    """How surely a reader finds a person, counted in people, of whom each may have several rows.

    A person's prosecutor risk is 1 over the number of people in a class; of several classes with rows of the person,
    the one with the fewest people counts. `above` and `unique` are shares of all people. `surest_guess` is the greatest
    share of the people of a class who have a value there. `alike` and `counts` are what these were counted from.
    """

    surest_guess: float
    prosecutor_maximum: float
    prosecutor_average: float
    above: dict[str, float]
    unique: float
    alike: LookAlikes = field(repr=False, compare=False)
    counts: PeopleCounts = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {name: figure for name, figure in vars(self).items() if name not in ("alike", "counts")}


def measure_people_risk(held: Holdings, thresholds: Sequence[float] = THRESHOLDS) -> PeopleRisk:
    """Return the risks in people, from which person has which value in which class."""
    check_thresholds(thresholds)
    sizes = held.people_per_class(int(held.ec.max()) + 1)
    keys, counts = np.unique(held.ec * held.n_sets + held.member, return_counts=True)
    least = np.full(int(held.person.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(least, held.person, sizes[held.ec])
    alike = LookAlikes(*np.unique(least[np.unique(held.person)], return_counts=True))
    return PeopleRisk(
        surest_guess=float((counts / sizes[keys // held.n_sets]).max()),
        prosecutor_maximum=1 / int(alike.numbers[0]),
        prosecutor_average=float((alike.people / alike.numbers).sum()) / alike.n_people,
        above={threshold_name(threshold): alike.share_above(threshold) for threshold in thresholds},
        unique=alike.fewer_than(2) / alike.n_people,
        alike=alike,
        counts=PeopleCounts(*np.divmod(keys, held.n_sets), counts, sizes),
    )


@dataclass(frozen=True)
class Inference:
    """How surely a reader guesses the sensitive value of a person whose class is known.

    `surest_guess` is the highest share of a value in any class, and `average_guess` the share of people whose value is
    the most frequent one of their class; None if it was not measured. `largest_gain` is the greatest (q - p) / p of any
    value; None if it is infinite. `near_promise` is the number of people in classes that reach 90 % of the promise;
    None without classes or without a promise.
    """

    surest_guess: float
    average_guess: float | None
    largest_gain: float | None
    near_promise: int | None = None


def measure_inference(classes: ClassCounts, prior_counts: Ints, near_promise: int | None = None) -> Inference:
    """Return how surely values are guessed in classes, given how often each value occurs in the original table."""
    share = classes.count / classes.sizes[classes.ec]
    most = np.maximum.reduceat(classes.count, classes.starts[:-1])
    prior = (prior_counts / prior_counts.sum())[classes.value]
    gain = None if (prior == 0).any() else float((share / prior).max()) - 1
    return Inference(float(share.max()), int(most.sum()) / int(classes.sizes.sum()), gain, near_promise)


def infer_from_chances(posterior: Floats, rows: Ints, prior_counts: Ints) -> Inference:
    """Return the same for chances of values (columns) given each label (rows), with the rows that have the label."""
    seen = posterior[rows > 0]
    surest = seen.max(axis=1)
    prior = prior_counts / prior_counts.sum()
    return Inference(float(surest.max()), float(rows[rows > 0] @ surest / rows.sum()), float((seen / prior).max()) - 1)


@dataclass(frozen=True)
class Question:
    """One of the three questions that data-protection authorities ask, with its figure and a sentence."""

    name: str
    figure: float
    sentence: str


def three_questions(risk: Risk, inference: Inference, before: Risk | None = None) -> tuple[Question, ...]:
    """Answer whether a person can be singled out, linked, and whether a secret can be inferred.

    With the risks of the original table, `before`, the first two sentences name these too. No sentence has a count of
    fewer than 3 people.
    """
    alone = f"{_alone(risk)} are alone with their quasi-identifiers, so that their row stands out"
    linked = (
        f"anyone who links rows to people by the quasi-identifiers is right for {percent(risk.marketer)} of them on "
        f"average, and for one person with a chance of at most {at_most(risk.prosecutor_maximum)}"
    )
    if before is not None:
        alone += f"; in the original table, {_alone(before)} are"
        linked += f"; in the original table, the average is {percent(before.marketer)}"
    average, gain = inference.average_guess, inference.largest_gain
    everybody = "" if average is None else f", the best guess of everybody's value for {percent(average)} of the people"
    likelier = ""
    if gain is not None:
        times = at_most_times(Fraction(gain).limit_denominator(10**12))
        likelier = f", and no value is more than {times} as in the table"
    guessed = at_most(inference.surest_guess)
    inferred = f"the surest guess of a person's value is right with a chance of at most {guessed}{everybody}{likelier}"
    return (
        Question("singling out", risk.unique, alone),
        Question("linkability", risk.marketer, linked),
        Question("inference", inference.surest_guess, inferred),
    )


def _alone(risk: Risk) -> str:
    """Return who is alone with their quasi-identifiers, without a count of one or two."""
    shown = shown_shares(risk)["unique"]
    return f"{shown} of the people" if shown.endswith(" %") else shown


def cuts_of(risk: Risk) -> dict[str, int]:
    """Return the figures that are shares of people, each with the number of look-alikes that these do not reach."""
    above = {f"above.{threshold_name(threshold)}": people_enough(threshold) for threshold in risk.above}
    return {"unique": 2, **above}


def _shares(risk: Risk) -> dict[str, float]:
    return {"unique": risk.unique, **{f"above.{threshold_name(t)}": share for t, share in risk.above.items()}}


def shown_shares(risk: Risk) -> dict[str, str]:
    """Return the shares of people that are unique, or above a threshold, in words.

    None is that of one or two people, nor is the rest, nor the difference between two of them.
    """
    cuts, safe = cuts_of(risk), shown_cuts(risk)
    return {
        name: share_of_people(share, risk.rows, is_safe=cuts[name] in safe) for name, share in _shares(risk).items()
    }


def shown_cuts(risk: Risk) -> list[int]:
    """Return the numbers of look-alikes below which the people of a table can be shown."""
    shares = _shares(risk)
    below = {cut: round(shares[name] * risk.rows) for name, cut in cuts_of(risk).items()}
    return safe_cuts([(below, risk.rows)], below)
