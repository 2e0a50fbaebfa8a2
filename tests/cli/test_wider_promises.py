"""Wider promises on the command line: publish, audit and verify, specifications, and whoever changes a release."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from workbench import DISEASES, Desk, assert_not_kept, assert_refused, change, people, run, to_csv

KINDS = [
    [disease, kind, "*"] for disease, kind in zip(DISEASES, ("lungs", "lungs", "gut", "joints", "lungs"), strict=True)
]
RELEASES: dict[str, dict[str, Any]] = {
    "symmetric": {"scheme": "seam", "negative_beta": "symmetric"},
    "own threshold": {"scheme": "lmondrian", "negative_beta": 0.7},
    "groups": {"scheme": "seam", "groups": "lungs,gut"},
    "groups and values": {"scheme": "lmondrian", "groups": "lungs", "flag": "--with-values"},
    "intervals": {"scheme": "seam", "width": 8, "sensitive": "age", "qi": "gender,city"},
    "intervals, both sides": {
        "scheme": "lmondrian",
        "width": 20,
        "negative_beta": 0.9,
        "sensitive": "age",
        "qi": "city",
    },
    "perturbed": {"scheme": "perturb", "negative_beta": "symmetric"},
    "perturbed groups": {"scheme": "perturb", "groups": "lungs"},
    "perturbed intervals": {"scheme": "perturb", "width": 10, "sensitive": "age", "qi": "gender,city", "beta": 9},
    "withheld": {"scheme": "baseline", "groups": "lungs", "negative_beta": 0.5},
}


def publish(desk: Desk, name: str, **changes: Any) -> None:
    """Publish one of the releases above."""
    options = {**RELEASES[name], **changes}
    flag = [options.pop("flag")] if "flag" in options else []
    outcome = desk.publish(*flag, **{"hierarchies": desk.hierarchies(disease=KINDS), **options})
    assert outcome.status == 0, outcome.text


@pytest.mark.some(5)
@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("name", RELEASES)
def test_a_release_with_its_promise_passes(desk: Desk, name: str, form: str) -> None:
    publish(desk, name, format=form)
    outcome = run("verify", desk.out, "--original", desk.folder / "people.csv")
    assert outcome.status == 0, outcome.text


def parameters(**changes: Any) -> Callable[[Any], object]:
    """A change of a promise's parameters."""
    return lambda c: c["promise"]["parameters"].update(changes)


FALSE: dict[str, tuple[str, Callable[[Any], object], str]] = {
    "negative beta lowered": ("own threshold", parameters(negative_beta=0.01), "promise"),
    "negative beta raised": ("own threshold", parameters(negative_beta=0.99), "figures"),
    "beta lowered": ("symmetric", lambda c: c["promise"].update(beta=0.001), "promise"),
    "other groups": ("groups", parameters(groups=["joints"]), "figures"),
    "values too": ("groups", parameters(with_values=True), ""),
    "narrower": ("intervals", parameters(width=0.5), "promise"),
    "wider": ("intervals", parameters(width=30.0), ""),
    "perturbed, beta lowered": ("perturbed", lambda c: c["promise"].update(beta=0.001), "promise"),
    "perturbed, other groups": ("perturbed groups", parameters(groups=["joints"]), "promise"),
    "ratio lowered": ("symmetric", lambda c: c["promise"].update(worst_ratio=0.001), "worst_ratio"),
}


@pytest.mark.parametrize("case", FALSE)
def test_a_promise_that_is_not_the_true_one_is_found_out(desk: Desk, case: str) -> None:
    name, edit, word = FALSE[case]
    publish(desk, name)
    change(desk, edit)
    assert_not_kept(desk, word)


NONE: dict[str, tuple[str, Callable[[Any], object]]] = {
    "no parameters": ("symmetric", lambda c: c["promise"].update(parameters={})),
    "negative beta 1": ("own threshold", parameters(negative_beta=1.0)),
    "negative beta in words": ("own threshold", parameters(negative_beta="little")),
    "said to be one-sided": ("symmetric", lambda c: c["promise"].update(model="enhanced-likeness")),
    "said to be of values": ("groups", lambda c: c["promise"].update(model="enhanced-likeness")),
    "said to be basic": ("groups", lambda c: c["promise"].update(model="basic-likeness")),
    "no tree": ("groups", lambda c: c["promise"].update(hierarchy=[])),
    "unknown groups": ("groups", parameters(groups=["heart"])),
    "groups in one text": ("groups", parameters(groups="lungs")),
    "values in words": ("groups", parameters(with_values="yes")),
    "width 0": ("intervals", parameters(width=0.0)),
    "a width of everything": ("intervals", parameters(width=500.0)),
    "a width of words": ("symmetric", parameters(width=2.0)),
    "groups and a width": ("intervals", parameters(groups=["lungs"])),
    "the values in another order": (
        "intervals",
        lambda c: c.update(prior_counts=dict(reversed(c["prior_counts"].items()))),
    ),
}


@pytest.mark.parametrize("case", NONE)
def test_what_is_no_promise_is_refused(desk: Desk, case: str) -> None:
    name, edit = NONE[case]
    publish(desk, name)
    change(desk, edit)
    assert_refused(run("verify", desk.out), "certificate")


