"""Beta-likeness: no sensitive value becomes more than 1 + beta times as likely. Paper: Section 3.

Wider forms bound negative gain as well, and treat sets of values as one value. Paper: the end of Section 3, Sections 7
and 8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from betalike.errors import ParameterError
from betalike.promises.caps import Bound, Caps, is_below_surprise
from betalike.promises.demands import Demands, used_by_classes
from betalike.promises.monotone import Cap, MonotoneCap
from betalike.promises.parameters import check_parameter, choose
from betalike.promises.rule import ANYTHING, Rule
from betalike.promises.sets import Columns, EachValue, Nodes, Sets, Span, Windows
from betalike.promises.verdict import (
    Model,
    ParameterValue,
    Verdict,
    apply,
    check_table,
    count_near,
    exact,
    verdict_on,
)
from betalike.runtime.arrays import Floats, Ints
from betalike.table.axis import Axis
from betalike.table.cells import ClassCounts

TWO_SIDED = "two-sided-"


class Form(StrEnum):
    """The two forms of the promise."""

    BASIC = "basic"
    ENHANCED = "enhanced"


@dataclass(frozen=True)
class Likeness(Model):
    """The promise: q <= (1 + beta) p (basic), or q <= (1 + min(beta, -ln p)) p (enhanced), in classes of at least k.

    Without a beta it is q <= f(p) for any monotone `cap` f. With a `negative_beta`, q >= (1 - negative_beta) p too, or
    if that is "symmetric", a value becomes at most as many times rarer as it may become likelier. Under `groups` (nodes
    of the sensitive column's hierarchy) or a `width` (intervals of numbers), p and q are shares of sets of values; with
    `columns`, of the values of each of several columns. Paper: Definitions 2 and 3, and the end of Section 3.
    """

    beta: float | None = None
    form: Form | str = Form.ENHANCED
    k: int = 1
    cap: Cap | Callable[[float], float] | None = None
    _: KW_ONLY
    negative_beta: float | str | None = None
    groups: Sequence[str] | None = None
    width: float | None = None
    with_values: bool | None = None
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "form", choose(Form, self.form, "form"))
        if self.cap is None:
            check_parameter("beta", self.beta)
        elif self.beta is not None:
            raise ParameterError("beta and cap are given; choose one: each says how likely a value may become.")
        elif not isinstance(self.cap, Cap):
            object.__setattr__(self, "cap", MonotoneCap(self.cap))
        super().__post_init__()
        self._check_sets()
        if self.groups is not None:
            object.__setattr__(self, "groups", tuple(self.groups))
        if self.groups is not None or self.width is not None:
            object.__setattr__(self, "with_values", bool(self.with_values))

    def _check_sets(self) -> None:
        """Refuse parameters of sets that do not go together."""
        if self.groups is not None and self.width is not None:
            raise ParameterError(
                "groups and a width are given; choose one: nodes of a hierarchy, or intervals of numbers."
            )
        if self.with_values is not None and self.groups is None and self.width is None:
            raise ParameterError("with_values is given, but neither groups nor a width: values are promised anyway.")
        if self.columns and (self.groups is not None or self.width is not None):
            raise ParameterError("columns are given along with groups or a width; choose one.")
        if self.groups is not None and len(set(self.groups)) < len(self.groups):
            raise ParameterError("groups names a node twice. Name each once.")

    @cached_property
    def span(self) -> Span:
        """The sets of values that are promised."""
        if self.columns:
            return Columns(self.columns)
        if self.groups is not None:
            return Nodes(tuple(self.groups), bool(self.with_values))
        return EachValue() if self.width is None else Windows(self.width, bool(self.with_values))

    @property
    def is_plain(self) -> bool:
        """Whether each value is promised by itself and from above only, as the paper defines likeness."""
        return self.negative_beta is None and isinstance(self.span, EachValue)

    @property
    def name(self) -> str:
        """The promise's name in a certificate."""
        form = self.form if self.cap is None else "capped"
        return f"{TWO_SIDED if self.negative_beta is not None else ''}{form}-likeness{self.span.suffix}"

    @property
    def parameters(self) -> dict[str, ParameterValue]:
        """The bound on negative gain, and the sets, where there are any."""
        return {**super().parameters, **({"columns": list(self.columns)} if self.columns else {})}

    def settle(self, counts: Ints, sensitive: Axis) -> Likeness:
        """Return the promise itself; refuse values without such sets."""
        self.span.check(sensitive)
        return self

    def caps(self, counts: Ints, largest_class: int = 0) -> Caps:
        """Return the highest frequency of each sensitive value in a class, from how often it occurs in the table.

        Decided exactly for classes up to the table's size, or up to `largest_class` if that is greater.
        """
        return Caps.of(self.bounds(counts), max(int(counts.sum()), largest_class))

    def bounds(self, counts: Ints, n_rows: int | None = None) -> list[Bound]:
        """Return exact caps for values, or sets of values, with these counts. Paper: f(p).

        The counts are out of `n_rows`; by default they make up all rows.
        """
        n_rows = int(counts.sum()) if n_rows is None else n_rows
        return [self._bound(count, n_rows) for count in counts.tolist()]

    def _bound(self, count: int, n_rows: int, is_floor: bool = False) -> Bound:
        """Return the cap, or the floor that mirrors it: p / (1 + min(beta, -ln p)), or p^2 / f(p) for any cap."""
        if not isinstance(self.cap, Cap):
            return _bound(count, n_rows, self._threshold, self.form is Form.ENHANCED, is_floor)
        prior, cap = Fraction(count, n_rows), self.cap.at(count, n_rows)
        return Bound(prior * prior / cap if is_floor and count else cap)

    @cached_property
    def _threshold(self) -> Fraction:
        assert self.beta is not None
        return exact(float(self.beta))

    def ceilings(self, counts: Ints) -> Floats:
        """Return the caps as floating-point numbers, for display and formulas."""
        return np.array([float(bound) for bound in self.bounds(counts)])

    def check_feasible(self, counts: Ints, sensitive: Axis | None = None) -> None:
        """Refuse a table with fewer than k rows, with nothing to protect, or with no such cap."""
        check_table(counts, self.k)
        if isinstance(self.cap, MonotoneCap):
            self.cap.check(self.sets(len(counts), sensitive).totals(counts).tolist(), int(counts.sum()))

    def sets(self, n_values: int, sensitive: Axis | None) -> Sets:
        """Return the sets of values that are promised together."""
        if isinstance(self.span, EachValue):
            return Sets.singletons(n_values)
        if sensitive is None:
            raise TypeError("a promise about sets of values needs the axis of the sensitive values")
        return self.span.sets(sensitive, n_values)

    def demands(self, counts: Ints, sensitive: Axis | None = None) -> Demands:
        """Return caps, and floors if there are any, on the share of each set of values."""
        sets, n_rows = self.sets(len(counts), sensitive), int(counts.sum())
        totals = sets.totals(counts)
        return Demands(sets, self.bounds(totals, n_rows), self._floors(totals, n_rows))

    def _floors(self, totals: Ints, n_rows: int) -> list[Bound]:
        return [] if self.negative_beta is None else [self._floor(total, n_rows) for total in totals.tolist()]

    def _floor(self, total: int, n_rows: int) -> Bound:
        if self.negative_beta is None or isinstance(self.negative_beta, str):
            return self._bound(total, n_rows, is_floor=True)
        return Bound((1 - exact(self.negative_beta)) * Fraction(total, n_rows), is_floor=True)

    def rule(self, counts: Ints, sensitive: Axis | None = None, largest_class: int = 0) -> Rule:
        """Return the caps and floors as demands on a class."""
        if self.is_plain:
            caps = self.caps(counts, largest_class)
            return ANYTHING._replace(k=self.k, cap_numerator=caps.numerator, cap_denominator=caps.denominator)
        return self.demands(counts, sensitive).rule(self.k, len(counts), max(int(counts.sum()), largest_class))

    def rule_in_people(self, totals: Ints, n_people: int, largest_class: int = 0) -> Rule:
        """Return the caps and floors by the share of all people who have each set of values."""
        demands = Demands(Sets.singletons(len(totals)), self.bounds(totals, n_people), self._floors(totals, n_people))
        return demands.rule(self.k, len(totals), max(n_people, largest_class))

    def judge(self, classes: ClassCounts, counts: Ints, sensitive: Axis | None = None) -> Verdict:
        """Decide, exactly, whether every class keeps the promise."""
        if self.is_plain:
            return self._judge_values(classes, counts)
        demands = self.demands(counts, sensitive)
        largest = max(int(counts.sum()), int(classes.sizes.max()))
        allowed = apply(demands.rule(self.k, len(counts), largest), classes)
        used = used_by_classes(demands.sets, demands.ceilings, demands.bottoms, classes)
        verdict = verdict_on(allowed, used, classes, counts)
        if not isinstance(self.span, Columns):
            return verdict
        # The gain of a combination says nothing here: the greatest gain of a column's value counts.
        shares = demands.sets.totals(counts) / counts.sum()
        times = used_by_classes(demands.sets, shares, np.zeros_like(shares), classes)
        return replace(verdict, worst_gain=float(times.max()) - 1)

    def _judge_values(self, classes: ClassCounts, counts: Ints) -> Verdict:
        """Judge each value by itself; the worst value is the one that uses most of its own cap."""
        sizes = classes.sizes[classes.ec]
        caps = self.caps(counts, int(classes.sizes.max()))
        allowed = caps.allow(classes.value, classes.count, sizes)
        posterior = classes.count / sizes
        prior = (counts / counts.sum())[classes.value]
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = posterior / prior - 1
            ratio = posterior / self.ceilings(counts)[classes.value]
        ratio = np.where(allowed, np.minimum(ratio, 1.0), ratio)
        worst = int(np.argmax(ratio))
        smallest = int(classes.sizes.min())
        return Verdict(
            holds=bool(allowed.all()) and smallest >= self.k,
            worst_gain=float(gain.max()),
            worst_ratio=float(ratio.max()),
            worst_class=int(classes.ec[worst]),
            worst_value=int(classes.value[worst]),
            smallest_class=smallest,
            near_rows=count_near(np.maximum.reduceat(ratio, classes.starts[:-1]), classes.sizes),
        )


@lru_cache(maxsize=1 << 17)
def _bound(count: int, n_rows: int, threshold: Fraction, is_enhanced: bool, is_floor: bool) -> Bound:
    prior = Fraction(count, n_rows)
    if is_enhanced and 0 < count < n_rows and not is_below_surprise(threshold, prior):
        return Bound(prior, True, is_floor)
    growth = 1 if is_enhanced and count == n_rows else 1 + threshold
    return Bound(prior / growth if is_floor else min(prior * growth, Fraction(1)), is_floor=is_floor)


def of_each_column(model: Model, columns: Sequence[str]) -> Likeness:
    """Return likeness of the values of each of several columns; refuse any other promise."""
    if not isinstance(model, Likeness):
        raise ParameterError(
            f"several sensitive columns are named, and {model.name} is promised for one. Promise likeness, with a beta "
            "or a cap, or publish a single sensitive column."
        )
    if not isinstance(model.span, EachValue):
        raise ParameterError(
            "several sensitive columns are named, for which groups and a width cannot be promised. Leave them out, or "
            "publish a single sensitive column."
        )
    return replace(model, columns=tuple(columns))


def plain_likeness_of(model: Model, scheme: str) -> Likeness:
    """Return the promise of a scheme that keeps plain likeness alone; refuse any other."""
    likeness = likeness_of(model, scheme)
    if not likeness.is_plain:
        raise ParameterError(
            f"the scheme '{scheme}' cannot keep {model.name}: it bounds what a class may hold of each value, one by "
            "one and from above. Take the scheme 'seam', 'whole' or 'lmondrian', or 'perturb'."
        )
    return likeness


def likeness_of(model: Model, scheme: str) -> Likeness:
    """Return the promise of a scheme that keeps likeness in every form; refuse any other."""
    if not isinstance(model, Likeness):
        raise ParameterError(
            f"the scheme '{scheme}' keeps beta-likeness, not {model.name}. Take the scheme 'mondrian', which keeps "
            "every promise."
        )
    return model


def posterior_cap(prior: Floats, beta: float, form: Form | str = Form.ENHANCED) -> Floats:
    """Return the highest frequency that each sensitive value may have in an equivalence class.

    Rare values may grow by `beta`; frequent ones by less, so that none reaches 1. For display and formulas;
    decisions are made with the exact `Likeness.caps`. Paper: Definition 3, Eq. 1, f(p).

    >>> posterior_cap(np.array([2, 3, 4]) / 19, beta=2).round(2)
    array([0.32, 0.45, 0.54])
    """
    if form == Form.BASIC:
        return np.minimum(prior * (1 + beta), 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(prior * (1 + np.minimum(beta, -np.log(prior))))
