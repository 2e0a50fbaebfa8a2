"""`betalike compare`: its table, its JSON, its picture, and what it refuses."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from workbench import CANARY, Desk, assert_refused, people, run, to_csv

import betalike

NAMES = ("--qi", "age,gender,city", "--sensitive", "disease")
SCHEMES = ["seam", "burel", "lmondrian", "tmondrian", "perturb"]


def words(desk: Desk, *more: object) -> list[object]:
    return ["compare", desk.table(), *NAMES, "--beta", "2", "--queries", 50, "--seed", 1, *more]


def test_a_table_of_all_schemes_in_100_columns(desk: Desk) -> None:
    outcome = run(*words(desk, "--beta", "1,2"))
    assert outcome.status == 0
    for scheme in (*SCHEMES, "baseline", "dmondrian", "sabre", "burel+split"):
        assert scheme in outcome.stdout
    assert max(map(len, outcome.stdout.splitlines())) <= 100
    assert "…" not in outcome.stdout
    assert "COUNT error: median of 50 random queries on 3 quasi-identifiers" in outcome.text


def test_the_document_is_what_python_returns(desk: Desk) -> None:
    found = run(*words(desk, "--schemes", ",".join(SCHEMES), "--json")).document
    told = betalike.compare(
        desk.table(),
        quasi_identifiers=["age", "gender", "city"],
        sensitive="disease",
        beta=2,
        schemes=SCHEMES,
        queries=50,
        seed=1,
    ).to_dict()
    for document in (found, told):
        for row in document["schemes"]:
            assert row.pop("seconds") >= 0
    assert found == told


def test_a_specification_says_what_the_columns_are(desk: Desk) -> None:
    spec = desk.folder / "release.toml"
    assert run("describe", desk.table(), "-o", spec).status == 0
    text = spec.read_text().replace('role = "unused"', 'role = "quasi-identifier"')
    spec.write_text(text)
    outcome = run("compare", "--spec", spec, *NAMES, "--schemes", "burel,lmondrian", "--queries", 0)
    assert outcome.status == 0
    assert "COUNT" not in outcome.stdout


SPECIFICATION = """
table = "visits.csv"
promise.beta = 2
[columns.age]
role = "quasi-identifier"
round = 10
[columns.city]
role = "quasi-identifier"
[columns.earnings]
role = "sensitive"
bins = 4
[columns.patient]
role = "person"
"""


@pytest.mark.parametrize("command", ["compare", "explore"])
def test_a_specification_and_options_say_the_same_about_rounding_bins_and_people(desk: Desk, command: str) -> None:
    rows = [[age, city, 1000 + 7 * i % 500, i // 2] for i, (_, age, _, city, _) in enumerate(people())]
    table = desk.write("visits.csv", to_csv(rows, ["age", "city", "earnings", "patient"]))
    spec, same = desk.write("release.toml", SPECIFICATION), ["--schemes", "burel", "--queries", 0, "--seed", 1]
    words = ["--qi", "age,city", "--sensitive", "earnings", "--round", "age=10", "--bins", "earnings=4"]
    given = [*words, "--person", "patient", "--beta", 2, *same]
    by_file, by_options = run(command, "--spec", spec, "--beta", 2, *same), run(command, table, *given)
    assert by_file.status == by_options.status == 0
    times = re.compile(r"\d+\.\d\d(?= *│?$)", re.MULTILINE)
    assert times.sub("", by_file.stdout) == times.sub("", by_options.stdout)
    document = run(command, table, *given, "--json").document
    if command == "compare":
        assert "kept in people too" in by_file.text
        assert document["schemes"][0]["smallest_in_people"] > 1
    else:
        assert len(document["values"]) == 4


def test_matching_is_told(desk: Desk) -> None:
    outcome = run(*words(desk, "--schemes", "burel,lmondrian", "--match", "loss"))
    assert outcome.status == 0
    assert "Parameters were searched so that loss is close to that of burel" in outcome.text


def test_a_refusal_is_in_the_notes(desk: Desk) -> None:
    outcome = run(*words(desk, "--schemes", "burel,perturb", "--k", 3))
    assert outcome.status == 0
    assert "perturb refused: the scheme 'perturb' forms no classes" in outcome.text


@pytest.mark.parametrize(("form", "begins"), [("svg", b"<svg"), ("png", b"\x89PNG")])
def test_a_picture(desk: Desk, form: str, begins: bytes) -> None:
    picture = desk.folder / f"loss.{form}"
    assert run(*words(desk, "--schemes", "seam,burel,tmondrian", "--picture", picture)).status == 0
    assert picture.read_bytes().startswith(begins)
    assert {path.name for path in desk.folder.iterdir() if path.stem == "loss"} == {picture.name}
    if form == "svg":
        drawn = picture.read_text()
        for text in ("seam", "burel", "tmondrian", "average information loss", "beta reached"):
            assert text in drawn


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--picture", "loss.gif"], "must end in .svg or .png"),
        (["--picture", "nowhere/loss.svg"], "there is no folder"),
        (["--beta", "two"], "--beta has 'two', which is not a number"),
        (["--schemes", "seem"], "there is no scheme 'seem'"),
        (["--schemes", ","], "name at least one scheme"),
        (["--match", "l"], "it must be one of: t, loss"),
        (["--sensitive", "illness"], "illness"),
    ],
)
def test_bad_options_are_refused(desk: Desk, more: list[str], message: str) -> None:
    assert_refused(run(*words(desk, *more)), message)


def test_a_beta_must_be_named(desk: Desk) -> None:
    refused = run("compare", desk.table(), "--qi", "age", "--sensitive", "disease", "--beta", ",")
    assert_refused(refused, "name at least one scheme and one beta")


def test_columns_must_be_named(desk: Desk) -> None:
    assert_refused(run("compare", desk.table(), "--sensitive", "disease"), "--qi is missing")


def test_no_cell_of_the_table_is_shown(desk: Desk) -> None:
    outcome = run(*words(desk, "--schemes", "seam,burel"))
    assert CANARY not in outcome.stdout + outcome.stderr


def test_charts_that_are_not_installed_are_named(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    outcome = run(*words(desk, "--picture", Path("loss.svg")))
    assert outcome.status != 0
    assert "betalike[charts]" in outcome.stderr
