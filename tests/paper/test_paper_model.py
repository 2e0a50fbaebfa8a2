"""Section 3 as laws: the properties of f, monotonicity (Lemma 1), and the cone of allowed counts."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import twins
from betalike.measures.audit import measure
from betalike.promises import Caps, Form, Likeness, posterior_cap
from betalike.table.axis import HierarchyAxis
from betalike.table.cells import ClassCounts
from betalike.table.hierarchy import Hierarchy
from random_tables import BETAS, FORMS

N_VALUES = 5
COUNTS = st.lists(st.integers(1, 60), min_size=N_VALUES, max_size=N_VALUES).map(np.array)
PARTS = st.lists(st.integers(0, 60), min_size=N_VALUES, max_size=N_VALUES).filter(any).map(np.array)
PRIORS = st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000)
SENSITIVE = HierarchyAxis("secret", Hierarchy.flat("abcde"))


def class_counts(*classes: np.ndarray) -> ClassCounts:
    counts = np.array(classes)
    ec, value = np.nonzero(counts)
    return ClassCounts.of(ec, value, counts[ec, value], N_VALUES)


def is_allowed(caps: Caps, counts: np.ndarray) -> bool:
    return bool(caps.allow(np.arange(N_VALUES), counts, np.full(N_VALUES, counts.sum())).all())


def f(prior: Fraction, beta: float) -> float:
    return float(posterior_cap(np.array([float(prior)]), beta)[0])


def most_of_a_million(prior: Fraction, beta: float) -> int:
    """f(p) in millionths, rounded down, as the exact caps have it."""
    n_rows = prior.denominator * 1_000_000
    count = prior.numerator * 1_000_000
    return int(Likeness(beta).caps(np.array([count, n_rows - count])).most(1_000_000)[0])


# --- properties 1 to 4 of f ---


@given(prior=PRIORS, beta=BETAS | st.floats(0.01, 1e9))
def test_property_1_no_value_may_reach_frequency_1(prior: Fraction, beta: float) -> None:
    assert prior < f(prior, beta) < 1
    assert most_of_a_million(prior, beta) < 1_000_000


@given(beta=BETAS)
def test_f_ends_at_1(beta: float) -> None:
    assert posterior_cap(np.array([1.0]), beta)[0] == 1
    assert Likeness(beta).caps(np.array([7, 0])).most(7).tolist() == [7, 0]


@given(priors=st.tuples(PRIORS, PRIORS), beta=BETAS)
def test_property_2_rarer_values_have_lower_caps(priors: tuple[Fraction, Fraction], beta: float) -> None:
    rare, frequent = sorted(priors)
    assume(rare < frequent)
    assert f(rare, beta) < f(frequent, beta)
    assert most_of_a_million(rare, beta) <= most_of_a_million(frequent, beta)


@given(prior=PRIORS, beta=BETAS)
def test_property_3_infrequent_values_may_grow_by_beta(prior: Fraction, beta: float) -> None:
    assume(float(prior) <= math.exp(-beta))
    limit = prior * (1 + twins.promised(beta))
    assert f(prior, beta) == pytest.approx(float(limit))
    assert most_of_a_million(prior, beta) == math.floor(limit * 1_000_000)


@given(prior=PRIORS, beta=BETAS)
def test_property_4_frequent_values_may_grow_by_their_surprise_which_is_less(prior: Fraction, beta: float) -> None:
    assume(float(prior) > math.exp(-beta))
    assert f(prior, beta) == pytest.approx((1 - math.log(prior)) * prior)
    assert f(prior, beta) < (1 + beta) * prior
    assert most_of_a_million(prior, beta) == most_of_a_million(prior, 1000 * beta)


@given(prior=PRIORS, beta=BETAS)
def test_the_basic_form_lets_frequent_values_reach_1(prior: Fraction, beta: float) -> None:
    """Section 3: from p = 1 / (1 + beta) on, Definition 2 no longer protects; Definition 3 does."""
    counts = np.array([prior.numerator, prior.denominator - prior.numerator])
    pure = ClassCounts.of(np.array([0, 1]), np.array([0, 1]), counts, 2)
    is_certain = prior * (1 + twins.promised(beta)) >= 1 and (1 - prior) * (1 + twins.promised(beta)) >= 1
    assert Likeness(beta, Form.BASIC).judge(pure, counts).holds is is_certain
    assert not Likeness(beta, Form.ENHANCED).judge(pure, counts).holds


# --- Lemma 1 ---


@given(prior=COUNTS, one=PARTS, other=PARTS)
def test_lemma_1_merging_two_classes_never_raises_the_worst_gain(
    prior: np.ndarray, one: np.ndarray, other: np.ndarray
) -> None:
    apart = measure(class_counts(one, other), prior, SENSITIVE)
    merged = measure(class_counts(one + other), prior, SENSITIVE)
    assert merged.basic_beta <= apart.basic_beta * (1 + 1e-12) + 1e-12
    assert merged.t <= apart.t + 1e-12
    assert merged.l >= apart.l * (1 - 1e-12)


@given(prior=COUNTS, one=PARTS, other=PARTS, beta=BETAS, form=FORMS)
def test_lemma_1_merging_two_classes_never_breaks_the_promise(
    prior: np.ndarray, one: np.ndarray, other: np.ndarray, beta: float, form: str
) -> None:
    caps = Likeness(beta, Form(form)).caps(prior)
    classes = [allowed_near(part, prior, caps) for part in (one, other)]
    model = Likeness(beta, Form(form))
    assert model.judge(class_counts(*classes), prior).holds
    assert model.judge(class_counts(classes[0] + classes[1]), prior).holds


def allowed_near(counts: np.ndarray, prior: np.ndarray, caps: Caps) -> np.ndarray:
    """The counts, mixed with as many copies of the whole table as it takes to make them allowed."""
    while not is_allowed(caps, counts):
        counts = counts + prior
    return counts


# --- the cone of allowed counts (design/algorithms.md, section 1) ---


@given(prior=COUNTS, one=PARTS, other=PARTS, factor=st.integers(1, 50), beta=BETAS, form=FORMS)
def test_cone_fact_1_sums_and_multiples_of_allowed_counts_are_allowed(
    prior: np.ndarray, one: np.ndarray, other: np.ndarray, factor: int, beta: float, form: str
) -> None:
    caps = Likeness(beta, Form(form)).caps(prior)
    one, other = allowed_near(one, prior, caps), allowed_near(other, prior, caps)
    assert is_allowed(caps, one + other)
    assert is_allowed(caps, factor * one)
    assert is_allowed(caps, factor * one + other)


@given(prior=COUNTS, beta=BETAS, form=FORMS)
def test_cone_fact_2_the_whole_table_is_allowed_with_room_to_spare(prior: np.ndarray, beta: float, form: str) -> None:
    many = prior * 10_000  # so that even a tiny beta leaves room for a whole tuple
    caps = Likeness(beta, Form(form)).caps(many)
    assert is_allowed(caps, many)
    assert (caps.most(int(many.sum())) > many).all()


@given(prior=COUNTS, share=st.lists(st.integers(0, 60), min_size=5, max_size=5), beta=BETAS, form=FORMS)
def test_cone_fact_3_classes_share_the_budget_of_the_table(
    prior: np.ndarray, share: list[int], beta: float, form: str
) -> None:
    """Slack cap * size - count adds up to the table's, and a partition is valid iff no class overdraws it."""
    caps = Likeness(beta, Form(form)).caps(prior)
    part = np.minimum(share, prior)
    assume(part.any() and (part < prior).any())
    parts = [part, prior - part]

    def slack(counts: np.ndarray) -> list[Fraction]:
        pairs = zip(caps.numerator.tolist(), caps.denominator.tolist(), counts.tolist(), strict=True)
        return [Fraction(a, b) * int(counts.sum()) - n for a, b, n in pairs]

    assert [a + b for a, b in zip(*map(slack, parts), strict=True)] == slack(prior)
    is_valid = all(min(slack(counts)) >= 0 for counts in parts)
    assert Likeness(beta, Form(form)).judge(class_counts(*parts), prior).holds is is_valid


@given(prior=COUNTS, size=st.integers(1, 300), beta=BETAS, form=FORMS)
def test_cone_fact_4_counts_are_rounded_down(prior: np.ndarray, size: int, beta: float, form: str) -> None:
    size = min(size, int(prior.sum()))
    p = twins.priors_of(dict(enumerate(prior.tolist())))
    expected = [twins.most(p[value], size, twins.promised(beta), form) for value in range(N_VALUES)]
    assert Likeness(beta, Form(form)).caps(prior).most(size).tolist() == expected
