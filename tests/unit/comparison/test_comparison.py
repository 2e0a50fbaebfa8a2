"""Comparing schemes: every figure is that of a release of its own, and matching makes schemes equal."""

from __future__ import annotations

import math

import polars as pl
import pytest

import betalike
from betalike.comparison.compare import DEFAULT_SCHEMES, Comparison, SchemeResult
from betalike.datasets import census_like, census_like_hierarchies
from betalike.errors import InfeasibleError, ParameterError
from betalike.promises import Likeness
from betalike.schemes import SCHEMES

pytestmark = pytest.mark.xdist_group("comparison")  # one process makes what these tests share

TABLE = census_like(rows=3000, seed=5)
COLUMNS = {"quasi_identifiers": ["age", "gender", "education"], "sensitive": "salary_class"}
TREES = {"hierarchies": census_like_hierarchies()}


def compare(**arguments: object) -> Comparison:
    return betalike.compare(TABLE, **COLUMNS, **TREES, **{"seed": 1, "queries": 200, **arguments})


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(beta=[2, 4])


def by_scheme(group: list[SchemeResult]) -> dict[str, SchemeResult]:
    return {compared.scheme: compared for compared in group}


def test_every_scheme_is_there_by_default(comparison: Comparison) -> None:
    assert set(DEFAULT_SCHEMES) == set(SCHEMES) - {"mondrian"}
    assert [compared.scheme for compared in comparison.groups[0]] == list(DEFAULT_SCHEMES)
    assert all(compared.refusal is None for compared in comparison.results)


def test_what_no_beta_changes_is_tried_once(comparison: Comparison) -> None:
    assert [compared.scheme for compared in comparison.groups[1]] == [s for s in DEFAULT_SCHEMES if s != "baseline"]


@pytest.mark.some(2)
@pytest.mark.parametrize("scheme", ["seam", "whole", "burel", "burel+split", "lmondrian", "dmondrian", "perturb"])
def test_figures_are_those_of_a_release(comparison: Comparison, scheme: str) -> None:
    compared = by_scheme(comparison.groups[1])[scheme]
    release = betalike.publish(TABLE, **COLUMNS, **TREES, beta=4, scheme=scheme, seed=1)
    facts, also = release.certificate["release"], release.certificate["also"]
    assert compared.loss == facts["average_loss"]
    assert compared.classes == facts["classes"]
    assert compared.smallest_class == facts["smallest_class"]
    assert compared.beta == pytest.approx(max(release.certificate["promise"]["worst_gain"], 0))
    assert (compared.t, compared.l, compared.delta) == (also["t"], also["l"], also["delta"])


def test_each_promise_is_kept(comparison: Comparison) -> None:
    for group, beta in zip(comparison.groups, (2, 4), strict=True):
        for compared in group:
            assert compared.beta is not None
            if compared.parameter == "beta":
                assert compared.asked == beta
                assert compared.beta <= beta
            elif compared.parameter == "delta":  # strict enough for the beta
                assert compared.beta <= beta
                assert compared.delta is not None
                assert compared.asked is not None
                assert compared.delta < compared.asked


def test_without_a_t_closeness_is_that_of_the_reference(comparison: Comparison) -> None:
    for group in comparison.groups:
        found = by_scheme(group)
        for scheme in ("tmondrian", "sabre"):
            assert found[scheme].asked == found["seam"].t
            assert found[scheme].t <= found["seam"].t  # type: ignore[operator]


def test_a_given_t_is_asked_once() -> None:
    comparison = compare(beta=[1, 3], schemes=["burel", "sabre"], t=0.3)
    assert [[c.scheme for c in group] for group in comparison.groups] == [["burel", "sabre"], ["burel"]]
    assert comparison.groups[0][1].asked == 0.3


@pytest.mark.parametrize("figure", ["t", "loss"])
def test_matching_makes_schemes_equal(figure: str) -> None:
    (group,) = compare(schemes=["burel", "tmondrian", "sabre", "lmondrian"], beta=3, match=figure).groups
    reference, *others = (getattr(compared, figure) for compared in group)
    for other in others:  # a scheme on few rows comes in steps, so near is not equal
        assert other == pytest.approx(reference, rel=0.2)


def test_queries_are_the_same_for_all_and_can_be_left_out() -> None:
    once = compare(schemes=["burel", "seam"])
    alone = compare(schemes=["seam"])
    assert once.results[1].count_error == alone.results[0].count_error
    assert all(compared.count_error is None for compared in compare(schemes=["seam"], queries=0).results)


