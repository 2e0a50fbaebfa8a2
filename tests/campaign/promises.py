"""Every promise from its definition, on a matrix of counts: classes x sensitive values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from .bounds import NEAR, Real, broken_caps, exponential, greatest, is_entropy_at_least, least, likeness_cap, mirrored


@dataclass(frozen=True)
class Secret:
    """The sensitive values of a table: how often each occurs, and what is known of them besides.

    They are in the order of their numbers, or of nothing; a missing value is the last. `numbers` are those of the
    values that have one, `paths` lead from each value up to `*`; several columns have the code of each combination.
    """

    counts: np.ndarray
    numbers: Sequence[Fraction] | None = None
    paths: Sequence[Sequence[str]] | None = None
    columns: tuple[str, ...] = ()
    codes: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return int(self.counts.sum())

    def parts(self) -> list[tuple[Secret, np.ndarray]]:
        """Each column by itself, with the code that every combination has in it."""
        if self.codes is None:
            return [(self, np.arange(len(self.counts)))]
        return [(Secret(np.bincount(code, weights=self.counts).astype(np.int64)), code) for code in self.codes.T]


@dataclass(frozen=True)
class Promise:
    """What is promised; the parameters as `publish` takes them."""

    model: str = "enhanced"
    beta: float | None = None
    k: int = 1
    parameters: Mapping[str, Any] = field(default_factory=dict)
    cap: Callable[[float], float] | None = None

    @property
    def is_likeness(self) -> bool:
        """Whether shares of sets of values are bounded."""
        return self.model in ("enhanced", "basic", "capped")


@dataclass
class Judged:
    """How many bounds were compared and broken, and how much of what is allowed each class uses."""

    compared: int
    broken: int
    used: np.ndarray

    @property
    def worst_ratio(self) -> float:
        """What the worst class uses."""
        return float(self.used.max())


def columnwise(matrix: np.ndarray, code: np.ndarray, n_values: int) -> np.ndarray:
    """Counts of one column's values from those of combinations."""
    result = np.zeros((len(matrix), n_values), dtype=np.int64)
    np.add.at(result.T, code, matrix.T)
    return result


def judge(matrix: np.ndarray, secret: Secret, promise: Promise) -> Judged:
    """Judge every class by the definition of the promise."""
    sizes = matrix.sum(axis=1)
    if promise.is_likeness:
        judged = _likeness(matrix, sizes, secret, promise)
    else:
        judged = _OTHERS[promise.model](matrix, sizes, secret, promise)
    judged.compared += len(sizes)
    judged.broken += int((sizes < promise.k).sum())
    return judged


# --- likeness, of values, groups, intervals or each column ---


def promised_sets(secret: Secret, promise: Promise) -> list[list[int]]:
    """The sets of values whose shares are bounded."""
    parameters, every = promise.parameters, range(len(secret.counts))
    if secret.codes is not None:
        return [np.flatnonzero(code == v).tolist() for code in secret.codes.T for v in range(code.max() + 1)]
    with_values = bool(parameters.get("with_values"))
    if parameters.get("groups"):
        assert secret.paths is not None
        grouped = [[v for v in every if label in secret.paths[v][:-1]] for label in parameters["groups"]]
        inside = {v for group in grouped for v in group}
        return [*(g for g in grouped if g), *([v] for v in every if with_values or v not in inside)]
    if parameters.get("width"):
        assert secret.numbers is not None
        alone = every if with_values else range(len(secret.numbers), len(secret.counts))
        return [*intervals(secret.numbers, Fraction(repr(float(parameters["width"])))), *([v] for v in alone)]
    return [[v] for v in every]


def intervals(numbers: Sequence[Fraction], width: Fraction) -> list[list[int]]:
    """What closed intervals of a width hold, wherever they lie between the least and the greatest number."""
    low, high = min(numbers), max(numbers) - width
    starts = sorted({x for n in numbers for x in (n, n - width) if low <= x <= high})
    starts += [(a + b) / 2 for a, b in itertools.pairwise(starts)]
    held = {tuple(v for v, n in enumerate(numbers) if start <= n <= start + width) for start in starts}
    return [list(values) for values in held if values]


def cap_of(count: int, n_rows: int, promise: Promise) -> Real:
    """The cap of what occurs so often in the table."""
    if promise.cap is None:
        assert promise.beta is not None
        return likeness_cap(count, n_rows, promise.beta, promise.model == "enhanced")
    return Real(max(least(promise.cap(count / n_rows)), Fraction(count, n_rows)) if count else Fraction(0))


def bounds_of(totals: Sequence[int], n_rows: int, promise: Promise) -> tuple[list[Real], list[Real]]:
    """Caps and floors of sets that occur so often; no floors where none are promised."""
    caps = [cap_of(total, n_rows, promise) for total in totals]
    negative = promise.parameters.get("negative_beta")
    if negative is None:
        return caps, []
    if negative == "symmetric":
        if promise.model == "basic":  # as many times rarer as it may become likelier, also where that is beyond 1
            return caps, [Real(Fraction(total, n_rows) / (1 + least(promise.beta or 0))) for total in totals]
        return caps, [mirrored(total, n_rows, cap) for total, cap in zip(totals, caps, strict=True)]
    return caps, [Real((1 - least(negative)) * Fraction(total, n_rows)) for total in totals]


