"""`betalike attack`: its table, its JSON, what it refuses, and that nobody is in it."""

from __future__ import annotations

import json

import pytest
from workbench import CANARY, CITIES, NUMBER, Desk, assert_refused, people, run, with_canaries

import betalike
from betalike.attacks.catalogue import ATTACKS

FIRST = "naive-bayes,definetti,skewness"


def words(desk: Desk, *more: object) -> list[object]:
    return ["attack", desk.out, "--original", desk.table(), "--seed", 1, *more]


def test_every_attack_has_a_line_or_a_reason(desk: Desk) -> None:
    desk.publish()
    outcome = run(*words(desk))
    assert outcome.status == 0
    for name in ATTACKS:
        assert f"{name}:" in outcome.text
    assert "similarity: does not apply: no hierarchy groups the sensitive values" in outcome.text
    assert max(map(len, outcome.stdout.splitlines())) <= 100
    assert "…" not in outcome.stdout
    told = [line for line in outcome.stderr.splitlines() if not line.startswith(("Compiling", "..."))]
    assert told == []  # but for the notice of the first compilation


def test_the_document_is_what_python_returns(desk: Desk) -> None:
    desk.publish()
    found = run(*words(desk, "--json")).document
    assert found == json.loads(json.dumps(betalike.attack(desk.out, original=desk.table(), seed=1).to_dict()))
    assert [entry["name"] for entry in found["attacks"]] == list(ATTACKS)
    for entry in found["attacks"]:
        rates = [entry[name] for name in ("success", "baseline", "control")]
        assert (entry["refusal"] is None) is all(rate is not None for rate in rates)
        for rate in filter(None, rates):
            assert 0 <= rate["low"] <= rate["rate"] <= rate["high"] <= 1


@pytest.mark.parametrize("scheme", ["perturb", "baseline"])
def test_releases_without_classes_are_attacked_as_far_as_it_makes_sense(desk: Desk, scheme: str) -> None:
    desk.publish(scheme=scheme, beta=4)
    outcome = run(*words(desk))
    assert outcome.status == 0
    assert "definetti: does not apply: the release has no classes" in outcome.text
    assert "naive-bayes: A classifier learned from the release" in outcome.text


def test_a_hierarchy_of_the_values_makes_similarity_apply(desk: Desk) -> None:
    desk.publish()
    rows = [(d, "lungs" if d in ("flu", "cough", "asthma") else "other", "*") for d in sorted({r[4] for r in people()})]
    folder = desk.hierarchies(disease=rows)
    outcome = run(*words(desk, "--attacks", "similarity", "--hierarchies", folder))
    assert outcome.status == 0
    assert "similarity: The most frequent group of values" in outcome.text


def test_a_second_release_may_be_of_last_years_table(desk: Desk) -> None:
    table = people()
    desk.publish(table=desk.table(table), out=desk.folder / "last", seed=1)
    grown = [[row[0], str(int(row[1]) + 1), *row[2:]] for row in table[10:]]
    original = desk.table(grown, "this-year.csv")
    desk.publish(table=original, seed=1)
    options = ["--second", desk.folder / "last", "--attacks", "composition", "--seed", 1]
    outcome = run("attack", desk.out, "--original", original, *options)
    assert outcome.status == 0, outcome.text
    assert "of another table with 120 rows" in outcome.text
    assert "of 110 lie in a class" in outcome.text


@pytest.mark.some(2)
@pytest.mark.parametrize("scheme", ["seam", "burel", "lmondrian", "perturb"])
def test_no_person_is_shown(desk: Desk, scheme: str) -> None:
    table = desk.table(with_canaries(people()))
    desk.publish(table=table, scheme=scheme, beta=4)
    for more in ((), ("--json",)):
        outcome = run("attack", desk.out, "--original", table, *more)
        assert outcome.status == 0
        shown = outcome.stdout + outcome.stderr
        assert f"{CANARY}-" not in shown  # names
        assert f"{CANARY} town" not in shown  # a city that one person has
        assert str(NUMBER) not in shown  # an age that one person has
        for city in CITIES:
            assert city not in shown


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--attacks", "naive-bays"], "there is no attack 'naive-bays'"),
        (["--attacks", ","], "name at least one attack"),
        (["--seed", "-1"], "seed is -1"),
        (["--hierarchies", "nowhere"], "nowhere"),
    ],
)
def test_bad_options_are_refused(desk: Desk, more: list[str], message: str) -> None:
    desk.publish()
    assert_refused(run(*words(desk, *more)), message)


def test_the_original_is_needed_and_must_be_the_right_one(desk: Desk) -> None:
    table = with_canaries(people())
    desk.publish(table=desk.table(table))
    assert_refused(run("attack", desk.out), "--original TABLE")
    other = desk.table(people(119), "other.csv")
    assert_refused(run("attack", desk.out, "--original", other), "this is not the table that was published")
    short = desk.write("short.csv", "age,gender\n1,f\n")
    assert_refused(run("attack", desk.out, "--original", short), "no column")
    assert_refused(run("attack", desk.folder / "nowhere", "--original", other), "certificate")
