"""Laws of the caps: counts are compared with f(p) exactly, however close they come."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from betalike.promises import Form, Likeness
from betalike.table.cells import ClassCounts
from examples import examples
from random_tables import BETAS, FORMS


@examples(300)
@given(data=st.data(), n_rows=st.integers(2, 200) | st.integers(2, 50_000_000), beta=BETAS, form=FORMS)
def test_the_most_that_a_class_may_hold_is_f_times_its_size_rounded_down(
    data: st.DataObject, n_rows: int, beta: float, form: str
) -> None:
    count = data.draw(st.integers(1, n_rows))
    prior = Fraction(count, n_rows)
    # The fraction nearest to f(p) has the size for which f(p) * size comes closest to a whole number.
    nearest = twins.limit(prior, twins.promised(beta), form)[0].limit_denominator(n_rows)
    size = data.draw(st.integers(1, n_rows) | st.just(nearest.denominator))
    expected = twins.most(prior, size, twins.promised(beta), form)
    caps = Likeness(beta, Form(form)).caps(np.array([count, n_rows - count], dtype=np.int64))
    assert caps.most(size)[0] == expected
    is_allowed = caps.allow(np.array([0, 0]), np.array([expected, expected + 1]), np.array([size, size]))
    assert is_allowed.tolist() == [True, False]


@given(data=st.data(), count=st.integers(1, 60), more=st.integers(0, 200), factor=st.integers(1, 20))
def test_a_class_that_just_reaches_its_cap_is_allowed(data: st.DataObject, count: int, more: int, factor: int) -> None:
    """With the basic form, q = (1 + beta) p exactly; one tuple more in a class of the same size is too much."""
    others = count + more
    quarters = data.draw(st.integers(1, (4 * others - 1) // count))  # so that the limit is below 1
    limit = Fraction(count, count + others) * (1 + Fraction(quarters, 4))
    size, most = limit.denominator * factor, limit.numerator * factor
    caps = Likeness(quarters / 4, Form.BASIC).caps(np.array([count * size, others * size]))
    is_allowed = caps.allow(np.array([0, 0]), np.array([most, most + 1]), np.array([size, size]))
    assert is_allowed.tolist() == [True, False]


@pytest.mark.parametrize(
    ("count", "n_rows", "beta", "size", "most"),
    [
        (1, 6, 1, 3, 1),  # 2/6 of 3 is 1: Example 1's two classes
        (1, 6, 1 - 2**-53, 3, 0),  # the next smaller beta
        (1, 10, 0.1, 100, 11),  # 0.1 is a little more than 1/10 in the machine; 1/10 was meant and allows 11 of 100
        (1, 3, 0.5, 2, 1),
        (1, 3, 0.3, 30, 12),  # 0.3 is a little less than 3/10 in the machine; the smaller of the two is promised
        (2, 19, 2, 19, 6),  # Example 2: f is 6/19
        (1, 2, 4, 1000, 846),  # (1 + ln 2) / 2 = 0.84657...
        (7, 7, 4, 7, 7),  # a value that everybody has cannot become likelier
    ],
)
def test_borderline_counts(count: int, n_rows: int, beta: float, size: int, most: int) -> None:
    counts = np.array([count, n_rows - count]) * 1000
    assert Likeness(beta).caps(counts).most(size)[0] == most
    assert twins.most(Fraction(count, n_rows), size, twins.promised(beta), "enhanced") == most


@given(
    prior=st.lists(st.integers(1, 40), min_size=2, max_size=5),
    share=st.lists(st.integers(0, 40), min_size=5, max_size=5),
    beta=BETAS,
    form=FORMS,
    k=st.integers(1, 40),
)
def test_a_verdict_on_two_classes_is_the_definition(
    prior: list[int], share: list[int], beta: float, form: str, k: int
) -> None:
    one = [min(n, most) for n, most in zip(share, prior, strict=False)]
    parts = [part for part in (one, [n - m for n, m in zip(prior, one, strict=True)]) if any(part)]
    counts = np.array(parts)
    ec, value = np.nonzero(counts)
    classes = ClassCounts.of(ec, value, counts[ec, value], len(prior))
    verdict = Likeness(beta, Form(form), k).judge(classes, np.array(prior))
    twin_classes = [dict(enumerate(part)) for part in parts]
    broken = twins.broken_classes(twin_classes, dict(enumerate(prior)), beta, form, k)
    assert verdict.holds is (broken == [])
    assert verdict.smallest_class == min(map(sum, parts))
    if broken and all(sum(part) >= k for part in parts):
        assert twin_classes[verdict.worst_class] in broken
