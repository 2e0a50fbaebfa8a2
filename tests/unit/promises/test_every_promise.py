"""Every promise against its twin: what is decided, what is measured, and what the rule for the schemes allows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import promise_twins
from betalike.errors import InputError, ParameterError
from betalike.promises.rule import is_allowed
from betalike.promises.verdict import wording
from examples import examples
from promise_cases import NAMES, Case, cases, models, told

EVERY_PROMISE = pytest.mark.parametrize("name", NAMES)


@pytest.mark.some(2)
@examples(60)
@EVERY_PROMISE
@given(case=cases(), data=st.data())
def test_a_promise_holds_just_where_its_definition_does(name: str, case: Case, data: st.DataObject) -> None:
    model = data.draw(models(name, case))
    verdict = model.judge(case.classes, case.table, case.axis)
    broken = promise_twins.broken(told(model), case.twins, case.prior)
    assert verdict.holds is (not broken)
    assert model.name == name


@pytest.mark.some(2)
@EVERY_PROMISE
@given(case=cases(), data=st.data())
def test_schemes_are_allowed_just_what_the_promise_allows(name: str, case: Case, data: st.DataObject) -> None:
    model = data.draw(models(name, case))
    rule = model.rule(case.table, case.axis, max(map(sum, case.matrix)))
    for row, twin in zip(case.matrix, case.twins, strict=True):
        is_kept = promise_twins.keeps(told(model), twin, case.prior)
        allowed = is_allowed(rule, np.array(row), sum(row))
        if name == "entropy-l-diversity":  # a rounded entropy may only be judged too strictly, and by very little
            assert allowed <= is_kept
            is_kept = is_kept and promise_twins.used(told(model), twin, case.prior) < 1 - 1e-9
            assert allowed >= is_kept
        else:
            assert allowed == is_kept


@pytest.mark.some(2)
@EVERY_PROMISE
@given(case=cases(), data=st.data())
def test_a_verdict_tells_how_much_the_worst_class_uses(name: str, case: Case, data: st.DataObject) -> None:
    model = data.draw(models(name, case))
    verdict = model.judge(case.classes, case.table, case.axis)
    assert verdict.worst_gain == pytest.approx(promise_twins.worst_gain(case.twins, case.prior.counts), abs=1e-12)
    assert verdict.smallest_class == min(map(sum, case.matrix))
    if verdict.holds:
        used = [promise_twins.used(told(model), ec, case.prior) for ec in case.twins]
        assert verdict.worst_ratio == pytest.approx(max(used), abs=1e-12)
        assert verdict.worst_ratio <= 1
        least, most = (
            sum(sum(row) for row, part in zip(case.matrix, used, strict=True) if part >= 0.9 + e) for e in (1e-8, -1e-8)
        )
        assert verdict.near_rows is not None
        assert least <= verdict.near_rows <= most
        assert used[verdict.worst_class] == pytest.approx(max(used), abs=1e-12)
    elif name not in ("enhanced-likeness", "basic-likeness"):
        worst = case.twins[verdict.worst_class]
        assert not promise_twins.keeps(told(model), worst, case.prior)
    assert case.matrix[verdict.worst_class][verdict.worst_value] > 0


@pytest.mark.some(2)
@EVERY_PROMISE
@given(case=cases(), data=st.data())
def test_merging_two_classes_never_breaks_a_promise(name: str, case: Case, data: st.DataObject) -> None:
    """Rows with the same labels are one class for a reader, so what schemes form apart must stay true together."""
    model = data.draw(models(name, case))
    if model.judge(case.classes, case.table, case.axis).holds:
        merged = Case([np.sum(case.matrix, axis=0).tolist()], case.counts, case.axis)
        assert model.judge(merged.classes, case.table, case.axis).holds


@EVERY_PROMISE
@given(case=cases(), data=st.data())
def test_a_table_is_refused_if_it_breaks_the_promise_itself(name: str, case: Case, data: st.DataObject) -> None:
    model = data.draw(models(name, case))
    whole = Case([case.counts], case.counts, case.axis)
    is_secret = sum(n > 0 for n in case.counts) > 1
    if is_secret and promise_twins.keeps(told(model), whole.twins[0], whole.prior):
        model.check_feasible(case.table, case.axis)
    else:
        with pytest.raises(ParameterError if is_secret else InputError):
            model.check_feasible(case.table, case.axis)


@pytest.mark.some(2)
@EVERY_PROMISE
@given(case=cases(), data=st.data())
def test_a_promise_is_worded_with_its_numbers(name: str, case: Case, data: st.DataObject) -> None:
    model = data.draw(models(name, case))
    words = wording(model)
    assert words.startswith(f"{name} with ")
    for parameter, value in model.parameters.items():
        assert f"{parameter} {value}" in words if isinstance(value, str) else f"{parameter} {value:g}" in words
    assert (f"k {model.k}" in words) is (model.k > 1)
