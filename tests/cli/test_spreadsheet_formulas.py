"""Text cells that a spreadsheet would run are named with their columns, in the summary and in the certificate."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from workbench import COLUMNS, Desk, people, run

DISEASES = ["=1+1", "+flu", "-cough", "@gout", "'quoted'", "-5"]
CITIES = ["=HYPERLINK(1)", "\ttab", "plain", "''two", "-3.5e2", "@x"]


@pytest.fixture
def table(desk: Desk) -> Path:
    rows = [[*row[:3], CITIES[i % 6], DISEASES[(i * i + i // 7) % 6]] for i, row in enumerate(people())]
    path = desk.folder / "people.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([COLUMNS, *rows])
    return path


def test_a_warning_names_the_columns_and_what_prevents_it(desk: Desk, table: Path, engine: str) -> None:
    outcome = run(*desk.words(table, "--keep", "name", "--keep-identifiers", engine=engine))
    assert outcome.status == 0
    (told,) = [warning for warning in desk.certificate()["warnings"] if "run as formulas" in warning]
    assert told.endswith("the format xlsx prevents that: city, disease")
    assert told in outcome.stderr
    assert "=1+1" not in outcome.stderr
    assert run("verify", desk.out).status == 0
    for form in ("parquet", "xlsx"):
        outcome = run(*desk.words(table, "--force", "--format", form))
        assert outcome.status == 0, outcome.text
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
