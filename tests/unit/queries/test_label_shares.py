"""What labels share with sets of many intervals, against slow twins that go through the intervals one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.queries.columns import LabelSpans, NamedColumn, OrderedColumn
from betalike.queries.label_shares import SHARE, LeafShares, OrderedShares, Spread, after, make_shares
from betalike.queries.value_sets import ValueSet
from betalike.table.schema import Kind

INF = float("inf")
ENDS = {
    Kind.INTEGER: st.integers(0, 30) | st.sampled_from([-INF, INF]),
    Kind.REAL: st.integers(0, 60).map(lambda n: n / 2) | st.sampled_from([-INF, INF]),
    Kind.DECIMAL: st.integers(0, 60).map(lambda n: Fraction(n, 10) + 10**20),
}


@st.composite
def labels_and_sets(draw: st.DrawFn) -> tuple[OrderedColumn, LabelSpans, ValueSet]:
    kind = draw(st.sampled_from(list(ENDS)))
    ends = ENDS[kind]
    pairs = draw(st.lists(st.tuples(ends, ends).map(sorted), min_size=1, max_size=6))
    pairs = [pair for pair in pairs if pair[0] < INF and pair[1] > -INF] or [draw(st.just([3, 5]))]
    empty = draw(st.booleans())
    low = [pair[0] for pair in pairs] + [INF] * empty
    high = [pair[1] for pair in pairs] + [-INF] * empty
    missing = draw(st.lists(st.booleans(), min_size=len(low), max_size=len(low)))
    column = OrderedColumn("x", kind, (0, 30))
    spans = draw(st.lists(st.tuples(ends, ends), max_size=8))
    values = ValueSet.of(spans, column.is_discrete, draw(st.booleans()))
    return column, LabelSpans.of(low, high, missing), values


def slow_touching(spans: LabelSpans, values: ValueSet) -> list[bool]:
    labels = zip(spans.low.tolist(), spans.high.tolist(), spans.missing.tolist(), strict=True)
    return [
        (is_missing and values.missing)
        or (low <= high and any(low <= end and start <= high for start, end in values.spans))
        for low, high, is_missing in labels
    ]


def slow_within(spans: LabelSpans, values: ValueSet) -> list[bool]:
    labels = zip(spans.low.tolist(), spans.high.tolist(), spans.missing.tolist(), strict=True)
    return [
        (values.missing or not is_missing)
        and (low > high or any(start <= low and high <= end for start, end in values.spans))
        for low, high, is_missing in labels
    ]


@given(labels_and_sets())
def test_labels_touch_a_set_or_lie_in_it(made: tuple[OrderedColumn, LabelSpans, ValueSet]) -> None:
    _, spans, values = made
    for one in (values, values.complement()):
        assert spans.touching(one).tolist() == slow_touching(spans, one)
        assert spans.within(one).tolist() == slow_within(spans, one)


def slow_cover(shares: OrderedShares, low: np.ndarray, high: np.ndarray, values: ValueSet) -> tuple[np.ndarray, ...]:
    inside, length = np.zeros(len(low)), np.zeros(len(low))
    origin = shares.spans.origin
    for start, end in values.spans:
        first = np.maximum(low, float(start - origin))
        last = np.minimum(high, after(np.array(float(end - origin)), shares.is_discrete))
        is_met = first < last
        inside += np.where(is_met, shares.below(last) - shares.below(first), 0.0)
        least, most = shares.breaks[0], shares.breaks[-1]
        length += np.where(is_met, np.clip(last, least, most) - np.clip(first, least, most), 0.0)
    return inside, length


@given(labels_and_sets())
def test_the_intervals_of_a_set_are_added_up_as_one_by_one(made: tuple[OrderedColumn, LabelSpans, ValueSet]) -> None:
    column, spans, values = made
    shares = make_shares(column, spans, *np.ones((2, len(spans.low))), Spread.UNIFORM)
    assert isinstance(shares, OrderedShares)
    low, high = spans.measured(spans.low), after(spans.measured(spans.high), column.is_discrete)
    for one in (values, values.complement()):
        found, slow = shares.covered(low, high, one), slow_cover(shares, low, high, one)
        for figures, expected in zip(found, slow, strict=True):
            assert figures == pytest.approx(expected, abs=1e-9)


@given(st.sets(st.integers(0, 8)), st.booleans())
def test_leaves_of_a_set_are_added_up(codes: set[int], is_missing_asked: bool) -> None:
    leaves = tuple(f"v{code}" for code in range(8))
    column = NamedColumn("x", leaves, {"first": (0, 4), "last": (5, 7)}, n_unnamed=1, has_missing=True)
    spans = column.spans(["*", "first", "last", "v0", "v7", None])
    shares = make_shares(column, spans, *np.ones((2, 6)), Spread.UNIFORM)
    assert isinstance(shares, LeafShares)
    values = ValueSet.of([(code, code) for code in codes], True, is_missing_asked)
    covered = [{*range(9), None}, set(range(5)), {5, 6, 7}, {0}, {7}, {None}]
    wanted = codes | ({None} if is_missing_asked else set())
    expected = [len(label & wanted) / len(label) for label in covered]
    assert shares.within(values)[SHARE] == pytest.approx(expected)
    left = values.complement()
    assert shares.within(left)[SHARE] == pytest.approx([1 - share for share in expected])


def test_the_interval_of_the_greatest_number_ends_at_infinity() -> None:
    greatest = np.array([np.finfo(np.float64).max, np.inf])
    assert after(greatest, is_discrete=False).tolist() == [np.inf, np.inf]
