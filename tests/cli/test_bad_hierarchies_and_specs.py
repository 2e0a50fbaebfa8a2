"""Hierarchies and specifications that cannot be used; and what a specification and options do together."""

from __future__ import annotations

from pathlib import Path

import pytest
from workbench import (
    CANARY,
    CITIES,
    LEAVES,
    Desk,
    assert_refused,
    files_under,
    people,
    run,
    with_canaries,
)

GOOD = [(city, region, "*") for city, region in LEAVES]
BAD_TREES: dict[str, tuple[list[tuple[str, ...]], tuple[str, ...]]] = {
    "two parents": (
        [("Ulm", "big", "north", "*"), ("Bonn", "big", "south", "*"), *((c, c * 2, "north", "*") for c in CITIES[2:])],
        ("city.csv", "line 2", "'big'", "'south'", "'north'", "line 1", "one parent"),
    ),
    "unequal length": ([*GOOD[:4], ("Bari", "*"), GOOD[5]], ("city.csv", "line 5", "'Bari'", "2 levels", "3")),
    "duplicated leaf": ([*GOOD, ("Ulm", "south", "*")], ("city.csv", "line 7", "'Ulm'", "line 1", "Remove")),
    "no star": ([*GOOD[:2], ("Kiel", "north", "all"), *GOOD[3:]], ("city.csv", "line 3", "'Kiel'", "'all'", "'*'")),
    "star as leaf": ([*GOOD, ("*", "north", "*")], ("city.csv", "line 7", "'*'", "leaf")),
    "a node named like a leaf": (
        [("Ulm", "Bonn", "*"), ("Bonn", "north", "*"), ("Kiel", "Bonn", "*"), *GOOD[3:]],
        ("city.csv", "'Bonn'", "two nodes"),
    ),
    "empty": ([], ("city.csv", "empty")),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_TREES)
def test_a_malformed_hierarchy_is_refused(desk: Desk, case: str) -> None:
    tree, words = BAD_TREES[case]
    table, folder = desk.table(with_canaries(people())), desk.hierarchies(city=tree)
    before = files_under(desk.folder)
    assert_refused(desk.publish(table=table, hierarchies=folder), *words)
    assert files_under(desk.folder) == before


def test_a_leaf_that_is_missing_is_counted_and_not_named(desk: Desk) -> None:
    folder = desk.hierarchies(city=[row for row in GOOD if row[0] != "Pisa"])
    refused = desk.publish(hierarchies=folder)
    assert_refused(refused, "city.csv", "lacks 1", "'city'", "20 rows", "Add a line")
    assert "Pisa" not in refused.text
    assert not desk.out.exists()


def test_a_leaf_that_is_missing_is_not_named_if_it_tells_of_a_person(desk: Desk) -> None:
    table = desk.table(with_canaries(people()))
    outcome = desk.publish(table=table, hierarchies=desk.hierarchies())
    assert_refused(outcome, "city.csv", "lacks 1", "'city'", "1 row", "Add a line")
    assert not desk.out.exists()


def test_a_hierarchy_that_is_not_text(desk: Desk) -> None:
    desk.write("hierarchies/city.csv", b"\xff\xfe\x00Ulm;*\n")
    outcome = desk.publish(hierarchies=desk.folder / "hierarchies")
    assert_refused(outcome, "city.csv", "UTF-16 text but is damaged")


def test_a_column_is_not_numeric_and_in_a_hierarchy(desk: Desk) -> None:
    spec = specification(desk, age='type = "integer"\nhierarchy = "hierarchies/age.csv"')
    desk.hierarchies(age=[(age, "*") for age in sorted({row[1] for row in with_canaries(people())})])
    assert_refused(run("publish", "--spec", spec, "--out", desk.out), "'age'", "hierarchy")


def specification(desk: Desk, head: str = "", tail: str = "", **columns: str) -> Path:
    """A specification of the usual table; `columns` adds lines to a column's part."""
    desk.table(with_canaries(people()))
    roles = dict.fromkeys(("age", "gender", "city"), "quasi-identifier") | {
        "name": "identifier",
        "disease": "sensitive",
    }
    parts = [f'[columns.{name}]\nrole = "{role}"\n{columns.get(name, "")}\n' for name, role in roles.items()]
    promise = "" if "[promise]" in head else "[promise]\nbeta = 2\n"
    return desk.write("release.toml", f'table = "people.csv"\n{head}\n{promise}{"".join(parts)}{tail}')


