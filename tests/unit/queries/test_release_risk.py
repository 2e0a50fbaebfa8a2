"""Risks of a release and of its original, by the same measure."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import betalike
from betalike.errors import ParameterError

NAMES = ["age", "city"]


def people(n: int = 900) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    age = rng.integers(20, 60, n)
    ill = np.where(rng.random(n) < age / 100, "gout", np.where(rng.random(n) < 0.5, "flu", "cough"))
    return pl.DataFrame({"age": age, "city": rng.choice(["Ulm", "Rom", "Bari"], n), "ill": ill})


PEOPLE = people()


def publish(scheme: str) -> betalike.Release:
    return betalike.publish(PEOPLE, quasi_identifiers=NAMES, sensitive="ill", beta=1, scheme=scheme, seed=2)


def counted(frame: pl.DataFrame) -> dict[str, float]:
    """The figures by group-by, person by person."""
    sized = frame.with_columns(size=pl.len().over(NAMES), same=pl.len().over([*NAMES, "ill"]))
    share = sized["same"] / sized["size"]
    prior = sized.with_columns(p=pl.len().over("ill") / pl.len())["p"]
    best = sized.group_by(NAMES).agg(most=pl.col("same").max())["most"]
    return {
        "prosecutor_average": (1 / sized["size"]).mean(),
        "prosecutor_maximum": (1 / sized["size"]).max(),
        "unique": (sized["size"] == 1).mean(),
        "surest_guess": share.max(),
        "average_guess": best.sum() / frame.height,
        "largest_gain": (share / prior).max() - 1,
    }  # type: ignore[dict-item]


def test_risks_before_and_after_are_counted_alike() -> None:
    release = publish("lmondrian")
    found = release.risk(PEOPLE).to_dict()
    for side, frame in (("before", PEOPLE), ("after", release.frame)):
        for name, figure in counted(frame).items():
            assert found[side][name] == pytest.approx(figure), (side, name)
    assert found["after"]["near_promise"] == release.certificate["risk"]["near_promise"]
    assert found["before"]["near_promise"] >= found["after"]["near_promise"]
    assert found["after"]["largest_gain"] == pytest.approx(release.certificate["promise"]["worst_gain"])
    assert [question["name"] for question in found["after"]["questions"]] == [
        "singling out",
        "linkability",
        "inference",
    ]


@pytest.mark.parametrize("scheme", ["perturb", "baseline"])
def test_exact_rows_are_found_as_before_but_guessed_by_their_chances(scheme: str) -> None:
    release = publish(scheme)
    found: dict[str, Any] = release.risk(PEOPLE).to_dict()
    assert found["after"]["prosecutor_average"] == found["before"]["prosecutor_average"]
    assert found["after"]["surest_guess"] == pytest.approx(release.certificate["risk"]["surest_guess"])
    assert found["after"]["largest_gain"] == pytest.approx(release.certificate["promise"]["worst_gain"], abs=1e-9)
    assert found["after"]["near_promise"] is None
    assert release.certificate["risk"]["prosecutor_average"] is None


def test_without_the_original_there_is_no_before_and_a_population_lowers_the_risk() -> None:
    found = publish("seam").risk(population=9000, thresholds=[0.5])
    assert found.before is None
    assert found.after.risk.marketer == pytest.approx(found.after.risk.prosecutor_average / 10)
    assert list(found.after.risk.above) == [0.5]
    assert "surest guess" in repr(found)
    assert found._repr_html_().count("<tr>") == 5 + 1 + 3
    with pytest.raises(ParameterError, match="population"):
        publish("seam").risk(population=1)
