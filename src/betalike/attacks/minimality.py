"""Minimality: what a scheme's decisions reveal to anyone who knows the scheme and everybody's quasi-identifiers.

A class was not cut further, so no further cut was possible. That rules out all assignments of the class's values to its
members under which the scheme would have cut; the remaining ones give the chance of each value for each member.
Assignments are drawn at random, and the scheme's own code decides on each. Paper: Section 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from betalike.attacks.control_release import replan
from betalike.attacks.result import AttackResult, Rate, Z, compared
from betalike.attacks.scheme_decisions import Decision, decision_of
from betalike.attacks.target import Generalized, Target
from betalike.runtime.arrays import Floats, Ids, Ints
from betalike.runtime.randomness import Randomness, SystemRandomness, uniform
from betalike.schemes import make_scheme
from betalike.table.cells import Plan

NAME = "minimality"
MOST_CLASSES = 100
LARGEST_CLASS = 5_000
DRAWN_VALUES = 200_000  # values to draw per class, in assignments to all its members
FEWEST, MOST = 100, 4_000  # assignments of a class
LEAST_KEPT = 20
RESAMPLES = 400


@dataclass(frozen=True)
class Argued:
    """What an argument finds about one class: the average chance of its people's true values, with and without it.

    `ratio` is the largest chance of a value divided by its cap, picked by one half of the assignments and measured by
    the other half; `ratio_low` is the lower end of its interval.
    """

    people: int
    chance: float
    plain: float
    kept_share: float = 1.0
    ratio: float = 0.0
    ratio_low: float = 0.0


def minimality(target: Target, randomness: Randomness | None = None) -> AttackResult:
    """Attack some random classes of a release; the adversary knows who is in which class.

    The control is the same classes without the argument. Classes are formed again, because the release does not say who
    is in which class; schemes without randomness form the same ones.
    """
    chance = randomness or SystemRandomness()
    if not isinstance(target, Generalized):
        return AttackResult(NAME, refusal="the release has no classes, so there are no decisions to argue from.")
    decision = decision_of(make_scheme(target.scheme, chance, **dict(target.options)), target.cells, target.model)
    if decision is None:
        return AttackResult(NAME, refusal=f"this attack does not know how '{target.scheme}' decides on this promise.")
    plan = replan(target, target.cells, chance)
    argued, n_skipped = argue(plan, decision, target.caps, chance)
    if not argued:
        return AttackResult(
            NAME, refusal="too few other assignments lead to the same classes to say how likely each value is."
        )
    kept_share = float(np.average([each.kept_share for each in argued], weights=[each.people for each in argued]))
    details = {"kept_share": kept_share, "uncut": {**_figures(argued, chance), "skipped": n_skipped}}
    success, against, _ = _rates(argued, chance)
    baseline = Rate.of(float((target.prior**2).sum()) * target.n_rows, target.n_rows)
    sentence = (
        f"An adversary who argues from how '{target.scheme}' decides, and draws guesses by their chance, is right "
        f"{compared(success, baseline, against)}."
    )
    return AttackResult(NAME, sum(each.people for each in argued), success, baseline, against, sentence, details)


def _figures(argued: Sequence[Argued], randomness: Randomness) -> dict[str, Any]:
    """Return the gain of an argument, and how far it leads beyond the caps."""
    _, _, gain = _rates(argued, randomness)
    return {
        "classes": len(argued),
        "gain": gain.rate,
        "gain_low": gain.low,
        "gain_high": gain.high,
        "worst_ratio": float(max(each.ratio for each in argued)),
        "classes_above_their_cap": sum(bool(each.ratio_low > 1) for each in argued),
    }


def _worst(halves: Sequence[Floats], people: Ints, n_drawn: float, caps: Floats | None) -> tuple[float, float]:
    """Return the largest chance over its cap: picked by one half of the assignments, measured by the other."""
    if caps is None:
        return 0.0, 0.0
    pick, measure = halves
    drawn = people[:, None] * n_drawn
    lower = pick - Z * np.sqrt(pick * (1 - pick) / drawn)
    at = np.unravel_index(np.argmax(np.where(caps > 0, lower / np.maximum(caps, 1e-300), 0.0)), lower.shape)
    rate = Rate.of(float(measure[at]) * drawn[at[0], 0], float(drawn[at[0], 0]))
    return rate.rate / float(caps[at[1]]), rate.low / float(caps[at[1]])


def argue(
    plan: Plan, decision: Decision, caps: Floats | None, randomness: Randomness, most_classes: int = MOST_CLASSES
) -> tuple[list[Argued], int]:
    """Return what the argument finds about some classes, and how many classes it skipped."""
    sizes = plan.class_counts.sizes
    fitting = np.flatnonzero((sizes > 1) & (sizes <= LARGEST_CLASS))
    chosen = fitting[np.argsort(uniform(len(fitting), randomness), kind="stable")[:most_classes]]
    order = np.argsort(plan.ec, kind="stable")
    starts = np.searchsorted(plan.ec[order], np.arange(plan.n_classes + 1))
    jobs = []
    for ec in chosen:
        part = order[starts[ec] : starts[ec + 1]]
        cell = np.repeat(plan.cell[part], plan.count[part])
        by_point = np.argsort(plan.cells.point[cell], kind="stable")
        points, values = plan.cells.point[cell][by_point], plan.cells.value[cell][by_point]
        jobs.append((points.astype(np.int32), assignments_of(values, randomness)))

    def work(job: tuple[Ids, Ids]) -> Argued | None:
        return _argue_class(job[0], job[1], decision, caps, plan.cells.sensitive.size)

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(work, jobs))
    argued = [each for each in found if each is not None]
    return argued, len(chosen) - len(argued)


def assignments_of(values: Ids, randomness: Randomness) -> Ids:
    """Draw random assignments of values to the members of a class, one per row; the first is the true one."""
    n_samples = int(np.clip(DRAWN_VALUES // len(values), FEWEST, MOST))
    order = np.argsort(uniform(n_samples * len(values), randomness).reshape(n_samples, -1), axis=1)
    return np.concatenate([values[None, :], values[order]]).astype(np.int32)


def _argue_class(points: Ids, assignments: Ids, decision: Decision, caps: Floats | None, m: int) -> Argued | None:
    truth, drawn = assignments[0], assignments[1:]
    is_left = decision(points, assignments)
    kept = drawn[is_left[1:]]
    if not is_left[0] or len(kept) < LEAST_KEPT:
        return None
    plain = np.bincount(truth, minlength=m) / len(truth)
    _, place = np.unique(points, return_inverse=True)
    if len(kept) == len(drawn):  # nothing is ruled out: chances are the shares themselves
        chance = np.tile(plain, (place.max() + 1, 1))
        ratio = _highest(plain, caps)
        return Argued(len(truth), float(chance[place, truth].mean()), float(plain[truth].mean()), 1.0, ratio, ratio)
    chance = shares_at_points(kept, place, m)
    found = Argued(len(truth), float(chance[place, truth].mean()), float(plain[truth].mean()), len(kept) / len(drawn))
    half = len(kept) // 2
    halves = [shares_at_points(part, place, m) for part in (kept[:half], kept[half:])]
    ratio, ratio_low = _worst(halves, np.bincount(place), half, caps)
    return replace(found, ratio=ratio, ratio_low=ratio_low)


def shares_at_points(assignments: Ids, place: Ints, m: int) -> Floats:
    """Return the share of each value among those that some assignments give to the members at each point."""
    n_places = int(place.max()) + 1
    counts = np.bincount((place[None, :] * m + assignments).ravel(), minlength=n_places * m).reshape(n_places, m)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _highest(shares: Floats, caps: Floats | None) -> float:
    return 0.0 if caps is None else float((shares / np.maximum(caps, 1e-300))[shares > 0].max())


def _rates(argued: Sequence[Argued], randomness: Randomness) -> tuple[Rate, Rate, Rate]:
    """Return the average chance of true values with and without the argument, and the difference (bootstrap)."""
    people = np.array([each.people for each in argued], dtype=np.float64)
    sums = np.array([[each.chance, each.plain, each.chance - each.plain] for each in argued]) * people[:, None]
    picks = (uniform(RESAMPLES * len(argued), randomness) * len(argued)).astype(np.int64).reshape(RESAMPLES, -1)
    drawn = sums[picks].sum(axis=1) / people[picks].sum(axis=1)[:, None]
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    rates = sums.sum(axis=0) / people.sum()
    success, plain, gain = (Rate(float(r), float(a), float(b)) for r, a, b in zip(rates, low, high, strict=True))
    return success, plain, gain
