"""An exploration, against releases that are published one by one."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import betalike
from betalike.comparison.exploration import find_knee
from betalike.errors import ParameterError
from betalike.report.exploration import shown_values

pytestmark = pytest.mark.xdist_group("comparison")  # one process makes what these tests share

NAMES = ["age", "gender", "education"]
ASKED = {"quasi_identifiers": NAMES, "sensitive": "salary_class", "seed": 5}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return betalike.datasets.census_like(2000, seed=1)


@pytest.fixture(scope="module")
def found(people: pl.DataFrame) -> betalike.Exploration:
    return betalike.explore(people, beta=[1, 2, 4], queries=20, consider=["country"], **ASKED)


def test_the_trials_are_what_publishing_gives(people: pl.DataFrame, found: betalike.Exploration) -> None:
    assert [trial.beta for trial in found.trials] == [1, 2, 4]
    for trial in found.trials:
        facts = betalike.publish(people, beta=trial.beta, **ASKED).facts
        assert trial.loss == facts.release.average_loss
        assert trial.surest_guess == 1 / facts.also.l
        assert trial.average_risk == (facts.release.classes or 0) / 2000
        assert trial.smallest_class == facts.release.smallest_class
        assert trial.count_error is not None


def test_caps_follow_from_the_definition(people: pl.DataFrame, found: betalike.Exploration) -> None:
    counts = dict(people["salary_class"].cast(pl.String).value_counts().iter_rows())
    assert {value.value: value.people for value in found.values} == counts
    for value in found.values:
        assert value.share == value.people / 2000
        expected = [value.share * (1 + min(beta, -math.log(value.share))) for beta in (1, 2, 4)]
        assert value.caps == pytest.approx(expected, rel=1e-12)


def test_a_column_costs_what_the_others_lose_more(people: pl.DataFrame, found: betalike.Exploration) -> None:
    assert [(it.column, it.is_added) for it in found.columns] == [*((n, False) for n in NAMES), ("country", True)]
    asked = {**ASKED, "beta": found.column_beta}
    whole = betalike.publish(people, **asked).facts.release
    for cost in found.columns:
        names = [*NAMES, "country"] if cost.is_added else [name for name in NAMES if name != cost.column]
        other = betalike.publish(people, **{**asked, "quasi_identifiers": names}).facts.release
        with_it, without = (other, whole) if cost.is_added else (whole, other)
        others = [name for name in NAMES if name != cost.column]
        for figure, release in ((cost.loss_with, with_it), (cost.loss_without, without)):
            assert figure == pytest.approx(sum(release.loss[name] for name in others) / len(others))
        assert cost.risk_with == (with_it.classes or 0) / 2000
        assert cost.risk_without == (without.classes or 0) / 2000


def test_the_knee_is_the_point_farthest_below_the_line_between_the_ends() -> None:
    assert find_knee([(1, 1.0), (2, 0.3), (4, 0.2), (8, 0.0)]) == 2
    assert find_knee([(1, 1.0), (2, 0.9), (4, 0.1), (8, 0.0)]) == 4
    assert find_knee([(1, 1.0), (2, 0.5), (4, 0.19), (8, 0.0)]) == 2  # 4, if beta were not taken logarithmically
    assert find_knee([(1, 1.0), (2, 0.9), (4, 0.8), (8, 0.0)]) is None  # above the line
    assert find_knee([(1, 0.5), (2, 0.5), (4, 0.5)]) is None
    assert find_knee([(1, 0.5), (2, 0.1)]) is None


def test_what_cannot_be_explored_is_refused(people: pl.DataFrame) -> None:
    with pytest.raises(ParameterError, match="forms no classes"):
        betalike.explore(people, schemes=["perturb"], **ASKED)
    with pytest.raises(ParameterError, match="one at a time"):
        betalike.explore(people, quasi_identifiers=["age"], sensitive=["gender", "salary_class"], seed=1)


def test_an_exploration_of_people_with_several_rows_counts_people() -> None:
    rng = np.random.default_rng(2)
    who = np.repeat(np.arange(150), 4)
    illness = rng.choice(["flu", "cold", "gout"], 150)[who].astype(object)
    illness[who < 2] = "rareillness"
    visits = pl.DataFrame({"who": who, "age": rng.integers(20, 50, 150)[who], "illness": list(illness)})
    asked = {"quasi_identifiers": ["age"], "sensitive": "illness", "person": "who", "seed": 5}
    found = betalike.explore(visits, beta=[2, 4], queries=0, **asked)
    assert found.has_people
    for trial in found.trials:
        facts = betalike.publish(visits, beta=trial.beta, **asked).facts
        assert facts.people is not None
        assert facts.people.risk is not None
        assert trial.average_risk == facts.people.risk.prosecutor_average
        assert trial.surest_guess == max(1 / facts.also.l, facts.people.risk.surest_guess)
        assert trial.smallest_class == facts.people.smallest_class
    people = {value.value: value.people for value in found.values}
    assert people == {value: len(set(who[illness == value])) for value in ("flu", "cold", "gout", "rareillness")}
    shown = [value["value"] for value in shown_values(found)]
    assert len(shown) == 2  # nor the next smallest, which would show the rare one by subtraction
    assert "rareillness" not in shown
