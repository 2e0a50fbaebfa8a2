"""The command `hierarchy`: what it builds can be published with, and what it shows and checks names no rare value."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest
from workbench import CANARY, DISEASES, Desk, people, run, to_csv

import betalike

ZIPS = ["02110", "02134", "02210", "60645", "60614", "94110"]


def visits(n_rows: int = 240) -> list[list[str]]:
    """Rows of a code, a date, an age, a country and a disease; countries are of very unequal frequency."""
    return [
        [
            ZIPS[i % 6],
            f"20{10 + i % 9}-{1 + i % 12:02}-{1 + i % 28:02}",
            str(17 + i % 70),
            "Peru" if i < 3 else "Italy" if i % 4 else "France",
            DISEASES[(i * i + i // 7) % 5],
        ]
        for i in range(n_rows)
    ]


@pytest.fixture
def table(desk: Desk) -> Path:
    path = desk.folder / "visits.csv"
    path.write_bytes(to_csv(visits(), ["zip", "day", "age", "country", "disease"]))
    return path


BUILDERS = {
    "zip": ["prefix", "--lengths", "3,1"],
    "day": ["dates", "--levels", "month,year"],
    "age": ["intervals", "--widths", "5,10", "--bottom", "18", "--top", "80"],
    "country": ["frequency", "--least", "10"],
}


@pytest.mark.some(2)
@pytest.mark.parametrize("column", BUILDERS)
def test_what_is_built_covers_the_column_and_can_be_published_with(desk: Desk, table: Path, column: str) -> None:
    trees = desk.folder / "trees"
    trees.mkdir()
    action, *options = BUILDERS[column]
    built = run("hierarchy", action, table, "--column", column, *options, "-o", trees / f"{column}.csv")
    assert built.status == 0, built.text
    assert run("hierarchy", "check", trees, "--table", table).status == 0
    words = ["--qi", column, "--sensitive", "disease", "--beta", "1", "--hierarchies", trees, "--out", "release"]
    assert run("publish", table, *words).status == 0
    with (trees / f"{column}.csv").open() as file:
        labels = {label for row in csv.reader(file, delimiter=";") for label in row}
    published = pl.read_csv(desk.folder / "release" / "published.csv", infer_schema=False)
    assert set(published[column]) <= labels
    assert run("verify", "release", "--original", table).status == 0


def test_standard_output_is_the_file(desk: Desk, table: Path) -> None:
    words = ["hierarchy", "prefix", table, "--column", "zip", "--lengths", "2"]
    assert run(*words).stdout.splitlines() == [f"{zip_code};{zip_code[:2]}*;*" for zip_code in sorted(ZIPS)]
    assert run(*words, "--json").document["paths"][0] == ["02110", "02*", "*"]


def test_groups_come_from_a_file_and_auto_never_needs_the_sensitive_column(desk: Desk, table: Path) -> None:
    (desk.folder / "groups.csv").write_text("\n".join(f"{zip_code[0]}-land,{zip_code}" for zip_code in ZIPS))
    words = ["hierarchy", "groups", table, "--column", "zip", "--groups", "groups.csv"]
    assert "02110;0-land;*" in run(*words).stdout
    by = ["hierarchy", "auto", table, "--column", "zip", "--by", "age,day"]
    first = run(*by)
    assert first.status == 0, first.text
    shuffled = [[*row[:-1], DISEASES[i % 5]] for i, row in enumerate(visits())]
    table.write_bytes(to_csv(shuffled, ["zip", "day", "age", "country", "disease"]))
    assert run(*by).stdout == first.stdout


def test_a_recipe_in_a_specification_and_in_python_is_the_same_as_a_file(desk: Desk, table: Path) -> None:
    run("hierarchy", "prefix", table, "--column", "zip", "--lengths", "3,1", "-o", "zip.csv")
    spec = "\n".join(
        [
            'table = "visits.csv"',
            "[promise]",
            "beta = 1",
            "[columns.zip]",
            'role = "quasi-identifier"',
            "hierarchy = {prefix = [3, 1]}",
            "[columns.disease]",
            'role = "sensitive"',
        ]
    )
    (desk.folder / "release.toml").write_text(spec)
    assert run("publish", "--spec", "release.toml", "--out", "a", "--seed", "1").status == 0
    shared = {"quasi_identifiers": ["zip"], "sensitive": "disease", "beta": 1, "seed": 1}
    by_file = betalike.publish(table, hierarchies={"zip": Path("zip.csv")}, **shared)
    by_recipe = betalike.publish(
        pl.read_csv(table, infer_schema=False), hierarchies={"zip": {"prefix": [3, 1]}}, **shared
    )
    from_spec = json.loads((desk.folder / "a" / "certificate.json").read_text())
    for release in (by_file, by_recipe):
        assert release.certificate["table"]["columns"] == from_spec["table"]["columns"]
        assert release.certificate["release"]["average_loss"] == from_spec["release"]["average_loss"]


def test_show_names_no_node_with_fewer_than_three_rows(desk: Desk) -> None:
    rows = [[f"{CANARY}-{i}" if i < 20 else "common", *row] for i, row in enumerate(people(30))]
    (desk.folder / "t.csv").write_bytes(to_csv(rows, ["key", "name", "age", "gender", "city", "disease"]))
    assert run("hierarchy", "prefix", "t.csv", "--column", "key", "--lengths", "3", "-o", "key.csv").status == 0
    for options in ([], ["--json"]):
        shown = run("hierarchy", "show", "key.csv", "--table", "t.csv", *options)
        assert shown.status == 0, shown.text
        assert all(word in shown.stdout for word in ("CAN*", "common", "20", "10", "30"))
        assert CANARY not in shown.stdout


def test_check_reports_files_without_a_column_and_values_without_a_leaf(desk: Desk, table: Path) -> None:
    trees = desk.folder / "trees"
    trees.mkdir()
    (trees / "zip.csv").write_text("".join(f"{zip_code};*\n" for zip_code in ZIPS[1:]))
    (trees / "town.csv").write_text("a;*\n")
    (trees / "age.csv").write_text("a;b\nc;d\n")
    checked = run("hierarchy", "check", trees, "--table", table, "--json")
    assert checked.status == 2
    files = {file["file"]: file for file in checked.document["files"]}
    assert files["town.csv"]["column"] is None
    assert (files["zip.csv"]["values_without_leaf"], files["zip.csv"]["rows_without_leaf"]) == (1, 40)
    assert "line 1" in files["age.csv"]["problem"]
    assert run("hierarchy", "check", trees, "--table", table).status == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["prefx", "visits.csv"], "Did you mean 'prefix'?"),
        (["prefix", "visits.csv"], "--column is missing"),
        (["prefix", "visits.csv", "--column", "zip"], "--lengths is missing"),
        (["prefix", "visits.csv", "--column", "zip", "--lengths", "x"], "not a whole number"),
        (["prefix", "visits.csv", "--column", "zip", "--lengths", "3", "--top", "3"], "--top is for the builder"),
        (["prefix", "visits.csv", "--column", "zap", "--lengths", "3"], "no column 'zap'"),
        (["intervals", "visits.csv", "--column", "zip", "--widths", "nan"], "greater than 0"),
        (["intervals", "visits.csv", "--column", "country", "--widths", "5"], "3 of 3 values"),
        (["dates", "visits.csv", "--column", "day", "--levels", "week"], "'week'"),
        (["groups", "visits.csv", "--column", "zip", "--groups", "nowhere.csv"], "No such file"),
        (["auto", "visits.csv", "--column", "zip", "--by", "zip"], "no other column"),
        (["check", "nowhere", "--table", "visits.csv"], "cannot be read"),
        (["check", "nowhere"], "--table is missing"),
        (["show", "visits.csv"], "line 1"),
        (["prefix", "visits.csv", "--column", "zip", "--lengths", "3", "-o", "visits.csv", "--force"], "also read"),
    ],
)
def test_bad_words_are_refused(table: Path, words: list[str], message: str) -> None:
    before = table.read_bytes()
    outcome = run("hierarchy", *words)
    assert outcome.status == 2
    assert message in outcome.text
    assert table.read_bytes() == before


def test_dates_and_numbers_may_have_other_forms(desk: Desk) -> None:
    path = desk.folder / "forms.csv"
    cells = [["31.12.1980", "1,5"], ["07/13/1981", "12,25"], ["19820101", "3,5"]]
    path.write_bytes(to_csv(cells * 4, ["day", "dose"]))
    made = run("hierarchy", "dates", path, "--column", "day")
    assert made.status == 0
    rows = [line.split(";") for line in made.stdout.splitlines()]
    assert ["31.12.1980", "1980-12", "1980", "1980s", "*"] in rows
    assert ["07/13/1981", "1981-07", "1981", "1980s", "*"] in rows
    made = run("hierarchy", "intervals", path, "--column", "dose", "--widths", "5")
    assert made.status == 0
    assert "12,25;[10, 15);*" in made.stdout.splitlines()


def test_the_order_of_days_and_months_is_asked_for(desk: Desk) -> None:
    path = desk.folder / "days.csv"
    path.write_bytes(to_csv([["03/04/1980"], ["05/06/1981"]], ["day"]))
    refused = run("hierarchy", "dates", path, "--column", "day", "--levels", "month")
    assert refused.status == 2
    assert "--dates dmy" in refused.text
    for order, month in (("dmy", "1980-04"), ("mdy", "1980-03")):
        made = run("hierarchy", "dates", path, "--column", "day", "--levels", "month", "--dates", order)
        assert f"03/04/1980;{month};*" in made.stdout.splitlines()


def test_auto_counts_people_and_names_no_value_of_fewer_than_three(tmp_path: Path) -> None:
    rows = [
        {"who": f"p{i}", "city": f"town {i % 12}", "age": 20 + i % 40, "disease": DISEASES[i % 5]} for i in range(240)
    ]
    rows += [{"who": "p5", "city": CANARY, "age": 30, "disease": DISEASES[i % 5]} for i in range(10)]
    recipe = {"city": {"auto": ["age"]}}
    asked = {"quasi_identifiers": ["city", "age"], "sensitive": "disease", "beta": 4, "seed": 1, "hierarchies": recipe}
    frame = pl.DataFrame(rows)
    release = betalike.publish(frame, **asked, person="who", out=tmp_path / "out")
    (city, _) = release.certificate["table"]["columns"]
    assert not [label for label in city["leaves_under"] if CANARY in label]
    assert release.certificate["people"]["holds"]
    by_rows = betalike.build_hierarchy(frame, "city", {"auto": ["age"]})
    assert CANARY in by_rows.leaves
