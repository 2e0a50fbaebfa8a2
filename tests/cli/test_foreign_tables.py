"""Tables in workbooks, statistics files and databases: every command reads them, and the same table gives the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi
import openpyxl
import polars as pl
import pytest
from workbench import Desk, Outcome, assert_refused, run

import betalike
from foreign_sources import CANARY, CODES, WRITERS, patients, write_duckdb, write_openpyxl, write_spss, write_sqlite
from postgres_server import Server, running_server

pytestmark = pytest.mark.xdist_group("databases")  # one process makes what these tests share

QI = "age,born,city,height"
WORDS = {"sheet": "--sheet", "query": "--query", "table_name": "--table"}
TYPES = ["integer", "date", "categorical", "real", "integer"]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as started:
        yield started


def write_postgresql(frame: pl.DataFrame, server: Server) -> tuple[str, dict[str, Any]]:
    with adbc_driver_postgresql.dbapi.connect(server.address()) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("people", frame.to_arrow(), mode="replace")
        connection.commit()
    return server.address(), {"table_name": "people"}


def options(given: dict[str, Any]) -> list[str]:
    return [word for name, value in given.items() for word in (WORDS[name], value)]


def publish(desk: Desk, table: str, *more: object) -> Outcome:
    asked = ("--qi", QI, "--sensitive", "disease", "--beta", 4, "--out", desk.out, "--seed", 1)
    asked += ("--scheme", "lmondrian")
    return run("publish", table, *asked, *more)


def release_of(desk: Desk, table: str, *more: object) -> tuple[float, list[dict[str, str]]]:
    outcome = publish(desk, table, *more)
    assert outcome.status == 0, outcome.text
    rows = sorted(desk.published(), key=lambda row: tuple(row.values()))
    return desk.certificate()["release"]["average_loss"], rows


@pytest.fixture(params=[*WRITERS, "postgresql"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, dict[str, Any]]:
    frame = patients()
    if request.param == "postgresql":
        return write_postgresql(frame, request.getfixturevalue("server"))
    return WRITERS[request.param](frame, tmp_path)


def test_every_source_gives_the_same_release(desk: Desk, source: tuple[str, dict[str, Any]]) -> None:
    table, given = source
    patients().write_csv(desk.folder / "same.csv")
    loss, rows = release_of(desk, str(desk.folder / "same.csv"))
    assert release_of(desk, table, *options(given), "--force") == (loss, rows)
    assert run("verify", desk.out, "--original", table, *options(given)).status == 0


@pytest.mark.some(4)
@pytest.mark.parametrize("source", ["csv", "xlsx", "sav", "dta", "sqlite", "duckdb", "postgresql"], indirect=True)
def test_a_report_names_the_columns_that_were_left_out_of_every_source(
    desk: Desk, source: tuple[str, dict[str, Any]]
) -> None:
    table, given = source
    release_of(desk, table, *options(given))
    page = desk.folder / "report.html"
    outcome = run("report", desk.out, "--original", table, *options(given), "--quick", "-o", page)
    assert outcome.status == 0, outcome.text
    assert ">name</th><td>left out</td>" in page.read_text()


@pytest.mark.some(2)
@pytest.mark.parametrize("source", ["xlsx", "sav", "sqlite", "duckdb", "postgresql"], indirect=True)
def test_describe_says_how_to_read_the_table_again(
    desk: Desk, source: tuple[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, given = source
    (desk.folder / "specs").mkdir()
    described = run("describe", table, *options(given), "-o", "specs/release.toml")
    assert described.status == 0, described.text
    found = betalike.describe(table, **given)
    assert [str(column.kind) for column in found.columns[1:]] == TYPES
    text = (desk.folder / "specs" / "release.toml").read_text()
    password = table.split("@")[0].rpartition(":")[2]
    if table.startswith("postgresql:"):
        assert password not in text
        monkeypatch.setenv("PGPASSWORD", password)
    assert CANARY not in text
    assert run("publish", "--spec", "specs/release.toml", "--out", desk.out, "--scheme", "lmondrian").status == 0


def test_every_command_reads_them(desk: Desk) -> None:
    table, given = write_sqlite(patients(), desk.folder)
    words = options(given)
    named = ("--qi", QI, "--sensitive", "disease")
    assert publish(desk, table, *words).status == 0
    assert run("workload", desk.out, "--original", table, *words, "--queries", 20).status == 0
    assert run("attack", desk.out, "--original", table, *words, "--attacks", "naive-bayes").status == 0
    assert run("audit", desk.out, "--original", table, *words, *named, "--beta", 4).status == 0
    assert run("compare", table, *words, *named, "--schemes", "lmondrian", "--queries", 0).status == 0
    tree = run(
        "hierarchy", "prefix", table, "--table-name", "people", "--column", "city", "--lengths", 1, "-o", "city.csv"
    )
    assert tree.status == 0, tree.text
    checked = run("hierarchy", "check", "city.csv", "--table", table, "--query", "SELECT city FROM people")
    assert checked.status == 0, checked.text
    shown = run("hierarchy", "show", "city.csv", "--table", table, "--table-name", "people")
    assert "Bonn" in shown.text


def test_figures_of_a_release_read_them_too(desk: Desk) -> None:
    table, given = write_openpyxl(patients(), desk.folder)
    asked = {"quasi_identifiers": ["age", "city"], "sensitive": "disease", "beta": 4}
    release = betalike.publish(table, **given, **asked, seed=1)
    assert release.utility(table, seed=1, queries=20, **given).to_dict()
    assert release.risk(table, **given).to_dict()
    with pytest.raises(TypeError, match="unexpected keyword argument 'shet'"):
        release.risk(table, shet="People")


def test_a_published_workbook_can_be_audited(desk: Desk) -> None:
    frame = pl.DataFrame({"age": ["[20, 40]"] * 4, "disease": ["a", "b", "a", "b"]})
    frame.write_excel(desk.folder / "made.xlsx")
    outcome = run("audit", "made.xlsx", "--qi", "age", "--sensitive", "disease", "--json")
    assert outcome.document["k"] == 4


def test_a_workbook_with_one_cell_in_the_last_corner_is_refused(desk: Desk) -> None:
    made = openpyxl.Workbook()
    for place, cell in (("A1", "age"), ("A2", CANARY), ("XFD1048576", CANARY)):
        made.worksheets[0][place] = cell
    made.save(desk.folder / "far.xlsx")
    assert_refused(
        run("describe", "far.xlsx"), "far.xlsx is a workbook that cannot be read", "cells far from each other"
    )
    assert_refused(publish(desk, "far.xlsx"), "far.xlsx is a workbook that cannot be read", "or save the table alone")


def test_labels_take_the_place_of_codes(desk: Desk) -> None:
    table, _ = write_spss(patients(), desk.folder)
    _, coded = release_of(desk, table)
    _, labelled = release_of(desk, table, "--labels", "--force")
    assert {row["disease"] for row in coded} == set(map(str, CODES))
    assert {row["disease"] for row in labelled} == set(CODES.values())
    assert run("verify", desk.out, "--original", table, "--labels").status == 0
    assert run("verify", desk.out, "--original", table).status == 1


def test_options_of_other_sources_are_refused(desk: Desk) -> None:
    table, given = write_openpyxl(patients(), desk.folder)
    csv = desk.table()
    assert_refused(publish(desk, table), "has 2 sheets: Notes, People", "--sheet")
    assert_refused(publish(desk, table, "--sheet", "Peple"), "no sheet 'Peple'", "Did you mean 'People'?")
    assert_refused(publish(desk, table, *options(given), "--labels"), "--labels is for a table in a statistics file")
    assert_refused(publish(desk, str(csv), "--query", "SELECT 1"), "--query is for a table in a database")
    assert_refused(publish(desk, "sqlite:none.db", "--table", "a"), "there is no file 'none.db'")
    with pytest.raises(betalike.errors.ParameterError, match="--sheet is for"):
        betalike.describe(patients(), sheet="People")


def test_a_source_is_never_replaced(desk: Desk) -> None:
    table, given = write_openpyxl(patients(), desk.folder)
    before = Path(table).read_bytes()
    assert_refused(run("describe", table, *options(given), "-o", table, "--force"), "also read")
    database, named = write_sqlite(patients(), desk.folder)
    outcome = run("describe", database, *options(named), "-o", database.removeprefix("sqlite:"), "--force")
    assert_refused(outcome, "also read")
    assert Path(table).read_bytes() == before


def test_the_call_wins_over_the_specification(desk: Desk) -> None:
    """Another table than that of the specification has no sheet and no query of it."""
    table, given = write_openpyxl(patients(), desk.folder)
    assert run("describe", table, *options(given), "-o", "release.toml").status == 0
    patients().write_csv(desk.folder / "same.csv")
    outcome = run("publish", "same.csv", "--spec", "release.toml", "--out", desk.out, "--scheme", "lmondrian")
    assert outcome.status == 0, outcome.text


def test_no_part_of_a_copy_is_left(desk: Desk, scratch: Path) -> None:
    table, given = write_sqlite(patients(), desk.folder)
    assert publish(desk, table, *options(given)).status == 0
    assert publish(desk, table, "--query", "SELECT nothing FROM people").status == 2
    assert list(scratch.iterdir()) == []


class Watcher(betalike.SILENT.__class__):
    """Reads what lies in a folder whenever a step of the work begins."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.columns, self.content = folder, set[str](), b""

    def start(self, step: str) -> None:
        for file in self.folder.rglob("*"):
            if file.suffix in (".csv", ".arrow"):
                table = pl.read_csv(file) if file.suffix == ".csv" else pl.read_ipc(file)
                self.columns |= {*table.columns}
                self.content += file.read_bytes()


