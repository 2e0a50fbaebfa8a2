"""A function is taken for a cap if it is one, and refused with the place where it is not."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.errors import CertificateError, ParameterError
from betalike.promises import CertificateCap, Form, Likeness, MonotoneCap
from promise_cases import cases

CALLS = itertools.count()
NO_CAPS: dict[str, tuple[Callable[[float], float], str]] = {
    "below the share": (lambda p: p * 0.99, "the table itself would break"),
    "above 1": (lambda p: 2 * p, "up to 1"),
    "falls": (lambda p: 1.0 if p < 0.1 else max(p, 0.5), "cap falls from 1.0 at the share"),
    "no number": (lambda p: math.nan, "cap is nan"),
    "infinite": (lambda p: math.inf, "cap is inf"),
    "text": (lambda p: "half", "cap fails at the share"),  # type: ignore[return-value,arg-type]
    "fails": (lambda p: 1 / 0, "ZeroDivisionError"),
    "by chance": (lambda p: 0.999 + 1e-9 * next(CALLS) if p < 0.9 else 1.0, "it must stay the same"),
}


@pytest.mark.parametrize("case", NO_CAPS)
def test_what_is_no_cap_is_refused(case: str) -> None:
    function, word = NO_CAPS[case]
    with pytest.raises(ParameterError, match=word):
        MonotoneCap(function)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(ParameterError, match="must be a function"):
        MonotoneCap(0.5)  # type: ignore[arg-type]


def test_a_fall_between_the_places_that_are_tried_is_found_where_it_matters() -> None:
    cap = MonotoneCap(lambda p: 0.999 if p < 0.00015 else 1.0 if p < 0.00025 else max(p, 0.9995) if p < 0.0005 else 1.0)
    Likeness(None, cap=cap).check_feasible(np.array([1, 9999]))
    with pytest.raises(ParameterError, match="cap falls"):
        Likeness(None, cap=cap).check_feasible(np.array([2, 4, 9994]))


def test_a_cap_takes_the_place_of_beta() -> None:
    with pytest.raises(ParameterError, match="choose one"):
        Likeness(2, cap=MonotoneCap(lambda p: 1.0))


@given(case=cases(), beta=st.floats(0.1, 5))
def test_the_papers_own_caps_as_functions_decide_alike(case: object, beta: float) -> None:
    """But for rounding: a class that is far from the cap by more than that is judged the same."""
    counts, classes = case.table, case.classes  # type: ignore[attr-defined]
    if (counts > 0).sum() < 2 or ((counts == 0) & (classes.value_counts > 0)).any():
        return
    functions: dict[Form, Callable[[float], float]] = {
        Form.BASIC: lambda p: min((1 + beta) * p, 1.0),
        Form.ENHANCED: lambda p: max(min((1 + min(beta, -math.log(p))) * p, 1.0), p),
    }
    for form, function in functions.items():
        own = Likeness(None, cap=MonotoneCap(function)).judge(classes, counts)
        paper = Likeness(beta, form).judge(classes, counts)
        assert own.worst_ratio == pytest.approx(paper.worst_ratio, abs=1e-9)
        if abs(paper.worst_ratio - 1) > 1e-9:
            assert own.holds == paper.holds


@given(count=st.integers(1, 99), step=st.fractions(0, 1, max_denominator=50))
def test_rounding_never_raises_a_cap(count: int, step: Fraction) -> None:
    """A cap is the function's number as typed or as the machine holds it, whichever is less."""
    cap = MonotoneCap(lambda p: p + (1 - p) * float(step)).at(count, 100)
    share = count / 100
    number = share + (1 - share) * float(step)
    assert cap == max(min(Fraction(number), Fraction(str(number))), Fraction(count, 100))


def test_caps_that_are_told_are_taken_as_they_are() -> None:
    cap = CertificateCap.of({"1": "1/5", "3": "0.7"}, 10)
    assert [cap.at(count, 10) for count in (0, 1, 3)] == [0, Fraction(1, 5), Fraction(7, 10)]
    for count, n_rows in ((2, 10), (1, 11)):
        with pytest.raises(CertificateError, match="does not list"):
            cap.at(count, n_rows)


@pytest.mark.parametrize(
    "told", [{"1": "x"}, {"x": "1"}, {"1": "1/0"}, {"2": "1/10"}, {"2": "11/10"}, {"1": "1/2", "3": "2/5"}]
)
def test_what_cannot_be_told_caps_is_refused(told: dict[str, str]) -> None:
    with pytest.raises(CertificateError, match="caps in the certificate"):
        CertificateCap.of(told, 10)