BAD_SPECS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "unknown key": ({"head": "tabel = 3"}, ("release.toml", "tabel")),
    "unknown key of a column": ({"age": "rol = 3"}, ("release.toml", "rol", "columns")),
    "a sensitive column too many": ({"tail": '[columns.x]\nrole = "sensitive"'}, ("no column 'x'",)),
    "unknown role": ({"tail": '[columns.x]\nrole = "sensitiv"'}, ("release.toml", "sensitiv")),
    "unknown type": ({"age": 'type = "number"'}, ("type of 'age'", "'number'", "integer")),
    "beta as text": ({"head": '[promise]\nbeta = "four"'}, ("release.toml", "beta")),
    "beta 0": ({"head": "[promise]\nbeta = 0"}, ("beta is 0", "greater than 0")),
    "no beta": ({"head": "[promise]\nk = 2"}, ("beta is missing", "'enhanced' needs it")),
    "no t": ({"head": '[promise]\nname = "t-closeness"\n[release]\nscheme = "mondrian"'}, ("t is missing",)),
    "t as text": ({"head": '[promise]\nt = "near"'}, ("release.toml", "t")),
    "t besides beta": ({"head": "[promise]\nbeta = 2\nt = 0.2"}, ("t is given", "'enhanced' does not take it")),
    "no such promise": ({"head": '[promise]\nbeta = 2\nname = "likeness"'}, ("promise is 'likeness'",)),
    "another scheme's promise": (
        {"head": '[promise]\nt = 0.2\nname = "t-closeness"'},
        ("'whole' keeps the promise enhanced or basic, not t-closeness", "'mondrian'"),
    ),
    "second_try as text": (
        {"head": '[promise]\nbeta = 2\n[release]\nscheme = "lmondrian"\noptions = { second_try = "no" }'},
        ("second_try is 'no'", "true or false"),
    ),
    "no TOML": ({"head": "= = ="}, ("release.toml", "line 2")),
    "domain too small": ({"age": "domain = [0, 30]"}, ("'age'", "outside its declared domain", "Widen")),
    "domain of one end": ({"age": "domain = [0]"}, ("domain of 'age'", "needs two")),
    "domain of text": ({"age": 'domain = ["young", "old"]'}, ("domain of 'age'", "integer")),
    "domain without end": ({"age": "domain = [0, inf]"}, ("domain of 'age'",)),
    "domain not a number": ({"age": "domain = [nan, 99999999]"}, ("domain of 'age'",)),
    "weight below 0": ({"age": "weight = -1"}, ("weight of 'age'",)),
    "no such hierarchy": ({"city": 'hierarchy = "trees/city.csv"'}, ("trees/city.csv", "cannot be read")),
    "unknown option": ({"head": "[release.options]\ncolour = 1"}, ("colour",)),
    "a layout, which version 0.2 had": ({"head": '[release]\nlayout = "bounds"'}, ("unknown field `layout`",)),
}


@pytest.mark.parametrize("case", BAD_SPECS)
def test_a_bad_specification_is_refused(desk: Desk, case: str) -> None:
    changes, words = BAD_SPECS[case]
    spec = specification(desk, **changes)
    before = files_under(desk.folder)
    assert_refused(run("publish", "--spec", spec, "--out", desk.out), *words)
    assert files_under(desk.folder) == before


def test_no_such_specification(desk: Desk) -> None:
    assert_refused(run("publish", "--spec", "nowhere.toml", "--out", desk.out), "nowhere.toml", "betalike describe")


def test_a_specification_without_a_sensitive_column(desk: Desk) -> None:
    spec = desk.write("release.toml", '[columns.age]\nrole = "quasi-identifier"\n')
    assert_refused(run("publish", "--spec", spec, "--out", desk.out), "0 columns", "'sensitive'", "needs one")


def test_a_specification_whose_table_is_gone(desk: Desk) -> None:
    spec = specification(desk)
    (desk.folder / "people.csv").unlink()
    assert_refused(run("publish", "--spec", spec, "--out", desk.out), "people.csv", "Check the path")


def test_a_specification_is_published(desk: Desk) -> None:
    spec = specification(
        desk,
        '[promise]\nbeta = 3\nk = 4\nname = "basic"\n[release]\nscheme = "burel"',
        age="weight = 2\ndomain = [0, 8000000]",
    )
    document = run("publish", "--spec", spec, "--out", desk.out, "--json").document
    assert document["promise"]["beta"] == 3
    assert document["promise"]["k"] == 4
    assert document["promise"]["model"] == "basic-likeness"
    assert document["scheme"]["name"] == "burel"
    assert document["table"]["quasi_identifiers"] == ["age", "gender", "city"]
    assert (
        document["table"]["columns"][0] | {"domain": ["0", "8000000"], "weight": 2} == document["table"]["columns"][0]
    )
    assert "name" not in desk.published()[0]