@pytest.mark.some(3)
def test_a_copy_has_only_the_columns_that_are_named(source: tuple[str, dict[str, Any]], scratch: Path) -> None:
    table, given = source
    watcher = Watcher(scratch)
    asked = {"quasi_identifiers": ["age", "city"], "sensitive": "disease", "beta": 4, "scheme": "lmondrian"}
    recipe = {"city": {"auto": ["born"]}}
    betalike.publish(table, **given, **asked, keep=["height"], hierarchies=recipe, progress=watcher, seed=1)
    is_copied = not table.endswith((".csv", ".parquet"))
    assert watcher.columns == ({"age", "city", "disease", "height", "born"} if is_copied else set())
    assert CANARY.encode() not in watcher.content


def test_columns_that_the_table_lacks_are_named_with_those_it_has(desk: Desk) -> None:
    table, given = write_sqlite(patients(), desk.folder)
    words = ("--qi", "age,born,ciity", "--sensitive", "disease", "--beta", 4, "--out", desk.out)
    refused = run("publish", table, *options(given), *words)
    assert_refused(refused, "no column 'ciity'. It has: name, age, born, city, height", "Did you mean 'city'?")


@pytest.mark.parametrize("write", [write_duckdb, write_openpyxl])
def test_a_key_of_persons_is_noticed_but_not_copied(
    write: Callable[..., tuple[str, dict[str, Any]]], scratch: Path, tmp_path: Path
) -> None:
    frame = patients().with_columns(patient_id=pl.Series([f"{CANARY}-{i // 3}" for i in range(240)]))
    watcher = Watcher(scratch)
    table, given = write(frame, tmp_path)
    asked = {"quasi_identifiers": ["age", "city"], "sensitive": "disease", "beta": 4, "scheme": "lmondrian"}
    release = betalike.publish(table, **given, **asked, progress=watcher, seed=1)
    assert any("'patient_id' looks like a key of persons with several rows, 3.0" in note for note in release.notes)
    assert "patient_id" in watcher.columns
    assert CANARY.encode() not in watcher.content
    watcher.content = b""
    betalike.publish(table, **given, **asked, person="patient_id", progress=watcher, seed=1)
    assert CANARY.encode() in watcher.content
