"""A sensitive column of numbers in ranges, from the command line: published, verified with the original, refused."""

from __future__ import annotations

import csv
from collections import Counter

import pytest
from workbench import Desk, assert_refused, people, run, to_csv

import betalike

NAMES = ("--qi", "age,gender", "--sensitive", "earnings", "--beta", 2, "--seed", 1)


@pytest.fixture
def table(desk: Desk) -> object:
    rows = [[age, gender, 1000 + 37 * i % 997] for i, (_, age, gender, _, _) in enumerate(people())]
    return desk.write("people.csv", to_csv(rows, ["age", "gender", "earnings"]))


def test_an_option_puts_values_into_ranges_as_python_does(desk: Desk, table: object) -> None:
    assert run("publish", table, *NAMES, "--bins", "earnings=4", "--out", desk.out).status == 0
    with (desk.out / "published.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    labels = Counter(row["earnings"] for row in rows)
    assert len(labels) == 4
    assert max(labels.values()) - min(labels.values()) <= 1  # no two people earn the same
    assert run("verify", desk.out, "--original", table).status == 0
    asked = {"quasi_identifiers": ["age", "gender"], "sensitive": "earnings", "beta": 2, "seed": 1}
    release = betalike.publish(str(table), **asked, bins={"earnings": 4})
    assert release.frame.rows() == [tuple(row.values()) for row in rows]


def test_a_specification_with_bins_serves_another_sensitive_column(desk: Desk, table: object) -> None:
    spec = """table = "people.csv"
promise.beta = 2
[columns.age]
role = "quasi-identifier"
[columns.earnings]
role = "sensitive"
bins = 4
"""
    path = desk.write("release.toml", spec)
    assert run("publish", "--spec", path, "--out", desk.out, "--bins", "earnings=3").status == 0
    assert len(betalike.open_release(desk.out).certificate["prior_counts"]) == 3
    words = ("--sensitive", "gender", "--out", desk.folder / "other")
    assert run("publish", "--spec", path, *words).status == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("earnings", "--bins has 'earnings'; write column=whole number, such as salary=50"),
        ("earnings=few", "--bins has 'earnings=few'; write column=whole number"),
        ("earnings=1", "bins of 'earnings' is 1; it must be a whole number from 2"),
        ("age=5", "bins has 'age', which is not one of the columns named: earnings"),
    ],
)
def test_what_is_no_number_of_ranges_is_refused(desk: Desk, table: object, given: str, message: str) -> None:
    assert_refused(run("publish", table, *NAMES, "--bins", given, "--out", desk.out), message)


def test_text_is_not_put_into_ranges(desk: Desk) -> None:
    words = ("--qi", "age,gender", "--sensitive", "disease", "--beta", 2, "--bins", "disease=3", "--out", desk.out)
    assert_refused(run("publish", desk.table(), *words), "it holds no numbers or dates")
