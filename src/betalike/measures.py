"""What a published table keeps, under every promise that users know: an audit from counts alone.

The prior is the original table's. "No beta holds" is an answer (None), and so is "infinite" for delta (None).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from betalike.axis import Axis
from betalike.distances import Ground, earth_movers_distances, natural_ground
from betalike.models.caps import Bound, Caps
from betalike.table import ClassCounts

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class WorstClass:
    """The class and value with the largest gain."""

    size: int
    value: int
    prior: float
    posterior: float


@dataclass(frozen=True)
class Audit:
    """Levels that a published table reaches; `l` is 1 / max q."""

    rows: int
    classes: int
    k: int
    distinct_l: int
    l: float  # noqa: E741 - the name that everybody uses
    average_l: float
    t: float
    average_t: float
    ground: Ground
    t_by_ground: dict[str, float]
    basic_beta: float | None
    enhanced_beta: float | None
    delta: float | None
    worst: WorstClass


def measure(classes: ClassCounts, prior_counts: Ints, sensitive: Axis) -> Audit:
    """Measure a published table against the sensitive counts of the original one."""
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
    return Audit(
        rows=int(sizes.sum()),
        classes=len(sizes),
        k=int(sizes.min()),
        distinct_l=int(np.diff(classes.starts).min()),
        l=float(1 / highest.max()),
        average_l=float((1 / highest).mean()),
        t=float(distances[natural].max()),
        average_t=float(distances[natural].mean()),
        ground=natural,
        t_by_ground={str(ground): float(distance.max()) for ground, distance in distances.items()},
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


def _any_enhanced_beta_holds(classes: ClassCounts, counts: Ints) -> bool:
    """Whether every gain is at most -ln p, each value compared with its own bound. Paper: Definition 3."""
    n_rows = int(counts.sum())
    priors = [Fraction(int(count), n_rows) for count in counts]
    caps = Caps.of([Bound(p, is_logarithmic=0 < p < 1) for p in priors], max(n_rows, int(classes.sizes.max())))
    return bool(caps.allow(classes.value, classes.count, classes.sizes[classes.ec]).all())


def _delta(
    classes: ClassCounts, posterior: NDArray[np.float64], prior: NDArray[np.float64], counts: Ints
) -> float | None:
    """The least delta of delta-disclosure; None (infinite) where a value is absent from some class."""
    n_present = int((counts > 0).sum())
    if len(classes.count) < n_present * len(classes.sizes) or (counts[classes.value] == 0).any():
        return None
    return float(np.abs(np.log(posterior / prior[classes.value])).max())
