"""Skewness and similarity on the paper's own examples."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from crowds import TREE, crowd, target_of

from betalike.attacks import Generalized, open_target, similarity, skewness
from betalike.attacks.skewness import groups_of
from betalike.runtime.randomness import SeededRandomness

NERVOUS = ["headache", "epilepsy", "brain tumors"]
TABLE_1 = pl.DataFrame(
    {
        "weight": [70, 60, 50, 70, 80, 60],
        "age": [40, 60, 50, 50, 50, 70],
        "disease": [*NERVOUS, "heart murmur", "anemia", "angina"],
    }
)
FIGURE_1 = [[d, "nervous diseases" if d in NERVOUS else "circulatory diseases", "*"] for d in TABLE_1["disease"]]


def hiv_table() -> pl.DataFrame:
    """Section 2: 0.1 % have HIV; the ten youngest have ten different values, one of them HIV."""
    others = [f"d{number}" for number in range(1, 10)]
    diseases = ["HIV", *others, *(["HIV"] * 9), *(others[i % 9] for i in range(9_981))]
    return pl.DataFrame({"age": [1] * 10 + [30] * 9_990, "disease": diseases})


def test_ten_diverse_classes_make_hiv_a_hundred_times_as_likely() -> None:
    import betalike

    frame = hiv_table()
    release = betalike.publish(
        frame,
        quasi_identifiers=["age"],
        sensitive="disease",
        scheme="mondrian",
        promise="distinct-l-diversity",
        l=10,
        seed=1,
    )
    result = skewness(open_target(release, original=frame), SeededRandomness(1))
    assert result.details["worst_value"] == "HIV"
    assert result.details["worst_gain"] == pytest.approx(99)  # from 0.1 % to 10 %
    assert result.details["gains"]["d1"] < 0.2
    assert "100 times as likely" in result.sentence


def test_three_diverse_classes_tell_a_nervous_disease() -> None:
    import betalike

    arguments = {"scheme": "mondrian", "promise": "distinct-l-diversity", "l": 3, "hierarchies": {"disease": FIGURE_1}}
    by_hand = TABLE_1.with_columns(age=pl.Series([1, 1, 1, 2, 2, 2]), weight=1)  # the paper's two classes
    release = betalike.publish(by_hand, quasi_identifiers=["weight", "age"], sensitive="disease", **arguments, seed=1)
    assert release.certificate["release"]["classes"] == 2
    target = open_target(release, original=by_hand, hierarchies={"disease": FIGURE_1})
    result = similarity(target, SeededRandomness(1))
    assert result.success is not None
    assert result.baseline is not None
    assert result.success.rate == 1.0  # everybody's group is certain
    assert result.baseline.rate == 0.5
    assert result.details["worst_gain"] == pytest.approx(1.0)
    alone = skewness(target, SeededRandomness(1))
    assert alone.success is not None
    assert alone.success.rate == pytest.approx(1 / 3)


def test_it_breaks_a_release_that_is_only_anonymous_and_not_its_control() -> None:
    target = target_of(crowd(), hierarchies={"disease": TREE})
    for attack, most in ((skewness, 0.5), (similarity, 0.8)):
        result = attack(target, SeededRandomness(1))
        assert result.success is not None
        assert result.control is not None
        assert result.is_significant
        assert result.success.rate > most > result.control.rate


def test_success_is_that_of_the_most_frequent_value_of_each_class() -> None:
    frame = crowd(600)
    target = target_of(frame, scheme="seam", beta=1.5)
    assert isinstance(target, Generalized)
    right = sum(int(target.classes.count[target.classes.ec == ec].max()) for ec in range(len(target.classes.sizes)))
    result = skewness(target, SeededRandomness(1))
    assert result.success is not None
    assert result.success.rate == pytest.approx(right / 600)
    assert result.details["worst_gain"] <= 1.5
    assert result.details["worst_ratio"] <= 1 + 1e-9


def test_a_perturbed_release_shows_what_its_matrix_shows() -> None:
    target = target_of(crowd(5_000), scheme="perturb", beta=2)
    result = skewness(target, SeededRandomness(1))
    joint = target.prior[:, None] * target.transition  # type: ignore[attr-defined]
    assert result.success is not None
    assert result.success.rate == pytest.approx(joint.max(axis=0).sum(), abs=1e-4)
    assert result.details["worst_gain"] == pytest.approx((joint / joint.sum(axis=0) / target.prior[:, None]).max() - 1)


def test_groups_are_the_inner_nodes() -> None:
    target = target_of(crowd(200), hierarchies={"disease": TREE})
    assert {name: values.tolist() for name, values in groups_of(target.cells.sensitive).items()} == {
        "chest": [0, 1, 2],
        "other": [3, 4],
    }


def test_without_a_hierarchy_there_are_no_groups() -> None:
    assert "no hierarchy groups the sensitive values" in (similarity(target_of(crowd(200))).refusal or "")


def test_a_gain_of_a_group_is_at_most_beta() -> None:
    target = target_of(crowd(), hierarchies={"disease": TREE}, scheme="seam", beta=0.5)
    details = similarity(target, SeededRandomness(1)).details
    assert np.max(list(details["gains"].values())) <= 0.5 + 1e-9
    assert details["groups_above_their_cap"] in (0, 1, 2)
