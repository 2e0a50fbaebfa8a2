"""Audit: the level that a published table reaches under every known promise, from counts alone.

The prior is that of the original table. None can mean that no beta holds, or that delta is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from betalike.promises import UNITS, Likeness, Transition, judge_transition, of_each_column
from betalike.promises.caps import Bound, Caps
from betalike.promises.distances import Ground, divergences, earth_movers_distances, natural_ground
from betalike.promises.sets import Columns
from betalike.promises.transition import sums_over
from betalike.runtime.arrays import Floats, Ints
from betalike.table.axis import Axis
from betalike.table.cells import ClassCounts
from betalike.table.joint import JointAxis

LARGE_BETA, LARGE_CLASS = 1e9, 2**31
LEAST = ("k", "distinct_l", "l")  # the worst of these figures is the least, of the next the greatest
GREATEST = ("t", "jensen_shannon", "kullback_leibler", "basic_beta", "enhanced_beta", "delta")
WITHOUT_CLASSES: dict[str, Any] = dict.fromkeys(("classes", "k", "distinct_l", "average_l", "average_t"))


@dataclass(frozen=True)
class WorstClass:
    """The class and value with the largest gain; for a perturbed table, the rows expected with one published value."""

    size: int
    value: int
    prior: float
    posterior: float


@dataclass(frozen=True)
class Audit:
    """Levels that a published table reaches; `l` is 1 / max q. Figures that need classes are None if there are none.

    A certificate has those that it has fields for.
    """

    rows: int
    classes: int | None
    k: int | None
    distinct_l: int | None
    l: float  # noqa: E741 - the name that everybody uses
    average_l: float | None
    t: float
    average_t: float | None
    t_ground: str
    t_by_ground: dict[str, float]
    jensen_shannon: float
    kullback_leibler: float | None
    basic_beta: float | None
    enhanced_beta: float | None
    delta: float | None
    worst: WorstClass


def measure(classes: ClassCounts, prior_counts: Ints, sensitive: Axis) -> Audit:
    """Measure a published table against the sensitive counts of the original one."""
    if isinstance(sensitive, JointAxis):
        return _measure_columns(classes, prior_counts, sensitive)
    sizes = classes.sizes
    posterior = classes.count / sizes[classes.ec]
    prior = prior_counts / prior_counts.sum()
    with np.errstate(divide="ignore"):
        gain = posterior / prior[classes.value] - 1
    worst = int(np.argmax(gain))
    basic = max(float(gain[worst]), 0.0) if math.isfinite(gain[worst]) else None
    highest = np.maximum.reduceat(posterior, classes.starts[:-1])
    natural = natural_ground(sensitive)
    grounds = dict.fromkeys([Ground.EQUAL, natural])
    distances = {ground: earth_movers_distances(classes, prior, ground, sensitive) for ground in grounds}
    kullback, jensen = divergences(classes, prior)
    return Audit(
        rows=int(sizes.sum()),
        classes=len(sizes),
        k=int(sizes.min()),
        distinct_l=int(np.diff(classes.starts).min()),
        l=float(1 / highest.max()),
        average_l=math.fsum(1 / highest) / len(highest),  # in any order of classes the same
        t=float(distances[natural].max()),
        average_t=math.fsum(distances[natural]) / len(distances[natural]),
        t_ground=str(natural),
        t_by_ground={str(ground): float(distance.max()) for ground, distance in distances.items()},
        jensen_shannon=float(jensen.max()),
        kullback_leibler=float(kullback.max()) if np.isfinite(kullback).all() else None,
        basic_beta=basic,
        enhanced_beta=basic if basic is not None and _any_enhanced_beta_holds(classes, prior_counts) else None,
        delta=_delta(classes, posterior, prior, prior_counts),
        worst=WorstClass(
            size=int(sizes[classes.ec[worst]]),
            value=int(classes.value[worst]),
            prior=float(prior[classes.value[worst]]),
            posterior=float(posterior[worst]),
        ),
    )


def put_together(parts: Sequence[Audit]) -> Audit:
    """Combine the levels of a table's parts; all rows of a class are in one part."""
    if len(parts) == 1:
        return parts[0]
    classes = np.array([part.classes for part in parts], dtype=np.float64)

    def average(figures: Iterable[float | None]) -> float:
        return float(classes @ np.array(list(figures), dtype=np.float64) / classes.sum())

    return replace(
        _worst_of(parts),
        rows=sum(part.rows for part in parts),
        classes=int(classes.sum()),
        average_l=average(part.average_l for part in parts),
        average_t=average(part.average_t for part in parts),
        t_by_ground={ground: max(part.t_by_ground[ground] for part in parts) for ground in parts[0].t_by_ground},
    )


