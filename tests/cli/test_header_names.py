"""Names that look like cells: a warning for a few of them, a refusal for most, and the same rule in every command."""

from __future__ import annotations

from pathlib import Path

import pytest
from workbench import CANARY, Desk, Outcome, assert_refused, people, run, to_csv

import betalike
from betalike.errors import FileError

COLUMNS = "--qi", "age,city", "--sensitive", "d"
A_FEW = "1 of its 5 columns has a name that is empty, a number, a date, or a value of the column itself"


def with_value_like_its_name(desk: Desk) -> Path:
    rows = people()
    rows[7][4] = "d"
    return desk.write("t.csv", to_csv(rows, header=["name", "age", "gender", "city", "d"]))


def without_header(desk: Desk) -> Path:
    return desk.write("t.csv", to_csv([[f"{CANARY} Smith", "37", "f", "Ulm", "flu"], *people()], header=None))


def every_command(desk: Desk, table: Path, columns: tuple[str, ...]) -> dict[str, Outcome]:
    """What each command that reads a table ends with."""
    asked = [table, *columns, "--seed", 1]
    return {
        "describe": run("describe", table),
        "publish": run("publish", *asked, "--beta", 3, "--out", desk.out),
        "explore": run("explore", *asked, "--beta", 3, "--queries", 0),
        "compare": run("compare", *asked, "--schemes", "seam", "--queries", 0),
        "hierarchy": run("hierarchy", "prefix", table, "--column", columns[1].split(",")[-1], "--lengths", 1),
    }


def test_a_value_like_the_name_of_its_column_is_no_reason_to_refuse(desk: Desk) -> None:
    for name, outcome in every_command(desk, with_value_like_its_name(desk), COLUMNS).items():
        assert outcome.status == 0, (name, outcome.text)
        assert (A_FEW in outcome.text) is (name in ("describe", "publish"))


def test_every_command_refuses_a_table_most_of_whose_names_are_cells(desk: Desk) -> None:
    table = without_header(desk)
    for outcome in every_command(desk, table, ("--qi", "37,Ulm", "--sensitive", "flu")).values():
        assert_refused(outcome, "t.csv seems to have no header line: 4 of its 5 columns")
    assert not desk.out.exists()


def test_the_warnings_are_there_in_python(desk: Desk) -> None:
    table = with_value_like_its_name(desk)
    (warning,) = betalike.describe(table).warnings
    assert warning.startswith(A_FEW)
    release = betalike.publish(table, quasi_identifiers=["age"], sensitive="d", beta=3, seed=1)
    assert warning in release.notes
    assert betalike.describe(desk.table()).warnings == ()


@pytest.mark.parametrize(
    ("header", "is_refused"),
    [
        ("name,age,gender,city,disease", False),
        (",age,gender,city,disease", False),  # the index of a data frame
        ("name,2020,gender,2021,disease", False),
        ("name,2020,2021,2022,disease", True),
        ("name,2010-03,2010-04,,disease", True),
        ("name,12,f,Ulm,disease", True),
        ("name,age,f,Ulm,disease", False),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_most_means_more_than_half(desk: Desk, header: str, is_refused: bool, encoding: str) -> None:
    lines = [header, *(",".join([f"Zoë {row[0]}", *row[1:]]) for row in people())]
    table = desk.write("t.csv", "\n".join(lines).encode(encoding))
    if is_refused:
        with pytest.raises(FileError, match="seems to have no header line: 3 of its 5 columns"):
            betalike.describe(table)
    else:
        betalike.describe(table)


def test_only_the_beginning_of_a_long_file_is_read_for_it(desk: Desk) -> None:
    rows = people(4000)
    rows[-1][4] = "d"
    table = desk.write("t.csv", to_csv(rows, header=["name", "age", "gender", "city", "d"]))
    assert table.stat().st_size > 1 << 16
    assert betalike.describe(table).warnings == ()
