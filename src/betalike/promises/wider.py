"""Wider promises: likeness in both directions, and of sets of values. Paper: Sections 3, 7 and 8."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from numbers import Real

import numpy as np

from betalike.errors import ParameterError
from betalike.promises.caps import LARGEST_DENOMINATOR, Bound
from betalike.promises.floors import Floor
from betalike.promises.likeness import Likeness
from betalike.promises.rule import ANYTHING, Rule, count_up
from betalike.promises.sets import Columns, EachValue, Nodes, Sets, Span, Windows
from betalike.promises.verdict import Model, Verdict, apply, check_table, exact, verdict_on
from betalike.runtime.arrays import Floats, Ints
from betalike.runtime.compilation import kernel
from betalike.table.axis import Axis
from betalike.table.cells import ClassCounts

SYMMETRIC = "symmetric"
TWO_SIDED = "two-sided-"


@dataclass(frozen=True)
class Demands:
    """Caps, and perhaps floors, on the share of each of some sets of values."""

    sets: Sets
    caps: list[Bound]
    floors: list[Floor]

    @property
    def ceilings(self) -> Floats:
        """The caps as floating-point numbers."""
        return np.array([float(cap) for cap in self.caps])

    @property
    def bottoms(self) -> Floats:
        """The floors as floating-point numbers; 0 where there are none."""
        return np.array([float(floor) for floor in self.floors]) if self.floors else np.zeros(len(self.caps))

    def rule(self, k: int, n_values: int, largest: int) -> Rule:
        """The demands in the form that kernels take, for classes of up to so many tuples.

        A value alone may not exceed the cap of any set that it is in, so it has the least of these for its own.
        """
        largest = min(max(largest, 1), LARGEST_DENOMINATOR)
        caps = [cap.greatest_fraction(largest) for cap in self.caps]
        floors = [floor.least_fraction(largest) for floor in self.floors] or [Fraction(0)] * len(caps)
        own = [caps[number] for number in self.sets.narrowest(self.ceilings, n_values)]
        ends = zip(self.sets.first.tolist(), self.sets.last.tolist(), caps, floors, strict=True)
        rows = [(a, b, cap.numerator, cap.denominator, f.numerator, f.denominator) for a, b, cap, f in ends]
        return ANYTHING._replace(
            k=k,
            cap_numerator=np.array([cap.numerator for cap in own], dtype=np.int64),
            cap_denominator=np.array([cap.denominator for cap in own], dtype=np.int64),
            order=self.sets.order,
            demands=np.array(rows, dtype=np.int64),
        )


@dataclass(frozen=True)
class WiderLikeness:
    """Likeness of the sets of values of a span instead of values, and with a bound on negative gain if there is one.

    A set of share p in the table has at most the share f(p) in a class, as `limit` says. With a `negative_beta` it has
    at least (1 - negative_beta) p, and if that is "symmetric" it becomes at most as many times rarer as it may become
    likelier.
    """

    limit: Likeness
    negative_beta: float | str | None = None
    span: Span = field(default_factory=EachValue)

    def __post_init__(self) -> None:
        given = self.negative_beta
        if given is None or given == SYMMETRIC:
            return
        if isinstance(given, bool) or not isinstance(given, Real) or not 0 < given < 1:
            raise ParameterError(
                f"negative_beta is {given!r}; it must be 'symmetric', or a number between 0 and 1 such as 0.5: by how "
                "much of itself a share may fall. (With 1 a value could vanish, and nothing would be promised.)"
            )

    @property
    def name(self) -> str:
        """The promise's name in a certificate."""
        return f"{TWO_SIDED if self.negative_beta is not None else ''}{self.limit.name}{self.span.suffix}"

    @property
    def parameters(self) -> dict[str, float | str | bool | list[str]]:
        """The bound on negative gain, and the sets, where there are any."""
        given = self.negative_beta
        negative = {} if given is None else {"negative_beta": given if isinstance(given, str) else float(given)}
        return {**self.limit.parameters, **negative, **self.span.parameters}

    @property
    def beta(self) -> float | None:
        """By how much a set may become likelier."""
        return self.limit.beta

    @property
    def k(self) -> int:
        """Least number of rows in a class."""
        return self.limit.k

    def check_feasible(self, counts: Ints, sensitive: Axis) -> None:
        """Refuse a table with fewer than k rows, with nothing to protect, or without such sets."""
        check_table(counts, self.k)
        self.check_span(sensitive)
        self.limit.check_cap(self.span.sets(sensitive, len(counts)).totals(counts), int(counts.sum()))

    def check_span(self, sensitive: Axis) -> None:
        """Refuse values without such sets."""
        if not isinstance(self.span, EachValue):
            self.span.check(sensitive)

    def demands(self, counts: Ints, sensitive: Axis) -> Demands:
        """What is asked of each set of values."""
        sets = self.span.sets(sensitive, len(counts))
        totals, n_rows = sets.totals(counts), int(counts.sum())
        floors = [] if self.negative_beta is None else [self._floor(total, n_rows) for total in totals.tolist()]
        return Demands(sets, self.limit.bounds(totals, n_rows), floors)

    def _floor(self, total: int, n_rows: int) -> Floor:
        if isinstance(self.negative_beta, str):
            return self.limit.mirrored(total, n_rows)
        assert self.negative_beta is not None
        return Floor((1 - exact(self.negative_beta)) * Fraction(total, n_rows))

    def rule(self, counts: Ints, sensitive: Axis, largest_class: int = 0) -> Rule:
        """The caps and floors as demands on a class."""
        largest = max(int(counts.sum()), largest_class)
        return self.demands(counts, sensitive).rule(self.k, len(counts), largest)

    def judge(self, classes: ClassCounts, counts: Ints, sensitive: Axis) -> Verdict:
        """Decide, exactly, whether every class keeps the promise."""
        demands = self.demands(counts, sensitive)
        largest = max(int(counts.sum()), int(classes.sizes.max()))
        allowed = apply(demands.rule(self.k, len(counts), largest), classes)
        used = _used(demands.sets, demands.ceilings, demands.bottoms, classes)
        verdict = verdict_on(allowed, used, classes, counts)
        if not isinstance(self.span, Columns):
            return verdict
        # A combination's gain tells nothing here: the greatest of a column's value is told.
        shares = demands.sets.totals(counts) / counts.sum()
        times = _used(demands.sets, shares, np.zeros_like(shares), classes)
        return replace(verdict, worst_gain=float(times.max()) - 1)


