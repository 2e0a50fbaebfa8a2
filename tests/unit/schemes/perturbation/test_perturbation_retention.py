"""Retentions: the paper's, and the best that keep the promise, compared with a general solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from betalike.errors import InfeasibleError, SchemaError
from betalike.promises import Form, Likeness, judge_transition
from betalike.schemes.perturbation import MOST_VALUES, DrawingRule, Perturbation, best_retention, theorem_3
from betalike.schemes.perturbation.retention import caps_of, common_level

SKEWED = [((900, 50, 50), 1), ((700, 100, 100, 100), 0.5), ((99, 1), 1), ((500, 100, 100, 100, 100, 100), 1)]


def solve(prior: np.ndarray, cap: np.ndarray) -> np.ndarray:
    """The largest product of retentions by a general solver, from Definition 6 as it stands: every pair is asked."""
    m = len(prior)

    def room(retention: np.ndarray) -> np.ndarray:
        matrix = np.diag(retention) + ((1 - retention) / m)[:, None]
        return (cap[:, None] * (prior @ matrix) - prior[:, None] * matrix).ravel()

    start = np.full(m, 0.9 * np.min((cap / prior - 1) / (m * (1 - cap) + cap / prior - 1)))
    result = minimize(
        lambda retention: -np.log(retention).sum(),
        start,
        bounds=[(1e-6, 1)] * m,
        constraints={"type": "ineq", "fun": room},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert room(result.x).min() > -1e-9
    return result.x


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("seed", range(12))
def test_no_solver_finds_a_larger_product(seed: int, form: Form) -> None:
    rng = np.random.default_rng(seed)
    counts = np.maximum(rng.dirichlet(np.full(rng.integers(2, 7), 0.7)) * 10_000, 20).astype(np.int64)
    prior, cap = caps_of(Likeness(float(rng.choice([0.3, 1, 2, 5])), form), counts)
    mine, solved = best_retention(prior, cap), solve(prior, cap)
    assert np.log(mine).sum() >= np.log(solved).sum() - 1e-6


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize(("counts", "beta"), SKEWED)
def test_skewed_tables_are_perturbed_by_the_best_rule(counts: tuple[int, ...], beta: float, form: Form) -> None:
    model, prior = Likeness(beta, form), np.array(counts)
    perturbing = Perturbation().perturbing(prior, model)
    assert perturbing.rule is DrawingRule.BEST_RETENTION
    verdict = judge_transition(model, perturbing.transition, prior)
    assert verdict.holds
    assert verdict.worst_ratio > 1 - 1e-9  # nothing is given away
    assert perturbing.transition.retention.min() > 0.01  # every value can be told from the others
    assert abs(np.linalg.det(perturbing.transition.probabilities)) > 1e-6


def test_the_papers_rule_stays_where_it_is_nearly_the_best() -> None:
    counts = np.array([300, 250, 250, 200])
    prior, cap = caps_of(Likeness(2), counts)
    perturbing = Perturbation().perturbing(counts, Likeness(2))
    assert perturbing.rule is DrawingRule.THEOREM_3
    assert perturbing.transition.retention == pytest.approx(theorem_3(prior, cap), abs=1e-12)


def test_a_cap_of_certainty_is_none_of_the_papers_cases() -> None:
    """Basic likeness with a frequent value: its cap is 1, its odds ratio infinite."""
    assert theorem_3(np.array([0.6, 0.4]), np.array([1.0, 0.8])) is None
    assert best_retention(np.array([0.6, 0.4]), np.array([1.0, 0.8])) == pytest.approx([2 / 3, 1])


@pytest.mark.parametrize("seed", range(20))
def test_the_common_level_is_the_highest_that_fits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    low = np.where(rng.random(6) < 0.5, 0.0, rng.random(6) * 0.3)
    high = low + rng.random(6)
    total = float(rng.uniform(low.sum(), high.sum() - 1e-3))
    level = common_level(low, high, total)
    assert np.clip(level, low, high).sum() == pytest.approx(total)


def test_a_greater_beta_never_keeps_less() -> None:
    counts = np.array([400, 300, 200, 80, 20])
    products = [np.log(best_retention(*caps_of(Likeness(beta), counts))).sum() for beta in (0.1, 0.5, 1, 2, 4, 8)]
    assert products == sorted(products)


@pytest.mark.parametrize(("counts", "beta"), [((5, 5), 0.01), ((1, 1), 0.3), (tuple([3] * 40), 0.2)])
def test_nothing_useful_is_said_to_be_infeasible(counts: tuple[int, ...], beta: float) -> None:
    with pytest.raises(InfeasibleError, match=r"say almost nothing.*larger beta.*baseline") as refusal:
        Perturbation().perturbing(np.array(counts), Likeness(beta))
    assert refusal.value.exit_status == 1


def test_too_many_values_are_refused() -> None:
    for mechanism, most in MOST_VALUES.items():
        with pytest.raises(SchemaError, match=f"at most {most}"):
            Perturbation(mechanism).perturbing(np.full(most + 1, 9), Likeness(4))


def test_details_tell_the_rule_and_how_much_is_kept() -> None:
    counts = np.array([60, 40])
    perturbing = Perturbation().perturbing(counts, Likeness(1))
    details = perturbing.details(counts)
    retention = perturbing.transition.retention
    assert details == {
        "rule": "best-retention",
        "least_retention": retention.min(),
        "greatest_retention": retention.max(),
        "kept_share": pytest.approx(0.6 * retention[0] + 0.4 * retention[1]),
    }
