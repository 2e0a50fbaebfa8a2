"""Kept columns: identifiers only if the user says so, and how many rows they single out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from workbench import CANARY, Desk, assert_refused, files_under, run

import betalike
from betalike.errors import SchemaError

N_ROWS = 120
ASKED: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "sensitive": "disease", "beta": 4, "seed": 1}
FRAME = pl.DataFrame(
    {
        "age": [20 + 7 * i % 60 for i in range(N_ROWS)],
        "sex": ["fm"[i % 2] for i in range(N_ROWS)],
        "disease": [("flu", "gout", "ulcer")[i * i % 3] for i in range(N_ROWS)],
    }
)
IDENTIFYING = {
    "name": [f"{CANARY} {i}" for i in range(N_ROWS)],  # by its name
    "contact": [f"{CANARY}{i}@example.org" for i in range(N_ROWS)],  # by its values
    "a": [1000 + i for i in range(N_ROWS)],  # numbers of the rows
    "patient_id": [i // 2 for i in range(N_ROWS)],  # a key of people with several rows
}
HARMLESS = {
    "amount": [round(17.25 + 1.37 * i, 2) for i in range(N_ROWS)],
    "measured": [0.001 * i * i for i in range(N_ROWS)],
    "small": [f"{i / 1e7:.9f}" for i in range(N_ROWS)],
    "points": [i * 10**14 + i for i in range(N_ROWS)],
    "income": [20_000 + 131 * i for i in range(N_ROWS)],
    "city": [("Ulm", "Bonn", "Rom")[i % 3] for i in range(N_ROWS)],
    "first_name": [("Anna", "Ben")[i % 2] for i in range(N_ROWS)],  # two values name nobody
    "empty": [None] * N_ROWS,
}


@pytest.mark.parametrize("column", IDENTIFYING)
@pytest.mark.parametrize("source", ["frame", "csv", "parquet"])
def test_a_column_that_identifies_people_is_kept_on_purpose_only(column: str, source: str, tmp_path: Path) -> None:
    frame = FRAME.with_columns(pl.Series(column, IDENTIFYING[column]))
    table: Any = frame if source == "frame" else tmp_path / f"table.{source}"
    if source == "csv":
        frame.write_csv(table)
    elif source == "parquet":
        frame.write_parquet(table)
    with pytest.raises(SchemaError, match=rf"'{column}' \(.*keep_identifiers") as refused:
        betalike.publish(table, keep=[column], out=tmp_path / "out", **ASKED)
    assert CANARY not in str(refused.value)
    assert not (tmp_path / "out").exists()
    release = betalike.publish(table, keep=[column], keep_identifiers=True, **ASKED)
    assert sorted(map(str, release.frame[column])) == sorted(map(str, IDENTIFYING[column]))


@pytest.mark.parametrize("column", HARMLESS)
@pytest.mark.parametrize("source", ["frame", "csv"])
def test_a_column_that_describe_does_not_take_for_an_identifier_is_kept(
    column: str, source: str, tmp_path: Path
) -> None:
    frame = FRAME.with_columns(pl.Series(column, HARMLESS[column]))
    frame.write_csv(tmp_path / "table.csv")
    release = betalike.publish(tmp_path / "table.csv" if source == "csv" else frame, keep=[column], **ASKED)
    assert release.certificate["table"]["kept"] == [column]


def test_the_rule_is_that_of_describe() -> None:
    for column, values in (IDENTIFYING | HARMLESS).items():
        frame = FRAME.with_columns(pl.Series(column, values))
        role = next(each.role for each in betalike.describe(frame).columns if each.name == column)
        assert (role in ("identifier", "person")) is (column in IDENTIFYING), column


def test_all_columns_are_named_with_the_reason() -> None:
    frame = FRAME.with_columns(pl.Series(name, values) for name, values in IDENTIFYING.items())
    with pytest.raises(SchemaError) as refused:
        betalike.publish(frame, keep=["name", "contact"], **ASKED)
    text = str(refused.value)
    assert "'name' (identifier: its name suggests a person's name)" in text
    assert "'contact' (identifier: its values look like e-mail addresses)" in text


def test_the_command(desk: Desk) -> None:
    desk.table()
    before = files_under(desk.folder)
    assert_refused(desk.publish("--seed", 1, keep="name"), "'name'", "a person's name", "--keep-identifiers")
    assert files_under(desk.folder) == before
    assert desk.publish("--seed", 1, "--keep-identifiers", keep="name").status == 0
    assert desk.certificate()["table"]["kept"] == ["name"]


def test_the_specification(tmp_path: Path) -> None:
    FRAME.with_columns(pl.Series("name", IDENTIFYING["name"])).write_csv(tmp_path / "people.csv")
    roles = {"age": "quasi-identifier", "sex": "quasi-identifier", "disease": "sensitive", "name": "kept"}
    columns = "".join(f'[columns.{name}]\nrole = "{role}"\n' for name, role in roles.items())
    (tmp_path / "strict.toml").write_text(f'table = "people.csv"\n{columns}')
    (tmp_path / "open.toml").write_text(f'table = "people.csv"\n[release]\nkeep_identifiers = true\n{columns}')
    with pytest.raises(SchemaError, match="keep_identifiers"):
        betalike.publish(spec=tmp_path / "strict.toml", beta=4, seed=1)
    assert betalike.publish(spec=tmp_path / "open.toml", beta=4, seed=1).certificate["table"]["kept"] == ["name"]


COPIES = FRAME.with_columns(
    age2=pl.col("age"),
    ward=pl.Series([i % 4 for i in range(N_ROWS)]),
    amount=pl.Series(HARMLESS["amount"]),
)


def count_single(frame: pl.DataFrame, names: list[str]) -> int:
    return frame.group_by(names).len().filter(pl.col("len") == 1).height


@pytest.mark.some(3)
@pytest.mark.parametrize("scheme", ["whole", "perturb", "baseline"])
@pytest.mark.parametrize("keep", [["age2"], ["ward"], ["amount"], ["ward", "age2"]], ids=",".join)
def test_the_certificate_says_how_many_rows_kept_columns_single_out(
    scheme: str, keep: list[str], tmp_path: Path
) -> None:
    asked: dict[str, Any] = {**ASKED, "keep": keep, "scheme": scheme}
    in_memory = betalike.publish(COPIES, **asked)
    for form in ("csv", "parquet"):
        written = betalike.publish(COPIES, out=tmp_path / form, format=form, **asked)
        for release in (in_memory, written):
            truth = [count_single(release.frame, names) for names in (keep, ["age", "sex", *keep])]
            told = release.certificate["kept"]
            assert [told["singled_out"], told["singled_out_with_classes"]] == truth
            assert not told.keys() - {"singled_out", "singled_out_with_classes"}
        checked = betalike.verify(tmp_path / form, original=COPIES)
        assert checked.holds, checked.explanations
        assert "kept" not in checked.not_checked


def test_an_exact_copy_of_a_quasi_identifier_is_seen_with_the_classes() -> None:
    """The copy takes the classes apart, though it singles out nobody by itself."""
    ages = FRAME.with_columns(age=pl.Series([20 + i // 2 for i in range(N_ROWS)])).with_columns(age2=pl.col("age"))
    told = betalike.publish(ages, keep=["age2"], **ASKED).certificate["kept"]
    assert told == {"singled_out": 0, "singled_out_with_classes": N_ROWS}


def test_without_kept_columns_there_is_nothing_to_say() -> None:
    certificate = betalike.publish(FRAME, **ASKED).certificate
    assert certificate["kept"] is None
    assert not any("single out" in warning for warning in certificate["warnings"])


def test_the_summary_the_report_and_verify_say_it(desk: Desk) -> None:
    words = "unprotected: name; together with the classes they single out 120 of 120 rows, by themselves 120"
    published = desk.publish("--seed", 1, "--keep-identifiers", "--report", keep="name")
    assert f"warning: columns published as they are, {words}." in " ".join(published.stderr.split())
    assert "single out 120 of 120 rows" in plain(published.stdout)
    assert "single out 120 of 120 rows" in plain(run("verify", desk.out).stdout)
    for audience in ("officer", "analyst", "public"):
        page = desk.folder / f"{audience}.html"
        assert run("report", desk.out, "--audience", audience, "--quick", "-o", page, "--seed", 1).status == 0
        assert "Together with the classes they single out 120 of 120 rows, by themselves 120." in page.read_text()


def plain(text: str) -> str:
    """The text without the frame around it, on one line."""
    return " ".join(text.replace("│", " ").split())
