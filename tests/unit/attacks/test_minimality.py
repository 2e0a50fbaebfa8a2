"""Minimality: decisions against brute force, and what they say about releases by each scheme."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from crowds import crowd, target_of

from betalike.attacks import minimality
from betalike.attacks.scheme_decisions import decision_of
from betalike.promises import Likeness
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes import make_scheme

SEED = SeededRandomness(1)


def one_column(ages: list[int], diseases: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"age": ages, "city": ["Rom"] * len(ages), "disease": diseases})


def is_allowed(values: list[int], caps: list[Fraction]) -> bool:
    return all(Fraction(n, len(values)) <= caps[v] for v, n in Counter(values).items())


def halves_best(ages: list[int]) -> int:
    """The last age on the left of the cut that parts people most evenly, the first of equals."""
    return min(sorted(set(ages))[:-1], key=lambda age: abs(2 * sum(a <= age for a in ages) - len(ages)))


@pytest.mark.parametrize("beta", [0.5, 1.0])
def test_lmondrian_leaves_the_classes_that_a_slow_twin_leaves(beta: float) -> None:
    frame = one_column([1, 1, 2, 2, 2, 9, 9, 9, 9, 9], list("aabcdabcdd"))
    target = target_of(frame, scheme="baseline", beta=1)
    model = Likeness(beta)
    exact = model.caps(target.cells.value_counts)
    caps = [Fraction(int(a), int(b)) for a, b in zip(exact.numerator, exact.denominator, strict=True)]
    decide = decision_of(make_scheme("lmondrian", SEED), target.cells, model)
    assert decide is not None
    ages = [1, 1, 2, 2, 2]
    points = np.array([0, 0, 1, 1, 1], dtype=np.int32)
    border = halves_best(ages)
    assignments = [list(p) for p in sorted(set(itertools.permutations([0, 0, 1, 2, 3])))]
    expected = []
    for values in assignments:
        left = [v for v, age in zip(values, ages, strict=True) if age <= border]
        right = [v for v, age in zip(values, ages, strict=True) if age > border]
        expected.append(not (is_allowed(left, caps) and is_allowed(right, caps)))
    assert decide(points, np.array(assignments, dtype=np.int32)).tolist() == expected


def test_a_class_that_was_not_cut_tells_where_its_frequent_value_is() -> None:
    """Of {1, 1, 2, 2, 2} with two a: no side may have both, so one has; it is three times as often the right one."""
    frame = one_column([1, 2] * 15, list("aaaaaaaaabbbbbbbcccccccddddddd"))  # caps .66 for a, .51 for the others
    target = target_of(frame, scheme="baseline", beta=1)
    decide = decision_of(make_scheme("lmondrian", SEED), target.cells, Likeness(1.2))
    assert decide is not None
    assignments = np.array(sorted(set(itertools.permutations([0, 0, 1, 2, 3]))), dtype=np.int32)
    kept = assignments[decide(np.array([0, 0, 1, 1, 1], dtype=np.int32), assignments)]
    has_a = (kept == 0).mean(axis=0)
    assert has_a == pytest.approx([0.25, 0.25, 0.5, 0.5, 0.5])


def test_burel_decides_by_counts_alone() -> None:
    target = target_of(crowd(300), scheme="baseline", beta=1)
    decide = decision_of(make_scheme("burel", SEED), target.cells, Likeness(1.0))
    assert decide is not None
    assert decide(np.zeros(4, dtype=np.int32), np.array([[0, 1, 2, 3], [3, 2, 1, 0]], dtype=np.int32)).all()


def test_seam_and_burel_give_little_away_by_not_cutting() -> None:
    frame = crowd(1_500)
    seam = minimality(target_of(frame, scheme="seam", beta=0.5), SeededRandomness(1))
    assert seam.details["uncut"]["classes"] > 0
    assert seam.details["uncut"]["gain_high"] < 0.2
    burel = minimality(target_of(frame, scheme="burel", beta=0.5), SeededRandomness(1))
    assert burel.details["uncut"]["gain"] == 0
    assert burel.success == burel.control
    assert burel.details["uncut"]["worst_ratio"] <= 1


def test_schemes_without_classes_or_known_decisions_are_not_attacked() -> None:
    frame = crowd(400)
    assert "no classes" in (minimality(target_of(frame, scheme="baseline", beta=1)).refusal or "")
    assert "'sabre'" in (minimality(target_of(frame, scheme="sabre", t=0.3)).refusal or "")


@pytest.mark.parametrize("options", [{}, {"attribute": "narrowest", "second_try": False}])
def test_other_schemes_can_be_attacked(options: dict[str, object]) -> None:
    frame = crowd(600)
    for scheme in ("lmondrian", "burel+split"):
        told = {"options": options} if scheme == "lmondrian" else {}
        result = minimality(target_of(frame, scheme=scheme, beta=1, **told), SeededRandomness(1))
        assert result.success is not None
        assert 0 < result.details["kept_share"] <= 1