def _used(sets: Sets, caps: Floats, floors: Floats, classes: ClassCounts) -> Floats:
    """How much each class uses of what it is allowed."""
    counted = classes.starts, classes.value, classes.count, classes.n_values
    return used_by_classes(sets.order, sets.first, sets.last, caps, floors, *counted)


AnyLikeness = Likeness | WiderLikeness


def widen(
    limit: Likeness,
    negative_beta: float | str | None = None,
    groups: Sequence[str] | None = None,
    width: float | None = None,
    with_values: bool | None = None,
) -> AnyLikeness:
    """Likeness, widened as asked; itself if nothing is asked."""
    if with_values is not None and not isinstance(with_values, bool):
        raise ParameterError(f"with_values is {with_values!r}; it must be true or false.")
    if groups is not None and width is not None:
        raise ParameterError("groups and a width are given; choose one: nodes of a hierarchy, or intervals of numbers.")
    if with_values is not None and groups is None and width is None:
        raise ParameterError("with_values is given, but neither groups nor a width: values are promised anyway.")
    if groups is None and width is None and negative_beta is None:
        return limit
    if isinstance(groups, str):
        raise ParameterError("groups must be a list of nodes of the sensitive column's hierarchy, not one text.")
    span: Span = EachValue()
    if groups is not None:
        span = Nodes(tuple(groups), bool(with_values))
    elif width is not None:
        span = Windows(width, bool(with_values))
    return WiderLikeness(limit, negative_beta, span)


def of_each_column(model: Model, columns: Sequence[str]) -> WiderLikeness:
    """Likeness of the values of each of several columns; an error if something else is promised."""
    wider = WiderLikeness(model) if isinstance(model, Likeness) else model
    if not isinstance(wider, WiderLikeness):
        raise ParameterError(
            f"several sensitive columns are named, and {model.name} is promised for one. Promise likeness, with a beta "
            "or a cap, or publish a single sensitive column."
        )
    if not isinstance(wider.span, EachValue):
        raise ParameterError(
            "several sensitive columns are named: groups and a width cannot be promised then. Leave them out, or "
            "publish a single sensitive column."
        )
    return replace(wider, span=Columns(tuple(columns)))


def likeness_of(model: Model, scheme: str) -> Likeness:
    """The model of a scheme that keeps plain likeness alone; another one is an error."""
    if isinstance(model, WiderLikeness):
        raise ParameterError(
            f"the scheme '{scheme}' cannot keep {model.name}: it bounds what a class may hold of each value, one by "
            "one and from above. Take the scheme 'seam' or 'lmondrian', or 'perturb'."
        )
    likeness = any_likeness_of(model, scheme)
    assert isinstance(likeness, Likeness)
    return likeness


def any_likeness_of(model: Model, scheme: str) -> AnyLikeness:
    """The model of a scheme that keeps likeness and what widens it; another one is an error."""
    if not isinstance(model, AnyLikeness):
        raise ParameterError(
            f"the scheme '{scheme}' keeps beta-likeness, not {model.name}. Take the scheme 'mondrian', which keeps "
            "every promise."
        )
    return model


@kernel
def used_by_classes(
    order: Ints,
    first: Ints,
    last: Ints,
    cap: Floats,
    floor: Floats,
    starts: Ints,
    value: Ints,
    count: Ints,
    n_values: int,
) -> Floats:
    """How much of what it is allowed each class uses: the greatest of q / cap and floor / q over all sets."""
    used = np.zeros(len(starts) - 1)
    counts = np.zeros(n_values, dtype=np.int64)
    for ec in range(len(used)):
        counts[:] = 0
        size = 0
        for i in range(starts[ec], starts[ec + 1]):
            counts[value[i]] = count[i]
            size += count[i]
        up_to = count_up(order, counts)
        for s in range(len(first)):
            share = (up_to[last[s] + 1] - up_to[first[s]]) / size
            if share > 0.0:
                used[ec] = max(used[ec], share / cap[s] if cap[s] > 0.0 else np.inf, floor[s] / share)
            elif floor[s] > 0.0:
                used[ec] = np.inf
    return used