def _measure_columns(classes: ClassCounts, prior_counts: Ints, sensitive: JointAxis) -> Audit:
    """Measure several sensitive columns one by one, and return the worst figures."""
    audits = []
    for axis, codes in sensitive.parts():
        part = ClassCounts.of(classes.ec, codes[classes.value], classes.count, axis.size)
        counts = np.bincount(codes, weights=prior_counts, minlength=axis.size).astype(np.int64)
        audits.append(measure(part, counts, axis))
    worst = _worst_of(audits)
    return replace(
        worst,
        average_l=min(audit.average_l or 0.0 for audit in audits),
        average_t=max(audit.average_t or 0.0 for audit in audits),
        t_by_ground={str(Ground.EQUAL): worst.t},
    )


def _worst_of(audits: Sequence[Audit]) -> Audit:
    """Return the worst of each figure over parts or columns of a table; the others are those of the first."""
    found = {name: [getattr(audit, name) for audit in audits] for name in (*LEAST, *GREATEST)}
    figures: dict[str, Any] = {
        name: None if None in of else max(of) if name in GREATEST else min(of) for name, of in found.items()
    }
    with np.errstate(divide="ignore"):
        worst = max((audit.worst for audit in audits), key=lambda each: np.divide(each.posterior, each.prior))
    return replace(audits[0], **figures, worst=worst)


def measure_withheld(prior_counts: Ints, sensitive: Axis) -> Audit:
    """Measure a table whose rows have no sensitive value: everybody's posterior is the prior."""
    everything = np.flatnonzero(prior_counts)
    table = ClassCounts.of(np.zeros_like(everything), everything, prior_counts[everything], len(prior_counts))
    return replace(measure(table, prior_counts, sensitive), **WITHOUT_CLASSES)


def measure_perturbed(transition: Transition, prior_counts: Ints, sensitive: Axis) -> Audit:
    """Measure what each published value says about the original one, in place of classes. Paper: Definition 6."""
    posteriors = transition.posterior(prior_counts)
    model = Likeness(LARGE_BETA)
    posterior, prior = posteriors, prior_counts / prior_counts.sum()
    if isinstance(sensitive, JointAxis):
        sets = Columns(sensitive.columns).sets(sensitive, len(prior_counts))
        model = of_each_column(model, sensitive.columns)
        posterior, prior = sums_over(sets, posteriors), sets.totals(prior_counts) / prior_counts.sum()
    rows = (transition.published(prior_counts) / UNITS).astype(np.float64)
    seen = np.flatnonzero(rows > 0)
    ratio = posterior[:, seen] / prior[:, None]
    value, place = np.unravel_index(np.argmax(ratio), ratio.shape)
    beta = max(float(ratio.max()) - 1, 0.0)
    is_enhanced = judge_transition(model, transition, prior_counts, sensitive).holds
    # Distances are measured on classes, so here on classes of many rows with the same posteriors.
    many = np.rint(posteriors[:, seen].T * LARGE_CLASS).astype(np.int64)
    ec, code = np.nonzero(many)
    classes = ClassCounts.of(ec, code, many[ec, code], len(prior_counts))
    measured = measure(classes, prior_counts, sensitive)
    return replace(
        measured,
        rows=int(prior_counts.sum()),
        l=float(1 / posterior.max()),
        basic_beta=beta,
        enhanced_beta=beta if is_enhanced else None,
        delta=float(np.abs(np.log(ratio)).max()) if ratio.all() else None,
        worst=WorstClass(
            size=round(float(rows[seen[place]])),
            value=int(value),
            prior=float(prior[value]),
            posterior=float(posterior[value, seen[place]]),
        ),
        **WITHOUT_CLASSES,
    )


def _any_enhanced_beta_holds(classes: ClassCounts, counts: Ints) -> bool:
    """Whether every gain is at most -ln p, each value compared with its own bound. Paper: Definition 3."""
    n_rows = int(counts.sum())
    priors = [Fraction(int(count), n_rows) for count in counts]
    caps = Caps.of([Bound(p, is_logarithmic=0 < p < 1) for p in priors], max(n_rows, int(classes.sizes.max())))
    return bool(caps.allow(classes.value, classes.count, classes.sizes[classes.ec]).all())


def _delta(classes: ClassCounts, posterior: Floats, prior: Floats, counts: Ints) -> float | None:
    """Return the least delta of delta-disclosure; None (infinite) if a value is absent from some class."""
    n_present = int((counts > 0).sum())
    if len(classes.count) < n_present * len(classes.sizes) or (counts[classes.value] == 0).any():
        return None
    return float(np.abs(np.log(posterior / prior[classes.value])).max())
