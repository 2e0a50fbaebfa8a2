"""Slow, obvious twins of every promise, decided with fractions; nothing here is imported from betalike.

A promise is told as a certificate tells it: its `model`, its `k`, its `beta` and its `parameters`. Numbers are taken as
typed or as the machine holds them, whichever promises more.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import twins
from twins import Counts, Value

Shares = Sequence[Fraction]


@dataclass(frozen=True)
class Prior:
    """The sensitive values of a table in their order, how often each occurs, and a path to the root for each."""

    counts: Counts
    order: Sequence[Value]
    paths: Sequence[Sequence[str]] = ()

    @property
    def shares(self) -> list[Fraction]:
        """The distribution of the table."""
        return twins.shares(self.counts, self.order)


def paths_of(order: Sequence[Value], rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """The path of each value; a missing one hangs directly under the root."""
    by_leaf = {row[0]: row for row in rows}
    missing = ["missing"] * (len(rows[0]) - 1) + ["*"]
    return [missing if value in (None, "") else by_leaf[str(value)] for value in order]


def broken(promise: Mapping[str, Any], classes: Iterable[Counts], prior: Prior) -> list[Counts]:
    """The classes that do not keep a promise."""
    return [ec for ec in classes if not keeps(promise, ec, prior)]


def keeps(promise: Mapping[str, Any], ec: Counts, prior: Prior) -> bool:
    """Whether a class keeps a promise, each by its definition."""
    size = sum(ec.values())
    model, numbers = promise["model"], promise["parameters"]
    if size < promise["k"]:
        return False
    if model.endswith("-likeness"):
        return not twins.broken_classes([ec], prior.counts, promise["beta"], model.removesuffix("-likeness"))
    if model == "t-closeness":
        return distance(numbers["ground"], prior, ec) <= twins.promised(numbers["t"])
    if model == "delta-disclosure":
        return is_within(twins.promised(numbers["delta"]), prior.shares, twins.shares(ec, prior.order))
    if model == "k-anonymity":
        return True
    if model == "distinct-l-diversity":
        return sum(1 for n in ec.values() if n) >= numbers["l"]
    if model == "entropy-l-diversity":
        return has_entropy([n for n in ec.values() if n], most(numbers["l"]))
    assert model == "recursive-l-diversity"
    top, tail = top_and_tail(ec, int(numbers["l"]))
    return top < twins.promised(numbers["c"]) * tail


def used(promise: Mapping[str, Any], ec: Counts, prior: Prior) -> float:
    """How much of what it is allowed a class uses."""
    size = sum(ec.values())
    model, numbers = promise["model"], promise["parameters"]
    if model == "t-closeness":
        return float(distance(numbers["ground"], prior, ec)) / numbers["t"]
    if model == "delta-disclosure":
        pairs = [(p, q) for p, q in zip(prior.shares, twins.shares(ec, prior.order), strict=True) if p]
        return max(abs(math.log(q / p)) for p, q in pairs) / numbers["delta"]
    if model == "k-anonymity":
        return promise["k"] / size
    if model == "distinct-l-diversity":
        return numbers["l"] / sum(1 for n in ec.values() if n)
    if model == "entropy-l-diversity":
        return numbers["l"] / math.exp(-sum(n / size * math.log(n / size) for n in ec.values() if n))
    if model == "recursive-l-diversity":
        top, tail = top_and_tail(ec, int(numbers["l"]))
        return top / tail / numbers["c"]
    priors, form = twins.priors_of(prior.counts), model.removesuffix("-likeness")
    caps = {value: twins.cap(p, twins.promised(promise["beta"]), form) for value, p in priors.items()}
    return max(n / size / caps[value] for value, n in ec.items() if n)


def worst_gain(classes: Iterable[Counts], prior: Counts) -> float:
    """The greatest (q - p) / p."""
    p = twins.priors_of(prior)
    return max(float(Fraction(n, sum(ec.values())) / p[value] - 1) for ec in classes for value, n in ec.items() if n)


# --- the parts of the definitions ---


def most(number: float) -> Fraction:
    """A number as typed or as the machine holds it, whichever is more."""
    return max(Fraction(number), Fraction(str(number)))


def distance(ground: str, prior: Prior, ec: Counts) -> Fraction:
    """Earth mover's distance of a class from the table."""
    p, q = prior.shares, twins.shares(ec, prior.order)
    if ground == "hierarchical":
        return hierarchical_distance(p, q, prior.paths)
    return twins.equal_distance(p, q) if ground == "equal" else twins.ordered_distance(p, q)


def hierarchical_distance(p: Shares, q: Shares, paths: Sequence[Sequence[str]]) -> Fraction:
    """Earth mover's distance on a tree, as Li et al. define it: what the children of each node exchange, by its level.

    Two values are as far apart as the level of their lowest common ancestor, over the height of the tree.
    """
    height = len(paths[0]) - 1
    total = Fraction(0)
    for level in range(1, height + 1):
        extra: dict[tuple[str, ...], dict[tuple[str, ...], Fraction]] = defaultdict(lambda: defaultdict(Fraction))
        for path, a, b in zip(paths, p, q, strict=True):
            extra[tuple(path[level:])][tuple(path[level - 1 :])] += b - a
        for children in extra.values():
            surplus = sum((e for e in children.values() if e > 0), Fraction(0))
            shortage = sum((-e for e in children.values() if e < 0), Fraction(0))
            total += Fraction(level, height) * min(surplus, shortage)
    return total


def is_within(delta: Fraction, p: Shares, q: Shares) -> bool:
    """Whether |ln(q / p)| < delta for every value of the table; no fraction makes the two equal."""
    with localcontext() as context:
        context.prec = twins.DIGITS
        for before, after in zip(p, q, strict=True):
            if (before > 0) != (after > 0):
                return False
            if before:
                ratio = after / before
                change = Fraction(abs(Decimal(ratio.numerator).ln() - Decimal(ratio.denominator).ln()))
                assert abs(change - delta) > twins.ERROR, "80 digits do not decide this case"
                if change > delta:
                    return False
    return True


def has_entropy(counts: Sequence[int], least: Fraction) -> bool:
    """Whether e to the entropy is at least this: size^size >= least^size * the product of n^n, in whole numbers."""
    size = sum(counts)
    return size**size * least.denominator**size >= least.numerator**size * math.prod(n**n for n in counts)


def top_and_tail(ec: Counts, rank: int) -> tuple[int, int]:
    """How many rows the most frequent value has, and all from the `rank`-th most frequent on together."""
    ordered = sorted(ec.values(), reverse=True)
    return ordered[0], sum(ordered[rank - 1 :])


# --- other forms of t-closeness ---


def kullback_leibler(of: Shares, against: Shares) -> float:
    """The sum of p log2(p / q); infinite where q lacks a value of p."""
    pairs = [(a, b) for a, b in zip(of, against, strict=True) if a]
    return sum((float(a) * math.log2(a / b) for a, b in pairs), 0.0) if all(b for _, b in pairs) else math.inf


def jensen_shannon(p: Shares, q: Shares) -> float:
    """The mean divergence of two distributions from their mixture."""
    mixture = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
    return (kullback_leibler(p, mixture) + kullback_leibler(q, mixture)) / 2
