"""`--spreadsheet-safe`: no text cell of a published CSV is run by a spreadsheet, and readers see what was there."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from workbench import COLUMNS, Desk, assert_refused, people, run, to_csv

import betalike

SIGNS = "=+-@\t\r"
DISEASES = ["=1+1", "+flu", "-cough", "@gout", "'quoted'", "-5"]
CITIES = ["=HYPERLINK(1)", "\ttab", "plain", "''two", "-3.5e2", "@x"]
QI = "age,gender,city"


@pytest.fixture
def table(desk: Desk) -> Path:
    rows = [[*row[:3], CITIES[i % 6], DISEASES[(i * i + i // 7) % 6]] for i, row in enumerate(people())]
    path = desk.folder / "people.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([COLUMNS, *rows])
    return path


@pytest.fixture
def trees(desk: Desk) -> Path:
    leaves = [(city.strip(), "=north" if i % 2 else "-south", "*") for i, city in enumerate(CITIES)]
    return desk.write("trees/city.csv", to_csv(leaves, None, ";")).parent


def is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text) is not None


def cells(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def assert_safe(path: Path) -> None:
    for line in cells(path):
        for cell in line:
            assert cell[:1] not in set(SIGNS) or is_number(cell), cell


def values_of(path: Path, column: str) -> Counter[str]:
    header, *lines = cells(path)
    return Counter(line[header.index(column)] for line in lines)


@pytest.mark.some(2)
@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize("scheme", ["seam", "perturb", "baseline"])
def test_a_safe_release_says_the_same(desk: Desk, table: Path, scheme: str) -> None:
    original = cells(table)
    words = ["--keep", "name", "--keep-identifiers", "--scheme", scheme, "--seed", 1, "--categorical", "city"]
    plain = desk.folder / "plain"
    assert run(*desk.words(table, *words, out=plain)).status == 0
    assert run(*desk.words(table, *words, "--spreadsheet-safe")).status == 0
    assert desk.certificate()["release"]["spreadsheet_safe"] is True
    assert json.loads((plain / "certificate.json").read_text())["release"]["spreadsheet_safe"] is False
    for path in desk.out.glob("*.csv"):
        assert_safe(path)
    assert cells(desk.out / "published.csv") != cells(plain / "published.csv")
    for column in ("city", "disease"):
        if column in cells(plain / "published.csv")[0] and scheme != "seam":
            safe = {cell.removeprefix("'"): n for cell, n in values_of(desk.out / "published.csv", column).items()}
            assert safe == values_of(plain / "published.csv", column)
    for words in (["verify"], ["verify", "--original", table]):
        assert run(words[0], desk.out, *words[1:]).status == 0
    counts = Counter(line[4] for line in original[1:])
    assert desk.certificate()["prior_counts"] == counts
    for predicate in ("disease = '=1+1'", "city = '@x' AND disease = '-5'"):
        answers = [run("query", folder, predicate, "--json").document for folder in (plain, desk.out)]
        assert answers[0] == answers[1]
    assert run("attack", desk.out, "--original", table, "--attacks", "skewness").status == 0
    assert run("workload", desk.out, "--original", table, "--queries", 5, "--predicates", 1).status == 0


@pytest.mark.parametrize("layout", ["labels", "bounds"])
def test_labels_of_hierarchies(desk: Desk, table: Path, trees: Path, layout: str) -> None:
    table.write_bytes(table.read_bytes().replace(b"\t", b""))  # cells of a hierarchy have no space around them
    words = ["--hierarchies", trees, "--spreadsheet-safe", "--layout", layout]
    assert run(*desk.words(table, *words, beta=0.5)).status == 0
    assert_safe(desk.out / "published.csv")
    assert run("verify", desk.out, "--original", table).status == 0


def test_an_audit_of_a_safe_release(desk: Desk, table: Path) -> None:
    assert run(*desk.words(table, "--spreadsheet-safe")).status == 0
    words = ["--qi", QI, "--sensitive", "disease", "--beta", 2]
    for more in (["--certificate", desk.out], ["--original", table]):
        outcome = run("audit", desk.out, *words, *more, "--json")
        assert outcome.status == 0, outcome.text
        assert outcome.document["holds"] is True
    outcome = run("audit", desk.out / "published.csv", *words, "--certificate", desk.out)
    assert outcome.status == 0, outcome.text


@pytest.mark.usefixtures("reading")
def test_without_it_a_warning_names_the_columns(desk: Desk, table: Path) -> None:
    outcome = run(*desk.words(table, "--keep", "name", "--keep-identifiers"))
    assert outcome.status == 0
    assert "run as formulas" in outcome.stderr
    assert "disease" in outcome.stderr
    assert "=1+1" not in outcome.stderr
    assert any("run as formulas" in warning and "disease" in warning for warning in desk.certificate()["warnings"])
    assert run("verify", desk.out).status == 0
    for more in (["--spreadsheet-safe"], ["--format", "parquet"]):
        outcome = run(*desk.words(table, "--force", *more))
        assert "run as formulas" not in outcome.text
        assert not any("run as formulas" in warning for warning in desk.certificate()["warnings"])


def test_plain_tables_give_no_warning(desk: Desk) -> None:
    rows = [[row[0], f"-{row[1]}", *row[2:]] for row in people()]
    outcome = desk.publish(table=desk.table(rows))
    assert outcome.status == 0
    assert "formulas" not in outcome.text


def test_the_distribution_beside_a_parquet_file_is_csv(desk: Desk, table: Path) -> None:
    outcome = run(*desk.words(table, "--format", "parquet", "--scheme", "baseline"))
    assert outcome.status == 0
    assert "run as formulas" in outcome.stderr


@pytest.mark.parametrize("name", ["=age", "+age", "-age", "@age", "'age"])
def test_column_names_of_that_kind_are_refused(desk: Desk, name: str) -> None:
    table = desk.write("people.csv", to_csv(people(), ["name", name, "gender", "city", "disease"]))
    for words in (["--qi", f"{name},gender"], ["--qi", "gender", "--keep", name]):
        assert_refused(
            run(
                "publish", table, *words, "--sensitive", "disease", "--beta", 2, "--out", desk.out, "--spreadsheet-safe"
            ),
            "column name",
            "Rename",
        )
    assert not desk.out.exists()


def test_it_is_for_csv(desk: Desk) -> None:
    assert_refused(desk.publish("--spreadsheet-safe", format="parquet"), "spreadsheet_safe", "CSV")
    assert_refused(desk.publish(format="spreadsheet-safe csv"), "the format is")


@pytest.mark.usefixtures("in_batches")
def test_python_and_the_specification_take_it_too(desk: Desk, table: Path) -> None:
    columns = {"quasi_identifiers": ["age", "city"], "sensitive": "disease"}
    release = betalike.publish(table, **columns, beta=2, out=desk.out, spreadsheet_safe=True)
    values = release.frame.collect()["disease"]
    assert dict(values.value_counts().iter_rows()) == dict(Counter(line[4] for line in cells(table)[1:]))
    assert betalike.verify(release, original=pl.read_csv(table, infer_schema=False)).holds
    spec = desk.write(
        "release.toml",
        'table = "people.csv"\n[promise]\nbeta = 2\n[release]\nspreadsheet_safe = true\n'
        '[columns.age]\nrole = "quasi-identifier"\n[columns.disease]\nrole = "sensitive"\n',
    )
    assert run("publish", "--spec", spec, "--out", desk.folder / "other").status == 0
    assert_safe(desk.folder / "other" / "published.csv")


def test_a_certificate_without_the_field_is_read(desk: Desk) -> None:
    assert desk.publish().status == 0
    certificate = desk.certificate()
    del certificate["release"]["spreadsheet_safe"]
    (desk.out / "certificate.json").write_text(json.dumps(certificate))
    assert run("verify", desk.out).status == 0
