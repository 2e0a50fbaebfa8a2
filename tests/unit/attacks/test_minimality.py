"""Minimality: decisions and orders against brute force, and what they tell of releases by each scheme."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from crowds import crowd, target_of

from betalike.attacks import minimality
from betalike.attacks.band_rows import BandCut, chances_in_cut, cuts_of_seam
from betalike.attacks.band_sampler import n_off
from betalike.attacks.order_sampler import find_start, walk
from betalike.attacks.row_order import Order, Part, chances_of, orders_of_split
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


def test_rows_that_the_split_sends_keep_their_order() -> None:
    cells = target_of(crowd(1_500), scheme="baseline", beta=1).cells
    halvings, bucket_of_value = orders_of_split(cells, Likeness(1.2), SeededRandomness(1), 100)
    assert len(halvings) > 10
    assert all(order.is_kept(bucket_of_value) for order in halvings)


def some_order() -> Order:
    far, near = Part(np.array([1, 2, 3, 5]), np.array([0, 1, 0, 1])), Part(np.array([4, 6, 7]), np.array([0, 1, 2]))
    return Order(far, near, True, True)


def test_chances_are_those_of_all_assignments_that_keep_the_order() -> None:
    order, kinds = some_order(), np.arange(3)
    kept = []
    for far in set(itertools.permutations(order.far.value.tolist())):
        for near in set(itertools.permutations(order.near.value.tolist())):
            tried = Order(
                Part(order.far.position, np.array(far)),
                Part(order.near.position, np.array(near)),
                True,
                True,
            )
            if tried.is_kept(kinds):
                kept.append((far, near))
    assert 2 < len(kept) < 36
    exact = np.array([[np.mean([far[i] == v for far, _ in kept]) for v in range(3)] for i in range(4)])
    found = np.mean([chances_of(order, kinds, SeededRandomness(seed).words(10))[0].share for seed in range(20)], axis=0)  # type: ignore[index]
    assert np.abs(found - exact).max() < 0.05


def test_a_walk_keeps_the_order_and_the_values() -> None:
    cells = target_of(crowd(1_500), scheme="baseline", beta=1).cells
    orders, kinds = orders_of_split(cells, Likeness(1.2), SeededRandomness(1), 100)
    order = max(orders, key=lambda each: len(each.near.value))
    values = order.far.value.astype(np.int32), order.near.value.astype(np.int32)
    state = np.array([12345], dtype=np.uint64)
    lines = order.far.position, order.near.position
    assert find_start(*lines, *values, kinds, state) == 0
    for n_rounds in (0, 5):
        places = tuple(np.unique(line, return_inverse=True)[1] for line in lines)
        tallies = tuple(np.zeros((int(place.max()) + 1, 5)) for place in places)
        walk(*lines, *values, kinds, places, tallies, 0, n_rounds, state)
        now = Order(Part(lines[0], values[0]), Part(lines[1], values[1]), True, True)
        assert now.is_kept(kinds)
        assert sorted(values[0]) == sorted(order.far.value)
        assert sorted(values[1]) == sorted(order.near.value)
        assert tallies[0].sum() == n_rounds * len(order.far.value)


def chance_of_rows(cut: BandCut, value: np.ndarray) -> float:
    """The chance that SEAM sends just these members, if they have these values; 0 if it would fill cores otherwise."""
    left = np.bincount(value[cut.side == 0], minlength=len(cut.group.total)).astype(np.float64)
    if n_off(cut.group, left, cut.cores) > 0:
        return 0.0
    chance = 1.0
    for side, v in itertools.product((0, 1), range(len(cut.group.total))):
        mine = (cut.side == side) & (value == v) & cut.is_near
        chance /= math.comb(int(mine.sum()), int((mine & (cut.part == 2)).sum()))
    return chance


def test_chances_in_a_seam_are_those_of_all_assignments_by_their_weight() -> None:
    cells = target_of(crowd(80, seed=2, noise=0.8), scheme="baseline", beta=1).cells
    cuts = cuts_of_seam(cells, Likeness(2.0), SeededRandomness(1))

    def n_assignments(cut: BandCut) -> int:
        counts = [Counter(cut.value[cut.part == part].tolist()) for part in range(3)]
        ways = [math.factorial(sum(c.values())) // math.prod(map(math.factorial, c.values())) for c in counts]
        return math.prod(ways)

    small = [cut for cut in cuts if 20 < n_assignments(cut) < 1_000]
    assert len(small) > 2
    for cut in small:
        parts = [np.flatnonzero(cut.part == part) for part in range(3)]
        orders = [sorted(set(itertools.permutations(cut.value[part].tolist()))) for part in parts]
        exact = np.zeros((int(cut.place.max()) + 1, len(cut.group.total)))
        for chosen in itertools.product(*orders):
            value = cut.value.copy()
            for part, values in zip(parts, chosen, strict=True):
                value[part] = values
            np.add.at(exact, (cut.place, value), chance_of_rows(cut, value))
        assert exact.sum() > 0
        exact /= exact.sum(axis=1, keepdims=True)
        found = [chances_in_cut(cut, SeededRandomness(seed).words(10)) for seed in range(20)]
        assert np.abs(np.mean([half for each in found if each for half in each], axis=0) - exact).max() < 0.06


def test_a_cut_of_seam_is_explained_by_its_true_values() -> None:
    cells = target_of(crowd(1_500), scheme="baseline", beta=1).cells
    cuts = cuts_of_seam(cells, Likeness(1.0), SeededRandomness(1))
    assert len(cuts) > 5
    assert all(chance_of_rows(cut, cut.value) > 0 for cut in cuts)


def test_rows_sent_to_a_seam_give_less_away_than_the_order_did() -> None:
    frame = crowd(1_500)
    seam = minimality(target_of(frame, scheme="seam", beta=0.5), SeededRandomness(1))
    assert seam.details["sent"]["classes"] > 0
    assert seam.details["sent"]["gain_high"] < 0.2
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
