"""Releases in workbooks, SPSS and Stata files: verified like CSV, with the same rows, and read by every command."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import openpyxl
import polars as pl
import pyreadstat
import pytest
from workbench import Desk, Outcome, assert_refused, run

from betalike.engines import formats
from foreign_sources import CODES, patients, write_spss

FORMATS = ["xlsx", "sav", "dta"]
QI = "age,born,city,height"
each_format = pytest.mark.parametrize("form", FORMATS)


def publish(
    desk: Desk, form: str, *more: object, table: object = "people.parquet", out: object = "out", qi: str = QI
) -> Outcome:
    words = ("--qi", qi, "--sensitive", "disease", "--beta", 4, "--seed", 1, "--format", form, "--out", out)
    scheme = () if "--scheme" in more else ("--scheme", "lmondrian")
    return run("publish", table, *words, *scheme, *more)


@pytest.fixture
def desk_with_people(desk: Desk) -> Desk:
    patients().write_parquet(desk.folder / "people.parquet")
    return desk


def read_alone(path: Path) -> list[tuple[str, ...]]:
    """Read a published table without betalike: all cells as text, in their order."""
    if path.suffix == ".xlsx":
        sheet = openpyxl.load_workbook(path).active
        assert sheet is not None
        rows = list(sheet.iter_rows(values_only=True))[1:]
    elif path.suffix == ".csv":
        rows = pl.read_csv(path, infer_schema=False).rows()
    else:
        read = pyreadstat.read_sav if path.suffix == ".sav" else pyreadstat.read_dta
        rows = read(path, output_format="polars")[0].rows()
    return [tuple(_text(cell) for cell in row) for row in rows]


def _text(cell: object) -> str:
    return "" if cell is None else str(cell).removesuffix(".0")  # other programs show no zero after the point


@pytest.mark.some(2)
@each_format
@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--scheme", "perturb"),
        pytest.param(("--scheme", "baseline"), marks=pytest.mark.long),
    ],
)
def test_the_rows_are_those_of_csv_and_verified(desk_with_people: Desk, form: str, more: tuple[str, ...]) -> None:
    desk = desk_with_people
    for each in ("csv", form):
        outcome = publish(desk, each, *more, "--keep", "height", out=each, qi="age,born,city")
        assert outcome.status == 0, outcome.text
    assert sorted(read_alone(desk.folder / form / f"published.{form}")) == sorted(
        read_alone(desk.folder / "csv" / "published.csv")
    )
    verified = run("verify", form, "--original", "people.parquet")
    assert verified.status == 0, verified.text
    figures = [json.loads((desk.folder / each / "certificate.json").read_bytes()) for each in ("csv", form)]
    assert figures[0]["release"]["classes"] == figures[1]["release"]["classes"]
    assert figures[0]["release"]["loss"] == pytest.approx(figures[1]["release"]["loss"])


@pytest.mark.some(2)
@each_format
def test_every_command_reads_it(desk_with_people: Desk, form: str) -> None:
    desk = desk_with_people
    assert publish(desk, "csv", out="csv").status == 0
    assert publish(desk, form).status == 0
    for words in [
        ("query", "{}", "age < 40 AND disease = 2"),
        ("audit", "{}", "--qi", QI, "--sensitive", "disease", "--original", "people.parquet", "--beta", 4),
        ("workload", "{}", "--original", "people.parquet", "--queries", 50, "--seed", 1),
    ]:
        found = [run(*(str(word).format(each) for word in words), "--json").document for each in ("csv", "out")]
        assert found[0] == found[1]
    alone = run("audit", f"out/published.{form}", "--qi", QI, "--sensitive", "disease", "--json")
    assert alone.document["rows"] == 240


@pytest.mark.some(2)
@each_format
def test_a_changed_cell_is_found(desk_with_people: Desk, form: str) -> None:
    desk = desk_with_people
    assert publish(desk, form).status == 0
    path = desk.out / f"published.{form}"
    frame = pl.DataFrame(read_alone(path), schema=[*QI.split(","), "disease"], orient="row")
    frame = frame.with_columns(pl.lit("9").alias("disease"))
    formats.write_held(frame, path, formats.choose_format(form), {})
    assert_refused(run("verify", desk.out), "digest differs", "sensitive values are not those", status=1)
    path.write_bytes(path.read_bytes()[:500])
    assert_refused(run("verify", desk.out), "is not the table that the certificate describes", status=1)
    assert run("query", desk.out, "age < 40").status == 2


@pytest.mark.parametrize("form", ["sav", "dta"])
def test_meanings_of_codes_are_kept(desk: Desk, form: str) -> None:
    """A sensitive column of codes is published with the meanings of those codes that occur."""
    table, _ = write_spss(patients().filter(pl.col("disease") != 5), desk.folder)
    assert publish(desk, form, table=table).status == 0
    read = pyreadstat.read_sav if form == "sav" else pyreadstat.read_dta
    _, facts = read(desk.out / f"published.{form}", output_format="polars")
    assert facts.variable_value_labels == {"disease": {code: text for code, text in CODES.items() if code != 5}}


def test_no_cell_of_a_workbook_is_a_formula(desk: Desk) -> None:
    frame = patients().with_columns(disease=pl.col("disease").replace_strict({1: "=1+1"}, default="@x"))
    frame.write_parquet(desk.folder / "people.parquet")
    outcome = publish(desk, "xlsx")
    assert outcome.status == 0
    assert "formula" not in outcome.text
    sheet = openpyxl.load_workbook(desk.out / "published.xlsx")["published"]
    cells = [cell for row in sheet.iter_rows() for cell in row]
    assert {cell.data_type for cell in cells if cell.value is not None} <= {"s", "n", "inlineStr"}
    assert {cell.value for cell in cells} >= {"=1+1", "@x"}


def test_values_without_an_exact_number_come_out_as_text(desk: Desk) -> None:
    """Long numbers, long fractions and decimals keep every digit, in every format."""
    frame = patients().with_columns(
        serial=pl.int_range(pl.len()) + 2**60,
        fine=pl.int_range(pl.len()) / 3,
        money=(pl.int_range(pl.len()) / 4).cast(pl.Decimal(9, 2)),
        brief=(pl.int_range(pl.len()) / 10).cast(pl.Float32),
        when=pl.lit("2020-01-02 03:04:05.678").str.to_datetime(),
        well=pl.int_range(pl.len()) % 2 == 0,
    )
    frame.write_parquet(desk.folder / "people.parquet")
    for form in ["csv", *FORMATS]:
        outcome = publish(desk, form, "--keep", "serial,fine,money,brief,when,well", "--keep-identifiers", out=form)
        assert outcome.status == 0, outcome.text
        assert run("verify", form, "--original", "people.parquet").status == 0
    rows = [sorted(read_alone(desk.folder / form / f"published.{form}")) for form in ("csv", "xlsx", "sav", "dta")]
    assert rows[1:] == [rows[0]] * 3


@pytest.mark.parametrize(
    ("form", "change", "words"),
    [
        ("sav", lambda frame: frame.rename({"city": "home town"}), "has no column 'home town'"),
        ("sav", lambda frame: frame.rename({"city": "with"}), "has no column 'with'"),
        ("dta", lambda frame: frame.rename({"city": "c" * 33}), "at most 32 characters"),
        ("dta", lambda frame: frame.rename({"city": "long"}), "no word of the program"),
        ("xlsx", lambda frame: frame.with_columns(city=pl.lit("x" * 40_000)), "longer than 32767 characters"),
        ("dta", lambda frame: frame.with_columns(city=pl.lit("x" * 3000)), "longer than 2045 bytes"),
        ("sav", lambda frame: frame.with_columns(disease=pl.col("city") + " "), "texts that end with a space"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(
    desk: Desk, form: str, change: Callable[[pl.DataFrame], pl.DataFrame], words: str
) -> None:
    frame = change(patients())
    frame.write_parquet(desk.folder / "people.parquet")
    named = ",".join(name for name in frame.columns if name not in ("name", "disease"))
    outcome = publish(desk, form, qi=named)
    assert outcome.status in (1, 2)
    assert any(word in outcome.text for word in words.split("|")), outcome.text
    assert not desk.out.exists()


def test_more_rows_than_a_sheet_has_are_refused_first(desk_with_people: Desk) -> None:
    assert formats.MOST_ROWS[formats.Format.SPSS] == 2**31 - 1
    pl.concat([patients()] * 4370).write_parquet(desk_with_people.folder / "many.parquet")  # of 240 rows each
    refused = publish(desk_with_people, "xlsx", table="many.parquet")
    assert_refused(refused, "the table has 1048800 rows, and a xlsx file holds at most 1048575")
    assert_refused(publish(desk_with_people, "xslx"), "it must be one of: csv, parquet, xlsx, sav, dta", "'xlsx'?")


def test_one_release_replaces_another_of_any_format(desk_with_people: Desk) -> None:
    desk = desk_with_people
    for form in ("csv", "xlsx", "sav", "csv"):
        assert publish(desk, form, "--force").status == 0
        assert sorted(path.name for path in desk.out.iterdir()) == ["certificate.json", f"published.{form}"]
    shutil.copy(desk.out / "published.csv", desk.out / "published.dta")
    assert_refused(publish(desk, "csv", "--force"), "no betalike certificate lists it")


@pytest.mark.parametrize("scheme", ["lmondrian", "perturb"])
def test_kept_values_that_would_come_back_changed_are_refused(desk: Desk, scheme: str) -> None:
    patients().with_columns(note=pl.lit("none ")).write_parquet(desk.folder / "people.parquet")
    refused = publish(desk, "sav", "--keep", "note", "--scheme", scheme)
    assert_refused(refused, "every value of the column 'note': 240 rows", "end with a space", "Publish csv or parquet")
    assert not desk.out.exists()
    assert publish(desk, "dta", "--keep", "note", "--scheme", scheme).status == 0
