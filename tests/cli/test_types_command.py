"""Types on the command line: what was taken as what is shown, doubts are warnings, and no cell is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from workbench import CANARY, Outcome, assert_refused, run

ROWS = 120


def written(folder: Path, column: list[str], name: str = "age") -> Path:
    cells = [f"{column[i % len(column)]},{['flu', 'cough', 'gout'][i % 3]}" for i in range(ROWS)]
    (folder / "t.csv").write_text("\n".join([f"{name},disease", *cells]) + "\n")
    return folder / "t.csv"


def publish(folder: Path, table: Path, *more: object, qi: str = "age") -> Outcome:
    return run("publish", table, "--qi", qi, "--sensitive", "disease", "--beta", 2, "--out", folder / "out", *more)


@pytest.mark.parametrize(
    ("column", "warning", "words"),
    [
        ([f"{CANARY} years", *map(str, range(20, 59))], "3 of 120 values are no numbers", "text: 3 of 120"),
        (["NA", *map(str, range(20, 59))], "name them with --missing NA", "text: 3 of 120 values are NA"),
        (["-9", *map(str, range(20, 59))], "holds -9, apart from all other values", "whole numbers"),
        (["02110", "60645"], None, "codes: some begin with 0"),
        (["31.12.1980", "01.02.1990"], None, "dates (DD.MM.YYYY)"),
    ],
    ids=["a few texts", "NA", "-9", "codes", "dates"],
)
def test_the_summary_says_what_a_column_was_taken_for(
    tmp_path: Path, column: list[str], warning: str | None, words: str
) -> None:
    outcome = publish(tmp_path, written(tmp_path, column))
    assert outcome.status == 0, outcome.text
    assert f"age: {words}" in outcome.text
    assert ("warning: the column 'age'" in outcome.stderr) == (warning is not None)
    assert warning is None or warning in outcome.text
    assert CANARY not in outcome.text


def test_named_codes_are_no_reason_for_a_warning(tmp_path: Path) -> None:
    table = written(tmp_path, ["NA", "-9", *map(str, range(20, 59))])
    outcome = publish(tmp_path, table, "--missing", "NA,-9")
    assert outcome.status == 0, outcome.text
    assert "warning" not in outcome.stderr
    assert run("verify", tmp_path / "out", "--original", table, "--missing", "NA,-9").status == 0


def test_an_option_decides_between_day_and_month(tmp_path: Path) -> None:
    table = written(tmp_path, ["03/04/1980", "01/02/1990"], "born")
    assert_refused(publish(tmp_path, table, qi="born"), "--dates dmy", "'born'")
    assert_refused(publish(tmp_path, table, "--dates", "ymd", qi="born"), "dmy, mdy")
    outcome = publish(tmp_path, table, "--dates", "mdy", qi="born")
    assert outcome.status == 0, outcome.text
    assert "1980-03-04" in (tmp_path / "out" / "published.csv").read_text()
    assert run("verify", tmp_path / "out", "--original", table).status == 0


def test_describe_proposes_what_publish_needs(tmp_path: Path) -> None:
    table = written(tmp_path, ["NA", "-9", *map(str, range(20, 28))])
    assert run("describe", table, "-o", tmp_path / "release.toml").status == 0
    proposed = (tmp_path / "release.toml").read_text()
    assert 'missing = ["NA", "-9"]' in proposed
    assert 'type = "integer"  # whole numbers' in proposed
    outcome = run("publish", "--spec", tmp_path / "release.toml", "--out", tmp_path / "out")
    assert outcome.status == 0, outcome.text
    assert "warning" not in outcome.stderr
