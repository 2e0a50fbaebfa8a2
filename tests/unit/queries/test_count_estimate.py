"""Counts from generalized releases: the index and its kernels against rows and fractions, and laws that must hold."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import query_twins as twins
from betalike.queries import count_estimate, label_shares
from betalike.queries.columns import NamedColumn, OrderedColumn
from betalike.queries.count_estimate import ClassIndex
from betalike.queries.estimator import Estimator, open_frame
from betalike.queries.label_shares import ROUNDS, Spread
from betalike.queries.value_sets import ValueSet
from betalike.release.certificate import ColumnFacts
from betalike.table.cells import ClassCounts
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind
from examples import examples
from query_certificates import make_certificate

PATHS = [["a", "ab", "x", "*"], ["b", "ab", "x", "*"], ["c", "c", "x", "*"], ["d", "d", "d", "*"], ["e", "e", "e", "*"]]
LEAVES = [path[0] for path in PATHS]
SECRETS = ["p", "q", "r"]
DOMAIN = (0, 9)

ages = st.tuples(st.integers(*DOMAIN), st.integers(*DOMAIN)).map(
    lambda ends: str(ends[0]) if ends[0] == ends[1] else f"[{min(ends)}, {max(ends)}]"
)
cities = st.sampled_from([*LEAVES, "ab", "x", "*", None])
CLASSES = st.tuples(
    ages | st.sampled_from(["*", None]), cities, st.lists(st.sampled_from(SECRETS), min_size=1, max_size=6)
)
EVERY_SECRET = ("[2, 3]", "x", SECRETS)
TABLES = st.lists(CLASSES, max_size=8).map(
    lambda classes: [
        {"age": age, "city": city, "secret": secret}
        for age, city, secrets in [*classes, EVERY_SECRET]
        for secret in secrets
    ]
)
QUERIES = st.fixed_dictionaries(
    {},
    optional={
        "age": st.sets(st.sampled_from([None, *range(DOMAIN[0], DOMAIN[1] + 1)])),
        "city": st.sets(st.sampled_from([None, *LEAVES])),
        "secret": st.sets(st.sampled_from(SECRETS)),
    },
)


def opened(rows: list[dict[str, str | None]]) -> Estimator:
    frame = pl.DataFrame(rows, schema={"age": pl.String, "city": pl.String, "secret": pl.String})
    certificate = make_certificate("seam", frame, [], "secret", {})
    columns = [
        ColumnFacts("age", "integer", 1.0, domain=("0", "9"), has_missing=True),
        ColumnFacts("city", "categorical", 1.0, leaves=len(LEAVES) + 1, hierarchy=PATHS, has_missing=True),
    ]
    certificate.table.quasi_identifiers.extend(["age", "city"])
    certificate.table.columns.extend(columns)
    return open_frame(frame, certificate, {})


def one_class(size: int) -> ClassCounts:
    return ClassCounts.of(np.zeros(1, dtype=int), np.zeros(1, dtype=int), np.array([size]), 1)


TWINS = {"age": twins.Numbers(*DOMAIN), "city": twins.Tree(PATHS, has_missing=True)}


def as_sql(query: twins.Query) -> str:
    parts = ["TRUE"]
    for name, values in query.items():
        shown = [f"'{value}'" if isinstance(value, str) else str(value) for value in values if value is not None]
        either = ["FALSE", *([f"{name} IN ({', '.join(shown)})"] if shown else [])]
        parts.append("(" + " OR ".join([*either, *([f"{name} IS NULL"] if None in values else [])]) + ")")
    return " AND ".join(parts)


@given(TABLES, QUERIES)
@examples(150)
def test_uniform_estimates_and_bounds_are_the_twins(rows: list, query: twins.Query) -> None:
    estimate, surely, possibly = twins.count(rows, TWINS, "secret", query)
    answer = opened(rows).count(as_sql(query), method="uniform")
    assert answer.count == pytest.approx(float(estimate), abs=1e-9)
    assert (answer.at_least, answer.at_most) == (surely, possibly)
    assert answer.at_least <= answer.low <= answer.count <= answer.high <= answer.at_most


@given(TABLES, QUERIES)
@examples(150)
def test_density_estimates_and_bounds_are_the_twins(rows: list, query: twins.Query) -> None:
    estimate, surely, possibly = twins.count(rows, TWINS, "secret", query, rounds=ROUNDS)
    answer = opened(rows).count(as_sql(query), method="density")
    assert answer.count == pytest.approx(float(estimate), abs=1e-5)
    assert (answer.at_least, answer.at_most) == (surely, possibly)


@given(TABLES, QUERIES, QUERIES, st.sampled_from(["uniform", "density"]))
def test_counts_add_up_and_grow(rows: list, one: twins.Query, other: twins.Query, method: str) -> None:
    release = opened(rows)
    a, b = as_sql(one), as_sql(other)
    both, either, first, second = (
        answer.count for answer in release.count_all([f"({a}) AND ({b})", f"({a}) OR ({b})", a, b], method=method)
    )
    assert both + either == pytest.approx(first + second, abs=1e-6)
    assert both <= min(first, second) + 1e-6
    assert either >= max(first, second) - 1e-6
    assert release.count("TRUE", method=method).count == len(rows)


@given(TABLES, QUERIES)
def test_many_classes_and_values_are_counted_in_another_way_with_the_same_result(
    rows: list, query: twins.Query
) -> None:
    release = opened(rows)
    expected = release.count(as_sql(query))
    frugal = replace(release, index=replace(release.index, most_weights=1))  # no table of values, one box at a time
    found = frugal.count_all([as_sql(query)] * 3)
    assert [answer.count for answer in found] == pytest.approx([expected.count] * 3)


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.floats(0, 3)), min_size=1, max_size=8), st.floats(-6, 6), st.floats(0, 4)
)
@example([(-1.0, 0.0), (-1e-146, 2e-64)], 0.0, 1.0)  # a label far narrower than the column's rounding
@example([(-5.0, 3.0), (1.0, 1e-9)], 1.0, 5e-10)
@example([(1.0, 1e-12)], 0.0, 1.0)  # the query meets one float of a label of few floats
def test_reals_are_uniform_in_length(ranges: list[tuple[float, float]], start: float, length: float) -> None:
    labels = [f"[{low!r}, {low + width!r}]" if low + width > low else repr(low) for low, width in ranges]
    column = OrderedColumn("x", Kind.REAL, (-10.0, 10.0))
    counts = ClassCounts.of(np.arange(len(labels)), np.zeros(len(labels), dtype=int), np.full(len(labels), 4), 1)
    index = ClassIndex.of([column], [labels], counts)
    box = {"x": ValueSet.of([(start, start + length)], is_discrete=False)}
    found = count_estimate.estimate_counts(index, index.shares(Spread.UNIFORM), [box], [np.ones(1, dtype=bool)])
    expected, tolerance = 0.0, 1e-6
    for low, width in ranges:
        high = low + width
        if high > low:
            expected += 4 * max(min(high, start + length) - max(low, start), 0.0) / (high - low)
            tolerance += 8 * np.spacing(max(abs(low), abs(high))) / (high - low)  # a real is as long as one float
        else:
            expected += 4 * (start <= low <= start + length)
    assert found.count[0] == pytest.approx(expected, abs=tolerance)


def test_an_equality_within_a_range_of_reals_is_possible_but_has_no_share() -> None:
    column = OrderedColumn("x", Kind.REAL, (0.0, 1.0))
    index = ClassIndex.of([column], [["[0.0, 1.0]"]], one_class(7))
    box = {"x": ValueSet.of([(0.5, 0.5)], is_discrete=False)}
    found = count_estimate.estimate_counts(index, index.shares(Spread.DENSITY), [box], [np.ones(1, dtype=bool)])
    assert (found.count[0], found.at_least[0], found.at_most[0]) == (pytest.approx(0), 0, 7)


def test_values_that_are_not_named_have_their_share_of_the_root() -> None:
    column = NamedColumn("city", ("a", "b"), {}, 2, False, Hierarchy.flat(["a", "b"]))
    index = ClassIndex.of([column], [["*"]], one_class(8))
    box = {"city": ValueSet.of([(0, 0)], is_discrete=True)}
    for spread in Spread:
        found = count_estimate.estimate_counts(index, index.shares(spread), [box], [np.ones(1, dtype=bool)])
        assert found.count[0] == pytest.approx(2)


def test_intervals_hold_what_they_say_if_their_assumptions_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Members of a class follow each other now and then, and log-odds of lying inside are off by a common amount."""
    # It stands for what nobody knows of real tables, and the truth of these is known.
    monkeypatch.setattr(label_shares, "DISAGREEMENT", 0.0)
    rng = np.random.default_rng(8)
    ends = np.sort(rng.integers(0, 100, size=(400, 2)), axis=1)
    labels = [f"[{low}, {high}]" if low < high else str(low) for low, high in ends]
    sizes = rng.integers(1, 40, size=len(labels))
    column = OrderedColumn("x", Kind.INTEGER, (0, 99))
    counts = ClassCounts.of(np.arange(len(labels)), np.zeros(len(labels), dtype=int), sizes, 1)
    index = ClassIndex.of([column], [labels], counts)
    boxes = [{"x": ValueSet.of([(low, low + 40)], is_discrete=True)} for low in range(0, 60, 10)]
    shares = index.shares(Spread.UNIFORM)
    found = count_estimate.estimate_counts(index, shares, boxes, [np.ones(1, dtype=bool)] * len(boxes))
    misfit = label_shares.LEAST_MISFIT + label_shares.FURTHER_MISFIT * shares[0].hidden
    held, n_trials = 0, 3000
    for trial in range(n_trials):
        low = boxes[trial % len(boxes)]["x"].spans[0][0]
        inside = np.clip(np.minimum(ends[:, 1], low + 40) - np.maximum(ends[:, 0], low) + 1, 0, None)
        share = inside / (ends[:, 1] - ends[:, 0] + 1)
        odds = np.exp(rng.normal(0, misfit))
        chance = np.clip(share * odds / (share * odds + 1 - share), 0.0, 1.0)
        follow = rng.binomial(sizes, math.sqrt(count_estimate.CLUMPING))  # they do what their class does
        exact = (follow * (rng.random(len(sizes)) < chance)).sum() + rng.binomial(sizes - follow, chance).sum()
        number = trial % len(boxes)
        held += abs(exact - found.count[number]) <= 1.96 * found.standard_error[number]
    assert 0.94 <= held / n_trials <= 0.99  # where log-odds are far off, shares are less so than the errors allow for