@pytest.mark.parametrize("name", ["symmetric", "groups", "intervals"])
def test_moved_rows_are_found_out(desk: Desk, name: str) -> None:
    """All rows of the first value into one class: the sensitive column is the same, the promise is not."""
    publish(desk, name)
    sensitive = RELEASES[name].get("sensitive", "disease")
    rows = desk.published()
    labels = [column for column in rows[0] if column != sensitive]
    values = sorted(row[sensitive] for row in rows)
    places = sorted(rows, key=lambda row: [row[column] for column in labels])
    moved = [{**row, sensitive: value} for row, value in zip(places, values, strict=True)]
    desk.write("out/published.csv", to_csv([list(row.values()) for row in moved], list(moved[0])))
    if len({tuple(row[column] for column in labels) for row in rows}) > 1:
        assert_not_kept(desk, "digest", "promise")


AUDITS: dict[str, tuple[list[str], int]] = {
    "kept": (["--beta", "2", "--negative-beta", "symmetric"], 0),
    "not kept": (["--beta", "2", "--negative-beta", "0.01"], 1),
    "groups kept": (["--beta", "2", "--groups", "lungs,gut"], 0),
    "groups not kept": (["--beta", "0.001", "--groups", "lungs", "--with-values"], 1),
}


@pytest.mark.parametrize("case", AUDITS)
def test_an_audit_checks_a_wider_promise(desk: Desk, case: str) -> None:
    words, status = AUDITS[case]
    publish(desk, "symmetric")
    columns = ["--qi", "age,gender,city", "--sensitive", "disease", "--original", desk.folder / "people.csv"]
    outcome = run("audit", desk.out, *columns, "--hierarchies", desk.folder / "hierarchies", *words, "--json")
    assert outcome.status == status, outcome.text
    assert outcome.document["holds"] is (status == 0)


def test_an_audit_needs_a_beta_for_a_wider_promise(desk: Desk) -> None:
    outcome = run("audit", desk.table(), "--qi", "age", "--sensitive", "disease", "--negative-beta", "0.5")
    assert_refused(outcome, "beta is missing")


@pytest.mark.parametrize(
    ("promise", "words"),
    [
        ('beta = 2\nnegative_beta = "symmetric"', "two-sided-enhanced-likeness"),
        ("beta = 2\nnegative_beta = 0.8", "two-sided-enhanced-likeness"),
        ('beta = 2\nname = "basic"\ngroups = ["lungs"]\nwith_values = true', "basic-likeness-of-groups"),
    ],
)
def test_a_specification_tells_a_wider_promise(desk: Desk, promise: str, words: str) -> None:
    desk.table()
    desk.hierarchies(disease=KINDS)
    columns = 'age.role = "quasi-identifier"\ndisease = {role = "sensitive", hierarchy = "hierarchies/disease.csv"}'
    spec = desk.write("release.toml", f'table = "people.csv"\n[promise]\n{promise}\n[columns]\n{columns}\n')
    outcome = run("publish", "--spec", spec, "--out", desk.out)
    assert outcome.status == 0, outcome.text
    assert words in outcome.text
    assert desk.certificate()["promise"]["model"] == words
    assert run("verify", desk.out).status == 0
    again = run("publish", "--spec", spec, "--out", desk.out, "--force", "--scheme", "tmondrian", "--t", "0.5")
    assert again.status == 0, again.text  # what the new promise does not take is left out


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"negative_beta": "half"}, ["--negative-beta has 'half'"]),
        ({"negative_beta": "2"}, ["between 0 and 1"]),
        ({"groups": "lungs"}, ["has none"]),
        ({"groups": "lung", "tree": True}, ["no node 'lung'", "Did you mean 'lungs'"]),
        ({"width": "3"}, ["categories", "--groups"]),
        ({"scheme": "burel", "negative_beta": "symmetric"}, ["'burel' cannot keep", "'seam'"]),
        ({"scheme": "sabre", "beta": None, "t": "0.2", "width": "2"}, ["does not take it"]),
    ],
)
def test_what_cannot_be_promised_is_refused(desk: Desk, changes: dict[str, Any], words: list[str]) -> None:
    tree = {"hierarchies": desk.hierarchies(disease=KINDS)} if changes.pop("tree", False) else {}
    assert_refused(desk.publish(table=desk.table(people(40)), **tree, **changes), *words)


def test_a_perturbation_that_would_keep_nothing_is_refused(desk: Desk) -> None:
    outcome = desk.publish(scheme="perturb", negative_beta="0.0001")
    assert_refused(outcome, "two-sided-enhanced-likeness", "keep its sensitive value", "'baseline'", status=1)


@pytest.mark.parametrize("name", ["symmetric", "groups and values", "intervals", "perturbed intervals", "withheld"])
def test_wider_promises_are_kept_in_batches_too(desk: Desk, name: str) -> None:
    publish(desk, name, engine="batches")
    outcome = run("verify", desk.out, "--original", desk.folder / "people.csv")
    assert outcome.status == 0, outcome.text
