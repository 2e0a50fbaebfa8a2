"""Options that cannot be met: exit status 2, what to do, nothing written, no cell shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from workbench import Desk, assert_refused, files_under, people, run, with_canaries

ROWS = with_canaries(people())
BAD: dict[str, tuple[dict[str, object], tuple[str, ...]]] = {
    "unknown quasi-identifier": ({"qi": "agee,gender"}, ("no column 'agee'", "Did you mean 'age'?")),
    "unknown sensitive column": ({"sensitive": "diseese"}, ("no column 'diseese'", "Did you mean 'disease'?")),
    "unknown kept column": ({"keep": "nam"}, ("no column 'nam'", "Did you mean 'name'?")),
    "named twice": ({"qi": "age,disease"}, ("'disease' is named twice", "one role")),
    "the same quasi-identifier twice": ({"qi": "age,age"}, ("'age' is named twice",)),
    "kept and sensitive": ({"keep": "disease"}, ("'disease' is named twice",)),
    "no quasi-identifier": ({"qi": None}, ("--qi is missing",)),
    "only commas": ({"qi": ","}, ("--qi is missing",)),
    "no sensitive column": ({"sensitive": None}, ("--sensitive is missing",)),
    "no beta": ({"beta": None}, ("beta is missing", "'enhanced' needs it", "such as 4")),
    "no folder": ({"out": None}, ("--out is missing",)),
    "beta 0": ({"beta": 0}, ("beta is 0", "greater than 0")),
    "beta -1": ({"beta": -1}, ("beta is -1", "greater than 0")),
    "beta nan": ({"beta": "nan"}, ("beta is nan", "greater than 0")),
    "beta inf": ({"beta": "inf"}, ("beta is inf", "greater than 0")),
    "beta text": ({"beta": "four"}, ("--beta", "valid number")),
    "k above the table": ({"k": 121}, ("k is 121", "120 rows", "smaller k")),
    "k 0": ({"k": 0}, ("k is 0", "1 or more")),
    "k -3": ({"k": -3}, ("k is -3", "1 or more")),
    "k fraction": ({"k": "1.5"}, ("--k", "valid integer")),
    "unknown scheme": ({"scheme": "burrel"}, ("no scheme 'burrel'", "burel+split", "Did you mean 'burel'?")),
    "unknown model": ({"promise": "enhansed"}, ("promise is 'enhansed'", "basic", "Did you mean 'enhanced'?")),
    "unknown format": ({"format": "docx"}, ("format is 'docx'", "csv", "parquet")),
    "a layout, which version 0.2 had": ({"layout": "bounds"}, ("No such option: --layout",)),
    "unknown engine": ({"engine": "spork"}, ("engine is 'spork'", "local")),
    "unknown retrieval": ({"scheme": "burel", "retrieval": "exakt"}, ("'exakt'", "hilbert", "exact")),
    "an option of another scheme": ({"scheme": "seam", "retrieval": "exact"}, ("'seam' has no option 'retrieval'",)),
    "no t": ({"scheme": "tmondrian", "beta": None}, ("t is missing", "'t-closeness' needs it", "such as 0.2")),
    "no l": (
        {"scheme": "mondrian", "promise": "entropy-l-diversity", "beta": None},
        ("l is missing", "'entropy-l-diversity' needs it"),
    ),
    "no c": (
        {"scheme": "mondrian", "promise": "recursive-l-diversity", "beta": None, "l": 2},
        ("c is missing", "'recursive-l-diversity' needs it"),
    ),
    "no delta": ({"scheme": "dmondrian", "beta": None}, ("delta is missing", "'delta-disclosure' needs it")),
    "beta for t-closeness": ({"scheme": "sabre", "t": 0.2}, ("beta is given", "does not take it", "t, ground")),
    "t for likeness": ({"t": 0.2}, ("t is given", "'enhanced' does not take it")),
    "t 0": ({"scheme": "sabre", "beta": None, "t": 0}, ("t is 0", "greater than 0")),
    "t 1.5": ({"scheme": "sabre", "beta": None, "t": 1.5}, ("t is 1.5", "no distance is greater than 1")),
    "unknown ground": (
        {"scheme": "sabre", "beta": None, "t": 0.2, "ground": "odered"},
        ("ground is 'odered'", "Did you mean 'ordered'?"),
    ),
    "an order of categories": (
        {"scheme": "sabre", "beta": None, "t": 0.2, "ground": "ordered"},
        ("'disease' is categorical", "'equal'"),
    ),
    "a hierarchy of numbers": (
        {"scheme": "sabre", "beta": None, "t": 0.2, "ground": "hierarchical", "sensitive": "age", "qi": "gender"},
        ("'age' holds numbers", "'ordered'"),
    ),
    "more values than there are": (
        {"scheme": "mondrian", "promise": "distinct-l-diversity", "beta": None, "l": 50},
        ("whole table does not have distinct-l-diversity with l 50", "smaller l"),
    ),
    "half a value": (
        {"scheme": "mondrian", "promise": "distinct-l-diversity", "beta": None, "l": 2.5},
        ("l is 2.5", "whole number"),
    ),
    "k-anonymity without a k": (
        {"scheme": "mondrian", "promise": "k-anonymity", "beta": None},
        ("k is 1", "k-anonymity needs a k of 2 or more"),
    ),
    "a promise that a scheme does not keep": (
        {"scheme": "seam", "promise": "t-closeness", "beta": None, "t": 0.2},
        ("'seam' keeps the promise enhanced or basic", "'mondrian'"),
    ),
    "perturbation for t-closeness": ({"scheme": "perturb", "promise": "t-closeness"}, ("'perturb' keeps the promise",)),
    "unknown attribute": ({"scheme": "lmondrian", "attribute": "longest"}, ("attribute is 'longest'", "narrowest")),
    "unknown redistribution": (
        {"scheme": "sabre", "beta": None, "t": 0.2, "redistribution": "luck"},
        ("redistribution is 'luck'", "space, counts"),
    ),
    "Mondrian's option for another scheme": ({"attribute": "widest"}, ("'whole' has no option 'attribute'",)),
    "unknown missing-sensitive": ({"missing_sensitive": "drop"}, ("'drop'", "'error'", "'value'")),
    "weights without a number": ({"weights": "age"}, ("--weights", "column=number")),
    "weights with text": ({"weights": "age=much"}, ("--weights", "age=much", "column=number")),
    "weights below 0": ({"weights": "age=-1"}, ("weight of 'age'", "from 0 to")),
    "weights nan": ({"weights": "age=nan"}, ("weight of 'age'", "from 0 to")),
    "weights all 0": ({"weights": "age=0,gender=0,city=0"}, ("weights", "all 0")),
    "weights of another column": ({"weights": "agee=1"}, ("weights has 'agee'", "Did you mean 'age'?")),
    "weights of the sensitive column": ({"weights": "disease=1"}, ("weights has 'disease'",)),
    "round 0": ({"round": "age=0"}, ("round of 'age' is '0'", "above 0")),
    "round below 0": ({"round": "age=-5"}, ("round of 'age'", "above 0")),
    "round nan": ({"round": "age=nan"}, ("round of 'age'", "above 0")),
    "round text": ({"round": "city=5"}, ("'city' is categorical", "hierarchy")),
    "round without a number": ({"round": "age"}, ("--round has 'age'", "age=5")),
    "round of another column": ({"round": "agee=5"}, ("round has 'agee'", "Did you mean 'age'?")),
    "round the sensitive column": ({"round": "disease=5"}, ("round has 'disease'",)),
    "round by month": ({"round": "age=month"}, ("round of 'age'", "whole number above 0")),
    "bottom text": ({"bottom": "age=young"}, ("bottom of 'age'", "not of type integer")),
    "top below bottom": ({"bottom": "age=60", "top": "age=30"}, ("'age' has the bottom 60", "exchange them")),
    "round with exact rows": ({"scheme": "perturb", "round": "age=5"}, ("'perturb'", "Leave round")),
    "seed below 0": ({"seed": -1}, ("seed is -1", "0 or more")),
    "numeric column not named": ({"numeric": "name"}, ("'name'", "not one of the columns named")),
    "numeric and categorical": ({"numeric": "age", "categorical": "age"}, ("'age'",)),
    "delimiter of two characters": ({"delimiter": ";;"}, ("delimiter", "one character")),
    "delimiter beyond ASCII": ({"delimiter": "é"}, ("delimiter",)),
    "wrong delimiter": ({"delimiter": "|"}, ("no column 'age'",)),
    "no such hierarchies": ({"hierarchies": "trees"}, ("no folder 'trees'", "Check the path")),
    "no such option": ({"colour": "red"}, ("No such option", "--colour")),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_option_is_refused(desk: Desk, case: str) -> None:
    changes, words = BAD[case]
    table = desk.table(ROWS)
    before = files_under(desk.folder)
    assert_refused(desk.publish(table=table, **changes), *words)
    assert files_under(desk.folder) == before


@pytest.mark.parametrize("out", ["out.txt", "out.txt/deeper"])
def test_a_file_is_no_folder(desk: Desk, out: str) -> None:
    desk.write("out.txt", "mine")
    table = desk.table(ROWS)
    before = files_under(desk.folder)
    assert_refused(desk.publish(table=table, out=out), out)
    assert_refused(desk.publish("--force", table=table, out=out), out)
    assert files_under(desk.folder) == before


def test_a_file_as_folder_is_told_as_such(desk: Desk) -> None:
    desk.write("out.txt", "mine")
    assert_refused(desk.publish(out="out.txt"), "is a file", "name a folder")


@pytest.mark.parametrize("length", [255, 300])
def test_a_folder_name_that_is_too_long(desk: Desk, length: int) -> None:
    desk.table(ROWS)
    before = files_under(desk.folder)
    assert_refused(desk.publish(table=Path("people.csv"), out="x" * length), "too long")
    assert files_under(desk.folder) == before


def test_a_folder_that_holds_a_release(desk: Desk) -> None:
    desk.publish()
    before = files_under(desk.folder)
    assert_refused(desk.publish(table=desk.table()), "holds a release already", "--force")
    assert files_under(desk.folder) == before
    assert desk.publish("--force").status == 0


@pytest.mark.parametrize("name", ["published.csv", "published.parquet", "certificate.json"])
def test_a_folder_that_holds_part_of_a_release(desk: Desk, name: str) -> None:
    desk.write(f"out/{name}", "mine")
    for force in ([], ["--force"]):
        outcome = desk.publish(*force)
        assert_refused(outcome, f"holds '{name}'", "no betalike certificate lists it")
        assert "with --force" not in outcome.text
        assert files_under(desk.out) == {name: b"mine"}


AUDIT = ["--qi", "age,gender,city", "--sensitive", "disease"]
BAD_AUDITS = {
    "no such table": (["nowhere.csv", *AUDIT], ("no file 'nowhere.csv'",)),
    "a folder without a release": ([".", *AUDIT], ("folder",)),
    "no columns": (["people.csv"], ("--qi", "--sensitive")),
    "unknown column": (["people.csv", "--qi", "agee,gender", "--sensitive", "disease"], ("Did you mean 'age'?",)),
    "one column in two roles": (["people.csv", "--qi", "disease", "--sensitive", "disease"], ("'disease'", "one role")),
    "one column twice": (["people.csv", "--qi", "age,age", "--sensitive", "disease"], ("'age'", "twice")),
    "beta 0": (["people.csv", *AUDIT, "--beta", 0], ("greater than 0",)),
    "unknown model": (["people.csv", *AUDIT, "--beta", 2, "--promise", "basik"], ("Did you mean 'basic'?",)),
    "k 0": (["people.csv", *AUDIT, "--beta", 2, "--k", 0], ("k is 0",)),
    "no such original": (["people.csv", *AUDIT, "--original", "nowhere.csv"], ("no file 'nowhere.csv'",)),
    "no such certificate": (["people.csv", *AUDIT, "--certificate", "nowhere.json"], ("no certificate",)),
    "not a certificate": (["people.csv", *AUDIT, "--certificate", "people.csv"], ("not a certificate",)),
}


@pytest.mark.parametrize("case", BAD_AUDITS)
def test_a_bad_audit_is_refused(desk: Desk, case: str) -> None:
    words, told = BAD_AUDITS[case]
    desk.table(ROWS)
    assert_refused(run("audit", *words), *told)


def test_an_audit_with_the_certificate_of_another_column_is_refused(desk: Desk) -> None:
    desk.publish()
    outcome = run("audit", desk.out, "--qi", "age", "--sensitive", "city", "--certificate", desk.out)
    assert_refused(outcome, "'disease'")


@pytest.mark.parametrize("words", [["nowhere"], ["."], ["people.csv"], ["people.csv", "--original", "nowhere.csv"]])
def test_verify_needs_a_release(desk: Desk, words: list[str]) -> None:
    desk.table(ROWS)
    assert_refused(run("verify", *words), "certificate")


@pytest.mark.parametrize("words", [["--rows", 0], ["--rows", -5], ["--beta", 0], ["--scheme", "x"], ["--seed", -1]])
def test_a_bad_demo_is_refused(desk: Desk, words: list[object]) -> None:
    assert_refused(run("demo", *words), str(words[1]))
    assert files_under(desk.folder) == {}


@pytest.mark.parametrize("words", [["nowhere.csv"], ["people.csv", "-o", "nowhere/release.toml"]])
def test_a_bad_describe_is_refused(desk: Desk, words: list[str]) -> None:
    desk.table(ROWS)
    before = files_under(desk.folder)
    assert_refused(run("describe", *words), "nowhere")
    assert files_under(desk.folder) == before