def test_the_more_a_release_hides_the_greater_the_doubt() -> None:
    """The same doubtful class has a wider interval if the other classes show less of its column."""
    column = NamedColumn("city", ("a", "b"), {}, 0, False, Hierarchy.flat(["a", "b"]))
    box = {"city": ValueSet.of([(0, 0)], is_discrete=True)}
    errors = []
    for others in (["a", "b"], ["*", "*"]):
        counts = ClassCounts.of(np.arange(3), np.array([0, 1, 1]), np.array([40, 40, 40]), 2)
        index = ClassIndex.of([column], [["*", *others]], counts)
        found = count_estimate.estimate_counts(index, index.shares(Spread.UNIFORM), [box], [np.array([True, False])])
        errors.append(found.standard_error[0])
    assert errors[0] < errors[1]


def test_a_range_has_tuples_at_both_ends() -> None:
    """Three tuples from 0 to 9: one lies at 0, one at 9, and the third anywhere."""
    column = OrderedColumn("x", Kind.INTEGER, (0, 9))
    index = ClassIndex.of([column], [["[0, 9]"]], one_class(3))
    at = [{"x": ValueSet.of([(value, value)], is_discrete=True)} for value in (0, 5, 9)]
    found = count_estimate.estimate_counts(index, index.shares(Spread.DENSITY), at, [np.ones(1, dtype=bool)] * 3)
    assert found.count[0] == pytest.approx(found.count[2])
    assert found.count[0] > 1 > found.count[1] > 0