def _likeness(matrix: np.ndarray, sizes: np.ndarray, secret: Secret, promise: Promise) -> Judged:
    sets = promised_sets(secret, promise)
    if len(sets) == len(secret.counts) and all(values == [v] for v, values in enumerate(sets)):
        counts, totals = matrix, secret.counts.tolist()
    else:
        counts = np.column_stack([matrix[:, values].sum(axis=1) for values in sets])
        totals = [int(secret.counts[values].sum()) for values in sets]
    caps, floors = bounds_of(totals, secret.n_rows, promise)
    shares = counts / sizes[:, None]
    limits = np.array([float(cap.value) for cap in caps])
    used = (shares / limits).max(axis=1)
    broken = broken_caps(counts, sizes, caps)
    if floors:
        broken += broken_caps(counts, sizes, floors, is_floor=True)
        with np.errstate(divide="ignore"):
            used = np.maximum(used, (np.array([float(floor.value) for floor in floors]) / shares).max(axis=1))
    return Judged(counts.size * (2 if floors else 1), broken, used)


# --- the others ---


def distances(matrix: np.ndarray, secret: Secret, ground: str) -> list[Fraction]:
    """Earth mover's distance of each class from the table, exactly."""
    n_rows, counts = secret.n_rows, secret.counts
    sizes = matrix.sum(axis=1)
    gaps = matrix * n_rows - counts * sizes[:, None]  # in units of 1 / (rows of the table * size of the class)
    if ground == "equal":
        work, scale = np.abs(gaps).sum(axis=1), 2
    elif ground == "ordered":
        work, scale = np.abs(np.cumsum(gaps, axis=1)[:, :-1]).sum(axis=1), max(len(counts) - 1, 1)
    else:
        assert secret.paths is not None
        height = max(map(len, secret.paths)) - 1
        paths = [tuple(path) if path else (None,) * height + ("*",) for path in secret.paths]
        work, scale = np.zeros(len(matrix), dtype=np.int64), 2 * height
        for level in range(height):  # on each level a tuple goes up, and one down, if its node is another one
            nodes = sorted({path[level:] for path in paths}, key=str)
            under = np.array([[path[level:] == node for node in nodes] for path in paths], dtype=np.int64)
            work += np.abs(gaps @ under).sum(axis=1)
    return [Fraction(int(w), int(s) * n_rows * scale) for w, s in zip(work, sizes, strict=True)]


def _closeness(matrix: np.ndarray, sizes: np.ndarray, secret: Secret, promise: Promise) -> Judged:
    t = least(promise.parameters["t"])
    found = distances(matrix, secret, promise.parameters["ground"])
    return Judged(len(found), sum(distance > t for distance in found), np.array([float(d / t) for d in found]))


def _disclosure(matrix: np.ndarray, sizes: np.ndarray, secret: Secret, promise: Promise) -> Judged:
    delta = promise.parameters["delta"]
    present = np.flatnonzero(secret.counts)
    counts = matrix[:, present]
    # abs(ln(q / p)) < delta; e^delta is no fraction, so nothing is equal to it
    growth, n_rows = exponential(min(least(delta), Fraction(100))), secret.n_rows
    priors = [Fraction(int(n), n_rows) for n in secret.counts[present]]
    broken = broken_caps(counts, sizes, [Real(p * growth, is_exact=False) for p in priors])
    broken += broken_caps(counts, sizes, [Real(p / growth, is_exact=False) for p in priors], is_floor=True)
    with np.errstate(divide="ignore"):
        change = np.abs(np.log(counts / sizes[:, None] / (secret.counts[present] / n_rows)))
    return Judged(2 * counts.size, broken, change.max(axis=1) / delta)


def _distinct(matrix: np.ndarray, sizes: np.ndarray, secret: Secret, promise: Promise) -> Judged:
    found = (matrix > 0).sum(axis=1)
    return Judged(len(found), int((found < promise.parameters["l"]).sum()), promise.parameters["l"] / found)


def _entropy(matrix: np.ndarray, sizes: np.ndarray, secret: Secret, promise: Promise) -> Judged:
    worth, used, broken = greatest(promise.parameters["l"]), list[float](), 0
    for row, size in zip(matrix.tolist(), sizes.tolist(), strict=True):
        counts = [n for n in row if n]
        broken += not is_entropy_at_least(counts, worth)
        entropy = math.fsum(-n / size * math.log(n / size) for n in counts)
        used.append(promise.parameters["l"] / math.exp(entropy))
    return Judged(len(sizes), broken, np.array(used))


def _recursive(matrix: np.ndarray, sizes: np.ndarray, secret: Secret, promise: Promise) -> Judged:
    c, rank, used, broken = least(promise.parameters["c"]), int(promise.parameters["l"]), list[float](), 0
    for row in matrix.tolist():
        ordered = sorted(row, reverse=True)
        tail = sum(ordered[rank - 1 :])
        broken += not ordered[0] < c * tail
        used.append(ordered[0] / tail / promise.parameters["c"] if tail else math.inf)
    return Judged(len(sizes), broken, np.array(used))


def _anonymity(matrix: np.ndarray, sizes: np.ndarray, secret: Secret, promise: Promise) -> Judged:
    return Judged(0, 0, promise.k / sizes)


_OTHERS = {
    "t-closeness": _closeness,
    "delta-disclosure": _disclosure,
    "distinct-l-diversity": _distinct,
    "entropy-l-diversity": _entropy,
    "recursive-l-diversity": _recursive,
    "k-anonymity": _anonymity,
}


def delta_for(beta: float, counts: np.ndarray) -> float:
    """ln(1 + min(beta, -ln(max p))), rounded: the delta that implies enhanced likeness."""
    return math.log1p(min(beta, -math.log(counts.max() / counts.sum())))


def is_near(one: float | None, other: float | Fraction | None, tolerance: float = NEAR) -> bool:
    """Whether two figures are equal but for rounding; None is equal to itself alone."""
    if one is None or other is None:
        return one is None and other is None
    return math.isclose(one, float(other), rel_tol=tolerance, abs_tol=tolerance)
