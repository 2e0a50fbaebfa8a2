"""deFinetti works on Anatomy where values follow quasi-identifiers, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from crowds import crowd, target_of

from betalike.attacks import Generalized, definetti
from betalike.attacks.control_release import shuffled
from betalike.attacks.definetti import Assigning, People, attack_people, most_points, posterior_of
from betalike.runtime.randomness import SeededRandomness
from betalike.table.cells import Cells
from experiments.attacks.anatomy import anatomize


def cells_of(n_rows: int = 3_000, noise: float = 0.2) -> Cells:
    return target_of(crowd(n_rows, noise=noise), scheme="baseline", beta=1).cells


@pytest.mark.parametrize("diversity", [2, 3, 4])
def test_anatomy_has_groups_of_different_values(diversity: int) -> None:
    cells = cells_of(501)
    plan = anatomize(cells, diversity, SeededRandomness(1))
    assert plan.class_counts.count.max() == 1
    assert set(plan.class_counts.sizes.tolist()) <= {diversity, diversity + 1}
    assert np.array_equal(np.bincount(plan.cell, plan.count, len(cells.count)), cells.count)


def test_success_on_anatomy_falls_with_l_and_is_blind_on_the_control() -> None:
    cells = cells_of()
    mixed = shuffled(cells, SeededRandomness(2))
    rates = []
    for diversity in (2, 3, 4):
        plan, control = (anatomize(each, diversity, SeededRandomness(1)) for each in (cells, mixed))
        rate, _ = attack_people(People.by_plan(plan), plan.class_counts)
        blind, _ = attack_people(People.by_plan(control), control.class_counts)
        assert rate.rate > 1 / diversity + 0.2
        assert blind.rate == pytest.approx(1 / diversity, abs=0.06)
        rates.append(rate.rate)
    assert rates == sorted(rates, reverse=True)


def test_it_breaks_a_release_that_is_only_anonymous_and_not_its_control() -> None:
    result = definetti(target_of(crowd()), SeededRandomness(1))
    assert result.success is not None
    assert result.control is not None
    assert result.success.rate > 0.6
    assert result.control.rate < 0.45
    assert result.is_significant


@pytest.mark.parametrize("scheme", ["seam", "burel", "lmondrian"])
def test_assignments_keep_the_people_and_the_values(scheme: str) -> None:
    target = target_of(crowd(800), scheme=scheme, beta=1)
    assert isinstance(target, Generalized)
    people = People.by_labels(target, SeededRandomness(1))
    posterior, n_rounds = posterior_of(people, target.classes)
    assert 1 <= n_rounds <= 30
    assert posterior.sum(axis=1) == pytest.approx(people.sizes)
    assert posterior.sum(axis=0) == pytest.approx(target.cells.value_counts, rel=0.1)


def test_one_step_is_the_slow_obvious_one() -> None:
    target = target_of(crowd(60), scheme="burel", beta=1)
    assert isinstance(target, Generalized)
    people, m = People.by_labels(target, SeededRandomness(1)), target.n_values
    rng = np.random.default_rng(1)
    likelihood = rng.random((len(people.codes), m))
    share = np.zeros((len(target.low), m))
    share[target.classes.ec, target.classes.value] = target.classes.count / target.classes.sizes[target.classes.ec]
    expected = np.zeros_like(likelihood)
    for group, code in enumerate(people.codes):
        covering = [
            ec for ec in range(len(target.low)) if (target.low[ec] <= code).all() and (code <= target.high[ec]).all()
        ]
        assert covering == people.classes[people.starts[group] : people.starts[group + 1]].tolist()
        for ec in covering:
            expected[group] += likelihood[group] * share[ec]
        expected[group] *= people.sizes[group] / expected[group].sum()
    assert Assigning(people, target.classes).assign(likelihood) == pytest.approx(expected)


def test_a_release_without_classes_is_not_attacked() -> None:
    for scheme in ("perturb", "baseline"):
        assert "no classes" in (definetti(target_of(crowd(2_000), scheme=scheme, beta=3)).refusal or "")


def test_of_very_many_people_some_are_attacked() -> None:
    target = target_of(crowd())
    assert isinstance(target, Generalized)
    box = target.low, target.high
    few, many = (most_points(target.cells.points, *box, n, SeededRandomness(1)) for n in (10**9, 5))
    assert few < 1000 < many
    people = People.by_labels(target, SeededRandomness(1), most=50)
    assert len(people.codes) == 50
    assert people.share == pytest.approx(people.sizes.sum() / 2_000)
    assert 250 < people.count.sum() < 1_000
    rate, _ = attack_people(people, target.classes)
    assert rate.rate > 0.5
