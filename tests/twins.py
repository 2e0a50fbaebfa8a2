"""Slow, obvious twins of what betalike computes, from published text alone; nothing here is imported from betalike.

Frequencies are fractions, logarithms have 80 digits, labels are read with the standard library. A release is a list of
labels per row and a list of sensitive values; None is a missing value.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np
from scipy.optimize import linprog

Value = Hashable
Label = str | None
Counts = Mapping[Value, int]
DIGITS = 80
ERROR = Fraction(1, 10**60)


# --- the promise: Definitions 2 and 3 ---


def promised(beta: float) -> Fraction:
    """Beta as typed or as the machine holds it, whichever promises more."""
    return min(Fraction(beta), Fraction(str(beta)))


@cache
def surprise(prior: Fraction) -> Fraction:
    """-ln(prior), to 80 digits."""
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction(Decimal(prior.denominator).ln() - Decimal(prior.numerator).ln())


def is_at_most_surprise(gain: Fraction, prior: Fraction) -> bool:
    """gain <= -ln(prior); the two are equal only where both are 0, so 80 digits tell them apart."""
    if prior == 1:
        return gain <= 0
    gap = surprise(prior) - gain
    if abs(gap) < ERROR:
        raise ArithmeticError("80 digits do not decide this case")
    return gap > 0


@cache
def limit(prior: Fraction, beta: Fraction, form: str) -> tuple[Fraction, Fraction]:
    """Two fractions around f(p): the same one twice, unless f(p) is irrational."""
    if form == "basic" or prior == 0 or (prior < 1 and is_at_most_surprise(beta, prior)):
        return prior * (1 + beta), prior * (1 + beta)
    if prior == 1:
        return Fraction(1), Fraction(1)
    middle = prior * (1 + surprise(prior))
    return middle - ERROR, middle + ERROR


def is_allowed(count: int, size: int, prior: Fraction, beta: Fraction, form: str) -> bool:
    """q <= (1 + beta) p, and with the enhanced form also q <= (1 - ln p) p."""
    below, above = limit(prior, beta, form)
    if count * below.denominator <= below.numerator * size:
        return True
    if count * above.denominator > above.numerator * size:
        return False
    raise ArithmeticError("80 digits do not decide this case")


def cap(prior: Fraction, beta: Fraction, form: str) -> float:
    """f(p), never above 1."""
    return float(min(limit(prior, beta, form)[0], 1))


def most(prior: Fraction, size: int, beta: Fraction, form: str) -> int:
    """The most tuples of a value that a class of this size may hold, by trying the counts around f(p) * size."""
    guess = min(math.floor(limit(prior, beta, form)[0] * size), size)
    return max(n for n in range(max(guess - 2, 0), min(guess + 2, size) + 1) if is_allowed(n, size, prior, beta, form))


def priors_of(counts: Counts) -> dict[Value, Fraction]:
    """The frequency of each sensitive value in the table."""
    n_rows = sum(counts.values())
    return {value: Fraction(count, n_rows) for value, count in counts.items()}


def broken_classes(classes: Iterable[Counts], prior: Counts, beta: float, form: str, k: int = 1) -> list[Counts]:
    """The classes that do not keep the promise."""
    p, promise = priors_of(prior), promised(beta)
    broken = []
    for ec in classes:
        size = sum(ec.values())
        keeps = all(is_allowed(count, size, p.get(value, Fraction(0)), promise, form) for value, count in ec.items())
        if size < k or not keeps:
            broken.append(ec)
    return broken


def broken_pairs(
    matrix: Sequence[Sequence[Fraction]], prior: Sequence[int], beta: float, form: str
) -> list[tuple[int, int]]:
    """The (original, published) pairs whose posterior is above f(p): Definition 6, with fractions."""
    n_rows, promise = sum(prior), promised(beta)
    broken = []
    for seen in range(len(matrix[0])):
        joint = [count * row[seen] for count, row in zip(prior, matrix, strict=True)]
        total = sum(joint, start=Fraction(0))
        for value, mass in enumerate(joint):
            posterior = mass / total if total else Fraction(0)
            p = Fraction(prior[value], n_rows)
            if not is_allowed(posterior.numerator, posterior.denominator, p, promise, form):
                broken.append((value, seen))
    return broken


def naive_transition(prior: Sequence[int], beta: float, form: str = "enhanced") -> list[list[Fraction]]:
    """Theorem 3 to the letter, whatever its retentions come out as. Paper: Eq. 12 and Theorem 3."""
    n_rows, m = sum(prior), len(prior)
    gammas = []
    for count in prior:
        p = Fraction(count, n_rows)
        f = limit(p, promised(beta), form)[0]
        gammas.append(f / p * (1 - p) / (1 - f))
    least = 1 / (max(gammas) + m - 1)
    alphas = [(m * gamma * least - 1) / (m - 1) for gamma in gammas]
    return [[(1 - a) / m + (a if i == j else 0) for j in range(m)] for i, a in enumerate(alphas)]


def classes_of(labels: Iterable[tuple[Label, ...]], sensitive: Iterable[Value]) -> dict[tuple[Label, ...], Counter]:
    """Rows with the same labels are a class: how many tuples of each sensitive value it holds."""
    classes: dict[tuple[Label, ...], Counter] = defaultdict(Counter)
    for (label, value), count in Counter(zip(labels, sensitive, strict=True)).items():
        classes[label][value] += count
    return dict(classes)


# --- labels: what they contain, and what they lose (Eq. 2 to 5) ---


def number_of(text: str) -> Fraction:
    """An integer or a real; a real is the very number that the machine holds."""
    try:
        return Fraction(int(text))
    except ValueError:
        return Fraction(float(text))


def days_of(text: str) -> Fraction:
    """A date as a number of days."""
    return Fraction(datetime.date.fromisoformat(text).toordinal())


def months_of(text: str) -> Fraction:
    """A month such as 2010-03 as a number of months."""
    year, month = map(int, text.split("-"))
    return Fraction(12 * year + month)


def microseconds_of(text: str) -> Fraction:
    """A moment as a number of microseconds."""
    return Fraction(
        (datetime.datetime.fromisoformat(text) - datetime.datetime.min) // datetime.timedelta(microseconds=1)
    )


@dataclass(frozen=True)
class Ordered:
    """A numeric column: its domain, and how its values are read from text."""

    domain: tuple[Fraction, Fraction]
    read: Callable[[str], Fraction] = number_of
    has_missing: bool = False

    def ends(self, label: str) -> tuple[Fraction, Fraction]:
        """The least and the greatest value under a label."""
        if label == "*":
            return self.domain
        if label.startswith("["):
            assert label.endswith("]")
            low, high = label[1:-1].split(", ")
            return self.read(low), self.read(high)
        return self.read(label), self.read(label)

    def contains(self, label: Label, value: str | None) -> bool:
        """Whether a published label may stand for this original value."""
        if label is None:
            return value is None
        if value is None:
            return label == "*"
        low, high = self.ends(label)
        return low <= self.read(value) <= high

    def is_tightest(self, label: Label, values: set[str | None]) -> bool:
        """Whether no narrower label contains all these values."""
        if label is None or None in values:
            return len(values) == 1 or label == "*"
        numbers = {self.read(value) for value in values if value is not None}
        return label != "*" and self.ends(label) == (min(numbers), max(numbers))

    def loss(self, label: Label) -> Fraction:
        """Eq. 2: the width of the range over the width of the domain; `*` loses everything."""
        if label is None:
            return Fraction(0)
        if label == "*":
            return Fraction(1)
        low, high = self.ends(label)
        return (high - low) / (self.domain[1] - self.domain[0]) if high > low else Fraction(0)


@dataclass(frozen=True)
class Tree:
    """A categorical column: one row for each leaf, from the leaf over its ancestors to `*`."""

    rows: Sequence[Sequence[str]]
    has_missing: bool = False

    def leaves(self, label: str) -> set[str]:
        """The leaves under a node."""
        return {row[0] for row in self.rows if label in row}

    def contains(self, label: Label, value: str | None) -> bool:
        """Whether a published label may stand for this original value."""
        if label is None or value is None:
            return label == value or label == "*"
        return value in self.leaves(label)

    def is_tightest(self, label: Label, values: set[str | None]) -> bool:
        """Whether no lower node contains all these values."""
        if label is None or None in values:
            return len(values) == 1 or label == "*"
        nodes = {node for row in self.rows for node in row}
        return not any(values <= self.leaves(node) < self.leaves(label) for node in nodes)

    def loss(self, label: Label) -> Fraction:
        """Eq. 3: leaves under the node over all leaves, 0 for a single one; a missing value is one leaf more."""
        if label is None:
            return Fraction(0)
        if label == "*":
            n_leaves = len(self.rows) + self.has_missing
            return Fraction(0) if n_leaves == 1 else Fraction(1)
        n_under = len(self.leaves(label))
        assert n_under, "the label is no node of the hierarchy"
        return Fraction(0) if n_under == 1 else Fraction(n_under, len(self.rows) + self.has_missing)


Column = Ordered | Tree


def average_loss(
    classes: Mapping[tuple[Label, ...], Counts], columns: Sequence[Column], weights: Sequence[float]
) -> tuple[Fraction, list[Fraction]]:
    """Eq. 4 and 5: the loss of an average tuple, in total and on each attribute."""
    n_rows = sum(sum(ec.values()) for ec in classes.values())
    shares = [Fraction(weight) / sum(map(Fraction, weights)) for weight in weights]
    each = [Fraction(0) for _ in columns]
    for labels, ec in classes.items():
        for i, (column, label) in enumerate(zip(columns, labels, strict=True)):
            each[i] += column.loss(label) * sum(ec.values()) / n_rows
    return sum(share * loss for share, loss in zip(shares, each, strict=True)), each


# --- levels of a published table ---


@dataclass(frozen=True)
class Levels:
    """What a published table reaches, each by its definition."""

    rows: int
    classes: int
    k: int
    distinct_l: int
    l: Fraction  # noqa: E741 - everybody's name for it
    average_l: Fraction
    t: Fraction
    average_t: Fraction
    equal_t: Fraction
    basic_beta: Fraction | None
    enhanced_beta: Fraction | None
    delta: float | None


def levels(
    classes: Sequence[Counts], prior: Counts, distances: Sequence[Fraction], equal: Sequence[Fraction]
) -> Levels:
    """Measure classes against the prior; the distance of each class from the prior is given."""
    p = priors_of(prior)
    sizes = [sum(ec.values()) for ec in classes]
    tops = [Fraction(max(ec.values()), size) for ec, size in zip(classes, sizes, strict=True)]
    present = [(v, Fraction(n, size)) for ec, size in zip(classes, sizes, strict=True) for v, n in ec.items() if n]
    if any(p.get(v, 0) == 0 for v, _ in present):
        basic = enhanced = None
    else:
        basic = max(max(q / p[v] - 1 for v, q in present), Fraction(0))
        enhanced = basic if all(is_at_most_surprise(q / p[v] - 1, p[v]) for v, q in present) else None
    values = {v for v, share in p.items() if share} | {v for v, _ in present}
    is_everywhere = all(ec.get(v, 0) and p.get(v, 0) for ec in classes for v in values)
    return Levels(
        rows=sum(sizes),
        classes=len(classes),
        k=min(sizes),
        distinct_l=min(sum(1 for n in ec.values() if n) for ec in classes),
        l=1 / max(tops),
        average_l=sum(1 / top for top in tops) / len(tops),
        t=max(distances),
        average_t=sum(distances) / len(distances),
        equal_t=max(equal),
        basic_beta=basic,
        enhanced_beta=enhanced,
        delta=max(abs(math.log(q / p[v])) for v, q in present) if is_everywhere else None,
    )


def shares(counts: Counts, order: Sequence[Value]) -> list[Fraction]:
    """A distribution as a list."""
    total = sum(counts.values())
    return [Fraction(counts.get(value, 0), total) for value in order]


def equal_distance(p: Sequence[Fraction], q: Sequence[Fraction]) -> Fraction:
    """Earth mover's distance where all values are 1 apart."""
    return sum((abs(a - b) for a, b in zip(p, q, strict=True)), Fraction(0)) / 2


