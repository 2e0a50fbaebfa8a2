"""Sections 4 and 7 as laws: Theorem 1, Lemma 2, the functions DPpartition and biSplit, and what BUREL looks at."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import twins
from betalike.engines.local import LocalEngine
from betalike.io.arguments import make_schema
from betalike.promises import Form, Likeness
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes import Burel, Retrieval
from betalike.schemes.burel.buckets import fewest_buckets
from betalike.schemes.burel.ectree import class_draws, is_eligible
from betalike.table.cells import Plan
from examples import examples
from random_tables import BETAS, EVERY_SCHEME_OF_LIKENESS, FORMS, Table, tables

SECRETS = st.lists(st.integers(1, 60), min_size=2, max_size=8)


def bucketize(counts: list[int], beta: float, form: str) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """The buckets of a table with these counts, and the cap of each bucket's rarest value."""
    caps = Likeness(beta, Form(form)).caps(np.array(counts))
    buckets = fewest_buckets(np.array(counts), caps)
    rarest = np.array([bucket[0] for bucket in buckets])
    return buckets, caps.numerator[rarest], caps.denominator[rarest]


# --- Theorem 1 and Lemma 2 ---


@given(data=st.data(), counts=SECRETS, beta=BETAS, form=FORMS, part=st.integers(1, 9))
def test_theorem_1_an_eligible_class_keeps_the_promise_whatever_its_draws_contain(
    data: st.DataObject, counts: list[int], beta: float, form: str, part: int
) -> None:
    """For any partition into buckets, not only those that BUREL makes."""
    of_value = data.draw(st.lists(st.integers(0, len(counts)), min_size=len(counts), max_size=len(counts)))
    buckets = [[v for v, bucket in enumerate(of_value) if bucket == b] for b in sorted(set(of_value))]
    caps = Likeness(beta, Form(form)).caps(np.array(counts))
    rarest = [min(bucket, key=counts.__getitem__) for bucket in buckets]
    sizes = [sum(counts[value] for value in bucket) for bucket in buckets]
    draws = [min(size * part // 9 + data.draw(st.integers(0, 2)), size) for size in sizes]
    assume(any(draws) and is_eligible(np.array(draws), caps.numerator[rarest], caps.denominator[rarest], 1))
    content: dict[int, int] = {}
    for n, bucket in zip(draws, buckets, strict=True):
        for value in bucket:  # the worst content: all draws from the bucket have this value
            p = Fraction(counts[value], sum(counts))
            assert twins.is_allowed(n, sum(draws), p, twins.promised(beta), form)
        for value in data.draw(st.lists(st.sampled_from(bucket), min_size=n, max_size=n)):
            content[value] = content.get(value, 0) + 1
    assert twins.broken_classes([content], dict(enumerate(counts)), beta, form) == []


@given(counts=SECRETS, beta=BETAS, form=FORMS, k=st.integers(1, 200), data=st.data())
def test_a_class_is_eligible_exactly_if_the_rarest_value_of_each_bucket_would_be_allowed(
    counts: list[int], beta: float, form: str, k: int, data: st.DataObject
) -> None:
    buckets, numerator, denominator = bucketize(counts, beta, form)
    sizes = [sum(counts[value] for value in bucket) for bucket in buckets]
    draws = [data.draw(st.integers(0, size)) for size in sizes]
    assume(any(draws))
    p = [Fraction(counts[bucket[0]], sum(counts)) for bucket in buckets]
    rules = zip(draws, p, strict=True)
    expected = all(twins.is_allowed(n, sum(draws), prior, twins.promised(beta), form) for n, prior in rules)
    assert is_eligible(np.array(draws), numerator, denominator, k) == (expected and sum(draws) >= k)


@given(counts=SECRETS, beta=BETAS, form=FORMS, factor=st.integers(1, 30), part=st.integers(1, 30))
def test_lemma_2_classes_in_proportion_to_the_buckets_are_eligible(
    counts: list[int], beta: float, form: str, factor: int, part: int
) -> None:
    table = [count * factor for count in counts]
    buckets, numerator, denominator = bucketize(table, beta, form)
    proportional = np.array([sum(counts[value] for value in bucket) for bucket in buckets]) * min(part, factor)
    assert is_eligible(proportional, numerator, denominator, 1)


# --- 4.3: DPpartition, 4.4: biSplit ---


def can_share(run: range, counts: list[int], beta: float, form: str) -> bool:
    """Combinable, by its definition: a single value, or a sum strictly below the cap of the rarest."""
    total, n_rows = sum(counts[i] for i in run), sum(counts)
    share, p = Fraction(total, n_rows), Fraction(min(counts[i] for i in run), n_rows)
    if len(run) == 1:
        return True
    is_below_log = form == "basic" or twins.is_at_most_surprise(share / p - 1, p)  # irrational, so never equal
    limit = min(p * (1 + twins.promised(beta)), Fraction(1))
    return share < limit and is_below_log


@given(counts=st.lists(st.integers(1, 60), min_size=2, max_size=7), beta=BETAS, form=FORMS)
def test_equation_6_no_other_partition_has_fewer_buckets(counts: list[int], beta: float, form: str) -> None:
    buckets, _, _ = bucketize(counts, beta, form)
    assert sorted(value for bucket in buckets for value in bucket.tolist()) == list(range(len(counts)))
    ascending = sorted(counts)
    shown = [[counts[value] for value in bucket] for bucket in buckets]
    assert [count for bucket in shown for count in bucket] == ascending
    allowed = [
        runs
        for runs in twins.partitions_into_runs(len(counts))
        if all(can_share(run, ascending, beta, form) for run in runs)
    ]
    assert shown in [[[ascending[i] for i in run] for run in runs] for runs in allowed]
    assert len(buckets) == min(map(len, allowed))


def bi_split(node: list[int], priors: list[Fraction], beta: Fraction, form: str, k: int) -> list[list[int]]:
    """The leaves of the ECTree, as Section 4.4 tells it; the left child takes the smaller half, as in Example 2."""
    children = [[n // 2 for n in node], [n - n // 2 for n in node]]
    for child in children:
        if sum(child) < max(k, 1):
            return [node]
        pairs = zip(child, priors, strict=True)
        if not all(twins.is_allowed(n, sum(child), p, beta, form) for n, p in pairs):
            return [node]
    return [leaf for child in children for leaf in bi_split(child, priors, beta, form, k)]


@given(counts=SECRETS, beta=BETAS, form=FORMS, k=st.integers(1, 60))
def test_the_tree_is_split_as_long_as_both_children_are_eligible(
    counts: list[int], beta: float, form: str, k: int
) -> None:
    buckets, numerator, denominator = bucketize(counts, beta, form)
    sizes = [sum(counts[value] for value in bucket) for bucket in buckets]
    leaves = class_draws(np.array(sizes), numerator, denominator, k)
    priors = [Fraction(counts[bucket[0]], sum(counts)) for bucket in buckets]
    assert leaves.tolist() == bi_split(sizes, priors, twins.promised(beta), form, k)
    assert leaves.sum(axis=0).tolist() == sizes


# --- Section 7 ---


@pytest.mark.some(3)
@examples(30)
@EVERY_SCHEME_OF_LIKENESS
@given(table=tables(max_rows=30))
def test_equation_19_likeness_bounds_what_naive_bayes_learns(scheme: dict[str, object], table: Table) -> None:
    """Pr[t_j | v_i] <= (1 + min(beta, -ln p_i)) Pr[t_j], with Pr estimated from the classes as in Eq. 17."""
    table = table.with_arguments(promise="enhanced")
    classes = table.published_classes(table.publish(**scheme).frame)
    prior = twins.priors_of(table.prior)
    promise = twins.promised(table.beta)
    for i, column in enumerate(table.columns.values()):
        for seen in set(column.texts):
            inside = [ec for labels, ec in classes.items() if column.twin.contains(labels[i], seen)]
            share = Fraction(sum(ec.total() for ec in inside), table.n_rows)
            for value, p in prior.items():
                given_value = Fraction(sum(ec[value] for ec in inside), table.prior[value])
                gain = given_value / share - 1
                assert gain <= promise
                assert twins.is_at_most_surprise(gain, p)


@examples(30)
@given(
    seed=st.integers(0, 2**32),
    beta=st.sampled_from([1.3, 2, 4]),
    retrieval=st.sampled_from(list(Retrieval)),
    n_rows=st.integers(20, 120),
)
def test_section_7_burel_looks_at_buckets_and_never_at_the_secrets_within_them(
    seed: int, beta: float, retrieval: Retrieval, n_rows: int
) -> None:
    """Secrets that are exchanged within their buckets leave every class's box as it was: no minimality attack."""
    rng = random.Random(seed)
    secrets = [rng.choice("aabbbccccddddeeeee") for _ in range(n_rows)]
    points = pl.DataFrame({"x": [rng.randrange(9) for _ in secrets], "y": [rng.randrange(5) for _ in secrets]})
    counts = {secret: secrets.count(secret) for secret in sorted(set(secrets))}
    buckets, _, _ = bucketize(list(counts.values()), beta, "enhanced")
    exchanged = list(secrets)
    for bucket in buckets:
        of_bucket = {list(counts)[value] for value in bucket}
        rows = [row for row, secret in enumerate(secrets) if secret in of_bucket]
        for row, other in zip(rows, rng.sample(rows, len(rows)), strict=True):
            exchanged[row] = secrets[other]
    boxes = [
        np.column_stack(plan_of(points.with_columns(secret=pl.Series(column)), beta, retrieval, seed).boxes)
        for column in (secrets, exchanged)
    ]
    assert boxes[0].tolist() == boxes[1].tolist()


def plan_of(frame: pl.DataFrame, beta: float, retrieval: Retrieval, seed: int) -> Plan:
    schema = make_schema(["x", "y"], "secret", None, None, None, None, (), False)
    scheme = Burel(retrieval=retrieval, randomness=SeededRandomness(seed))
    return scheme.plan(LocalEngine(frame, schema).count_cells(), Likeness(beta))
