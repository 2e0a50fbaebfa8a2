"""Composition: two releases that are harmless alone, with the same and with other quasi-identifiers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from crowds import crowd, target_of

import betalike
from betalike.attacks import Target, composition, open_target
from betalike.attacks.composition import combined, compose
from betalike.errors import InputError
from betalike.runtime.randomness import SeededRandomness

DIVERSE = {"scheme": "mondrian", "model": "distinct-l-diversity", "l": 2}


def crossed(n_rows: int = 400) -> pl.DataFrame:
    """The disease is the pair of a person's street and house: each alone leaves two of four open."""
    street, house = np.arange(n_rows) % 2, np.arange(n_rows) // 2 % 2
    return pl.DataFrame(
        {"street": street, "house": house, "disease": [f"d{2 * s + h}" for s, h in zip(street, house, strict=True)]}
    )


def released(frame: pl.DataFrame, *columns: str) -> Target:
    release = betalike.publish(frame, quasi_identifiers=list(columns), sensitive="disease", **DIVERSE)
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
    with pytest.raises(InputError, match="not of the same table"):
        composition(released(crossed(), "street"), released(crossed(500), "house"))


def test_a_release_without_values_adds_nothing() -> None:
    assert "adds nothing" in (composition(target_of(crowd(200), scheme="baseline", beta=1)).refusal or "")


def test_every_certificate_says_that_a_table_is_published_once() -> None:
    for scheme in ("seam", "perturb", "baseline"):
        release = betalike.publish(
            crowd(500), quasi_identifiers=["age", "city"], sensitive="disease", beta=3, scheme=scheme
        )
        assert any("publish it once" in warning for warning in release.certificate["warnings"])
