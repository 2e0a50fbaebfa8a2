"""Numbers that nobody means, and inputs that nobody writes, are refused in words, or do what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from workbench import Desk, assert_refused, files_under, people, run

NUMBERS = ["inf", "-inf", "nan", "1e308", "-1e308", "1e-308", "5e-324", "-1", "0", "1e300"]
PROMISES = {
    "beta": [],
    "l": ["--scheme", "mondrian", "--promise", "distinct-l-diversity"],
    "t": ["--scheme", "tmondrian"],
    "delta": ["--scheme", "mondrian", "--promise", "delta-disclosure"],
}
HUGE = 10**30


@pytest.fixture
def table(desk: Desk) -> Path:
    return desk.table(people(40))


def assert_calm(desk: Desk, *words: object) -> None:
    """A command ends with 0, 1 or 2, without a traceback; if it is refused, nothing is left behind."""
    before = files_under(desk.folder)
    outcome = run(*words)
    assert outcome.status in (0, 1, 2), outcome.text
    if outcome.status:
        assert_refused(outcome, status=outcome.status)
        assert files_under(desk.folder) == before
    elif words[0] == "publish":
        assert run("verify", desk.out).status == 0


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("name", PROMISES)
def test_promises(desk: Desk, table: Path, name: str, number: str) -> None:
    option = {"beta": None, name: number}
    assert_calm(desk, *desk.words(table, *PROMISES[name], qi="age", **option))
    assert_calm(desk, "audit", table, "--qi", "age", "--sensitive", "disease", f"--{name}", number)


@pytest.mark.parametrize(
    "words",
    [
        ["--k", HUGE],
        ["--memory", "99999999999TB"],
        ["--k", 2**63],
        ["--k", -(2**70)],
        ["--scheme", "mondrian", "--promise", "recursive-l-diversity", "--l", "1e300", "--c", "1e308"],
        ["--scheme", "mondrian", "--promise", "entropy-l-diversity", "--l", "1e300"],
        ["--scheme", "mondrian", "--promise", "recursive-l-diversity", "--l", "2", "--c", "5e-324"],
        ["--negative-beta", "1e-308"],
        ["--negative-beta", "nan"],
        ["--width", "1e308"],
        ["--weights", "age=1e308,gender=1e308"],
        ["--weights", "age=5e-324"],
        ["--weights", "age=nan"],
        ["--effort", HUGE],
        ["--effort", "-5"],
        ["--memory", "1e30GB"],
        ["--memory", f"{HUGE}TB"],
        ["--memory", "-1"],
        ["--seed", HUGE],
        ["--seed", "-1"],
        ["--scheme", "perturb", "--beta", "1e308"],
        ["--scheme", "perturb", "--promise", "basic", "--beta", "1e308"],
        ["--scheme", "perturb", "--beta", "5e-324"],
        ["--scheme", "burel", "--beta", "1e308"],
        ["--scheme", "burel", "--beta", "5e-324"],
    ],
    ids=lambda words: " ".join(map(str, words)),
)
def test_other_numbers(desk: Desk, table: Path, words: list[object]) -> None:
    beta = {"beta": None} if {"--beta", "--l"} & set(words) else {}
    assert_calm(desk, *desk.words(table, *words, qi="age,gender", **beta))


@pytest.mark.parametrize(
    "words",
    [
        ["query", "OUT", "age > 3", "--confidence", "nan"],
        ["query", "OUT", "age > 1e400"],
        ["query", "OUT", "age > 3", "--confidence", "1e308"],
        ["workload", "OUT", "--original", "TABLE", "--queries", "-1"],
        ["workload", "OUT", "--original", "TABLE", "--selectivity", "nan"],
        ["workload", "OUT", "--original", "TABLE", "--selectivity", "1e308"],
        ["workload", "OUT", "--original", "TABLE", "--predicates", HUGE],
        ["compare", "TABLE", "--qi", "age", "--sensitive", "disease", "--beta", "inf", "--schemes", "seam"],
        ["demo", "--rows", "-5"],
        ["demo", "--rows", "1"],
        ["demo", "--rows", HUGE],
    ],
    ids=lambda words: " ".join(map(str, words)),
)
def test_other_commands(desk: Desk, table: Path, words: list[object]) -> None:
    assert desk.publish(table=table).status == 0
    assert_calm(desk, *[{"OUT": desk.out, "TABLE": table}.get(str(word), word) for word in words])


@pytest.mark.parametrize("length", [131_072, 131_073, 500_000])
def test_a_long_cell_of_a_hierarchy(desk: Desk, table: Path, length: int) -> None:
    trees = desk.hierarchies(city=[(row, "*") for row in ["Ulm", "Bonn", "Kiel", "Rom", "Bari", "Pisa", "x" * length]])
    assert_calm(desk, *desk.words(table, qi="city", hierarchies=trees))


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000,
        "[promise]\nk = " + "9" * 5000,
        "a = " + "[" * 5_000 + "]" * 5_000,
        "a = " + "{a = " * 3_000 + "1" + "}" * 3_000,
        "[" + ".".join("a" * 20_000) + "]",
        ".".join("a" * 20_000) + " = 1",
        "[promise]\nbeta = 1" + "0" * 400,
        "[promise]\nk = 1" + "0" * 5_000,
        "[promise]\nbeta = 1e400",
        "[promise]\nl = nan",
        "[release]\noptions = {effort = 1" + "0" * 400 + "}",
        "table = '\\u0000'",
        'table = "a\\u0000b"',
    ],
    ids=lambda text: text[:20].replace("\n", " "),
)
def test_specifications(desk: Desk, table: Path, text: str) -> None:
    columns = '[columns.age]\nrole = "quasi-identifier"\n[columns.disease]\nrole = "sensitive"\n'
    spec = desk.write("release.toml", f"{text}\n{columns}")
    assert_calm(desk, "publish", table, "--spec", spec, "--out", desk.out, "--beta", 2)
    assert_calm(desk, "publish", "--spec", spec, "--out", desk.out)
