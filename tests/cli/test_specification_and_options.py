"""What a specification and the options beside it give together: hierarchies of both, and the betas to explore."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from workbench import LEAVES, Desk, people, run

import betalike
from betalike.comparison.exploration import BETAS
from betalike.errors import FileError

HEAD = 'table = "people.csv"\n[promise]\nbeta = 4\n'
AGE = '[columns.age]\nrole = "quasi-identifier"\n'
GENDER = '[columns.gender]\nrole = "quasi-identifier"\nhierarchy = {groups = {any = ["f", "m"]}}\n'
CITY = '[columns.city]\nrole = "quasi-identifier"\nhierarchy = "trees/city.csv"\n'
DISEASE = '[columns.disease]\nrole = "sensitive"\n'
OTHERS = [(city, "coast" if city in ("Kiel", "Bari") else "inland", "*") for city, _ in LEAVES]


@pytest.fixture
def spec(desk: Desk) -> Path:
    desk.table()
    desk.write("trees/city.csv", "".join(f"{city};{part};*\n" for city, part in LEAVES))
    return desk.write("release.toml", HEAD + AGE + GENDER + CITY + DISEASE)


def published(desk: Desk, *words: object) -> tuple[dict[str, Any], str]:
    outcome = run("publish", *words, "--beta", 1, "--seed", 1, "--out", desk.out, "--force", "--json")
    assert outcome.status == 0, outcome.text
    return {"columns": [it["hierarchy"] for it in outcome.document["table"]["columns"]]}, outcome.stderr


def levels(release: betalike.Release) -> list[int]:
    """How many levels the hierarchy of each column has; 0 for a column of numbers."""
    trees = [column["hierarchy"] for column in release.certificate["table"]["columns"]]
    return [len(tree[0]) if tree else 0 for tree in trees]


def test_a_folder_for_one_column_leaves_the_specified_hierarchies_of_the_others(desk: Desk, spec: Path) -> None:
    as_specified, _ = published(desk, "--spec", spec)
    folder = desk.hierarchies(disease=[(row, "*") for row in sorted({row[4] for row in people()})])
    with_folder, warned = published(desk, "--spec", spec, "--hierarchies", folder)
    assert with_folder == as_specified
    assert all(with_folder["columns"][1:])
    assert "replaces" not in warned


def test_a_hierarchy_that_replaces_the_specified_one_is_named(desk: Desk, spec: Path) -> None:
    as_specified, _ = published(desk, "--spec", spec)
    replaced, warned = published(desk, "--spec", spec, "--hierarchies", desk.hierarchies(city=OTHERS))
    assert replaced["columns"][1] == as_specified["columns"][1]
    assert replaced["columns"][2] != as_specified["columns"][2]
    assert "the hierarchy given for 'city' replaces the one in the specification" in warned
    assert "gender" not in warned
    _, warned = published(desk, "--spec", spec, "--qi", "age,gender", "--hierarchies", desk.folder / "hierarchies")
    assert "city" not in warned


def test_a_file_for_a_column_that_is_specified_as_a_number_is_not_used(desk: Desk, spec: Path) -> None:
    spec.write_text(HEAD + AGE + 'type = "integer"\n' + GENDER + CITY + DISEASE)
    as_specified, _ = published(desk, "--spec", spec)
    folder = desk.hierarchies(age=[(age, "*") for age in sorted({row[1] for row in people()})])
    assert published(desk, "--spec", spec, "--hierarchies", folder)[0] == as_specified


def test_from_python_a_mapping_is_added_and_an_empty_one_takes_all_away(spec: Path) -> None:
    groups = {"gender": {"groups": {"all": ["f", "m"]}}}
    release = betalike.publish(spec=spec, hierarchies=groups, beta=0.5, seed=1)
    assert levels(release) == [0, 3, 3]
    assert release.notes[-1] == "the hierarchy given for 'gender' replaces the one in the specification"
    release = betalike.publish(spec=spec, hierarchies={}, seed=1)
    assert levels(release) == [0, 2, 2]
    with pytest.raises(FileError, match="there is no folder"):
        betalike.publish(spec=spec, hierarchies=spec.parent / "nowhere", seed=1)


def test_an_exploration_tries_its_own_betas_unless_some_are_given(desk: Desk, spec: Path) -> None:
    words = ["explore", "--spec", spec, "--queries", 0, "--seed", 1, "--json"]
    assert run(*words).document["betas"] == list(BETAS)
    assert run(*words, "--beta", "2,3").document["betas"] == [2, 3]
    assert betalike.explore(spec=spec, queries=0, seed=1).betas == BETAS
    assert betalike.explore(spec=spec, queries=0, seed=1, beta=[5]).betas == (5,)
