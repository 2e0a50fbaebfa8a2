"""Several sensitive columns on the command line: each promised on its own, and refused where it cannot be."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from workbench import Desk, assert_not_kept, assert_refused, change, run, to_csv

BOTH: dict[str, Any] = {"qi": "age,gender", "sensitive": "disease,city"}


def publish(desk: Desk, **changes: Any) -> None:
    outcome = desk.publish(**{**BOTH, **changes})
    assert outcome.status == 0, outcome.text


@pytest.mark.some(3)
@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("scheme", ["seam", "whole", "lmondrian", "mondrian", "perturb", "baseline"])
def test_a_release_of_two_columns_passes(desk: Desk, scheme: str, form: str) -> None:
    publish(desk, scheme=scheme, format=form, beta=4)
    assert run("verify", desk.out, "--original", desk.folder / "people.csv").status == 0
    told = desk.certificate()
    assert told["promise"]["model"] == "enhanced-likeness-of-each-column"
    assert told["table"]["sensitive"] == "disease + city"
    assert told["table"]["sensitive_columns"] == ["disease", "city"]
    if form == "csv":
        own = [] if scheme == "baseline" else ["disease", "city"]
        assert list(desk.published()[0]) == ["age", "gender", *own]


def test_chances_near_zero_are_the_same_figures_when_they_are_verified(desk: Desk) -> None:
    """Almost every value stays as it is, so most chances are tiny; a missing value has another place when read back."""
    table = desk.write("four.csv", "age,disease,city\n0,3,3\n0,3,1\n0,1,3\n0,,3\n")
    words = ["--qi", "age", "--sensitive", "disease,city", "--missing-sensitive", "value", "--scheme", "perturb"]
    outcome = run("publish", table, *words, "--beta", "3", "--promise", "basic", "--out", desk.out)
    assert outcome.status == 0, outcome.text
    assert desk.certificate()["also"]["delta"] > 20
    verified = run("verify", desk.out, "--original", table)
    assert verified.status == 0, verified.text


def test_each_column_can_be_audited(desk: Desk) -> None:
    publish(desk)
    for column in ("disease", "city"):
        words = ["--qi", "age,gender", "--sensitive", column, "--certificate", desk.out, "--beta", "2"]
        assert run("audit", desk.out, *words).status == 0
        assert run("audit", desk.out, *words[:-1], "0.01").status == 1


def test_a_specification_names_several_columns(desk: Desk) -> None:
    desk.table()
    roles = 'age.role = "quasi-identifier"\ncity.role = "sensitive"\ndisease.role = "sensitive"'
    spec = desk.write("release.toml", f'table = "people.csv"\n[promise]\nbeta = 2\n[columns]\n{roles}\n')
    outcome = run("publish", "--spec", spec, "--out", desk.out)
    assert outcome.status == 0, outcome.text
    assert desk.certificate()["table"]["sensitive_columns"] == ["city", "disease"]
    mixed = spec.read_text().replace('city.role = "sensitive"', 'city = {role = "sensitive", missing = "value"}')
    assert_refused(run("publish", "--spec", desk.write("other.toml", mixed), "--out", desk.folder / "b"), "'missing'")


def swap_cities(desk: Desk) -> None:
    """All rows of a city beside each other, in the order of the classes."""
    rows = sorted(desk.published(), key=lambda row: (row["age"], row["gender"]))
    cities = sorted(row["city"] for row in rows)
    moved = [{**row, "city": city} for row, city in zip(rows, cities, strict=True)]
    desk.write("out/published.csv", to_csv([list(row.values()) for row in moved], list(moved[0])))


def test_moved_values_of_one_column_are_found_out(desk: Desk) -> None:
    publish(desk)
    swap_cities(desk)
    assert_not_kept(desk, "digest")


FALSE: dict[str, Callable[[Any], object]] = {
    "beta lowered": lambda c: c["promise"].update(beta=0.01),
    "gain lowered": lambda c: c["promise"].update(worst_gain=0.0),
    "a figure of all columns": lambda c: c["also"].update(basic_beta=0.0),
}
NONE: dict[str, Callable[[Any], object]] = {
    "one column": lambda c: c["table"].update(sensitive_columns=["disease"]),
    "no columns": lambda c: c["table"].update(sensitive_columns=[]),
    "columns that are not promised": lambda c: c["promise"].update(parameters={}),
    "said to be of values": lambda c: c["promise"].update(model="enhanced-likeness"),
    "labels that are no lists": lambda c: c.update(
        prior_counts={label.strip("["): n for label, n in c["prior_counts"].items()}
    ),
    "lists of one": lambda c: c.update(
        prior_counts={json.dumps(json.loads(label)[:1]): n for label, n in c["prior_counts"].items()}
    ),
}


@pytest.mark.parametrize("case", FALSE)
def test_a_promise_that_is_not_the_true_one_is_found_out(desk: Desk, case: str) -> None:
    publish(desk)
    change(desk, FALSE[case])
    assert_not_kept(desk)


@pytest.mark.parametrize("case", NONE)
def test_what_is_no_promise_is_refused(desk: Desk, case: str) -> None:
    publish(desk)
    change(desk, NONE[case])
    outcome = run("verify", desk.out)
    assert outcome.status in (1, 2), outcome.text
    assert "Traceback" not in outcome.text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"scheme": "burel"}, ["'burel' cannot keep", "'seam'"]),
        ({"scheme": "tmondrian", "beta": None, "t": "0.2"}, ["t-closeness is promised for one", "a beta or a cap"]),
        ({"width": "5"}, ["several sensitive columns", "a width cannot"]),
        ({"groups": "north"}, ["several sensitive columns"]),
        ({"engine": "spark"}, ["'spark'", "one sensitive column", "--engine local"]),
        ({"sensitive": "disease,disease"}, ["named twice"]),
        ({"sensitive": "disease,age", "qi": "age"}, ["named twice"]),
        ({"sensitive": "disease,town"}, ["no column 'town'"]),
    ],
)
def test_what_several_columns_cannot_have_is_refused(desk: Desk, changes: dict[str, Any], words: list[str]) -> None:
    assert_refused(desk.publish(**{**BOTH, **changes}), *words)


def test_a_column_with_one_value_is_refused(desk: Desk) -> None:
    rows = [["x", str(20 + i), "f", "Ulm", "flu" if i % 2 else "gout"] for i in range(30)]
    assert_refused(desk.publish(table=desk.table(rows), **BOTH), "'city' has 1 distinct value")


def test_what_takes_one_column_refuses_several(desk: Desk) -> None:
    publish(desk)
    columns = ["--qi", "age,gender", "--sensitive", "disease,city"]
    assert_refused(run("audit", desk.out, *columns), "audited one at a time")
    assert_refused(run("compare", desk.folder / "people.csv", *columns), "compared one at a time")
    assert_refused(run("query", desk.out, "age > 30"), "several sensitive columns")
