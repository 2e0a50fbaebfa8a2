"""The promise in people, where a column names the person of each row: from its definition, and its figures.

A release does not name persons. Its rows lead back to persons where each row of the table fits the labels of one class
only, or where kept columns say which row it is. Then everything is counted; elsewhere the figures must be possible.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from .bounds import Real, broken_caps, exponential, least
from .figures import key_of
from .jobs import Job
from .outcome import Outcome
from .promises import Promise, bounds_of, cap_of, is_near, promised_sets
from .reading import CANARY
from .risks import THRESHOLDS

FIELDS = ["column", "people", "holds", "worst_gain", "smallest_class", "prior_counts", "caps", "risk"]
RISKS = ["surest_guess", "prosecutor_maximum", "prosecutor_average", "above", "unique"]
Rest = tuple[Any, tuple[Any, ...]]  # sensitive value and kept cells


def check_people(
    job: Job,
    certificate: dict[str, Any],
    promise: Promise,
    rests: Sequence[Rest],
    candidates: Sequence[Sequence[int]],
    needs: dict[tuple[int, Rest], int],
    outcome: Outcome,
) -> None:
    """Check what a certificate states in people.

    `rests` and `candidates` are of the rows of the table: the classes that a row may be in. `needs` are the published
    rows of each class with each value and kept cells.
    """
    told = certificate["people"]
    if job.person is None:
        outcome.expect(told is None, "figure", "people without a person column")
        return
    if not outcome.expect(told is not None and list(told) == FIELDS, "figure", "names under people"):
        return
    persons = job.person.cells
    values = [job.truth.code[value] for value, _ in rests]
    held = _members(job, promise, persons, values)
    totals, n_people = [len(people) for people in held], len({*persons})
    _check_prior(job, told, promise, totals, values, outcome)
    classes = settled(rests, candidates, needs)
    n_classes = 1 + max(ec for ec, _ in needs)
    if None in classes:
        _check_possible(told, promise, persons, candidates, n_classes, outcome)
        return
    counts, sizes = _count(promised_sets(job.truth.secret, promise), persons, values, classes, n_classes)
    compared, broken = judge_people(counts, sizes, totals, n_people, promise)
    outcome.bounds += compared
    outcome.expect(broken == 0, "promise", f"{broken} bounds of {promise.model} broken in people")
    gain = (counts / sizes[:, None] * n_people / np.array(totals) - 1).max()
    outcome.expect(is_near(told["worst_gain"], float(gain)), "figure", "people.worst_gain")
    outcome.expect(told["smallest_class"] == sizes.min(), "figure", "people.smallest_class")
    each = promised_sets(
        job.truth.secret, Promise("basic", 1.0, 1)
    )  # values alone, of each column if there are several
    having, _ = _count(each, persons, values, classes, n_classes)
    _check_risk(told["risk"], having, sizes, [*zip(classes, persons, strict=True)], outcome)


def _check_risk(
    told: dict[str, Any],
    having: np.ndarray,
    sizes: np.ndarray,
    places: Sequence[tuple[int | None, Any]],
    outcome: Outcome,
) -> None:
    """Compare every risk in people: of a person's classes, the one with the fewest people counts."""
    if not outcome.expect(list(told) == RISKS, "figure", "names under people.risk"):
        return
    fewest: dict[Any, int] = {}
    for ec, person in places:
        fewest[person] = min(fewest.get(person, len(places)), int(sizes[ec]))
    found = [Fraction(1, n) for n in fewest.values()]
    truth = {
        "surest_guess": max(Fraction(int(n), int(size)) for row, size in zip(having, sizes, strict=True) for n in row),
        "prosecutor_maximum": max(found),
        "prosecutor_average": sum(found) / len(found),
        "unique": Fraction(found.count(Fraction(1)), len(found)),
    }
    for name, figure in truth.items():
        outcome.expect(is_near(told[name], figure), "figure", f"people.risk.{name}")
    above = {limit: Fraction(sum(n > Fraction(limit) for n in found), len(found)) for limit in THRESHOLDS}
    is_same = list(told["above"]) == list(above) and all(is_near(told["above"][x], n) for x, n in above.items())
    outcome.expect(is_same, "figure", "people.risk.above")


def check_unnamed(folder: Path, outcome: Outcome) -> None:
    """No file of a release holds a person, an unused column or code; where files are compressed, columns show it."""
    for path in folder.rglob("*"):
        is_free = path.is_dir() or CANARY.encode() not in path.read_bytes()
        outcome.expect(is_free, "file", "a file of the release holds what is not published")