@pytest.mark.parametrize(
    ("scheme", "promise", "parameters"),
    [
        ("dmondrian", "delta = 1.5", {"delta": 1.5}),
        ("tmondrian", 't = 0.3\nground = "equal"', {"t": 0.3, "ground": "equal"}),
        ("sabre", "t = 1", {"t": 1, "ground": "equal"}),
        ("mondrian", 'name = "distinct-l-diversity"\nl = 2', {"l": 2}),
        ("mondrian", 'name = "entropy-l-diversity"\nl = 1.5', {"l": 1.5}),
        ("mondrian", 'name = "recursive-l-diversity"\nl = 2\nc = 3', {"l": 2, "c": 3}),
        ("mondrian", 'name = "k-anonymity"\nk = 5', {}),
    ],
)
def test_a_specification_carries_every_promise(
    desk: Desk, scheme: str, promise: str, parameters: dict[str, object]
) -> None:
    options = 'redistribution = "counts"' if scheme == "sabre" else 'attribute = "narrowest"\nsecond_try = false'
    head = f'[promise]\n{promise}\n[release]\nscheme = "{scheme}"\n[release.options]\n{options}'
    outcome = run("publish", "--spec", specification(desk, head), "--out", desk.out, "--json")
    assert outcome.status == 0, outcome.text
    document = outcome.document
    assert (document["promise"]["beta"], document["promise"]["parameters"]) == (None, parameters)
    details = document["scheme"]["details"]
    assert details.get("redistribution", "counts") == "counts"
    assert (details.get("attribute", "narrowest"), details.get("second_try", False)) == ("narrowest", False)


@pytest.mark.parametrize(
    ("options", "model", "parameters"),
    [
        ("--scheme tmondrian --t 0.3", "t-closeness", {"t": 0.3, "ground": "equal"}),
        ("--scheme dmondrian --delta 1.5", "delta-disclosure", {"delta": 1.5}),
        ("--scheme dmondrian", "delta-disclosure", None),  # for the specification's beta
        ("--scheme mondrian --promise k-anonymity", "k-anonymity", {}),
        ("--scheme lmondrian", "basic-likeness", {}),
        ("--promise enhanced", "enhanced-likeness", {}),
    ],
)
def test_another_scheme_on_the_command_line_leaves_out_what_it_does_not_take(
    desk: Desk, options: str, model: str, parameters: dict[str, object] | None
) -> None:
    spec = specification(desk, '[promise]\nbeta = 3\nk = 4\nname = "basic"')
    outcome = run("publish", "--spec", spec, "--out", desk.out, "--json", *options.split())
    assert outcome.status == 0, outcome.text
    promise = outcome.document["promise"]
    assert (promise["model"], promise["k"]) == (model, 4)
    assert promise["beta"] == (3 if model.endswith("likeness") else None)
    assert parameters is None or promise["parameters"] == parameters


def test_options_win_over_the_specification(desk: Desk) -> None:
    spec = specification(desk, '[promise]\nbeta = 3\nk = 4\n[release]\nformat = "parquet"', city='type = "categorical"')
    options = ["--beta", 2, "--k", 3, "--format", "csv", "--weights", "age=5", "--keep", "name", "--keep-identifiers"]
    document = run("publish", "--spec", spec, "--out", desk.out, "--json", *options).document
    assert document["promise"]["beta"] == 2
    assert document["promise"]["k"] == 3
    assert document["table"]["columns"][0]["weight"] == 5
    assert document["table"]["kept"] == ["name"]
    assert (desk.out / "published.csv").exists()


def test_fewer_columns_than_the_specification_has(desk: Desk) -> None:
    lines = 'type = "categorical"\nweight = 2\nhierarchy = "hierarchies/gender.csv"'
    desk.hierarchies(gender=[("f", "*"), ("m", "*")])
    spec = specification(desk, age="domain = [0, 8000000]\nweight = 3", gender=lines, disease='type = "categorical"')
    outcome = run("publish", "--spec", spec, "--out", desk.out, "--qi", "city", "--json")
    assert outcome.status == 0, outcome.text
    assert outcome.document["table"]["quasi_identifiers"] == ["city"]
    outcome = run("publish", "--spec", spec, "--out", desk.folder / "b", "--qi", "age", "--sensitive", "city", "--json")
    assert outcome.status == 0, outcome.text
    assert outcome.document["table"]["sensitive"] == "city"


def test_another_table_than_the_specification_has(desk: Desk) -> None:
    spec = specification(desk)
    other = desk.table(people(60), name="other.csv")
    document = run("publish", other, "--spec", spec, "--out", desk.out, "--json").document
    assert document["table"]["rows"] == 60


def test_missing_values_of_the_sensitive_column_as_the_specification_says(desk: Desk) -> None:
    spec = specification(desk, disease='missing = "value"')
    rows = people()
    for row in rows[:9]:
        row[4] = ""
    desk.table(rows)
    assert run("publish", "--spec", spec, "--out", desk.out, "--json").document["prior_counts"][""] == 9


def test_canaries_stand_in_the_specified_table(desk: Desk) -> None:
    specification(desk)
    assert CANARY in (desk.folder / "people.csv").read_text()