def test_errors_are_those_of_a_workload(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("release") / "seam"
    betalike.publish(TABLE, **COLUMNS, **TREES, beta=4, scheme="seam", out=folder, seed=1)
    told = betalike.workload(folder, original=TABLE, queries=200, seed=1, **TREES)
    (compared,) = compare(schemes=["seam"], predicates=3).results
    assert compared.count_error == told.median_relative_error


def test_a_refusal_is_told_and_the_others_go_on() -> None:
    refused, kept = compare(schemes=["seam", "perturb", "lmondrian"], k=5).results[1:]
    assert "forms no classes" in str(refused.refusal)
    assert refused.loss is None
    assert kept.smallest_class is not None
    assert kept.smallest_class >= 5


def test_a_scheme_that_cannot_keep_the_promise_is_told_and_the_others_go_on() -> None:
    few = pl.DataFrame({"age": [1, 2, 3, 4], "illness": ["a", "b", "c", "d"]})
    asked = {"quasi_identifiers": ["age"], "sensitive": "illness", "beta": 0.01, "queries": 0}
    with pytest.raises(InfeasibleError):
        betalike.publish(few, scheme="perturb", quasi_identifiers=["age"], sensitive="illness", beta=0.01, seed=1)
    refused, kept = betalike.compare(few, schemes=["lmondrian", "perturb", "baseline"], **asked, seed=1).results[1:]
    assert refused.refusal
    assert kept.refusal is None


def test_basic_likeness_can_be_compared() -> None:
    (compared,) = compare(schemes=["lmondrian"], promise="basic", beta=2).results
    release = betalike.publish(TABLE, **COLUMNS, **TREES, beta=2, scheme="lmondrian", promise="basic", seed=1)
    assert compared.loss == release.certificate["release"]["average_loss"]


def test_a_document_tells_everything(comparison: Comparison) -> None:
    document = comparison.to_dict()
    assert document["rows"] == TABLE.height
    assert document["reference"] == "seam"
    assert len(document["schemes"]) == len(comparison.results)
    assert pl.DataFrame(document["schemes"]).height == len(comparison.results)
    assert all(math.isfinite(row["seconds"]) for row in document["schemes"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"schemes": ["seem"]}, "Did you mean 'seam'"),
        ({"schemes": []}, "at least one scheme"),
        ({"beta": []}, "one beta"),
        ({"beta": [2, -1]}, "beta is -1"),
        ({"match": "k"}, "must be one of: t, loss"),
        ({"match": "loss", "schemes": ["seam", "perturb"]}, "publishes quasi-identifiers exactly"),
        ({"schemes": ["sabre", "seam"]}, "give its t"),
        ({"t": 2.0}, "t is 2.0"),
        ({"promise": "kind"}, "promise is 'kind'"),
        ({"predicates": 4}, "predicates is 4"),
        ({"queries": -1}, "queries is -1"),
        ({"selectivity": 0}, "selectivity is 0"),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        compare(**arguments)


def test_likeness_of_the_reference_is_what_was_asked() -> None:
    (compared,) = compare(schemes=["mondrian"], beta=2).results
    assert compared.parameter == "beta"
    assert compared.beta is not None
    assert compared.beta <= Likeness(2).beta


VISITS = TABLE.with_columns(pl.Series("patient", [number % 60 for number in range(TABLE.height)]))
ROUNDED = {"round": {"age": 10}, "top": {"age": 70}, "bins": {"salary_class": 5}}


@pytest.mark.some(2)
@pytest.mark.parametrize("scheme", ["seam", "lmondrian"])
@pytest.mark.parametrize("asked", [ROUNDED, {"person": "patient", "k": 58}], ids=["rounded", "people"])
def test_rounded_ranges_bins_and_people_are_those_of_a_release(scheme: str, asked: dict[str, object]) -> None:
    (compared,) = betalike.compare(VISITS, **COLUMNS, beta=4, schemes=[scheme], seed=1, queries=0, **asked).results
    (trial,) = betalike.explore(VISITS, **COLUMNS, beta=[4], schemes=[scheme], seed=1, queries=0, **asked).trials
    facts = betalike.publish(VISITS, **COLUMNS, beta=4, scheme=scheme, seed=1, **asked).facts
    plain = betalike.publish(VISITS, **COLUMNS, beta=4, scheme=scheme, seed=1).facts
    assert facts.release.average_loss != plain.release.average_loss
    assert (compared.loss, compared.classes) == (facts.release.average_loss, facts.release.classes)
    smallest = facts.release.smallest_class if facts.people is None else facts.people.smallest_class
    assert (trial.loss, trial.smallest_class) == (facts.release.average_loss, smallest)
    assert compared.smallest_in_people == (None if facts.people is None else facts.people.smallest_class)


def test_schemes_are_made_equal_after_classes_were_merged_for_people() -> None:
    asked = {"person": "patient", "beta": 3, "schemes": ["burel", "lmondrian"], "match": "loss", "seed": 1}
    reference, other = betalike.compare(VISITS, **COLUMNS, queries=0, **asked).results
    assert other.loss == pytest.approx(reference.loss, rel=0.2)


def test_schemes_without_classes_say_that_they_cannot_round_or_count_people() -> None:
    asked = {"beta": 3, "schemes": ["burel", "perturb", "baseline"], "queries": 0, "seed": 1}
    for more, words in (
        ({"round": {"age": 10}}, "Leave round"),
        ({"person": "patient"}, "leave the person column out"),
    ):
        refusals = [str(it.refusal) for it in betalike.compare(VISITS, **COLUMNS, **asked, **more).results[1:]]
        assert all(words in refusal for refusal in refusals)