def judge_people(
    counts: np.ndarray, sizes: np.ndarray, totals: Sequence[int], n_people: int, promise: Promise
) -> tuple[int, int]:
    """How many bounds were compared and broken: people of each class (rows) with each set of values (columns)."""
    compared, broken = len(sizes), int((sizes < promise.k).sum())
    if promise.is_likeness:
        caps, floors = bounds_of(totals, n_people, promise)
        broken += broken_caps(counts, sizes, caps)
        if floors:
            broken += broken_caps(counts, sizes, floors, is_floor=True)
        compared += counts.size * (2 if floors else 1)
    elif promise.model == "delta-disclosure":
        growth = exponential(min(least(promise.parameters["delta"]), Fraction(100)))
        shares = [Fraction(total, n_people) for total in totals]
        broken += broken_caps(counts, sizes, [Real(p * growth, is_exact=False) for p in shares])
        broken += broken_caps(counts, sizes, [Real(p / growth, is_exact=False) for p in shares], is_floor=True)
        compared += 2 * counts.size
    elif promise.model == "distinct-l-diversity":
        broken += int(((counts > 0).sum(axis=1) < promise.parameters["l"]).sum())
        compared += len(sizes)
    return compared, broken


def _members(job: Job, promise: Promise, persons: Sequence[Any], values: Sequence[int]) -> list[set[Any]]:
    """The people who have each promised set in one of their rows."""
    return [
        {person for person, value in zip(persons, values, strict=True) if value in inside}
        for inside in map(set, promised_sets(job.truth.secret, promise))
    ]


def _check_prior(
    job: Job, told: dict[str, Any], promise: Promise, totals: list[int], values: Sequence[int], outcome: Outcome
) -> None:
    """What follows from the table alone."""
    assert job.person is not None
    persons = job.person.cells
    outcome.expect(told["column"] == job.person.name, "figure", "people.column")
    outcome.expect(told["people"] == len({*persons}), "figure", "people.people")
    outcome.expect(told["holds"] is True, "figure", "people.holds")
    having = Counter(value for _, value in {*zip(persons, values, strict=True)})
    truth = {key: having[code] for key, code in job.truth.code.items()}
    counts = {key_of(job, label): n for label, n in told["prior_counts"].items()}
    outcome.expect(counts == truth and len(counts) == len(told["prior_counts"]), "figure", "people.prior_counts")
    n_people, caps = len({*persons}), dict[str, Fraction]()
    if promise.cap is not None:
        caps = {str(total): cap_of(total, n_people, promise).value for total in {*totals} - {0}}
    outcome.expect({n: Fraction(cap) for n, cap in told["caps"].items()} == caps, "figure", "people.caps")


def settled(
    rests: Sequence[Rest], candidates: Sequence[Sequence[int]], needs: dict[tuple[int, Rest], int]
) -> list[int | None]:
    """The class of each row of the table, where only one is possible.

    A row is in its only class; a class that has all the rows that it needs of a kind takes no further one; and a class
    for which no more rows are left than it needs takes them all.
    """
    open_to, left = [{*classes} for classes in candidates], dict(needs)
    found: list[int | None] = [None] * len(rests)
    is_changed = True
    while is_changed:
        is_changed = False
        waiting: dict[tuple[int, Rest], list[int]] = defaultdict(list)
        for row, rest in enumerate(rests):
            if found[row] is None:
                open_to[row] = {ec for ec in open_to[row] if left[ec, rest]}
                for ec in open_to[row]:
                    waiting[ec, rest].append(row)
        for (ec, rest), rows in waiting.items():
            sure = rows if len(rows) <= left[ec, rest] else [row for row in rows if len(open_to[row]) == 1]
            for row in sure:
                if found[row] is None and left[ec, rest]:
                    found[row], is_changed = ec, True
                    left[ec, rest] -= 1
    return found


def _count(
    sets: Sequence[Sequence[int]],
    persons: Sequence[Any],
    values: Sequence[int],
    classes: Sequence[int | None],
    n_classes: int,
) -> tuple[np.ndarray, np.ndarray]:
    """How many people of each class have each set of values in it, and how many there are."""
    of_value: dict[int, list[int]] = defaultdict(list)
    for number, inside in enumerate(sets):
        for value in inside:
            of_value[value].append(number)
    rows = {*zip(classes, persons, values, strict=True)}
    having = {(ec, person, number) for ec, person, value in rows for number in of_value[value]}
    counts = np.zeros((n_classes, len(sets)), dtype=np.int64)
    for ec, _, number in having:
        counts[ec, number] += 1
    sizes = np.zeros(n_classes, dtype=np.int64)
    for ec, _ in {(ec, person) for ec, person, _ in rows}:
        sizes[ec] += 1
    return counts, sizes


def _check_possible(
    told: dict[str, Any],
    promise: Promise,
    persons: Sequence[Any],
    candidates: Sequence[Sequence[int]],
    n_classes: int,
    outcome: Outcome,
) -> None:
    """The figures keep the promise, and no class has more people than there are rows for it."""
    around: list[set[Any]] = [set() for _ in range(n_classes)]
    for person, classes in zip(persons, candidates, strict=True):
        for ec in classes:
            around[ec].add(person)
    fewest = min(map(len, around))
    outcome.expect(promise.k <= told["smallest_class"] <= fewest, "figure", "people.smallest_class is not possible")
    if promise.is_likeness and promise.beta is not None:
        is_kept = least(told["worst_gain"]) <= least(promise.beta) + Fraction(1, 10**9)
        outcome.expect(is_kept, "promise", "the gain in people is above beta")
