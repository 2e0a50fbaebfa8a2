"""Composition: two releases that are harmless alone, with the same and with other quasi-identifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from crowds import crowd, target_of

import betalike
from betalike.attacks import Target, composition, open_second, open_target
from betalike.attacks.composition import combined, compose
from betalike.errors import InputError
from betalike.runtime.randomness import SeededRandomness

DIVERSE = {"scheme": "mondrian", "promise": "distinct-l-diversity", "l": 2}


def crossed(n_rows: int = 400) -> pl.DataFrame:
    """The disease is the pair of a person's street and house: each alone leaves two of four open."""
    street, house = np.arange(n_rows) % 2, np.arange(n_rows) // 2 % 2
    return pl.DataFrame(
        {"street": street, "house": house, "disease": [f"d{2 * s + h}" for s, h in zip(street, house, strict=True)]}
    )


def released(frame: pl.DataFrame, *columns: str) -> Target:
    release = betalike.publish(frame, quasi_identifiers=list(columns), sensitive="disease", **DIVERSE, seed=1)
    return open_target(release, original=frame)


def test_two_harmless_releases_tell_everything_together_and_nothing_if_shuffled() -> None:
    frame = crossed()
    one, two = released(frame, "street"), released(frame, "house")
    result = composition(one, two, SeededRandomness(1))
    assert result.success is not None
    assert result.baseline is not None
    assert result.control is not None
    assert result.success.rate == 1.0
    assert result.baseline.rate == 0.5
    assert result.control.rate < 0.4
    assert result.is_significant
    assert result.details["worst_gain"] == pytest.approx(3.0)  # from a quarter to certainty
    assert result.details["worst_gain_alone"] == pytest.approx(1.0)
    assert "A table is published once." in result.sentence


def test_a_release_and_itself_are_combined_by_bayes_rule() -> None:
    frame = crossed()
    one = released(frame, "street")
    found = compose(one, one, SeededRandomness(1))
    assert found.right_alone == (200, 200)
    assert found.people == 400
    chances = combined(np.array([[0.5, 0.5, 0.0]]), np.array([[0.8, 0.0, 0.2]]), np.array([0.5, 0.25, 0.25]))
    assert chances.tolist() == [[1.0, 0.0, 0.0]]


@pytest.mark.parametrize("scheme", ["seam", "burel", "lmondrian", "perturb"])
def test_a_second_release_is_made_up(scheme: str) -> None:
    target = target_of(crowd(800), scheme=scheme, beta=1)
    result = composition(target, randomness=SeededRandomness(1))
    assert result.success is not None
    assert result.details["second"] == ("burel" if scheme == "lmondrian" else "lmondrian")
    assert result.details["worst_gain"] > result.details["worst_gain_alone"]


def test_releases_of_different_tables_are_refused() -> None:
    with pytest.raises(InputError, match=r"of another table\. Open it with open_second"):
        composition(released(crossed(), "street"), released(crossed(500), "house"))


def attacked(first: pl.DataFrame, second: pl.DataFrame, column: str) -> betalike.attacks.AttackResult:
    """Attack a release of a table by its streets with one of another table by another column."""
    one = betalike.publish(first, quasi_identifiers=["street"], sensitive="disease", seed=1, **DIVERSE)
    two = betalike.publish(second, quasi_identifiers=[column], sensitive="disease", seed=1, **DIVERSE)
    return betalike.attack(one, original=first, second=two, attacks=["composition"], seed=1)["composition"]


def test_a_release_of_another_year_tells_as_much_as_one_of_the_same_table() -> None:
    result = attacked(crossed(400), crossed(360), "house")
    assert result.details["second_rows"] == 360
    assert "another table with 360 rows" in result.sentence
    assert "(400 of 400 lie in a class)" in result.sentence
    assert result.control is not None
    assert result.control.rate < 0.4
    assert result.success is not None
    assert result.success.rate == 1.0
    assert result.details["worst_gain"] == pytest.approx(3.0)
    assert result.details["worst_gain_alone"] == pytest.approx(1.0)


def test_people_are_looked_up_by_what_they_have_in_the_first_table() -> None:
    second = crossed(360).with_columns(pl.col("house") * 5)  # in the houses 0 and 5
    first = crossed(400)
    result = attacked(first, second, "house")
    assert result.people == 200
    assert "(200 of 400 lie in a class)" in result.sentence
    assert attacked(first, second.with_columns(pl.col("house") + 9), "house").refusal == (
        "nobody of this table lies in a class of the second release, so the two say nothing together."
    )


def test_values_that_the_other_table_has_not_are_ruled_out_and_unknown_ones_do_not_matter() -> None:
    first, second = crossed(400), crossed(360)
    renamed = second.with_columns(pl.col("disease").replace({"d3": "new"}))
    assert attacked(first, renamed, "house").success is not None
    strangers = second.with_columns(pl.col("disease") + "x")
    assert "no sensitive value in common" in str(attacked(first, strangers, "house").refusal)


def test_a_release_with_another_sensitive_column_is_refused() -> None:
    first, second = crossed(400), crossed(360).rename({"disease": "job"})
    one = betalike.publish(first, quasi_identifiers=["street"], sensitive="disease", seed=1, **DIVERSE)
    two = betalike.publish(second, quasi_identifiers=["house"], sensitive="job", seed=1, **DIVERSE)
    with pytest.raises(InputError, match="the second release protects the column 'job', and the first one 'disease'"):
        open_second(two, open_target(one, original=first), original=first)


def test_years_of_a_register_with_ages_places_and_missing_values() -> None:
    rng = np.random.default_rng(7)
    age, city = rng.integers(20, 70, 900), rng.choice(["a", "b", "c"], 900)
    value = rng.choice(["flu", "gout", "cough"], 900, p=[0.5, 0.3, 0.2])
    first = pl.DataFrame({"age": [None, *age[1:].tolist()], "city": city, "disease": value})
    moved = first.with_columns(pl.col("age") + 1, pl.col("city").replace({"c": "d"})).head(850)
    options: dict[str, Any] = {"sensitive": "disease", "quasi_identifiers": ["age", "city"], "beta": 2, "seed": 1}
    for more in ({"round": {"age": 5}, "top": {"age": 60}}, {"scheme": "perturb"}, {"scheme": "baseline"}):
        one, two = betalike.publish(first, **options), betalike.publish(moved, **options, **more)
        result = betalike.attack(one, original=first, second=two, attacks=["composition"], seed=1)["composition"]
        assert result.refusal is None
        assert 0 < result.people <= 900
        assert result.details["worst_gain"] >= 0


def test_a_release_without_values_adds_nothing() -> None:
    assert "adds nothing" in (composition(target_of(crowd(200), scheme="baseline", beta=1)).refusal or "")


def test_every_certificate_says_that_a_table_is_published_once() -> None:
    for scheme in ("seam", "perturb", "baseline"):
        release = betalike.publish(
            crowd(500), quasi_identifiers=["age", "city"], sensitive="disease", beta=3, scheme=scheme, seed=1
        )
        assert any("publish it once" in warning for warning in release.certificate["warnings"])
