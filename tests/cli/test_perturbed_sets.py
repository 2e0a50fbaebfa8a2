"""Releases by sets of values: written, verified, asked and attacked from the command line; tampering is found."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from workbench import CITIES, Desk, assert_refused, run

import betalike

DISEASES = ["flu", "a|b", "a\\", "=1+1", "cough", "gout", "ulcer", "asthma"]
SETS = ["--scheme", "perturb", "--mechanism", "sets"]


@pytest.fixture
def table(desk: Desk) -> Path:
    values = [DISEASES[(i * i // 5 + i % 7) % 8] for i in range(2000)]
    return desk.table([[str(i), str(20 + i * 7 % 50), "fm"[i % 2], CITIES[i % 6], values[i]] for i in range(2000)])


def escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("|", "\\|")


@pytest.mark.some(2)
@pytest.mark.parametrize("more", [[], ["--format", "parquet"]], ids=["csv", "parquet"])
def test_a_release_by_sets_is_verified_and_answers(desk: Desk, table: Path, more: list[str]) -> None:
    outcome = run(*desk.words(table, *SETS, *more, "--keep", "name", "--keep-identifiers"))
    assert outcome.status == 0, outcome.text
    assert "sensitive values, the true one among them in" in outcome.text
    checked = run("verify", desk.out, "--original", table)
    assert checked.status == 0, checked.text
    told = desk.certificate()["scheme"]["details"]
    release = betalike.open_release(desk.out)
    labels = list(release.transition["flu"])
    assert told["rule"] == "sets"
    assert told["sets"] == len(labels) == len({*labels})
    original = pl.read_csv(table, infer_schema=False)
    frame = release.frame.cast(pl.String).join(original, on="name", suffix=" before")
    assert {*frame["disease"]} <= {*labels}
    rows = zip(frame["disease"], frame["disease before"], strict=True)
    named = sum(escaped(before) in re.findall(r"(?:[^|\\]|\\.)+", label) for label, before in rows)
    assert named / 2000 == pytest.approx(told["named_share"], abs=0.03)
    answer = run("query", desk.out, "disease = 'a|b' AND age < 40", "--json").document
    true = original.filter(pl.col("disease") == "a|b", pl.col("age").cast(pl.Int64) < 40).height
    assert answer["interval"][0] <= true <= answer["interval"][1]
    assert run("query", desk.out, "disease = 'flu'", "--json").document["count"] == pytest.approx(
        original["disease"].eq("flu").sum()
    )
    for method in ("inversion", "prior"):
        assert run("query", desk.out, "disease = 'flu'", "--method", method).status == 0


def test_counts_are_nearer_than_with_a_matrix(table: Path) -> None:
    """All queries share the noise of a release, so several releases are asked."""
    errors: dict[str, list[float]] = {"matrix": [], "sets": []}
    for seed, (mechanism, found) in itertools.product(range(5), errors.items()):
        release = betalike.publish(
            table,
            quasi_identifiers=["age", "gender", "city"],
            sensitive="disease",
            beta=1,
            scheme="perturb",
            options={"mechanism": mechanism},
            seed=seed,
        )
        counts = release.count_all([f"age < 40 AND disease = '{value}'" for value in DISEASES], method="inversion")
        frame = pl.read_csv(table)
        exact = [frame.filter(pl.col("age") < 40, pl.col("disease") == value).height for value in DISEASES]
        found += [(answer.count - true) ** 2 for answer, true in zip(counts, exact, strict=True)]
    assert sum(errors["sets"]) < 0.5 * sum(errors["matrix"])


def test_a_release_by_sets_is_attacked(desk: Desk, table: Path) -> None:
    assert run(*desk.words(table, *SETS, "--seed", 1)).status == 0
    report = run("attack", desk.out, "--original", table, "--seed", 1, "--json")
    assert report.status == 0, report.text
    found = {result["name"]: result for result in report.document["attacks"]}
    assert found["corruption"]["details"]["people_above_their_cap"] == 0
    assert found["skewness"]["people"] == 2000


def test_a_specification_names_the_mechanism(desk: Desk, table: Path) -> None:
    head = f'table = "{table.name}"\n[promise]\nbeta = 2\n[release]\nscheme = "perturb"\n'
    columns = "".join(f'[columns.{name}]\nrole = "quasi-identifier"\n' for name in ("age", "gender", "city"))
    options = '[release.options]\nmechanism = "sets"\n'
    desk.write("release.toml", f'{head}{options}{columns}[columns.disease]\nrole = "sensitive"\n')
    outcome = run("publish", "--spec", "release.toml", "--out", desk.out)
    assert outcome.status == 0, outcome.text
    assert desk.certificate()["scheme"]["details"]["rule"] == "sets"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--scheme", "perturb", "--mechanism", "subset"], ("mechanism is 'subset'", "matrix, sets")),
        (["--mechanism", "sets"], ("'whole' has no option 'mechanism'",)),
        ([*SETS, "--sensitive", "disease,name"], ("one sensitive column", "'matrix'")),
    ],
    ids=["unknown", "another scheme", "several columns"],
)
def test_what_sets_cannot_do_is_refused(desk: Desk, table: Path, words: list[str], said: tuple[str, ...]) -> None:
    assert_refused(run(*desk.words(table, *words)), *said)


def header_renamed(cells: list[list[str]]) -> None:
    cells[0][1] = "flu"


def columns_exchanged(cells: list[list[str]]) -> None:
    cells[0][1], cells[0][2] = cells[0][2], cells[0][1]


def column_doubled(cells: list[list[str]]) -> None:
    for line in cells:
        line.append(line[-1] if line is cells[0] else "0")


def chance_moved(cells: list[list[str]]) -> None:
    """Take the first set from a value that it names, and give it to another set that names it."""
    value = cells[1]
    places = [i for i, text in enumerate(value) if i and float(text) > 0.01][:2]
    value[places[1]] = str(round(float(value[places[0]]) + float(value[places[1]]), 15))
    value[places[0]] = "0"


@pytest.mark.parametrize("forge", [header_renamed, columns_exchanged, column_doubled, chance_moved])
def test_a_changed_matrix_is_found(desk: Desk, table: Path, forge: Callable[[list[list[str]]], None]) -> None:
    assert run(*desk.words(table, *SETS)).status == 0
    path = desk.out / "transition.csv"
    cells = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    forge(cells)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(cells)
    path.write_text(text.getvalue(), encoding="utf-8")
    checks = betalike.verify(desk.out, original=table).checks
    assert not checks["transition.csv digest"]
    assert not all(checks.get(name, True) for name in ("transition", "draws", "promise", "figures"))


def test_a_set_that_the_matrix_lacks_is_found(desk: Desk, table: Path) -> None:
    assert run(*desk.words(table, *SETS)).status == 0
    frame = pl.read_csv(desk.out / "published.csv", infer_schema=False)
    frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 3).then(pl.lit("flu")).otherwise("disease").alias("disease")
    ).write_csv(desk.out / "published.csv")
    checks = betalike.verify(desk.out).checks
    assert not checks["published.csv digest"]
    assert not checks["sensitive values"]
