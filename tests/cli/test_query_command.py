"""`betalike query` and `betalike workload`: what they print, as text and as JSON, and what they refuse."""

from __future__ import annotations

import re

import pytest
from workbench import CANARY, Desk, assert_refused, run

import betalike


@pytest.fixture
def desk_with_release(desk: Desk) -> Desk:
    assert desk.publish(hierarchies=desk.hierarchies(), seed=1).status == 0
    return desk


def test_a_count_with_its_interval_and_bounds(desk_with_release: Desk) -> None:
    asked = "age BETWEEN 30 AND 50 AND disease IN ('flu', 'gout')"
    outcome = run("query", desk_with_release.out, asked)
    assert outcome.status == 0
    answer = betalike.query(desk_with_release.out, asked)
    assert re.search(rf"count {answer.count:,.0f} method: density", outcome.text)
    assert f"interval {answer.low:,.0f} to {answer.high:,.0f}" in outcome.text
    assert f"bounds {answer.at_least:,} to {answer.at_most:,}" in outcome.text


def test_a_count_as_json(desk_with_release: Desk) -> None:
    asked = "SELECT COUNT(*) FROM people WHERE city = 'north' AND age < 60"
    words = ("query", desk_with_release.out, asked, "--method", "uniform", "--confidence", "0.9", "--json")
    outcome = run(*words)
    answer = betalike.query(desk_with_release.out, asked, method="uniform", confidence=0.9)
    assert outcome.document == answer.to_dict()
    assert outcome.document["interval"] == [answer.low, answer.high]


def test_a_workload_as_a_picture_and_as_json(desk_with_release: Desk) -> None:
    desk = desk_with_release
    words = ("workload", desk.out, "--original", desk.table(), "--queries", 200, "--predicates", 2, "--seed", 3)
    outcome = run(*words)
    assert outcome.status == 0
    assert "200 queries with 2 quasi-identifiers and selectivity 0.1, answered by density" in outcome.text
    assert "█" in outcome.stdout
    document = run(*words, "--json").document
    assert f"Median {100 * document['median_relative_error']:.2f} %" in outcome.text
    assert document["queries"] == 200
    told = betalike.workload(desk.out, original=desk.table(), queries=200, predicates=2, seed=3).to_dict()
    assert document == told


def test_queries_that_select_nothing_are_told(desk_with_release: Desk) -> None:
    desk = desk_with_release
    words = ("workload", desk.out, "--original", desk.table(), "--queries", 50, "--selectivity", "0.00001", "--seed", 1)
    outcome = run(*words)
    assert outcome.status == 0
    assert "select nothing and are dropped" in outcome.text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["agee > 3"], ["Did you mean 'age'?"]),
        (["age >"], ["near 'age >'"]),
        (["name = 'x'"], ["has no column 'name' to query"]),
        (["age > 3", "--method", "inversion"], ["density, uniform"]),
        (["age > 3", "--confidence", "2"], ["between 0 and 1"]),
        (["age > 3", "--hierarchies", "nowhere"], ["no folder 'nowhere'"]),
    ],
)
def test_bad_queries_are_refused(desk_with_release: Desk, words: list[str], told: list[str]) -> None:
    assert_refused(run("query", desk_with_release.out, *words), *told)
    error = run("query", desk_with_release.out, *words, "--json").document["error"]
    assert all(word in error["message"] for word in told)


@pytest.mark.parametrize("word", ["(", "NOT "])
def test_nesting_is_answered_at_a_depth_of_100_and_refused_without_end(desk_with_release: Desk, word: str) -> None:
    closing = ")" if word == "(" else ""
    assert run("query", desk_with_release.out, word * 100 + "age > 3" + closing * 100).status == 0
    deep = word * 100_000 + "age > 3" + closing * 100_000
    assert_refused(run("query", desk_with_release.out, deep), "nested too deeply", "ask in several queries")


def test_bad_folders_and_originals_are_refused(desk_with_release: Desk) -> None:
    desk = desk_with_release
    assert_refused(run("query", desk.folder / "nowhere", "age > 3"), "no certificate")
    assert_refused(run("workload", desk.out), "--original TABLE")
    assert_refused(run("workload", desk.out, "--original", "nowhere.csv"), "no file 'nowhere.csv'")
    other = desk.write("other.csv", f"name,age,gender,city,disease\n{CANARY},30,f,Ulm,flu\n")
    assert_refused(run("workload", desk.out, "--original", other), "not those of the release's original")
    assert_refused(
        run("workload", desk.out, "--original", desk.table(), "--predicates", 4), "the number of quasi-identifiers, 3"
    )


def test_kept_columns_are_not_asked_for(desk: Desk) -> None:
    assert desk.publish("--keep", "name", "--keep-identifiers").status == 0
    assert_refused(run("query", desk.out, "name = 'x'"), "has no column 'name' to query")