def ordered_distance(p: Sequence[Fraction], q: Sequence[Fraction]) -> Fraction:
    """Earth mover's distance where neighbours are 1 / (m - 1) apart: what is carried over each gap, added up."""
    carried = list(itertools.accumulate(b - a for a, b in zip(p, q, strict=True)))
    return sum((abs(amount) for amount in carried[:-1]), Fraction(0)) / max(len(p) - 1, 1)


def transport_distance(p: Sequence[Fraction], q: Sequence[Fraction], distance: Sequence[Sequence[Fraction]]) -> float:
    """Earth mover's distance by its definition: the cheapest transport, found by linear programming."""
    m = len(p)
    cost = np.array([[float(d) for d in row] for row in distance]).ravel()
    leaves_source = [[float(i == row) for i in range(m) for _ in range(m)] for row in range(m)]
    reaches_target = [[float(j == column) for _ in range(m) for j in range(m)] for column in range(m)]
    # The last equation follows from the others; without it, rounding cannot make them contradict one another.
    equations = np.array((leaves_source + reaches_target)[:-1])
    amounts = np.array([float(share) for share in (*p, *q)][:-1])
    return float(linprog(cost, A_eq=equations, b_eq=amounts, method="highs").fun)


def tree_distances(rows: Sequence[Sequence[str]]) -> list[list[Fraction]]:
    """Distance between leaves: the level of their lowest common ancestor over the height of the tree."""
    height = len(rows[0]) - 1

    def level(one: Sequence[str], other: Sequence[str]) -> int:
        return next(i for i in range(height + 1) if one[i:] == other[i:])

    return [[Fraction(level(one, other), height) for other in rows] for one in rows]


# --- small things that tests enumerate ---


def partitions_into_runs(length: int) -> Iterator[list[range]]:
    """All ways to cut a sequence into consecutive runs."""
    for cuts in itertools.product([False, True], repeat=length - 1):
        ends = [i + 1 for i, is_cut in enumerate(cuts) if is_cut] + [length]
        yield [range(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
