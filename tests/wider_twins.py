"""Slow, obvious twins of the wider promises, decided with fractions; nothing here is imported from betalike.

A promise is told as a certificate tells it. Sets of values are made by trying: for intervals, every one of the width.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import twins
from promise_twins import Prior
from twins import Counts, Value


def number_of(value: Value) -> Fraction:
    """A number as typed."""
    return Fraction(str(value))


def intervals(numbers: Sequence[Fraction], width: Fraction) -> set[frozenset[Fraction]]:
    """What every closed interval of this width from the least to the greatest number holds.

    It can change only where an end of the interval passes a number: all such places are tried, and one between two.
    """
    places = sorted({place for n in numbers for place in (n, n - width)})
    places += [(one + other) / 2 for one, other in itertools.pairwise(places)]
    inside = [place for place in places if min(numbers) <= place and place + width <= max(numbers)]
    held = {frozenset(n for n in numbers if place <= n <= place + width) for place in inside}
    return held - {frozenset()}


def sets_of(promise: Mapping[str, Any], prior: Prior) -> list[set[Value]]:
    """The sets of values that a promise is about."""
    told = promise["parameters"]
    values = [value for value in prior.order if prior.counts.get(value, 0)]
    missing = {value for value in values if value in (None, "")}
    sets: list[set[Value]] = []
    if "groups" in told:
        paths = dict(zip(prior.order, prior.paths, strict=True))
        present = [value for value in values if value not in missing]
        sets = [{value for value in present if label in paths[value][:-1]} for label in told["groups"]]
    elif "width" in told:
        by_number = {number_of(value): value for value in values if value not in missing}
        found = intervals(sorted(by_number), Fraction(str(told["width"])))
        sets = [{by_number[n] for n in held} for held in found]
    in_some = set().union(*sets) if sets else set()
    return [*sets, *({value} for value in values if told.get("with_values") or value not in in_some)]


def form_of(promise: Mapping[str, Any]) -> str:
    """Enhanced or basic."""
    return "basic" if "basic" in promise["model"] else "enhanced"


def is_kept(promise: Mapping[str, Any], q: Fraction, p: Fraction) -> bool:
    """Whether a set with the share p in the table may have the share q."""
    beta, form, told = twins.promised(promise["beta"]), form_of(promise), promise["parameters"]
    if not twins.is_allowed(q.numerator, q.denominator, p, beta, form):
        return False
    if "negative_beta" not in told:
        return True
    if told["negative_beta"] != "symmetric":
        return (p - q) / p <= twins.promised(told["negative_beta"])
    if q == 0:
        return False
    return p / q - 1 <= beta and (form == "basic" or twins.is_at_most_surprise(p / q - 1, p))


def used_share(promise: Mapping[str, Any], q: Fraction, p: Fraction) -> float:
    """The greater of q over its cap and its floor over q."""
    beta, form, told = twins.promised(promise["beta"]), form_of(promise), promise["parameters"]
    cap = twins.cap(p, beta, form)
    negative = told.get("negative_beta")
    if negative is None:
        return float(q) / cap
    times = beta if form == "basic" else min(beta, twins.surprise(p) if p < 1 else Fraction(0))
    floor = p / (1 + times) if negative == "symmetric" else p * (1 - twins.promised(negative))
    return max(float(q) / cap, float(floor / q) if q else float("inf"))


def shares(ec: Counts, prior: Prior, sets: Iterable[set[Value]]) -> list[tuple[Fraction, Fraction]]:
    """The share of each set in a class, and in the table."""
    size, n_rows = sum(ec.values()), sum(prior.counts.values())
    return [
        (
            Fraction(sum(ec.get(value, 0) for value in held), size),
            Fraction(sum(prior.counts[value] for value in held), n_rows),
        )
        for held in sets
    ]


def keeps(promise: Mapping[str, Any], ec: Counts, prior: Prior) -> bool:
    """Whether a class keeps a promise: every set of values, one after the other."""
    if sum(ec.values()) < promise["k"] or any(n and not prior.counts.get(value, 0) for value, n in ec.items()):
        return False
    return all(is_kept(promise, q, p) for q, p in shares(ec, prior, sets_of(promise, prior)))


def used(promise: Mapping[str, Any], ec: Counts, prior: Prior) -> float:
    """How much of what it is allowed a class uses."""
    return max(used_share(promise, q, p) for q, p in shares(ec, prior, sets_of(promise, prior)))


def broken_seen(promise: Mapping[str, Any], matrix: Sequence[Sequence[Fraction]], prior: Prior) -> list[Value]:
    """The published values after which some set breaks the promise, by Bayes' rule."""
    n_rows = sum(prior.counts.values())
    broken = []
    for place, seen in enumerate(prior.order):
        joint = {value: prior.counts[value] * row[place] for value, row in zip(prior.order, matrix, strict=True)}
        total = sum(joint.values(), Fraction(0))
        for held in sets_of(promise, prior):
            q = sum((joint[value] for value in held), Fraction(0)) / total
            if not is_kept(promise, q, Fraction(sum(prior.counts[value] for value in held), n_rows)):
                broken.append(seen)
    return broken
