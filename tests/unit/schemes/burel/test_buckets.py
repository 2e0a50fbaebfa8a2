"""Buckets of sensitive values: as few as any partition into runs that Lemma 2 allows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from betalike.promises import Form, Likeness
from betalike.promises.caps import Bound, Caps
from betalike.schemes.burel.buckets import can_share_bucket, fewest_buckets

counts_of_values = st.lists(st.integers(0, 30), min_size=2, max_size=8).filter(
    lambda counts: sum(map(bool, counts)) > 1
)
betas = st.sampled_from([0.2, 0.5, 1, 2, 3, 4, 8])
forms = st.sampled_from(list(Form))


def runs(n: int) -> Iterator[list[range]]:
    """Every way to cut 0 .. n - 1 into runs."""
    for cuts in itertools.product([False, True], repeat=n - 1):
        ends = [i + 1 for i, is_cut in enumerate(cuts) if is_cut] + [n]
        yield [range(start, end) for start, end in zip([0, *ends], ends, strict=False)]


def fits(total: int, rarest: int, n_rows: int, beta: float, form: Form) -> bool:
    """Combinable, with the paper's strict comparison: sum of p < f(p of the rarest)."""
    prior = rarest / n_rows
    if form is Form.ENHANCED and beta >= -math.log(prior):
        return total / n_rows < prior * (1 - math.log(prior))
    return Fraction(total, n_rows) < min(Fraction(rarest, n_rows) * (1 + Fraction(str(beta))), Fraction(1))


def is_partition_allowed(ascending: list[int], partition: list[range], beta: float, form: Form) -> bool:
    n_rows = sum(ascending)
    return all(
        len(run) == 1 or fits(sum(ascending[i] for i in run), ascending[run[0]], n_rows, beta, form)
        for run in partition
    )


@given(counts_of_values, betas, forms)
def test_no_allowed_partition_has_fewer_buckets(counts: list[int], beta: float, form: Form) -> None:
    buckets = fewest_buckets(np.array(counts), Likeness(beta, form).caps(np.array(counts)))
    ascending = sorted(count for count in counts if count)
    allowed = [part for part in runs(len(ascending)) if is_partition_allowed(ascending, part, beta, form)]
    assert len(buckets) == min(map(len, allowed))


@given(counts_of_values, betas, forms)
def test_buckets_are_an_allowed_partition_of_the_values_that_occur(counts: list[int], beta: float, form: Form) -> None:
    buckets = fewest_buckets(np.array(counts), Likeness(beta, form).caps(np.array(counts)))
    assert sorted(np.concatenate(buckets).tolist()) == [value for value, count in enumerate(counts) if count]
    in_order = [counts[value] for bucket in buckets for value in bucket]
    assert in_order == sorted(in_order)  # so each bucket's rarest value comes first
    for bucket in buckets:
        total = sum(counts[value] for value in bucket)
        assert len(bucket) == 1 or fits(total, counts[bucket[0]], sum(counts), beta, form)


def test_the_comparison_is_strict() -> None:
    """Two values of 1 in 4 each make just twice the rarest: with beta 1 they may not share a bucket."""
    counts = np.array([2, 2, 4])
    basic = Likeness(1, Form.BASIC)
    assert [bucket.tolist() for bucket in fewest_buckets(counts, basic.caps(counts))] == [[0], [1], [2]]
    wider = Likeness(1.01, Form.BASIC)
    assert [bucket.tolist() for bucket in fewest_buckets(counts, wider.caps(counts))] == [[0, 1], [2]]


def test_a_fraction_that_stands_for_an_irrational_cap_may_be_reached() -> None:
    caps = Caps.of([Bound(Fraction(1, 2), is_logarithmic=True)], 20)  # 0.846...: 16 of 19 are below it, 17 of 20 above
    assert (caps.numerator[0], caps.denominator[0]) == (11, 13)
    assert can_share_bucket(11, 13, 11, 13, False)
    assert not can_share_bucket(11, 13, 11, 13, True)
    assert not can_share_bucket(17, 20, 11, 13, False)


def test_values_of_the_same_count_keep_their_order() -> None:
    counts = np.array([3, 0, 3, 3])
    buckets = fewest_buckets(counts, Likeness(0.1).caps(counts))
    assert [bucket.tolist() for bucket in buckets] == [[0], [2], [3]]
