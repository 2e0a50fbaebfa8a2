"""No command lets a text from a file act on a terminal: names, values and certificates with control characters."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.text import Text
from workbench import Desk, Outcome, change, people, run

from betalike.report.terminal import TerminalConsole, visible_copy
from betalike.runtime.visible_text import visible

CLEAR, HIDE, BELL, C1, TURN, LINE = "\x1b[2J\x1b[H", "\x1b[8m", "\x07", "\x9b31m", "\u202e", "\u2028"
FORGED = f"{CLEAR}ok  files\nok  promise\r{HIDE}"
ACTING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
AGE, CITY, DISEASE = f"age{CLEAR}", f"city{TURN}{C1}", f"disease{BELL}"


def assert_plain(outcome: Outcome, *codes: str) -> None:
    """Nothing that was printed acts on a terminal, and the codes are there to be seen."""
    printed = outcome.stdout + outcome.stderr
    assert ACTING.findall(printed) == []
    assert "Traceback" not in printed
    assert [code for code in codes if code not in printed] == []


@pytest.fixture
def table(desk: Desk) -> Path:
    """A table whose names and values hold control characters; each city and disease has many rows."""
    frame = pl.DataFrame(people(), schema=["name", AGE, "gender", CITY, DISEASE], orient="row")
    frame = frame.with_columns(
        pl.col(AGE).cast(pl.Int64),
        pl.concat_str(pl.col(CITY), pl.lit(f"\n{HIDE}{LINE}")),
        pl.concat_str(pl.col(DISEASE), pl.lit(f"\n{CLEAR}")),
    )
    path = desk.folder / "people.parquet"
    frame.write_parquet(path)
    return path


def roles(*more: object) -> list[object]:
    return ["--qi", f"{AGE},gender,{CITY}", "--sensitive", DISEASE, "--beta", 2, "--seed", 1, *more]


@pytest.fixture
def published(desk: Desk, table: Path) -> Desk:
    assert run("publish", table, *roles("--out", desk.out)).status == 0
    return desk


def test_the_summary_of_publish(desk: Desk, table: Path) -> None:
    done = run("publish", table, *roles("--out", desk.out))
    assert done.status == 0
    assert_plain(done, r"age\x1b[2J\x1b[H", r"city\u202e\x9b31m", r"\n\x1b[2J")


@pytest.mark.parametrize(
    ("command", "codes"),
    [
        (["describe", "TABLE"], [r"age\x1b[2J\x1b[H", r"city\u202e\x9b31m"]),
        (["explore", "TABLE", "--queries", 0, "--qi", f"{AGE},{CITY}", "--sensitive", DISEASE, "--beta", "2"], [r"\n"]),
        (["compare", "TABLE", "--queries", 0, "--schemes", "whole,seam", *roles()], []),
        (["verify", "OUT"], [r"city\u202e\x9b31m", r"disease\x07"]),
        (["verify", "OUT", "--original", "TABLE"], [r"disease\x07"]),
        (["audit", "OUT", "--original", "TABLE", *roles()[:4]], [r"\n\x1b[2J"]),
        (["query", "OUT", "gender = 'm'"], []),
        (["query", "OUT", f'"{CITY}" = \'{HIDE}\''], [r"city\u202e\x9b31m"]),
        (["workload", "OUT", "--original", "TABLE", "--queries", 20, "--predicates", 1], []),
        (["attack", "OUT", "--original", "TABLE", "--attacks", "naive-bayes,skewness", "--seed", 1], []),
        (["publish", "TABLE", "--qi", f"{AGE},{CITY}x", "--sensitive", DISEASE, "--beta", 2, "--out", "o"], ["31mx"]),
        (["hierarchy", "prefix", "TABLE", "--column", f"{CITY}x", "--lengths", "1"], [r"\x9b31mx"]),
    ],
)  # fmt: skip
def test_each_command(published: Desk, table: Path, command: list[Any], codes: list[str]) -> None:
    done = run(*({"TABLE": table, "OUT": published.out}.get(word, word) for word in command))
    assert_plain(done, *codes)
    as_json = run(*({"TABLE": table, "OUT": published.out}.get(word, word) for word in command), "--json")
    assert ACTING.findall(as_json.stdout + as_json.stderr) == []
    json.loads(as_json.stdout)


def test_a_drawn_hierarchy(desk: Desk) -> None:
    file = desk.write("city.csv", f"Ulm{HIDE};north{TURN};*\nKiel;north{TURN};*\nRom;south;*\n")
    assert_plain(run("hierarchy", "show", file), r"Ulm\x1b[8m", r"north\u202e")
    checked = run("hierarchy", "check", file, "--table", desk.table())
    assert_plain(checked)


def test_a_forged_certificate(desk: Desk) -> None:
    """The release that is verified cannot write the verdict: what it says is shown in codes, after the checks."""
    assert desk.publish(seed=1).status == 0

    def forge(certificate: Any) -> None:
        certificate["scheme"]["name"] = FORGED
        certificate["warnings"] = [FORGED]
        certificate["table"]["quasi_identifiers"] = [f"{FORGED}{name}" for name in ("age", "gender", "city")]
        certificate["files"][f"{HIDE}x"] = certificate["files"]["published.csv"]

    change(desk, forge)
    table = desk.folder / "people.csv"
    shown = run("verify", desk.out)
    assert shown.status == 1
    assert_plain(shown, r"\x1b[2J\x1b[Hok  files\nok  promise\r\x1b[8m")
    for words in (
        ["verify", desk.out, "--original", table],
        ["audit", desk.out, "--qi", "age,gender,city", "--sensitive", "disease"],
        ["query", desk.out, "age > 30"],
        ["workload", desk.out, "--original", table, "--predicates", 1],
        ["attack", desk.out, "--original", table, "--attacks", "skewness"],
        ["report", desk.out],
        ["report", desk.out, "--audience", "public"],
    ):
        assert_plain(run(*words))


def test_a_console_lets_no_text_act_even_where_it_was_not_made_visible() -> None:
    screen = io.StringIO()
    console = TerminalConsole(screen, force_terminal=True, color_system="standard", width=80)
    console.print(Text(f"a{CLEAR}b{TURN}", style="bold"), f"[red]c{HIDE}[/red]\n", highlight=False)
    assert screen.getvalue() == "\x1b[1ma\\x1b[2J\\x1b[Hb\\u202e\x1b[0m [red]c\\x1b[8m[/red]\n\n"


def test_a_copy_of_a_result_is_the_result_where_nothing_had_to_change() -> None:
    shown = {"a": [1, ("b", None)], "c": {"d": 2.5}}
    assert visible_copy(shown) is shown
    assert visible_copy({"a\n": [(f"b{BELL}", 1000)]}) == {r"a\n": [(r"b\x07", 1000)]}


def test_letters_of_any_language_stay_as_they_are() -> None:
    text = "Größe, 年齢, عمر, می‌خواهم, हिन्दी, é, C:\\data"
    assert visible(text) == text
